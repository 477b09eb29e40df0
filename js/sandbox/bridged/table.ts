/**
 * Reads a table (`table-format.ts`), a piece at a time. A table comes from a script, so it is checked
 * before it becomes a value: indices, types, lengths, and how large it would be written out, because
 * shared objects let a short table stand for an endless text.
 *
 * @internal
 */
import * as types from 'node:util/types';
import { MalformedValue } from './malformed.js';
import { PIECE_COST } from './pieces.js';
import type { Steps } from './slices.js';
import { MAX_HOLES, errorClasses, views, type Node } from './table-format.js';

type Slot = (item: unknown) => unknown;

const MAX_DIGITS = 20_000;
/** What making an error costs, against 4 for another object. */
const ERROR_COST = 40;
/** Characters a decoded value may have when every shared object is written out each time. */
const MAX_EXPANDED = 32 * 1024 * 1024;

function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new MalformedValue(what);
}

/** The value of a table that came from a script. Throws {@link MalformedValue}. @internal */
export function* readTable(table: unknown): Steps<unknown> {
  must(Array.isArray(table) && table.length > 0, 'no table');
  const nodes: unknown[] = table;
  const values: unknown[] = new Array(nodes.length);
  let cost = 0;
  let holes = 0;
  const slot: Slot = (item) => {
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
        cost += item[1].length;
        return BigInt(item[1]);
      default:
        must(Number.isInteger(item[0]) && item[0] > 0 && item[0] < nodes.length, 'a reference leads nowhere');
        return values[item[0] as number];
    }
  };
  try {
    const buffered: number[] = [];
    for (let at = 1; at < nodes.length; at++) {
      const node = nodes[at];
      must(Array.isArray(node) && typeof node[0] === 'string', 'a node is malformed');
      if (node[0] === 'L') must((holes += node[1] as number) <= MAX_HOLES, 'a length is malformed');
      // A view needs its buffer, which may come later.
      if (node[0] === 'V') buffered.push(at);
      else values[at] = shell(node, slot);
      if ((cost += node[0] === 'E' ? ERROR_COST : 4) >= PIECE_COST) yield void (cost = 0);
    }
    for (const at of buffered) {
      values[at] = view(nodes[at] as Node, slot);
      if ((cost += 4) >= PIECE_COST) yield void (cost = 0);
    }
    yield* checkExpansion(nodes as Node[]);
    for (let at = 1; at < nodes.length; at++) {
      for (const _ of fill(values[at], nodes[at] as Node, slot)) if ((cost += 1) >= PIECE_COST) yield void (cost = 0);
      // Many small objects count, too.
      if ((cost += (nodes[at] as Node)[0] === 'E' ? ERROR_COST : 1) >= PIECE_COST) yield void (cost = 0);
    }
  } catch (error) {
    // `new RegExp` and typed arrays have opinions of their own about what they are given.
    throw error instanceof MalformedValue ? error : new MalformedValue(String((error as Error).message));
  }
  return slot(nodes[0]);
}

function shell(node: Node, slot: Slot): unknown {
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
      return withoutTrace(Class);
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

/** An error without the host's stack, which is no business of a script's value and slow to take down. */
function withoutTrace(Class: new () => Error): Error {
  const limit = Error.stackTraceLimit;
  try {
    Error.stackTraceLimit = 0;
    return new Class();
  } finally {
    Error.stackTraceLimit = limit;
  }
}

function bytes(text: unknown): ArrayBuffer {
  must(typeof text === 'string', 'bytes are malformed');
  const held = Buffer.from(text, 'base64');
  const buffer = new ArrayBuffer(held.length);
  new Uint8Array(buffer).set(held);
  return buffer;
}

function view(node: Node, slot: Slot): unknown {
  const View = typeof node[1] === 'string' && Object.hasOwn(views, node[1]) ? views[node[1]] : undefined;
  const buffer = typeof node[2] === 'string' ? bytes(node[2]) : slot(node[2]);
  must(View !== undefined && types.isArrayBuffer(buffer) && Number.isInteger(node[3]) && Number.isInteger(node[4]), 'a view is malformed');
  return new View(buffer, node[3] as number, node[4] as number);
}

function define(target: object, key: unknown, value: unknown): void {
  must(typeof key === 'string', 'a key is malformed');
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Puts into an object what it holds, pausing after each item. */
function* fill(value: unknown, node: Node, slot: Slot): Generator<void, void, void> {
  switch (node[0]) {
    case 'O':
      for (let i = 1; i < node.length; i += 2) yield define(value as object, node[i], slot(node[i + 1]));
      break;
    case 'A':
      for (let i = 1; i < node.length; i++) yield void (value as unknown[]).push(slot(node[i]));
      break;
    case 'L':
      for (let i = 2; i < node.length; i += 2) {
        must(node[i] !== 'length', 'a key is malformed');
        must(!/^\d+$/.test(String(node[i])) || Number(node[i]) < (node[1] as number), 'an index is out of range');
        yield define(value as object, node[i], slot(node[i + 1]));
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
      for (let i = 1; i < node.length; i += 2) yield void (value as Map<unknown, unknown>).set(slot(node[i]), slot(node[i + 1]));
      break;
    case 'S':
      for (let i = 1; i < node.length; i++) yield void (value as Set<unknown>).add(slot(node[i]));
      break;
  }
}

/** Refuses a table whose value, with every shared object written out, would be enormous. */
function* checkExpansion(nodes: Node[]): Steps<void> {
  const size = new Float64Array(nodes.length);
  /** How far the items of a node have been looked at; its length plus one once they are counted. */
  const seen = new Uint32Array(nodes.length);
  let cost = 0;
  for (let root = 1; root < nodes.length; root++) {
    if (seen[root] !== 0) continue;
    const stack = [root];
    while (stack.length > 0) {
      const at = stack[stack.length - 1] as number;
      const node = nodes[at] as Node;
      if (++cost % PIECE_COST === 0) yield;
      const next = seen[at] as number;
      if (next < node.length) {
        seen[at] = next + 1;
        const item = node[next];
        size[at] = (size[at] as number) + (typeof item === 'string' ? item.length + 4 : 8);
        const child = reference(item);
        if (child === undefined || !(child > 0 && child < nodes.length)) continue;
        if (seen[child] === 0) stack.push(child);
        // What is on the way to this very node refers back, and adds nothing.
        else if ((seen[child] as number) > (nodes[child] as Node).length) size[at] += size[child] as number;
      } else {
        stack.pop();
        seen[at] = node.length + 1;
        size[at] = (size[at] as number) + 2;
        must((size[at] as number) <= MAX_EXPANDED, 'the value refers to the same objects too often');
        const outer = stack.at(-1);
        if (outer !== undefined) size[outer] = (size[outer] as number) + (size[at] as number);
      }
    }
  }
}

function reference(item: unknown): number | undefined {
  return Array.isArray(item) && typeof item[0] === 'number' ? item[0] : undefined;
}
