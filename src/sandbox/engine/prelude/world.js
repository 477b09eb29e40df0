// What every script finds besides the language: timers, cloning, the shims of Node's globals.
(function (native, shared) {
  'use strict';
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  shared.define = define;
  for (const name of ['SharedArrayBuffer', 'Atomics', 'WebAssembly', 'ShadowRealm']) delete globalThis[name];

  Object.defineProperty(Math, 'random', {
    value: function random() {
      return native.random();
    },
    writable: true,
    configurable: true,
    enumerable: false,
  });

  // What classes of errors call in their constructors, where they were written for Node.
  const hidden = { writable: true, configurable: true, enumerable: false };
  Object.defineProperty(Error, 'captureStackTrace', {
    value: {
      captureStackTrace(target) {
        if (Object(target) !== target) throw new TypeError(`Invalid argument: ${String(target)} is no object`);
        Object.defineProperty(target, 'stack', { value: new Error().stack, ...hidden });
      },
    }.captureStackTrace,
    ...hidden,
  });

  // The engine escapes every slash of a pattern, also one that is escaped already.
  const rawSource = Object.getOwnPropertyDescriptor(RegExp.prototype, 'source').get;
  Object.defineProperty(RegExp.prototype, 'source', {
    get() {
      const raw = rawSource.call(this);
      if (!raw.includes('/')) return raw;
      const written = raw.replaceAll('\\/', '/');
      let out = '';
      let inClass = false;
      for (let at = 0; at < written.length; at++) {
        const char = written[at];
        if (char === '\\') {
          out += char + (written[++at] ?? '');
          continue;
        }
        if (char === '[') inClass = true;
        else if (char === ']') inClass = false;
        out += char === '/' && !inClass ? '\\/' : char;
      }
      return out;
    },
    configurable: true,
    enumerable: false,
  });

  // --- timers ----------------------------------------------------------------------------------
  define('setTimeout', function setTimeout(callback, ms, ...args) {
    return native.timer(callback, ms, false, ...args);
  });
  define('setInterval', function setInterval(callback, ms, ...args) {
    return native.timer(callback, ms, true, ...args);
  });
  define('setImmediate', function setImmediate(callback, ...args) {
    return native.timer(callback, 0, false, ...args);
  });
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) {
    define(name, { [name]: (id) => void (typeof id === 'number' && native.clear(id)) }[name]);
  }
  define('queueMicrotask', function queueMicrotask(callback) {
    if (typeof callback !== 'function') throw new TypeError('queueMicrotask needs a function');
    Promise.resolve().then(() => callback());
  });
  define('performance', { now: () => native.elapsed(), timeOrigin: 0 });

  // --- values ------------------------------------------------------------------------------------
  const { clone } = shared;
  define('structuredClone', function structuredClone(value) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value');
    return clone(value);
  });

  // --- Node's globals, closed -------------------------------------------------------------------------
  define('process', {
    env: Object.create(null),
    cwd: () => '/sandbox',
    exit: (code = 0) => native.exit(code),
    nextTick: (callback, ...args) => queueMicrotask(() => callback(...args)),
  });
  define('require', function require(specifier) {
    throw native.deny(String(specifier));
  });
  define('fetch', function fetch() {
    throw native.deny();
  });
  define('global', globalThis);
});
