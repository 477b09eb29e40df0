// What a script finds besides the language: console, timers, encoding, the shims of Node's globals.
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

  // --- console -------------------------------------------------------------------------------
  const quote = (text) => (text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replace(/'/g, "\\'").replace(/\n/g, '\\n')}'`);
  function show(value, depth, seen) {
    switch (typeof value) {
      case 'string':
        return depth === 0 ? value : quote(value);
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return value.toString();
      case 'function':
        return value.name ? `[Function: ${value.name}]` : '[Function (anonymous)]';
      case 'object':
        break;
      default:
        return Object.is(value, -0) ? '-0' : String(value);
    }
    if (value === null) return 'null';
    if (seen.includes(value)) return '[Circular *1]';
    const kind = native.brand(value);
    if (kind === 'error') return String(value.stack ? `${value.name}: ${value.message}` : value);
    if (kind === 'date') return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (kind === 'regexp') return String(value);
    if (depth > 3) return kind === 'array' ? '[Array]' : '[Object]';
    const inside = [...seen, value];
    const item = (one) => show(one, depth + 1, inside);
    const wrap = (open, items, close) => {
      if (items.length === 0) return open.trimEnd() + close.trimStart();
      const line = `${open} ${items.join(', ')} ${close}`;
      if (line.length <= 76) return line;
      const pad = '  '.repeat(depth + 1);
      return `${open}\n${items.map((one) => pad + one).join(',\n')}\n${'  '.repeat(depth)}${close}`;
    };
    const capped = (items) => (items.length > 100 ? [...items.slice(0, 100), `... ${items.length - 100} more items`] : items);
    if (kind === 'array' || kind === 'typed') {
      const prefix = kind === 'typed' ? `${value.constructor.name}(${value.length}) ` : '';
      return wrap(`${prefix}[`, capped(Array.from(value)).map((one) => (typeof one === 'string' && one.startsWith('... ') ? one : item(one))), ']');
    }
    if (kind === 'map') return wrap(`Map(${value.size}) {`, capped([...value]).map(([k, v]) => `${item(k)} => ${item(v)}`), '}');
    if (kind === 'set') return wrap(`Set(${value.size}) {`, capped([...value]).map(item), '}');
    const name = value.constructor?.name;
    const open = name && name !== 'Object' ? `${name} {` : Object.getPrototypeOf(value) === null ? '[Object: null prototype] {' : '{';
    const entries = Object.keys(value).map((key) => {
      const label = /^[A-Za-z_$][\w$]*$/.test(key) ? key : quote(key);
      return `${label}: ${item(value[key])}`;
    });
    return wrap(open, capped(entries), '}');
  }
  function format(args) {
    const rest = [...args];
    if (typeof rest[0] === 'string' && rest.length > 1 && rest[0].includes('%')) {
      const pattern = rest.shift();
      const filled = pattern.replace(/%([sdifjoOc%])/g, (whole, letter) => {
        if (letter === '%') return '%';
        if (rest.length === 0) return whole;
        const value = rest.shift();
        if (letter === 's') return typeof value === 'string' ? value : show(value, 1, []);
        if (letter === 'd') return String(Number(value));
        if (letter === 'i') return String(parseInt(value, 10));
        if (letter === 'f') return String(parseFloat(value));
        if (letter === 'c') return '';
        return letter === 'j' ? JSON.stringify(value) : show(value, 1, []);
      });
      rest.unshift(filled);
    }
    return rest.map((value) => show(value, 0, [])).join(' ');
  }
  let indent = '';
  const counts = new Map();
  const clocks = new Map();
  const say = (level, args) => {
    let text;
    try {
      text = format(args);
    } catch {
      text = '[a value that cannot be shown]';
    }
    native.log(level, indent === '' ? text : text.split('\n').map((line) => indent + line).join('\n'));
  };
  function table(rows, columns) {
    if (typeof rows !== 'object' || rows === null) return say(0, [rows]);
    const entries = native.brand(rows) === 'map' ? [...rows] : Object.entries(rows);
    const keys = columns ?? [...new Set(entries.flatMap(([, row]) => (typeof row === 'object' && row !== null ? Object.keys(row) : ['Values'])))];
    const cell = (row, key) => {
      if (typeof row !== 'object' || row === null) return key === 'Values' ? show(row, 1, []) : '';
      return key in row ? show(row[key], 1, []) : '';
    };
    const lines = [['(index)', ...keys], ...entries.map(([at, row]) => [String(at), ...keys.map((key) => cell(row, key))])];
    const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
    native.log(0, lines.map((line) => line.map((text, at) => text.padEnd(widths[at])).join(' | ').trimEnd()).join('\n'));
  }
  define('console', {
    log: (...args) => say(0, args),
    info: (...args) => say(1, args),
    debug: (...args) => say(1, args),
    warn: (...args) => say(2, args),
    error: (...args) => say(3, args),
    trace: (...args) => say(3, ['Trace:', ...args]),
    dir: (value) => say(0, [value]),
    table,
    assert: (truth, ...args) => (truth ? undefined : say(3, ['Assertion failed', ...args])),
    group: (...args) => {
      if (args.length > 0) say(0, args);
      if (indent.length < 40) indent += '  ';
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
    count: (label = 'default') => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      say(0, [`${label}: ${counts.get(label)}`]);
    },
    countReset: (label = 'default') => void counts.delete(label),
    time: (label = 'default') => void clocks.set(label, native.elapsed()),
    timeEnd: (label = 'default') => {
      if (clocks.has(label)) say(0, [`${label}: ${(native.elapsed() - clocks.get(label)).toFixed(3)}ms`]);
      clocks.delete(label);
    },
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

  // --- values and text ---------------------------------------------------------------------------
  const { clone, toBase64, fromBase64, DataCloneError } = shared;
  define('structuredClone', function structuredClone(value) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value');
    return clone(value);
  });
  define(
    'TextEncoder',
    class TextEncoder {
      get encoding() {
        return 'utf-8';
      }
      encode(text = '') {
        return native.encode(String(text));
      }
      encodeInto(text, target) {
        const bytes = native.encode(String(text)).subarray(0, target.length);
        target.set(bytes);
        return { read: text.length, written: bytes.length };
      }
    },
  );
  define(
    'TextDecoder',
    class TextDecoder {
      #fatal;
      #keepMark;
      constructor(label = 'utf-8', options = {}) {
        if (!/^utf-?8$/i.test(String(label).trim())) throw new RangeError(`The "${label}" encoding is not supported, only utf-8 is`);
        this.#fatal = options.fatal === true;
        this.#keepMark = options.ignoreBOM === true;
      }
      get encoding() {
        return 'utf-8';
      }
      decode(input = new Uint8Array()) {
        const bytes = ArrayBuffer.isView(input) ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength) : new Uint8Array(input);
        const text = native.decode(bytes, this.#fatal);
        return !this.#keepMark && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
      }
    },
  );
  const invalid = (message) => Object.assign(new DataCloneError(message), { code: 5 });
  define('btoa', function btoa(text) {
    const bytes = Uint8Array.from(String(text), (char) => {
      if (char.length > 1 || char.charCodeAt(0) > 255) throw invalid('btoa: the text holds characters beyond Latin-1');
      return char.charCodeAt(0);
    });
    return toBase64(bytes);
  });
  define('atob', function atob(text) {
    const clean = String(text).replace(/[\t\n\f\r ]/g, '').replace(/={1,2}$/, '');
    if (!/^[A-Za-z0-9+/]*$/.test(clean) || clean.length % 4 === 1) throw invalid('atob: the text is not correctly encoded');
    let out = '';
    for (const byte of fromBase64(clean)) out += String.fromCharCode(byte);
    return out;
  });

  // --- crypto: randomness only ----------------------------------------------------------------------
  const bytes = (array) => {
    for (let i = 0; i < array.length; i++) array[i] = Math.floor(native.random() * 256);
    return array;
  };
  define('crypto', {
    randomUUID() {
      const b = bytes(new Uint8Array(16));
      b[6] = (b[6] & 0x0f) | 0x40;
      b[8] = (b[8] & 0x3f) | 0x80;
      const hex = Array.from(b, (byte) => byte.toString(16).padStart(2, '0')).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
    },
    getRandomValues(array) {
      if (array.byteLength > 65536) throw new RangeError('getRandomValues gives at most 65536 bytes');
      bytes(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
      return array;
    },
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
