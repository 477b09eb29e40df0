// Numbers as Intl writes them: English in full, the separators of the locales scripts ask for most.
// What the parts of Intl share is here, too.
(function (native, shared) {
  'use strict';
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
  // unicode_locale_id (UTS 35, 3.2), with hyphens: language, script, region; variants; extensions; private use.
  const tag = /^((?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?)((?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*)((?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*)(?:-x(?:-[a-z0-9]{1,8})+)?$/i;
  const twice = (parts) => new Set(parts).size < parts.length;
  const localeOf = (locales) => {
    const first = Array.isArray(locales) ? locales[0] : locales;
    if (first === undefined) return 'en-US';
    const text = String(first);
    const [, known, variants = '', extensions = ''] = tag.exec(text) ?? [];
    if (known === undefined || twice(variants.toLowerCase().split('-').slice(1)) || twice(extensions.toLowerCase().match(/-[a-z0-9](?=-)/g) ?? [])) {
      throw new RangeError(`Incorrect locale information provided: ${text}`);
    }
    // What only variants and extensions ask for there is not here.
    return known.split('-').map((part, at) => (at === 0 ? part.toLowerCase() : part.length === 4 ? part[0].toUpperCase() + part.slice(1).toLowerCase() : part.toUpperCase())).join('-');
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
      if (unitDisplay === 'narrow' && unit === 'byte') return 'B';
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

  Object.assign(shared, { pick, localeOf, oneOf, NumberFormat, currencies: Object.keys(symbols) });
});
