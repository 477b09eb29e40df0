// Intl for numbers, dates, order and lists, and the toLocale… family on top of it: English in full,
// the separators and date orders of the locales scripts ask for most. The engine's own versions
// ignore their options silently, which is worse than a small honest one.
(function (native, shared) {
  'use strict';
  const { define } = shared;
  const NB = '\u00a0';
  const THIN = '\u202f';

  // group, decimal, smallest integer length that is grouped, currency behind the number
  const numbers = {
    en: [',', '.', 4, false], de: ['.', ',', 4, true], fr: [THIN, ',', 4, true], es: ['.', ',', 5, true],
    it: ['.', ',', 4, true], pt: ['.', ',', 4, false], nl: ['.', ',', 4, false], sv: [NB, ',', 4, true],
    da: ['.', ',', 4, true], nb: [NB, ',', 4, true], fi: [NB, ',', 4, true], pl: [NB, ',', 5, true],
    ru: [NB, ',', 4, true], ja: [',', '.', 4, false], zh: [',', '.', 4, false], ko: [',', '.', 4, false],
    'de-CH': ['\u2019', '.', 4, false], 'de-AT': [NB, ',', 4, false], 'pt-PT': [NB, ',', 5, true], 'es-MX': [',', '.', 4, false],
  };
  const symbols = {
    USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$',
    MXN: 'MX$', NZD: 'NZ$', HKD: 'HK$', TWD: 'NT$', ILS: '₪', VND: '₫', PHP: '₱',
  };
  const ownSymbol = { CAD: { 'en-CA': '$', 'fr-CA': '$' }, AUD: { 'en-AU': '$' }, NZD: { 'en-NZ': '$' }, MXN: { 'es-MX': '$' }, JPY: { ja: '￥' }, CNY: { zh: '¥' } };
  const noCents = new Set(['JPY', 'KRW', 'VND', 'CLP', 'ISK', 'UGX', 'XAF', 'XOF']);
  const pick = (tables, locale) => tables[locale] ?? tables[locale.split('-')[0]] ?? tables.en;
  const localeOf = (locales) => {
    const first = Array.isArray(locales) ? locales[0] : locales;
    if (first === undefined) return 'en-US';
    const text = String(first);
    if (!/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/.test(text)) throw new RangeError(`Incorrect locale information provided: ${text}`);
    const parts = text.split(/[-_]u[-_]/)[0].split(/[-_]/);
    return [parts[0].toLowerCase(), ...parts.slice(1).map((part) => (part.length === 2 ? part.toUpperCase() : part))].join('-');
  };
  const oneOf = (name, value, allowed) => {
    if (value !== undefined && !allowed.includes(value)) throw new RangeError(`Value ${value} out of range for Intl options property ${name}`);
    return value;
  };

  // A number as [digits, exponent]: 0.d1d2d3… × 10^exponent, exact for what String(x) shows.
  function decimal(x) {
    const [mantissa, power = '0'] = String(x).replace('-', '').split('e');
    const [whole, fraction = ''] = mantissa.split('.');
    const all = (whole + fraction).replace(/^0+/, '');
    const dropped = (whole + fraction).length - all.length;
    return [all, all === '' ? 0 : whole.length - dropped + Number(power)];
  }
  // Rounded half away from zero, `keep` digits kept behind the leading position.
  function round([digits, exponent], keep) {
    if (keep < 0) return ['', 0];
    if (digits.length <= keep) return [digits, exponent];
    if (digits[keep] < '5') return [digits.slice(0, keep).replace(/0+$/, ''), exponent];
    const up = [...digits.slice(0, keep)];
    let at = keep - 1;
    while (at >= 0 && up[at] === '9') up[at--] = '0';
    if (at >= 0) up[at] = String(Number(up[at]) + 1);
    else {
      up.unshift('1');
      exponent += 1;
    }
    return [up.join('').replace(/0+$/, ''), exponent];
  }
  const layout = ([digits, exponent], minFraction) => {
    const padded = exponent > 0 ? digits.padEnd(exponent, '0') : '0'.repeat(-exponent) + digits;
    const whole = exponent > 0 ? padded.slice(0, exponent) : '0';
    const fraction = exponent > 0 ? padded.slice(exponent) : digits === '' ? '' : padded;
    return [whole, fraction.padEnd(minFraction, '0')];
  };

  const units = {
    byte: 'byte', kilobyte: 'kB', megabyte: 'MB', gigabyte: 'GB', terabyte: 'TB', bit: 'bit', percent: '%', celsius: '°C', fahrenheit: '°F',
    meter: 'm', kilometer: 'km', centimeter: 'cm', mile: 'mi', foot: 'ft', inch: 'in', kilogram: 'kg', gram: 'g', pound: 'lb', liter: 'L',
    second: 'sec', minute: 'min', hour: 'hr', day: 'day', week: 'wk', month: 'mth', year: 'yr', millisecond: 'ms', 'kilometer-per-hour': 'km/h', 'mile-per-hour': 'mph',
  };
  const plural = new Set(['day', 'week', 'month', 'year', 'bit', 'byte']);
  const shortPlural = { day: 'days', week: 'wks', month: 'mths', year: 'yrs', bit: 'bit', byte: 'byte' };

  class NumberFormat {
    #o;
    constructor(locales, options = {}) {
      const locale = localeOf(locales);
      const style = oneOf('style', options.style, ['decimal', 'currency', 'percent', 'unit']) ?? 'decimal';
      const currency = options.currency === undefined ? undefined : String(options.currency).toUpperCase();
      if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.');
      if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Invalid currency code : ${options.currency}`);
      if (style === 'unit' && options.unit === undefined) throw new TypeError('Required option "unit" must not be undefined');
      const notation = oneOf('notation', options.notation, ['standard', 'compact', 'scientific', 'engineering']) ?? 'standard';
      const cents = style === 'currency' ? (noCents.has(currency) ? 0 : 2) : 0;
      const digit = (name, low, high) => {
        const value = options[name];
        if (value === undefined) return undefined;
        const number = Math.floor(Number(value));
        if (!(number >= low && number <= high)) throw new RangeError(`${name} value is out of range.`);
        return number;
      };
      const minF = digit('minimumFractionDigits', 0, 100);
      const maxF = digit('maximumFractionDigits', 0, 100);
      const minS = digit('minimumSignificantDigits', 1, 21);
      const maxS = digit('maximumSignificantDigits', 1, 21);
      const naturalMax = style === 'currency' ? cents : style === 'percent' ? 0 : 3;
      const minimum = minF ?? Math.min(notation === 'compact' ? 0 : cents, maxF ?? Infinity);
      const maximum = maxF ?? Math.max(notation === 'compact' ? 0 : naturalMax, minimum);
      if (minimum > maximum) throw new RangeError('maximumFractionDigits value is out of range.');
      this.#o = {
        locale, style, currency, notation, minimum, maximum, minS, maxS: maxS ?? (minS === undefined ? undefined : 21),
        compactRounding: notation === 'compact' && minF === undefined && maxF === undefined && minS === undefined && maxS === undefined,
        minI: digit('minimumIntegerDigits', 1, 21) ?? 1,
        grouping: options.useGrouping ?? (notation === 'compact' ? 'min2' : 'auto'),
        sign: oneOf('signDisplay', options.signDisplay, ['auto', 'never', 'always', 'exceptZero', 'negative']) ?? 'auto',
        currencyDisplay: oneOf('currencyDisplay', options.currencyDisplay, ['symbol', 'narrowSymbol', 'code', 'name']) ?? 'symbol',
        accounting: options.currencySign === 'accounting',
        compactDisplay: options.compactDisplay ?? 'short',
        unit: options.unit, unitDisplay: options.unitDisplay ?? 'short',
      };
      this.format = (value) => this.#format(value);
    }
    static supportedLocalesOf(locales) {
      return (Array.isArray(locales) ? locales : [locales]).map(String);
    }
    resolvedOptions() {
      const o = this.#o;
      const out = { locale: o.locale, numberingSystem: 'latn', style: o.style };
      if (o.currency && o.style === 'currency') Object.assign(out, { currency: o.currency, currencyDisplay: o.currencyDisplay, currencySign: o.accounting ? 'accounting' : 'standard' });
      return { ...out, minimumIntegerDigits: o.minI, minimumFractionDigits: o.minimum, maximumFractionDigits: o.maximum, useGrouping: o.grouping, notation: o.notation, signDisplay: o.sign, roundingMode: 'halfExpand' };
    }
    #digits(parts) {
      const o = this.#o;
      const [group, point, least] = pick(numbers, o.locale);
      let rounded;
      let minFraction = o.minimum;
      if (o.compactRounding) {
        rounded = round(parts, Math.max(parts[1], 2));
        minFraction = 0;
      } else if (o.maxS !== undefined) {
        rounded = round(parts, o.maxS);
        minFraction = Math.max(0, (o.minS ?? 1) - Math.max(rounded[1], rounded[0] === '' ? 1 : rounded[1]));
      } else rounded = round(parts, parts[1] + o.maximum);
      let [whole, fraction] = layout(rounded, minFraction);
      whole = whole.padStart(o.minI, '0');
      const from = o.grouping === 'min2' ? 5 : o.grouping === 'always' ? 4 : least;
      if (o.grouping !== false && o.grouping !== 'false' && whole.length >= from) {
        whole = o.locale.endsWith('-IN') ? whole.replace(/(\d)(?=(\d\d)+\d$)/g, `$1${group}`) : whole.replace(/\B(?=(\d{3})+$)/g, group);
      }
      return [fraction === '' ? whole : whole + point + fraction, rounded[0] === ''];
    }
    #format(input) {
      const o = this.#o;
      const value = typeof input === 'bigint' ? input : typeof input === 'string' && /^-?\d{16,}$/.test(input) ? BigInt(input) : Number(input);
      const negative = value < 0 || Object.is(value, -0);
      let body;
      let zero = false;
      let suffix = '';
      if (value !== value) [body, zero] = ['NaN', true];
      else if (value === Infinity || value === -Infinity) body = '∞';
      else {
        let parts = decimal(value);
        if (o.style === 'percent' && parts[0] !== '') parts = [parts[0], parts[1] + 2];
        if (o.notation === 'compact') {
          const step = (exponent) => Math.min(4, Math.max(0, Math.floor((exponent - 1) / 3)));
          let thousands = step(parts[1]);
          const scaled = (n) => [parts[0], parts[1] - 3 * n];
          const trial = o.compactRounding ? round(scaled(thousands), Math.max(scaled(thousands)[1], 2)) : round(scaled(thousands), scaled(thousands)[1] + o.maximum);
          if (trial[1] > 3 && thousands < 4) thousands += 1;
          parts = scaled(thousands);
          suffix = (o.compactDisplay === 'long' ? ['', ' thousand', ' million', ' billion', ' trillion'] : ['', 'K', 'M', 'B', 'T'])[thousands];
        }
        if (o.notation === 'scientific' || o.notation === 'engineering') {
          const power = parts[0] === '' ? 0 : o.notation === 'scientific' ? parts[1] - 1 : Math.floor((parts[1] - 1) / 3) * 3;
          parts = [parts[0], parts[1] - power];
          suffix = `E${power}`;
        }
        [body, zero] = this.#digits(parts);
      }
      body += suffix;
      const minus = negative && !(zero && (o.sign === 'negative' || o.sign === 'exceptZero'));
      let sign = minus && o.sign !== 'never' ? '-' : '';
      if (!minus && (o.sign === 'always' || (o.sign === 'exceptZero' && !zero))) sign = '+';
      if (o.style === 'percent') return `${sign}${body}${pick(numbers, o.locale)[3] ? `${o.locale.startsWith('fr') ? THIN + '%' : NB + '%'}` : '%'}`;
      if (o.style === 'unit') return sign + body + this.#unit(value);
      if (o.style !== 'currency') return sign + body;
      return this.#money(sign, body, value);
    }
    #money(sign, body, value) {
      const o = this.#o;
      if (o.currencyDisplay === 'name') {
        const names = { USD: 'US dollar', EUR: 'euro', GBP: 'British pound', JPY: 'Japanese yen' };
        const name = names[o.currency] ?? o.currency;
        const many = Math.abs(Number(value)) === 1 && o.maximum === 0 ? '' : o.currency === 'JPY' || !names[o.currency] ? '' : 's';
        return `${sign}${body} ${name}${many}`;
      }
      const own = ownSymbol[o.currency];
      let mark = own?.[o.locale] ?? own?.[o.locale.split('-')[0]] ?? symbols[o.currency] ?? o.currency;
      if (o.currencyDisplay === 'code') mark = o.currency;
      if (o.currencyDisplay === 'narrowSymbol') mark = mark.replace(/^[A-Z]+(?=[^A-Z])/, '');
      if (pick(numbers, o.locale)[3]) return `${sign}${body}${NB}${mark}`;
      const gap = /[A-Z]$/.test(mark) || ['pt', 'nl'].includes(o.locale.split('-')[0]) || /^de-(CH|AT)/.test(o.locale) ? NB : '';
      if (o.accounting && sign === '-') return `(${mark}${gap}${body})`;
      if (o.locale.startsWith('nl')) return `${mark}${gap}${sign}${body}`;
      return `${sign}${mark}${gap}${body}`;
    }
    #unit(value) {
      const { unit, unitDisplay } = this.#o;
      const one = Math.abs(Number(value)) === 1;
      if (unitDisplay === 'long') return ` ${unit.replace(/-per-/, one ? ' per ' : 's per ')}${one || unit.includes('-per-') ? '' : unit === 'foot' ? '' : 's'}`;
      const label = !one && plural.has(unit) ? shortPlural[unit] : (units[unit] ?? unit);
      const tight = unitDisplay === 'narrow' || label === '%' || label.startsWith('°');
      return tight ? label : ` ${label}`;
    }
    formatToParts(value) {
      const [group, point] = pick(numbers, this.#o.locale);
      const kinds = { [group]: 'group', [point]: 'decimal', '-': 'minusSign', '+': 'plusSign', '%': 'percentSign' };
      const out = [];
      let fraction = false;
      for (const piece of this.#format(value).match(/\d+|[^\d]/g) ?? []) {
        const type = /\d/.test(piece) ? (fraction ? 'fraction' : 'integer') : (kinds[piece] ?? (this.#o.style === 'currency' && piece.trim() ? 'currency' : 'literal'));
        if (type === 'decimal') fraction = true;
        if (out.at(-1)?.type === type && type === 'currency') out.at(-1).value += piece;
        else out.push({ type, value: piece });
      }
      return out;
    }
  }

  // --- dates ------------------------------------------------------------------------------------
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
    #format(date) {
      const ms = date === undefined ? Date.now() : Number(date);
      if (!(Math.abs(ms) <= 8.64e15)) throw new RangeError('Invalid time value');
      const o = this.#o;
      const at = new Date(ms + o.offset(ms) * 60000);
      const family = families.find((name) => o.locale.split('-')[0] === name) ?? 'en';
      const american = family === 'en' && !/^en-(GB|AU|NZ|IE|IN|ZA)$/.test(o.locale);
      const style = { ...o };
      if (o.dateStyle) Object.assign(style, { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: family === 'de' ? '2-digit' : 'short', day: family === 'de' ? '2-digit' : 'numeric' }, short: { year: american || family === 'de' || family === 'es' ? '2-digit' : 'numeric', month: family === 'de' ? '2-digit' : 'numeric', day: family === 'de' ? '2-digit' : 'numeric' } }[o.dateStyle]);
      if (o.timeStyle) Object.assign(style, { hour: 'numeric', minute: '2-digit' }, o.timeStyle === 'short' ? {} : { second: '2-digit' }, { long: { timeZoneName: 'short' }, full: { timeZoneName: 'long' } }[o.timeStyle]);
      const day = this.#date(at, style, family, american);
      const time = this.#time(at, style, american, ms);
      if (day === '' || time === '') return day + time;
      const at_ = american && style.month === 'long' && !style.noAt;
      const glue = at_ ? ' at ' : family === 'de' && style.month === 'long' ? ' um ' : family === 'en' && style.month === 'long' ? ' at ' : family === 'fr' ? (style.month === 'long' ? ' à ' : ' ') : isoDates.has(o.locale) && o.locale !== 'en-CA' ? ' ' : ', ';
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
        const pad = o.locale === 'en-GB' || (family === 'en' && !american) || family === 'fr' ? Boolean(o.month && o.day) : false;
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
      const o = this.#o;
      const order = { en: ['month', 'day', 'year'], other: ['day', 'month', 'year'] };
      const text = this.#format(date);
      const american = o.locale.startsWith('en') && !/^en-(GB|AU|NZ|IE|IN|ZA)$/.test(o.locale);
      const asked = (name) => o[name] !== undefined || o.dateStyle !== undefined;
      const named = o.month === 'long' || o.month === 'short';
      const queue = [...(isoDates.has(o.locale) ? ['year', 'month', 'day'] : american ? order.en : order.other).filter((name) => asked(name) && !(named && name === 'month')), ...['hour', 'minute', 'second'].filter((name) => o[name] !== undefined || o.timeStyle !== undefined), 'fractionalSecond'];
      let first = true;
      return (text.match(/\d+|AM|PM|[^\d\W]+|[\W_]+/gu) ?? []).map((value) => {
        if (/^\d/.test(value)) return { type: queue.shift() ?? 'literal', value };
        if (/^(AM|PM|am|pm)$/.test(value)) return { type: 'dayPeriod', value };
        if (/^\w/.test(value)) {
          const type = o.weekday && first ? 'weekday' : named ? 'month' : 'timeZoneName';
          first = false;
          return { type, value };
        }
        return { type: 'literal', value };
      });
    }
    formatRange(from, to) {
      const [a, b] = [this.#format(from), this.#format(to)];
      return a === b ? a : `${a} – ${b}`;
    }
  }

  // --- order ------------------------------------------------------------------------------------------
  const rank = (char) => (/\s/u.test(char) ? 0 : /\p{P}/u.test(char) ? 1 : /\p{S}/u.test(char) ? 2 : /\p{Nd}/u.test(char) ? 3 : 4);
  const bases = (text) => [...text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()];
  function primary(a, b, numeric) {
    let [i, j] = [0, 0];
    while (i < a.length && j < b.length) {
      if (numeric && /\d/.test(a[i]) && /\d/.test(b[j])) {
        const run = (text, from) => {
          let to = from;
          while (to < text.length && /\d/.test(text[to])) to++;
          return [text.slice(from, to).join(''), to];
        };
        const [left, nextI] = run(a, i);
        const [right, nextJ] = run(b, j);
        const order = BigInt(left) < BigInt(right) ? -1 : BigInt(left) > BigInt(right) ? 1 : 0;
        if (order !== 0) return order;
        [i, j] = [nextI, nextJ];
        continue;
      }
      if (a[i] !== b[j]) {
        const order = rank(a[i]) - rank(b[j]);
        if (order !== 0) return order < 0 ? -1 : 1;
        return a[i].codePointAt(0) < b[j].codePointAt(0) ? -1 : 1;
      }
      i++;
      j++;
    }
    return Math.sign(a.length - i - (b.length - j));
  }
  function collate(a, b, options = {}) {
    if (a === b) return 0;
    const punctuation = options.ignorePunctuation ? (text) => text.replace(/[\p{P}\s]/gu, '') : (text) => text;
    const [left, right] = [punctuation(a), punctuation(b)];
    const first = primary(bases(left), bases(right), options.numeric === true);
    const sensitivity = options.sensitivity ?? 'variant';
    if (first !== 0 || sensitivity === 'base') return first;
    const marks = (text) => text.normalize('NFD').toLowerCase();
    if (sensitivity !== 'case' && marks(left) !== marks(right)) return marks(left) < marks(right) ? -1 : 1;
    if (sensitivity === 'accent') return 0;
    const [c, d] = [[...left], [...right]];
    for (let i = 0; i < c.length && i < d.length; i++) {
      if (c[i] !== d[i]) return (c[i] === c[i].toLowerCase()) === (options.caseFirst !== 'upper') ? -1 : 1;
    }
    return 0;
  }
  class Collator {
    constructor(locales, options = {}) {
      const locale = localeOf(locales);
      this.compare = (a, b) => collate(String(a), String(b), options);
      this.resolvedOptions = () => ({ locale, usage: 'sort', sensitivity: options.sensitivity ?? 'variant', ignorePunctuation: options.ignorePunctuation === true, numeric: options.numeric === true, caseFirst: options.caseFirst ?? 'false', collation: 'default' });
    }
  }
  class PluralRules {
    constructor(locales, options = {}) {
      localeOf(locales);
      this.select = (number) => {
        const n = Math.abs(Number(number));
        if (options.type !== 'ordinal') return n === 1 ? 'one' : 'other';
        if (n % 10 === 1 && n % 100 !== 11) return 'one';
        if (n % 10 === 2 && n % 100 !== 12) return 'two';
        return n % 10 === 3 && n % 100 !== 13 ? 'few' : 'other';
      };
    }
  }
  class ListFormat {
    constructor(locales, options = {}) {
      localeOf(locales);
      const word = options.type === 'disjunction' ? 'or' : 'and';
      this.format = (list) => {
        const items = Array.from(list, String);
        if (items.length < 2) return items.join('');
        if (options.type === 'unit') return items.join(options.style === 'narrow' ? ' ' : ', ');
        if (options.style && options.style !== 'long' && word === 'and') return items.length === 2 ? `${items[0]} & ${items[1]}` : `${items.slice(0, -1).join(', ')}, & ${items.at(-1)}`;
        return items.length === 2 ? `${items[0]} ${word} ${items[1]}` : `${items.slice(0, -1).join(', ')}, ${word} ${items.at(-1)}`;
      };
    }
  }
  const near = { day: ['yesterday', 'today', 'tomorrow'], year: ['last year', 'this year', 'next year'], month: ['last month', 'this month', 'next month'], week: ['last week', 'this week', 'next week'], quarter: ['last quarter', 'this quarter', 'next quarter'], hour: [undefined, 'this hour'], minute: [undefined, 'this minute'], second: [undefined, 'now'] };
  class RelativeTimeFormat {
    constructor(locales, options = {}) {
      const count = new NumberFormat(localeOf(locales));
      this.format = (value, unit) => {
        const name = String(unit).replace(/s$/, '');
        if (!Object.hasOwn(near, name)) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
        const amount = Number(value);
        if (options.numeric === 'auto') {
          const word = near[name][amount + 1];
          if (word !== undefined) return word;
        }
        const size = Math.abs(amount);
        const label = `${count.format(size)} ${name}${size === 1 ? '' : 's'}`;
        return amount < 0 || Object.is(amount, -0) ? `${label} ago` : `in ${label}`;
      };
    }
  }

  const callable = (Class, name) => {
    const make = function (...args) {
      return new Class(...args);
    };
    Object.defineProperty(make, 'name', { value: name });
    make.prototype = Class.prototype;
    make.supportedLocalesOf = (locales) => (locales === undefined ? [] : Array.isArray(locales) ? [...locales] : [locales]);
    return make;
  };
  define('Intl', {
    NumberFormat: callable(NumberFormat, 'NumberFormat'),
    DateTimeFormat: callable(class extends DateTimeFormat {
      constructor(locales, options) {
        super(locales, options);
      }
    }, 'DateTimeFormat'),
    Collator: callable(Collator, 'Collator'),
    PluralRules, ListFormat, RelativeTimeFormat,
    getCanonicalLocales: (locales) => (locales === undefined ? [] : (Array.isArray(locales) ? locales : [locales]).map(localeOf)),
    supportedValuesOf: (key) => (key === 'timeZone' ? Object.keys(zones) : key === 'currency' ? Object.keys(symbols) : []),
  });

  const method = (target, name, body) => Object.defineProperty(target, name, { value: { [name]: body }[name], writable: true, configurable: true, enumerable: false });
  const english = new NumberFormat();
  const thisNumber = Number.prototype.valueOf;
  method(Number.prototype, 'toLocaleString', function (locales, options) {
    const value = thisNumber.call(this);
    return locales === undefined && options === undefined ? english.format(value) : new NumberFormat(locales, options).format(value);
  });
  method(BigInt.prototype, 'toLocaleString', function (locales, options) {
    return new NumberFormat(locales, options).format(BigInt.prototype.valueOf.call(this));
  });
  for (const [name, need] of [['toLocaleString', 'any'], ['toLocaleDateString', 'dateOnly'], ['toLocaleTimeString', 'timeOnly']]) {
    method(Date.prototype, name, function (locales, options) {
      const ms = this.getTime();
      return ms === ms ? new DateTimeFormat(locales, options, need).format(ms) : 'Invalid Date';
    });
  }
  method(String.prototype, 'localeCompare', function (other, locales, options) {
    return collate(String(this), String(other), options);
  });
});
