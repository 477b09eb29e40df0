// The table codec: values that JSON cannot say, as plain data, without recursion.
// A table is `[root, node, node, …]`. A slot is a JSON primitive, or `[i]` for node i, or one of
// ['u'] undefined, ['n'] NaN, ['i'] Infinity, ['I'] -Infinity, ['z'] -0, ['b', digits] BigInt.
// Nodes: ['O', key, slot, …] ['A', slot, …] ['L', length, key, slot, …] ['D', ms] ['R', source, flags]
// ['E', name, message, stack, cause?] ['M', key, value, …] ['S', slot, …] ['B', base64]
// ['V', type, buffer slot or base64, offset, length] ['W', slot]. `js/sandbox/bridged/table.ts` is the other end.
(function (native, shared) {
  'use strict';
  const { brand, toBase64, fromBase64 } = native;
  const errors = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const views = {
    Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
    Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView,
  };
  const typeName = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get;

  class DataCloneError extends Error {
    get name() {
      return 'DataCloneError';
    }
  }

  function describe(value) {
    if (typeof value === 'symbol') return String(value);
    if (typeof value === 'function') return value.name ? `function ${value.name}` : 'a function';
    return `#<${Object.prototype.toString.call(value).slice(8, -1)}>`;
  }

  // Objects whose data no key leads to: they would arrive empty.
  function hidesData(value) {
    const tag = Object.prototype.toString.call(value);
    return value === globalThis || tag === '[object URL]' || tag === '[object URLSearchParams]';
  }

  // A key of a path: a property, an index, or a piece of text in a list.
  function step(key) {
    if (typeof key === 'number') return `[${key}]`;
    if (typeof key !== 'string') return key[0];
    return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  }
  const mapKey = [' (a key)'];
  const mapItem = ['.get(…)'];
  const member = [' (a member)'];
  const itself = [''];

  function encode(root, max) {
    const nodes = [null];
    const index = new Map();
    const objects = [null];
    // Where each object was found: the node it is in and the key there. Written out for an error only.
    const places = [null];
    let holes = 0;
    const path = (parent, key) => {
      let text = step(key);
      for (; parent > 0; parent = places[parent][0]) text = step(places[parent][1]) + text;
      return `$${text}`;
    };
    const slot = (value, parent, key) => {
      switch (typeof value) {
        case 'string':
        case 'boolean':
          return value;
        case 'number':
          if (value !== value) return ['n'];
          if (value === Infinity) return ['i'];
          if (value === -Infinity) return ['I'];
          return value === 0 && 1 / value < 0 ? ['z'] : value;
        case 'undefined':
          return ['u'];
        case 'bigint':
          if (String(value).length > 20000) throw new DataCloneError(`a BigInt of more than 20000 digits could not be cloned (at ${path(parent, key)})`);
          return ['b', String(value)];
        case 'object':
          break;
        default:
          throw new DataCloneError(`${describe(value)} could not be cloned (at ${path(parent, key)})`);
      }
      if (value === null) return null;
      let at = index.get(value);
      if (at === undefined) {
        at = nodes.length;
        if (at > max) throw new DataCloneError(`the value holds more than ${max} objects and could not be cloned`);
        index.set(value, at);
        nodes[at] = null;
        objects[at] = value;
        places[at] = [parent, key];
      }
      return [at];
    };
    const keyed = (node, value, keys, at) => {
      for (const key of keys) node.push(key, slot(value[key], at, key));
      return node;
    };
    const node = (value, at) => {
      const kind = brand(value);
      switch (kind) {
        case 'ordinary': {
          const keys = Object.keys(value);
          if (keys.length === 0 && hidesData(value)) break;
          return keyed(['O'], value, keys, at);
        }
        case 'array': {
          const keys = Object.keys(value);
          const dense = keys.length === value.length && (keys.length === 0 || keys.at(-1) === String(value.length - 1));
          if (!dense && (holes += value.length) > 1000000) throw new DataCloneError(`an array of ${value.length} mostly empty places could not be cloned (at ${path(...places[at])})`);
          if (!dense) return keyed(['L', value.length], value, keys, at);
          const out = ['A'];
          for (let i = 0; i < keys.length; i++) out.push(slot(value[i], at, i));
          return out;
        }
        case 'date': {
          const ms = Date.prototype.getTime.call(value);
          return ['D', ms === ms ? ms : null];
        }
        case 'regexp':
          return ['R', value.source, value.flags];
        case 'error': {
          const name = String(value.name);
          const out = ['E', Object.hasOwn(errors, name) ? name : 'Error', slot(value.message === undefined ? undefined : String(value.message), at, itself)];
          out.push(slot(value.stack === undefined ? undefined : `${name}: ${value.message}\n${value.stack}`, at, itself));
          if (Object.hasOwn(value, 'cause')) out.push(slot(value.cause, at, 'cause'));
          return out;
        }
        case 'map': {
          const out = ['M'];
          Map.prototype.forEach.call(value, (item, key) => out.push(slot(key, at, mapKey), slot(item, at, mapItem)));
          return out;
        }
        case 'set': {
          const out = ['S'];
          Set.prototype.forEach.call(value, (item) => out.push(slot(item, at, member)));
          return out;
        }
        case 'buffer':
          return ['B', toBase64(new Uint8Array(value))];
        case 'typed':
        case 'view': {
          const name = kind === 'view' ? 'DataView' : typeName.call(value);
          const length = name === 'DataView' ? value.byteLength : value.length;
          if (value.byteLength === value.buffer.byteLength) return ['V', name, slot(value.buffer, at, itself), 0, length];
          return ['V', name, toBase64(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)), 0, length];
        }
        case 'boxed':
          return ['W', slot(value.valueOf(), at, itself)];
      }
      throw new DataCloneError(`${describe(value)} could not be cloned (at ${path(...places[at])})`);
    };
    nodes[0] = slot(root, 0, itself);
    for (let at = 1; at < nodes.length; at++) nodes[at] = node(objects[at], at);
    return nodes;
  }

  function decode(table) {
    const values = new Array(table.length);
    const slot = (item) => {
      if (!Array.isArray(item)) return item;
      switch (item[0]) {
        case 'u': return undefined;
        case 'n': return NaN;
        case 'i': return Infinity;
        case 'I': return -Infinity;
        case 'z': return -0;
        case 'b': return BigInt(item[1]);
        default: return values[item[0]];
      }
    };
    const set = (target, key, value) => {
      // An assignment is several times faster; to this one key it would set the prototype.
      if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
      else target[key] = value;
    };
    for (let at = 1; at < table.length; at++) {
      const node = table[at];
      switch (node[0]) {
        case 'O': values[at] = {}; break;
        case 'A': values[at] = []; break;
        case 'L': values[at] = []; values[at].length = node[1]; break;
        case 'D': values[at] = new Date(node[1] ?? NaN); break;
        case 'R': values[at] = new RegExp(node[1], node[2]); break;
        case 'E': values[at] = new errors[node[1]](); break;
        case 'M': values[at] = new Map(); break;
        case 'S': values[at] = new Set(); break;
        case 'B': values[at] = fromBase64(node[1]).buffer; break;
        case 'W': values[at] = Object(slot(node[1])); break;
      }
    }
    for (let at = 1; at < table.length; at++) {
      const node = table[at];
      if (node[0] === 'V') {
        const buffer = typeof node[2] === 'string' ? fromBase64(node[2]).buffer : slot(node[2]);
        values[at] = new views[node[1]](buffer, node[3], node[4]);
      }
    }
    for (let at = 1; at < table.length; at++) {
      const node = table[at];
      const value = values[at];
      switch (node[0]) {
        case 'O':
          for (let i = 1; i < node.length; i += 2) set(value, node[i], slot(node[i + 1]));
          break;
        case 'A':
          for (let i = 1; i < node.length; i++) value.push(slot(node[i]));
          break;
        case 'L':
          for (let i = 2; i < node.length; i += 2) set(value, node[i], slot(node[i + 1]));
          break;
        case 'E': {
          const hidden = (key, item) => Object.defineProperty(value, key, { value: item, writable: true, configurable: true });
          if (slot(node[2]) !== undefined) hidden('message', slot(node[2]));
          if (node.length > 4) hidden('cause', slot(node[4]));
          break;
        }
        case 'M':
          for (let i = 1; i < node.length; i += 2) value.set(slot(node[i]), slot(node[i + 1]));
          break;
        case 'S':
          for (let i = 1; i < node.length; i++) value.add(slot(node[i]));
          break;
      }
    }
    return slot(table[0]);
  }

  shared.encode = encode;
  shared.clone = (value) => decode(encode(value, Infinity));
  shared.decode = decode;
  shared.DataCloneError = DataCloneError;
});
