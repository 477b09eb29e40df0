// The rest of Intl: order of texts, plurals, lists, relative time. English.
(function (native, shared) {
  'use strict';
  const { localeOf, NumberFormat } = shared;

  // What texts that are not ASCII are compared by is made once for each text, a sort compares each often.
  const kept = (make) => {
    let known = new Map();
    return (text) => {
      let value = known.get(text);
      if (value === undefined) {
        if (known.size >= 20000) known = new Map();
        known.set(text, (value = make(text)));
      }
      return value;
    };
  };
  const rank = kept((char) => (/\s/u.test(char) ? 0 : /\p{P}/u.test(char) ? 1 : /\p{S}/u.test(char) ? 2 : /\p{Nd}/u.test(char) ? 3 : 4));
  const bases = kept((text) => [...text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()]);
  const marks = kept((text) => text.normalize('NFD').toLowerCase());
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
    if (!options.ignorePunctuation) {
      const order = native.collate(a, b, options.numeric === true, options.sensitivity ?? 'variant', options.caseFirst === 'upper');
      if (order !== undefined) return order;
    }
    const punctuation = options.ignorePunctuation ? (text) => text.replace(/[\p{P}\s]/gu, '') : (text) => text;
    const [left, right] = [punctuation(a), punctuation(b)];
    const first = primary(bases(left), bases(right), options.numeric === true);
    const sensitivity = options.sensitivity ?? 'variant';
    if (first !== 0 || sensitivity === 'base') return first;
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
  const short = { second: 'sec.', minute: 'min.', hour: 'hr.', week: 'wk.', month: 'mo.', quarter: 'qtr.', year: 'yr.' };
  const narrow = { second: 's', minute: 'm', hour: 'h', day: 'd', week: 'w', month: 'mo', quarter: 'q', year: 'y' };
  function unitOf(name, size, style) {
    if (style === 'narrow') return narrow[name];
    if (style !== 'short' || name === 'day') return ` ${name}${size === 1 ? '' : 's'}`;
    return name === 'quarter' && size !== 1 ? ' qtrs.' : ` ${short[name]}`;
  }
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
        const label = `${count.format(size)}${unitOf(name, size, options.style)}`;
        return amount < 0 || Object.is(amount, -0) ? `${label} ago` : `in ${label}`;
      };
    }
  }

  Object.assign(shared, { collate, Collator, PluralRules, ListFormat, RelativeTimeFormat });
});
