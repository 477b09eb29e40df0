// Dates as Intl writes them: English, German, French and Spanish names, the date orders of the common
// locales, the most used time zones.
(function (native, shared) {
  'use strict';
  const { pick, localeOf, oneOf } = shared;

  const months = {
    en: 'January February March April May June July August September October November December',
    de: 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
    fr: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
    es: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
  };
  const shortMonths = {
    en: 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec', 'en-GB': 'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec',
    de: 'Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.', fr: 'janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.',
    es: 'ene feb mar abr may jun jul ago sept oct nov dic',
  };
  const days = {
    en: 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday', de: 'Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag',
    fr: 'dimanche lundi mardi mercredi jeudi vendredi samedi', es: 'domingo lunes martes miércoles jueves viernes sábado',
  };
  const shortDays = { en: 'Sun Mon Tue Wed Thu Fri Sat', de: 'So Mo Di Mi Do Fr Sa', fr: 'dim. lun. mar. mer. jeu. ven. sam.', es: 'dom lun mar mié jue vie sáb' };
  const isoDates = new Set(['en-CA', 'sv', 'sv-SE', 'fr-CA', 'lt', 'lt-LT']);
  const families = ['en', 'de', 'fr', 'es'];
  // Dates of numbers alone, day first: what separates them, whether day and month have two digits, what stands
  // before the time, what separates that, and whether its hour has one digit.
  const dayFirst = {
    pt: ['/', true, true, ', ', ':'], it: ['/', true, true, ', ', ':'], nl: ['-', false, false, ', ', ':'], pl: ['.', false, true, ', ', ':'],
    ru: ['.', true, true, ', ', ':'], uk: ['.', true, true, ', ', ':'], ro: ['.', true, true, ', ', ':'], nb: ['.', false, false, ', ', ':'],
    he: ['.', false, false, ', ', ':', true], tr: ['.', true, true, ' ', ':'], cs: ['. ', false, false, ' ', ':', true], da: ['.', false, false, ', ', '.'],
    fi: ['.', false, false, ' klo ', '.', true], 'es-ES': ['/', false, false, ', ', ':', true],
  };
  const clockOf = (locale) => dayFirst[locale === 'es' ? 'es-ES' : locale] ?? dayFirst[locale.split('-')[0]];
  const dayFirstOf = (locale, o) => (['year', 'month', 'day'].every((field) => /^(numeric|2-digit)$/.test(o[field])) && o.dateStyle === undefined ? clockOf(locale) : undefined);

  const sunday = (year, month, nth) => {
    const first = new Date(Date.UTC(year, month, 1)).getUTCDay();
    if (nth > 0) return 1 + ((7 - first) % 7) + (nth - 1) * 7;
    const last = new Date(Date.UTC(year, month + 1, 0));
    return last.getUTCDate() - last.getUTCDay();
  };
  const american = (ms, hours) => {
    const year = new Date(ms).getUTCFullYear();
    return ms >= Date.UTC(year, 2, sunday(year, 2, 2), 2 - hours) && ms < Date.UTC(year, 10, sunday(year, 10, 1), 1 - hours);
  };
  const european = (ms) => {
    const year = new Date(ms).getUTCFullYear();
    return ms >= Date.UTC(year, 2, sunday(year, 2, -1), 1) && ms < Date.UTC(year, 9, sunday(year, 9, -1), 1);
  };
  // South of the equator the year begins in summer time.
  const southern = (begin, end, hour) => (ms) => {
    const year = new Date(ms).getUTCFullYear();
    return ms < Date.UTC(year, end, sunday(year, end, 1), 0, hour * 60) || ms >= Date.UTC(year, begin, sunday(year, begin, begin === 8 ? -1 : 1), 0, hour * 60);
  };
  const australian = southern(9, 3, -8);
  const zones = {
    UTC: [0], GMT: [0], 'Etc/UTC': [0], 'Etc/GMT': [0],
    'America/New_York': [-5, american, 'EST', 'EDT'], 'America/Toronto': [-5, american, 'EST', 'EDT'], 'America/Chicago': [-6, american, 'CST', 'CDT'],
    'America/Denver': [-7, american, 'MST', 'MDT'], 'America/Los_Angeles': [-8, american, 'PST', 'PDT'], 'America/Phoenix': [-7],
    'America/Sao_Paulo': [-3], 'Europe/London': [0, european, 'GMT', 'GMT+1'], 'Europe/Dublin': [0, european], 'Europe/Lisbon': [0, european],
    'Europe/Berlin': [1, european], 'Europe/Paris': [1, european], 'Europe/Madrid': [1, european], 'Europe/Rome': [1, european],
    'Europe/Amsterdam': [1, european], 'Europe/Vienna': [1, european], 'Europe/Zurich': [1, european], 'Europe/Stockholm': [1, european],
    'Europe/Warsaw': [1, european], 'Europe/Prague': [1, european], 'Europe/Athens': [2, european], 'Europe/Helsinki': [2, european], 'Europe/Kyiv': [2, european],
    'Europe/Moscow': [3], 'Europe/Istanbul': [3], 'Asia/Dubai': [4], 'Asia/Karachi': [5], 'Asia/Kolkata': [5.5], 'Asia/Calcutta': [5.5],
    'Asia/Bangkok': [7], 'Asia/Jakarta': [7], 'Asia/Shanghai': [8], 'Asia/Hong_Kong': [8], 'Asia/Singapore': [8], 'Asia/Manila': [8],
    'Australia/Perth': [8], 'Asia/Tokyo': [9], 'Asia/Seoul': [9], 'Australia/Brisbane': [10],
    'Australia/Sydney': [10, australian], 'Australia/Melbourne': [10, australian], 'Australia/Hobart': [10, australian], 'Australia/Adelaide': [9.5, southern(9, 3, -7.5)],
    'Pacific/Auckland': [12, southern(8, 3, -10)], 'Pacific/Honolulu': [-10, undefined, 'HST', 'HST'], 'America/Anchorage': [-9, american, 'AKST', 'AKDT'], 'America/Halifax': [-4, american, 'AST', 'ADT'],
    'America/Vancouver': [-8, american, 'PST', 'PDT'], 'America/Mexico_City': [-6, undefined, 'CST', 'CST'], 'America/Bogota': [-5], 'America/Lima': [-5],
    'America/Argentina/Buenos_Aires': [-3], 'America/Buenos_Aires': [-3], 'Africa/Johannesburg': [2], 'Africa/Lagos': [1], 'Africa/Nairobi': [3], 'Asia/Riyadh': [3],
    'Asia/Dhaka': [6], 'Asia/Kathmandu': [5.75], 'Asia/Taipei': [8], 'Asia/Kuala_Lumpur': [8], 'Asia/Ho_Chi_Minh': [7], 'Europe/Brussels': [1, european],
    'Europe/Copenhagen': [1, european], 'Europe/Oslo': [1, european], 'Europe/Budapest': [1, european], 'Europe/Bucharest': [2, european], 'Europe/Sofia': [2, european],
  };
  function zoneOf(name) {
    if (name === undefined) return ['UTC', () => 0];
    const text = String(name);
    const known = Object.keys(zones).find((zone) => zone.toLowerCase() === text.toLowerCase());
    if (known) {
      const [hours, summer] = zones[known];
      return [/^(etc\/)?(utc|gmt)$/i.test(known) ? 'UTC' : known, (ms) => (hours + (summer?.(ms, hours) ? 1 : 0)) * 60];
    }
    const offset = /^([+-])(\d\d):?(\d\d)?$/.exec(text);
    if (!offset) throw new RangeError(`Invalid time zone specified: ${text} (this sandbox knows UTC, fixed offsets such as +02:00 and the most used zones)`);
    const minutes = (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3] ?? 0));
    return [`${offset[1]}${offset[2]}:${offset[3] ?? '00'}`, () => minutes];
  }

  const dateFields = ['weekday', 'era', 'year', 'month', 'day'];
  const timeFields = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
  class DateTimeFormat {
    #o;
    constructor(locales, options = {}, need = 'date') {
      const locale = localeOf(locales);
      const [zone, offset] = zoneOf(options.timeZone);
      const o = { locale, zone, offset };
      for (const field of [...dateFields, ...timeFields, 'timeZoneName', 'hour12', 'hourCycle', 'dateStyle', 'timeStyle']) if (options[field] !== undefined) o[field] = options[field];
      oneOf('month', o.month, ['numeric', '2-digit', 'long', 'short', 'narrow']);
      oneOf('weekday', o.weekday, ['long', 'short', 'narrow']);
      for (const field of ['dateStyle', 'timeStyle']) oneOf(field, o[field], ['full', 'long', 'medium', 'short']);
      const has = (fields) => fields.some((field) => o[field] !== undefined);
      if ((o.dateStyle || o.timeStyle) && has([...dateFields, ...timeFields])) throw new TypeError(`Can't set option ${[...dateFields, ...timeFields].find((field) => o[field] !== undefined)} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`);
      if (!o.dateStyle && !o.timeStyle) {
        const noDate = !has(['weekday', 'year', 'month', 'day']);
        const noTime = !has(timeFields);
        const fillDate = (need === 'date' && noDate && noTime) || (need === 'any' && noDate && noTime) || (need === 'dateOnly' && noDate);
        const fillTime = (need === 'any' && noDate && noTime) || (need === 'timeOnly' && noTime);
        if (fillDate) Object.assign(o, { year: 'numeric', month: 'numeric', day: 'numeric' });
        if (fillTime) Object.assign(o, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
      }
      this.#o = o;
      this.format = (date) => this.#format(date);
    }
    static supportedLocalesOf(locales) {
      return (Array.isArray(locales) ? locales : [locales]).map(String);
    }
    resolvedOptions() {
      const { locale, zone, offset, ...rest } = this.#o;
      return { locale, calendar: 'gregory', numberingSystem: 'latn', timeZone: zone, ...rest };
    }
    #style() {
      const o = this.#o;
      const family = families.find((name) => o.locale.split('-')[0] === name) ?? 'en';
      const american = family === 'en' && !/^en-(GB|AU|NZ|IE|IN|ZA)$/.test(o.locale);
      const style = { ...o };
      if (o.dateStyle) Object.assign(style, { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: family === 'de' ? '2-digit' : 'short', day: family === 'de' ? '2-digit' : 'numeric' }, short: { year: isoDates.has(o.locale) ? 'numeric' : american || family === 'de' || family === 'es' ? '2-digit' : 'numeric', month: family === 'de' ? '2-digit' : 'numeric', day: family === 'de' ? '2-digit' : 'numeric' } }[o.dateStyle]);
      if (o.timeStyle) Object.assign(style, { hour: 'numeric', minute: '2-digit' }, o.timeStyle === 'short' ? {} : { second: '2-digit' }, { long: { timeZoneName: 'short' }, full: { timeZoneName: 'long' } }[o.timeStyle]);
      return { family, american, style };
    }
    #format(date) {
      const ms = date === undefined ? Date.now() : Number(date);
      if (!(Math.abs(ms) <= 8.64e15)) throw new RangeError('Invalid time value');
      const o = this.#o;
      const at = new Date(ms + o.offset(ms) * 60000);
      const { family, american, style } = this.#style();
      const [separator, twoDay, twoMonth, before] = dayFirstOf(o.locale, style) ?? [];
      const [, , , , colon, oneDigit] = clockOf(o.locale) ?? (/^ja(-|$)/.test(o.locale) ? ['', false, false, '', ':', true] : []);
      const timeOf = (american_) => {
        const time = this.#time(at, style, american_ && colon === undefined, ms).replaceAll(':', colon ?? ':');
        return oneDigit && o.hour !== '2-digit' ? time.replace(/^0(?=\d\D)/, '') : time;
      };
      if (separator !== undefined) {
        const { year, month, day } = style;
        const core = this.#date(at, { locale: 'de', year, month: twoMonth ? '2-digit' : month, day: twoDay ? '2-digit' : day, weekday: undefined }, 'de', false).split('.').map((part) => part.trim());
        const time = timeOf(false);
        const weekday = style.weekday === undefined ? '' : this.#date(at, { locale: o.locale, weekday: style.weekday }, family, american) + ', ';
        return weekday + core.join(separator) + (time === '' ? '' : before + time);
      }
      const day = this.#date(at, style, family, american);
      // English otherwise, but with the clock of the locale: the usual way to an ISO-like local time.
      const time = timeOf(american && !/^(sv|lt|ja|zh)(-|$)/.test(o.locale));
      if (day === '' || time === '') return day + time;
      const at_ = american && style.month === 'long' && !style.noAt;
      const glue = style.month === undefined && style.day === undefined && style.year === undefined && american ? ' ' : at_ ? ' at ' : family === 'de' && style.month === 'long' ? ' um ' : family === 'en' && style.month === 'long' ? ' at ' : family === 'fr' ? (style.month === 'long' ? ' à ' : ' ') : (isoDates.has(o.locale) && o.locale !== 'en-CA') || /^(ja|zh)(-|$)/.test(o.locale) ? ' ' : ', ';
      return day + glue + time;
    }
    #date(at, o, family, american) {
      const two = (n) => String(n).padStart(2, '0');
      const fullYear = at.getUTCFullYear();
      const year = o.year === undefined ? '' : o.year === '2-digit' ? two(Math.abs(fullYear) % 100) : String(fullYear);
      const index = at.getUTCMonth();
      const names = (tables, at_) => pick(tables, tables[o.locale] ? o.locale : family).split(' ')[at_];
      const dayNumber = at.getUTCDate();
      const weekday = o.weekday === undefined ? '' : o.weekday === 'long' ? names(days, at.getUTCDay()) : o.weekday === 'short' ? names(shortDays, at.getUTCDay()) : names(days, at.getUTCDay())[0].toUpperCase();
      const numeric = o.month === undefined || o.month === 'numeric' || o.month === '2-digit';
      let core;
      if (numeric) {
        const pad = (family === 'en' && !american && !/^en-I[NE]$/.test(o.locale)) || family === 'fr' ? Boolean(o.month && o.day) : false;
        const day = o.day === undefined ? '' : o.day === '2-digit' || pad ? two(dayNumber) : String(dayNumber);
        const month = o.month === undefined ? '' : o.month === '2-digit' || pad ? two(index + 1) : String(index + 1);
        if (isoDates.has(o.locale)) core = [year, month && two(index + 1), day && two(dayNumber)].filter(Boolean).join('-');
        else if (/^(ja|zh)/.test(o.locale)) core = [year, month, day].filter(Boolean).join('/');
        else if (family === 'de') core = [day && month ? `${day}.` : day, month && day ? `${month}.` : month, year].filter(Boolean).join(month && !day && year ? '.' : '').replace(/\.$/, year ? '.' : '.');
        else core = (american ? [month, day, year] : [day, month, year]).filter(Boolean).join('/');
      } else {
        const month = o.month === 'long' ? names(months, index) : o.month === 'short' ? names(shortMonths, index) : names(months, index)[0].toUpperCase();
        const day = o.day === undefined ? '' : o.day === '2-digit' ? two(dayNumber) : String(dayNumber);
        if (american) core = `${month}${day ? ` ${day}` : ''}${year ? `${day ? ',' : ''} ${year}` : ''}`;
        else if (family === 'de') core = `${day ? `${day}. ` : ''}${month}${year ? ` ${year}` : ''}`;
        else if (family === 'es' && o.month === 'long') core = [day, month, year].filter(Boolean).join(' de ');
        else core = [day, month, year].filter(Boolean).join(' ');
      }
      if (weekday === '') return core;
      if (core === '') return weekday;
      const comma = american || family === 'de' || family === 'es' || (family === 'en' && (numeric || o.weekday === 'short'));
      return `${weekday}${comma ? ',' : ''} ${core}`;
    }
    #time(at, o, american, ms) {
      const two = (n) => String(n).padStart(2, '0');
      if (timeFields.every((field) => o[field] === undefined)) return o.timeZoneName ? this.#zone(o, ms) : '';
      const halves = o.hour12 ?? (o.hourCycle ? o.hourCycle === 'h12' || o.hourCycle === 'h11' : american || /^en-(AU|NZ|IN|CA)$/.test(o.locale));
      const hour24 = at.getUTCHours();
      const parts = [];
      if (o.hour !== undefined) {
        const midnight24 = !halves && o.hour12 === false && american && hour24 === 0;
        const hour = halves ? hour24 % 12 || 12 : midnight24 ? 24 : hour24;
        parts.push(o.hour === '2-digit' || !halves ? two(hour) : String(hour));
      }
      if (o.minute !== undefined) parts.push(parts.length > 0 || o.second !== undefined ? two(at.getUTCMinutes()) : String(at.getUTCMinutes()));
      if (o.second !== undefined) parts.push(parts.length > 0 ? two(at.getUTCSeconds()) : o.second === '2-digit' ? two(at.getUTCSeconds()) : String(at.getUTCSeconds()));
      let text = parts.join(':');
      if (o.fractionalSecondDigits) text += `.${String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, o.fractionalSecondDigits)}`;
      if (o.hour !== undefined && halves) text += american && o.locale !== 'en-CA' ? ` ${hour24 < 12 ? 'AM' : 'PM'}` : o.locale === 'en-CA' ? ` ${hour24 < 12 ? 'a.m.' : 'p.m.'}` : ` ${hour24 < 12 ? 'am' : 'pm'}`;
      return o.timeZoneName ? `${text} ${this.#zone(o, ms)}` : text;
    }
    #zone(o, ms) {
      if (o.zone === 'UTC') return o.timeZoneName === 'long' ? 'Coordinated Universal Time' : 'UTC';
      const minutes = o.offset(ms);
      const [hours, , winter, summer] = zones[o.zone] ?? [];
      if (winter && o.locale === 'en-US') return minutes === hours * 60 ? winter : summer;
      const size = Math.abs(minutes);
      if (size === 0) return 'GMT';
      return `GMT${minutes < 0 ? '-' : '+'}${Math.floor(size / 60)}${size % 60 ? `:${String(size % 60).padStart(2, '0')}` : ''}`;
    }
    formatToParts(date) {
      const { locale } = this.#o;
      const { american, style } = this.#style();
      const text = this.#format(date);
      const named = /^(long|short|narrow)$/.test(style.month);
      const ordered = named ? ['day', 'year'] : isoDates.has(locale) || /^(ja|zh)/.test(locale) ? ['year', 'month', 'day'] : american && !dayFirstOf(locale, style) ? ['month', 'day', 'year'] : ['day', 'month', 'year'];
      const numbers = [...ordered, 'hour', 'minute', 'second'].filter((name) => style[name] !== undefined).concat('fractionalSecond');
      const names = (tables, style_) => (style_ === undefined || style_ === 'numeric' || style_ === '2-digit' ? [] : Object.values(tables).flatMap((all) => all.split(' ')));
      const words = {
        weekday: new Set([...names(days, style.weekday), ...names(shortDays, style.weekday)]),
        month: new Set([...names(months, style.month), ...names(shortMonths, style.month)]),
      };
      const zone = style.timeZoneName === undefined ? '' : this.#zone({ ...this.#o, timeZoneName: style.timeZoneName }, date === undefined ? Date.now() : Number(date));
      const parts = [];
      const add = (type, value) => {
        if (type === 'literal' && parts.at(-1)?.type === type) parts.at(-1).value += value;
        else parts.push({ type, value });
      };
      const clock = zone !== '' && text.endsWith(zone) ? text.slice(0, -zone.length) : text;
      for (const value of clock.match(/\d+|[ap]\.m\.|[\p{L}]+\.?|[^\d\p{L}]+/gu) ?? []) {
        const bare = value.replace(/\.$/, '');
        if (/^\d/.test(value)) add(numbers.shift() ?? 'literal', value);
        else if (/^([ap]m|[ap]\.m\.)$/i.test(value)) {
          // In parts, and only there, it is a narrow space.
          if (parts.at(-1)?.value === ' ') parts.at(-1).value = '\u202f';
          add('dayPeriod', value);
        }
        else {
          const type = ['weekday', 'month'].find((name) => words[name].has(value) || words[name].has(bare)) ?? (style.month === 'narrow' && bare.length === 1 ? 'month' : style.weekday === 'narrow' && bare.length === 1 ? 'weekday' : 'literal');
          const whole = words[type]?.has(value) || bare === value;
          add(type, whole ? value : bare);
          if (!whole) add('literal', '.');
        }
      }
      if (clock !== text) add('timeZoneName', zone);
      return parts;
    }
    formatRange(from, to) {
      const [a, b] = [this.#format(from), this.#format(to)];
      return a === b ? a : `${a} – ${b}`;
    }
  }

  Object.assign(shared, { DateTimeFormat, zones: Object.keys(zones) });
});
