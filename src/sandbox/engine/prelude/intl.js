// Intl and the toLocale… family, put together from `numbers.js`, `dates.js` and `words.js`. The engine's
// own versions ignore their options silently, which is worse than a small honest one.
(function (native, shared) {
  'use strict';
  const { define, NumberFormat, DateTimeFormat, collate, Collator, PluralRules, ListFormat, RelativeTimeFormat, localeOf, zones, currencies } = shared;

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
    supportedValuesOf: (key) => (key === 'timeZone' ? zones : key === 'currency' ? currencies : []),
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
