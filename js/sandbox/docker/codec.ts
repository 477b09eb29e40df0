/** Turns values into JSON text and back. @internal */
export interface Codec {
  /** Throws when something in the value cannot be carried; the message says where. */
  encode(value: unknown): string;
  /** Throws when the text is not what `encode` writes. */
  decode(text: string): unknown;
}

/**
 * The codec of code mode's values between host and container: what structured clone carries, as JSON.
 *
 * The function is self-contained on purpose: its own text is sent to the container and evaluated there,
 * so that both sides are the same code, and it must not refer to anything outside of itself.
 *
 * A value is itself (null, booleans, ordinary numbers, strings) or a tagged list: `['u']` undefined,
 * `['n', text]` the other numbers, `['b', text]` a BigInt, `['r', index]` an object of the table. The
 * table keeps shared and cyclic references as they are.
 *
 * @internal
 */
export function makeCodec(): Codec {
  const toString = Object.prototype.toString;
  const { fromCharCode } = String;
  const toBase64 = globalThis.btoa;
  const fromBase64 = globalThis.atob;
  const views = new Map<string, new (buffer: ArrayBuffer) => unknown>(
    Object.entries({
      Int8Array,
      Uint8Array,
      Uint8ClampedArray,
      Int16Array,
      Uint16Array,
      Int32Array,
      Uint32Array,
      Float32Array,
      Float64Array,
      BigInt64Array,
      BigUint64Array,
      DataView,
    }),
  );
  const errors = new Map<string, new (message?: string) => Error>(
    Object.entries({ Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }),
  );
  // Without keys of their own these are no plain data: what they hold is where no key leads.
  const hidesData = /^(URL|URLSearchParams|Headers|Request|Response|FormData|Blob|File|MessagePort|KeyObject|CryptoKey|.+ Iterator|Intl\..+)$/;
  const refused = /^(Promise|WeakMap|WeakSet|WeakRef|Generator|AsyncGenerator|Symbol)$/;

  function bytesToText(bytes: Uint8Array): string {
    let text = '';
    for (let at = 0; at < bytes.length; at += 4096) {
      text += fromCharCode(...bytes.subarray(at, at + 4096));
    }
    return toBase64(text);
  }

  function textToBytes(text: unknown): Uint8Array<ArrayBuffer> {
    const plain = fromBase64(String(text));
    const bytes = new Uint8Array(plain.length);
    for (let at = 0; at < plain.length; at++) bytes[at] = plain.charCodeAt(at);
    return bytes;
  }

  function uncloneable(what: string, path: string): Error {
    return new Error(`${path || 'the value'} could not be cloned: it is a ${what}`);
  }

  function encode(root: unknown): string {
    const table: unknown[] = [];
    const known = new Map<object, number>();

    function visit(value: unknown, path: string): unknown {
      switch (typeof value) {
        case 'string':
        case 'boolean':
          return value;
        case 'undefined':
          return ['u'];
        case 'bigint':
          return ['b', String(value)];
        case 'number':
          if (Number.isFinite(value) && !Object.is(value, -0)) return value;
          return ['n', Object.is(value, -0) ? '-0' : String(value)];
        case 'object':
          return value === null ? null : ['r', reference(value, path)];
        default:
          throw uncloneable(typeof value, path);
      }
    }

    function reference(value: object, path: string): number {
      const seen = known.get(value);
      if (seen !== undefined) return seen;
      const index = table.length;
      known.set(value, index);
      table.push(null);
      table[index] = describe(value, path);
      return index;
    }

    function describe(value: object, path: string): unknown {
      if (Array.isArray(value)) {
        return ['a', Array.from(value, (item, at) => visit(item, `${path}[${at}]`))];
      }
      const kind = toString.call(value).slice(8, -1);
      if (refused.test(kind)) throw uncloneable(kind, path);
      if (ArrayBuffer.isView(value)) {
        const { buffer, byteOffset, byteLength } = value;
        return ['t', kind, bytesToText(new Uint8Array(buffer, byteOffset, byteLength))];
      }
      switch (kind) {
        case 'Date':
          return ['d', visit((value as Date).getTime(), path)];
        case 'RegExp':
          return ['x', (value as RegExp).source, (value as RegExp).flags];
        case 'Map':
          return [
            'm',
            [...(value as Map<unknown, unknown>)].map(([key, item]) => [
              visit(key, `${path} (a key)`),
              visit(item, `${path} (an entry)`),
            ]),
          ];
        case 'Set':
          return ['s', [...(value as Set<unknown>)].map((item) => visit(item, `${path} (a member)`))];
        case 'ArrayBuffer':
          return ['f', bytesToText(new Uint8Array(value as ArrayBuffer))];
        case 'Error': {
          const { name, message, stack } = value as Error;
          return ['e', String(name), String(message), typeof stack === 'string' ? stack : ''];
        }
        case 'Boolean':
        case 'Number':
        case 'String':
        case 'BigInt':
          return ['w', visit((value as { valueOf(): unknown }).valueOf(), path)];
        default: {
          const keys = Object.keys(value);
          if (keys.length === 0 && hidesData.test(kind)) throw uncloneable(kind, path);
          return [
            'o',
            keys.map((key) => [
              key,
              visit((value as Record<string, unknown>)[key], path === '' ? key : `${path}.${key}`),
            ]),
          ];
        }
      }
    }

    const top = visit(root, '');
    return JSON.stringify([top, table]);
  }

  function decode(text: string): unknown {
    const [top, table] = JSON.parse(text) as [unknown, unknown[]];
    const made: unknown[] = [];

    function value(item: unknown): unknown {
      if (!Array.isArray(item)) {
        if (typeof item === 'object' && item !== null) throw new Error('malformed value');
        return item;
      }
      const detail: unknown = item[1];
      switch (item[0]) {
        case 'u':
          return undefined;
        case 'n':
          return Number(detail);
        case 'b':
          return BigInt(String(detail));
        case 'r':
          return object(Number(detail));
        default:
          throw new Error('malformed value');
      }
    }

    function object(index: number): unknown {
      if (index in made) return made[index];
      const node = table[index];
      if (!Array.isArray(node)) throw new Error('malformed value');
      const [kind, first, second, third] = node as unknown[];
      switch (kind) {
        case 'a': {
          const list: unknown[] = [];
          made[index] = list;
          for (const item of first as unknown[]) list.push(value(item));
          return list;
        }
        case 'o': {
          const plain = {};
          made[index] = plain;
          for (const [key, item] of first as [string, unknown][]) {
            // Not an assignment: the key may be `__proto__`.
            Object.defineProperty(plain, key, {
              value: value(item),
              configurable: true,
              enumerable: true,
              writable: true,
            });
          }
          return plain;
        }
        case 'm': {
          const map = new Map<unknown, unknown>();
          made[index] = map;
          for (const [key, item] of first as [unknown, unknown][]) map.set(value(key), value(item));
          return map;
        }
        case 's': {
          const set = new Set<unknown>();
          made[index] = set;
          for (const item of first as unknown[]) set.add(value(item));
          return set;
        }
        case 'd':
          return (made[index] = new Date(value(first) as number));
        case 'x':
          return (made[index] = new RegExp(String(first), String(second)));
        case 'w':
          return (made[index] = Object(value(first)));
        case 'f':
          return (made[index] = textToBytes(first).buffer);
        case 't': {
          const View = views.get(String(first));
          if (View === undefined) throw new Error('malformed value');
          return (made[index] = new View(textToBytes(second).buffer));
        }
        case 'e': {
          const error = new (errors.get(String(first)) ?? Error)(String(second));
          if (third !== '') {
            Object.defineProperty(error, 'stack', { value: third, configurable: true, writable: true });
          }
          return (made[index] = error);
        }
        default:
          throw new Error('malformed value');
      }
    }

    return value(top);
  }

  return { encode, decode };
}
