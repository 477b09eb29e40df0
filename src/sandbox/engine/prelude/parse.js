// `Date` with the date texts every other engine reads and this one does not: `Nov 5, 2024`, `2024/11/05`,
// `11/5/2024 2:30 PM`. What no rule of ours reads stays an invalid date.
(function (native, shared) {
  'use strict';
  const { define } = shared;
  const Native = Date;
  const { parse, UTC } = Native;
  const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
  const days = /^(sun|mon|tue|wed|thu|fri|sat)/;
  const zones = { z: 0, ut: 0, utc: 0, gmt: 0, est: -300, edt: -240, cst: -360, cdt: -300, mst: -420, mdt: -360, pst: -480, pdt: -420 };

  // Takes the first match out of the text.
  function take(held, pattern) {
    const match = pattern.exec(held.text);
    if (match) held.text = `${held.text.slice(0, match.index)} ${held.text.slice(match.index + match[0].length)}`;
    return match;
  }

  // Milliseconds of the time of day, NaN for none that is one.
  function timeOf(held) {
    const clock = take(held, /(?<!\d)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.:](\d{1,9}))?)?(?:\s*([ap])\.?m\b\.?)?/) ?? take(held, /(?<!\d)(\d{1,2})()()()\s*([ap])\.?m\b\.?/);
    if (!clock) return 0;
    let hour = Number(clock[1]);
    if (clock[5]) {
      if (hour < 1 || hour > 12) return NaN;
      hour = (hour % 12) + (clock[5] === 'p' ? 12 : 0);
    }
    const [minute, second] = [Number(clock[2] || 0), Number(clock[3] || 0)];
    if (hour > 24 || minute > 59 || second > 59) return NaN;
    return ((hour * 60 + minute) * 60 + second) * 1000 + Math.floor(Number(`0.${clock[4] || 0}`) * 1000);
  }

  // Minutes east of UTC, which is local time here.
  function zoneOf(held, timed) {
    const name = take(held, /(?<![a-z])(z|utc?|gmt|[ecmp][sd]t)(?![a-z])/);
    const offset = timed || name ? take(held, /([+-])(\d{2}):?(\d{2})\s*$/) : null;
    return (name ? zones[name[1]] : 0) + (offset ? (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3])) : 0);
  }

  const century = (digits) => {
    const year = Number(digits);
    return digits.length > 2 ? year : year + (year < 50 ? 2000 : 1900);
  };

  function loose(text) {
    const held = { text: text.toLowerCase().replace(/\([^()]*\)/g, ' ').trim() };
    const whole = held.text;
    const time = timeOf(held);
    const zone = zoneOf(held, held.text !== whole);
    const words = held.text.match(/[a-z]+/g) ?? [];
    const numbers = held.text.match(/\d+/g) ?? [];
    if (/[^a-z\d\s,./-]/.test(held.text) || numbers.length > 3 || numbers.some((digits) => digits.length > 6)) return NaN;
    let month = -1;
    for (const word of words) {
      const at = months.indexOf(word.slice(0, 3));
      if (at >= 0 && month < 0) month = at;
      else if (!days.test(word) && !/^(st|nd|rd|th|t|at|of|on)$/.test(word)) return NaN;
    }
    let day = '1';
    let year = '2001';
    if (month >= 0) {
      if (numbers.length === 0 || numbers.length > 2) return NaN;
      const at = numbers.findIndex((digits) => digits.length > 2 || Number(digits) > 31);
      if (at >= 0) [year, day] = [numbers[at], numbers[1 - at] ?? '1'];
      else [day, year] = [numbers[0], numbers[1] ?? year];
    } else if (numbers.length === 3 && words.every((word) => days.test(word) || word === 't')) {
      let first;
      if (numbers[0].length > 2) [year, first, day] = numbers;
      else [first, day, year] = numbers;
      month = Number(first) - 1;
    } else return NaN;
    if (!(month >= 0 && month < 12) || Number(day) < 1 || Number(day) > 31) return NaN;
    const date = new Native(0);
    date.setUTCFullYear(century(year), month, Number(day));
    return date.getTime() + time - zone * 60000;
  }

  const read = (text) => {
    const ms = parse(text);
    return ms === ms ? ms : loose(text);
  };
  function Date_(...args) {
    if (new.target === undefined) return new Native().toString();
    if (args.length === 1 && typeof args[0] === 'string') args[0] = read(args[0]);
    return Reflect.construct(Native, args, new.target);
  }
  const hidden = (target, name, value) => Object.defineProperty(target, name, { value, writable: name !== 'length' && name !== 'name', configurable: true, enumerable: false });
  hidden(Date_, 'name', 'Date');
  hidden(Date_, 'length', 7);
  Object.defineProperty(Date_, 'prototype', { value: Native.prototype, writable: false, configurable: false, enumerable: false });
  hidden(Date_, 'now', Native.now);
  hidden(Date_, 'UTC', UTC);
  hidden(Date_, 'parse', { parse: (text) => read(String(text)) }.parse);
  hidden(Native.prototype, 'constructor', Date_);
  define('Date', Date_);
});
