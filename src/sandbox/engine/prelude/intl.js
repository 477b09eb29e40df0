// Intl, put together from `numbers.js`, `dates.js` and `words.js`.
(function (native, shared) {
  'use strict';
  const { define, NumberFormat, DateTimeFormat, Collator, PluralRules, ListFormat, RelativeTimeFormat, localeOf, zones, currencies } = shared;

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

  // The methods are in `locale.js`; this one is what they know it by that all of this is here.
  shared.english = new NumberFormat();
});
