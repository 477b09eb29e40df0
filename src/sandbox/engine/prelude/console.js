// The console: values as Node shows them, one line at a time.
(function (native, shared) {
  'use strict';
  const { define } = shared;

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
});
