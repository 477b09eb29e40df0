// The toLocale… family. The engine's own versions ignore their options silently, which is worse than a small
// honest one. What does the work is in parts that may not be here yet when a method is called.
(function (native, shared) {
  'use strict';
  const intl = () => {
    if (shared.english === undefined) native.rest();
    return shared;
  };
  const method = (target, name, body) => Object.defineProperty(target, name, { value: { [name]: body }[name], writable: true, configurable: true, enumerable: false });
  const thisNumber = Number.prototype.valueOf;
  method(Number.prototype, 'toLocaleString', function (locales, options) {
    const value = thisNumber.call(this);
    const { english, NumberFormat } = intl();
    return locales === undefined && options === undefined ? english.format(value) : new NumberFormat(locales, options).format(value);
  });
  method(BigInt.prototype, 'toLocaleString', function (locales, options) {
    const { NumberFormat } = intl();
    return new NumberFormat(locales, options).format(BigInt.prototype.valueOf.call(this));
  });
  for (const [name, need] of [['toLocaleString', 'any'], ['toLocaleDateString', 'dateOnly'], ['toLocaleTimeString', 'timeOnly']]) {
    method(Date.prototype, name, function (locales, options) {
      const ms = this.getTime();
      if (ms !== ms) return 'Invalid Date';
      const { DateTimeFormat } = intl();
      return new DateTimeFormat(locales, options, need).format(ms);
    });
  }
  let collate;
  method(String.prototype, 'localeCompare', function (other, locales, options) {
    collate ??= intl().collate;
    return collate(String(this), String(other), options);
  });
});
