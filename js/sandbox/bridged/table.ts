/**
 * The table codec, host end: values JSON cannot say, as plain data. The format is described where the
 * other end is, in the prelude of the engine (`src/sandbox/engine/prelude/values.js`).
 *
 * What comes from a script is checked before it becomes a value: indices, types, lengths, and how large
 * it would be written out, because shared objects let a short table stand for an endless text.
 *
 * @internal
 */
import * as types from 'node:util/types';

type Node = unknown[];
type View = { new (buffer: ArrayBuffer, offset: number, length: number): ArrayBufferView };

const errorClasses: Record<string, new () => Error> = { Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
const views: Record<string, View> = {
  Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array,
  Float32Array, Float64Array, BigInt64Array, BigUint64Array, DataView,
};
/** Objects a result may hold on its way to a script. */
const MAX_NODES = 200_000;
/** Objects a value may hold on its way from a script. */
const MAX_NODES_IN = 30_000;
const MAX_HOLES = 1_000_000;
const MAX_DIGITS = 20_000;
/** Characters a decoded value may have when every shared object is written out each time. */
const MAX_EXPANDED = 32 * 1024 * 1024;

/** A table that no honest sandbox sends. @internal */
export class MalformedValue extends Error {}

function describe(value: unknown): string {
  if (typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return value.name === '' ? 'a function' : `function ${value.name}`;
  return `#<${Object.prototype.toString.call(value).slice(8, -1)}>`;
}

function uncloneable(value: unknown, path: string): Error {
  return new Error(`${describe(value)} could not be cloned (at ${path})`);
}

/** The table of a value. Throws an Error that names what could not be cloned and where. @internal */
export function encodeTable(root: unknown): unknown[] {
  const nodes: unknown[] = [null];
  const index = new Map<object, number>();
  const queue: [object, number, string][] = [];
  const slot = (value: unknown, path: string): unknown => {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value;
      case 'number':
        if (Number.isNaN(value)) return ['n'];
        if (value === Infinity) return ['i'];
        if (value === -Infinity) return ['I'];
        return Object.is(value, -0) ? ['z'] : value;
      case 'undefined':
        return ['u'];
      case 'bigint':
        return ['b', String(value)];
      case 'object':
        break;
      default:
        throw uncloneable(value, path);
    }
    if (value === null) return null;
    let at = index.get(value);
    if (at === undefined) {
      at = nodes.length;
      if (at > MAX_NODES) throw new Error(`the value holds more than ${MAX_NODES} objects and could not be cloned`);
      index.set(value, at);
      nodes.push(null);
      queue.push([value, at, path]);
    }
    return [at];
  };
  nodes[0] = slot(root, '$');
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) nodes[next[1]] = encodeNode(next[0], next[2], slot);
  return nodes;
}

function encodeNode(value: object, path: string, slot: (value: unknown, path: string) => unknown): Node {
  const keyed = (node: Node, keys: string[]): Node => {
    for (const key of keys) node.push(key, slot((value as Record<string, unknown>)[key], /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`));
    return node;
  };
  if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || types.isGeneratorObject(value) || types.isExternal(value)) {
    throw uncloneable(value, path);
  }
  if (Array.isArray(value)) {
    const keys = Object.keys(value);
    const dense = keys.length === value.length && (keys.length === 0 || keys.at(-1) === String(value.length - 1));
    if (dense) return ['A', ...value.map((item, at) => slot(item, `${path}[${at}]`))];
    if (value.length > MAX_HOLES) throw new Error(`an array of ${value.length} mostly empty places could not be cloned (at ${path})`);
    return keyed(['L', value.length], keys);
  }
  if (types.isDate(value)) {
    const ms = Date.prototype.getTime.call(value);
    return ['D', Number.isNaN(ms) ? null : ms];
  }
  if (types.isRegExp(value)) return ['R', value.source, value.flags];
  if (types.isMap(value)) {
    const node: Node = ['M'];
    for (const [key, item] of Map.prototype.entries.call(value)) node.push(slot(key, `${path} (a key)`), slot(item, `${path}.get(…)`));
    return node;
  }
  if (types.isSet(value)) {
    const node: Node = ['S'];
    for (const item of Set.prototype.values.call(value)) node.push(slot(item, `${path} (a member)`));
    return node;
  }
  if (types.isNativeError(value) || value instanceof Error) {
    const name = String(value.name);
    const node: Node = ['E', Object.hasOwn(errorClasses, name) ? name : 'Error', slot(String(value.message), path), ['u']];
    if (Object.hasOwn(value, 'cause')) node.push(slot((value as Error).cause, `${path}.cause`));
    return node;
  }
  if (types.isSharedArrayBuffer(value)) throw uncloneable(value, path);
  if (types.isArrayBuffer(value)) return ['B', Buffer.from(value).toString('base64')];
  if (ArrayBuffer.isView(value)) {
    const name = types.isDataView(value) ? 'DataView' : types.isTypedArray(value) ? Object.prototype.toString.call(value).slice(8, -1) : '';
    const known = Object.hasOwn(views, name) ? name : 'Uint8Array';
    const length = types.isTypedArray(value) ? value.length : value.byteLength;
    // A view into a larger buffer takes along what it shows, not the rest of the buffer.
    const whole = value.byteLength === value.buffer.byteLength && types.isArrayBuffer(value.buffer);
    const bytes = whole ? slot(value.buffer, path) : Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
    return ['V', known, bytes, 0, length];
  }
  if (types.isBoxedPrimitive(value)) return ['W', slot((value as { valueOf(): unknown }).valueOf(), path)];
  return keyed(['O'], Object.keys(value));
}

function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new MalformedValue(what);
}

/** The value of a table that came from a script. Throws {@link MalformedValue}. @internal */
export function decodeTable(table: unknown): unknown {
  must(Array.isArray(table) && table.length > 0 && table.length <= MAX_NODES_IN + 2, 'no table');
  const nodes = table as unknown[];
  const values: unknown[] = new Array(nodes.length);
  const node = (at: number): Node => {
    const found = nodes[at];
    must(Array.isArray(found) && typeof found[0] === 'string', 'a node is malformed');
    return found;
  };
  const slot = (item: unknown): unknown => {
    if (!Array.isArray(item)) {
      must(item === null || typeof item !== 'object', 'a slot is malformed');
      return item;
    }
    switch (item[0]) {
      case 'u': return undefined;
      case 'n': return NaN;
      case 'i': return Infinity;
      case 'I': return -Infinity;
      case 'z': return -0;
      case 'b':
        must(typeof item[1] === 'string' && item[1].length <= MAX_DIGITS && /^-?\d+$/.test(item[1]), 'a number is malformed');
        return BigInt(item[1]);
      default:
        must(Number.isInteger(item[0]) && item[0] > 0 && item[0] < nodes.length, 'a reference leads nowhere');
        return values[item[0] as number];
    }
  };
  try {
    for (let at = 1; at < nodes.length; at++) values[at] = shell(node(at), slot);
    for (let at = 1; at < nodes.length; at++) if (node(at)[0] === 'V') values[at] = view(node(at), slot);
    checkExpansion(nodes);
    for (let at = 1; at < nodes.length; at++) fill(values[at], node(at), slot);
  } catch (error) {
    // `new RegExp` and typed arrays have opinions of their own about what they are given.
    throw error instanceof MalformedValue ? error : new MalformedValue(String((error as Error).message));
  }
  return slot(nodes[0]);
}

function shell(node: Node, slot: (item: unknown) => unknown): unknown {
  switch (node[0]) {
    case 'O': return {};
    case 'A': return [];
    case 'L': {
      must(Number.isInteger(node[1]) && (node[1] as number) >= 0 && (node[1] as number) <= MAX_HOLES, 'a length is malformed');
      const list: unknown[] = [];
      list.length = node[1] as number;
      return list;
    }
    case 'D':
      must(node[1] === null || typeof node[1] === 'number', 'a date is malformed');
      return new Date(node[1] ?? NaN);
    case 'R':
      must(typeof node[1] === 'string' && typeof node[2] === 'string', 'a pattern is malformed');
      return new RegExp(node[1], node[2]);
    case 'E': {
      const Class = typeof node[1] === 'string' && Object.hasOwn(errorClasses, node[1]) ? errorClasses[node[1]] : undefined;
      must(Class !== undefined, 'an error is malformed');
      return new Class();
    }
    case 'M': return new Map();
    case 'S': return new Set();
    case 'B': return bytes(node[1]);
    case 'V': return undefined;
    case 'W': {
      const primitive = slot(node[1]);
      must(primitive !== null && primitive !== undefined && typeof primitive !== 'object', 'a boxed value is malformed');
      return Object(primitive);
    }
    default:
      throw new MalformedValue('a node is of no known kind');
  }
}

function bytes(text: unknown): ArrayBuffer {
  must(typeof text === 'string', 'bytes are malformed');
  const held = Buffer.from(text, 'base64');
  const buffer = new ArrayBuffer(held.length);
  new Uint8Array(buffer).set(held);
  return buffer;
}

function view(node: Node, slot: (item: unknown) => unknown): unknown {
  const View = typeof node[1] === 'string' && Object.hasOwn(views, node[1]) ? views[node[1]] : undefined;
  const buffer = typeof node[2] === 'string' ? bytes(node[2]) : slot(node[2]);
  must(View !== undefined && types.isArrayBuffer(buffer) && Number.isInteger(node[3]) && Number.isInteger(node[4]), 'a view is malformed');
  return new View(buffer, node[3] as number, node[4] as number);
}

function define(target: object, key: unknown, value: unknown): void {
  must(typeof key === 'string', 'a key is malformed');
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function fill(value: unknown, node: Node, slot: (item: unknown) => unknown): void {
  switch (node[0]) {
    case 'O':
      for (let i = 1; i < node.length; i += 2) define(value as object, node[i], slot(node[i + 1]));
      break;
    case 'A':
      for (let i = 1; i < node.length; i++) (value as unknown[]).push(slot(node[i]));
      break;
    case 'L':
      for (let i = 2; i < node.length; i += 2) {
        must(node[i] !== 'length', 'a key is malformed');
        must(!/^\d+$/.test(String(node[i])) || Number(node[i]) < (node[1] as number), 'an index is out of range');
        define(value as object, node[i], slot(node[i + 1]));
      }
      break;
    case 'E': {
      const hidden = (key: string, item: unknown): void => void Object.defineProperty(value, key, { value: item, writable: true, configurable: true, enumerable: false });
      const [message, stack] = [slot(node[2]), slot(node[3])];
      if (message !== undefined) hidden('message', String(message));
      if (typeof stack === 'string') hidden('stack', stack);
      if (node.length > 4) hidden('cause', slot(node[4]));
      break;
    }
    case 'M':
      for (let i = 1; i < node.length; i += 2) (value as Map<unknown, unknown>).set(slot(node[i]), slot(node[i + 1]));
      break;
    case 'S':
      for (let i = 1; i < node.length; i++) (value as Set<unknown>).add(slot(node[i]));
      break;
  }
}

/** Refuses a table whose value, with every shared object written out, would be enormous. */
function checkExpansion(nodes: unknown[]): void {
  const size = new Float64Array(nodes.length);
  const state = new Uint8Array(nodes.length);
  const references = (at: number): number[] => (nodes[at] as Node).filter((item): item is [number] => Array.isArray(item) && typeof item[0] === 'number').map((item) => item[0]);
  for (let root = 1; root < nodes.length; root++) {
    const stack = [root];
    while (stack.length > 0) {
      const at = stack[stack.length - 1] as number;
      if (state[at] === 0) {
        state[at] = 1;
        for (const child of references(at)) if (state[child] === 0) stack.push(child);
      } else {
        stack.pop();
        if (state[at] === 2) continue;
        state[at] = 2;
        let total = 2;
        for (const item of nodes[at] as Node) total += typeof item === 'string' ? item.length + 4 : 8;
        for (const child of references(at)) total += state[child] === 2 ? (size[child] as number) : 0;
        size[at] = total;
        must(total <= MAX_EXPANDED, 'the value refers to the same objects too often');
      }
    }
  }
}
