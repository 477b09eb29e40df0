/**
 * JSON text of plain values of any size, as `JSON.stringify` writes it.
 *
 * The engine looks at every unit of a text for what has to be escaped, which takes most of its time, and leaves
 * thousands of pieces that somebody has to put together. Here a value is only walked: what it consists of goes on a
 * tape, its texts side by side, and the native side writes from that (`src/value/tape.rs`, which has the same codes).
 * On the way the walk sees whether JSON can say everything that is in the value.
 *
 * @internal
 */
import { native } from '../binding.js';
import { builtins } from '../builtins.js';
import type { JsonText, LongText } from '../../native/binding.js';
import { isExotic, tag } from './kinds.js';
import { isSparse } from './sparse.js';

const NULL = 0;
const TRUE = 1;
const FALSE = 2;
const OBJECT = 3;
const OBJECT_END = 4;
const LIST = 5;
const LIST_END = 6;
const INTEGER = 7;
const DOUBLE = 8;
const TEXT = 9;
const PART = 10;
const KEY = 11;
const FIRST_KEY = 16;

/** UTF-16 units of the texts of a chunk, and of a part of a long text: the engine joins that many without asking for fresh memory. */
const CHUNK = 48 * 1024;
/** Numbers on the tape of a chunk, and doubles. */
const CODES = 16 * 1024;
/** Keys that get a number; any others go with the texts. */
const MOST_KEYS = 1_000;
/** Longer ones get none: a chunk may have many keys, and what is written for it has to stay small. */
const LONGEST_KEY = 256;
/** Deeper values are left to the engine. */
const DEEPEST = 64;
/** Shorter texts need no second form. */
const LEAST_LONG = 256 * 1024;
/** Nothing but texts of fewer units are written by the engine as quickly as they are noted. */
const SHORT = 16;
/** A code is at most a mark and a number. */
const SLACK = 2;

/** The text, in two forms. */
export interface Json {
  readonly text: string;
  /** A long one, for functions that take such. */
  readonly long: LongText | undefined;
}

/** Thrown where the walk ends because the engine has to do it. */
const LEFT_TO_THE_ENGINE = new Error('left to the engine');

const { prototype: datePrototype } = Date;
const dateJson = datePrototype.toJSON;
const { isRawJSON } = JSON as { isRawJSON?: (value: unknown) => boolean };

class Recorder {
  readonly #tape = new Uint32Array(CODES + SLACK);
  readonly #doubles = new Float64Array(CODES);
  #codes = 0;
  #doublesUsed = 0;
  /** Used again and again, as far as it is filled. */
  readonly #texts: string[] = [];
  #textsUsed = 0;
  #units = 0;
  #written = 0;
  #keys = new Map<string, number>();
  #newKeys: string[] = [];
  readonly #recordPrototypes = new Set<unknown>();
  #json: JsonText | undefined;

  /** The text of a value. Throws when the engine has to write it, and what a getter throws. */
  record(value: object): Json {
    this.#object(value, DEEPEST);
    // All of it is in one chunk: the engine is quicker than the way there and back.
    if (this.#json === undefined) return { text: said(value), long: undefined };
    this.#flush();
    // A getter has added to it meanwhile.
    if (isObjectPrototypeShown()) throw LEFT_TO_THE_ENGINE;
    const long = this.#written > LEAST_LONG ? this.#json.long() : undefined;
    return { text: this.#json.text(), long };
  }

  /** Forgets everything, and with it whatever it refers to. */
  reset(): void {
    this.#json?.forget();
    this.#json = undefined;
    this.#codes = 0;
    this.#doublesUsed = 0;
    this.#units = 0;
    this.#written = 0;
    this.#textsUsed = 0;
    this.#texts.length = 0;
    if (this.#newKeys.length > 0) this.#newKeys = [];
    if (this.#keys.size > 0) this.#keys.clear();
    if (this.#recordPrototypes.size > 0) this.#recordPrototypes.clear();
  }

  #flush(): void {
    const doubles = this.#doublesUsed === 0 ? NO_DOUBLES : this.#doubles.subarray(0, this.#doublesUsed);
    const texts = this.#texts;
    texts.length = this.#textsUsed;
    if (this.#json === undefined) {
      if (this.#isShortTextsOnly()) throw LEFT_TO_THE_ENGINE;
      this.#json = new (native().JsonText)();
    }
    this.#written = this.#json.push(this.#tape, this.#codes, doubles, texts.join(''), this.#newKeys);
    // The engine says itself that it has no string for as much.
    if (this.#written > builtins.buffer().constants.MAX_STRING_LENGTH) throw LEFT_TO_THE_ENGINE;
    this.#codes = 0;
    this.#doublesUsed = 0;
    this.#units = 0;
    this.#textsUsed = 0;
    if (this.#newKeys.length > 0) this.#newKeys = [];
  }

  /** Whether there is little to copy and much to note. A text takes two places on the tape. */
  #isShortTextsOnly(): boolean {
    return this.#textsUsed * 2 > this.#codes * 0.75 && this.#units < this.#textsUsed * SHORT;
  }

  #code(code: number): void {
    this.#tape[this.#codes] = code;
    this.#codes += 1;
    if (this.#codes >= CODES) this.#flush();
  }

  #number(value: number): void {
    if (value === (value | 0)) {
      this.#tape[this.#codes] = INTEGER;
      this.#tape[this.#codes + 1] = value;
      this.#codes += 2;
      if (this.#codes >= CODES) this.#flush();
    } else if (Number.isFinite(value)) {
      this.#doubles[this.#doublesUsed] = value;
      this.#doublesUsed += 1;
      this.#code(DOUBLE);
    } else {
      this.#code(NULL);
    }
  }

  #text(code: number, text: string): void {
    const { length } = text;
    if (length > CHUNK) {
      this.#parts(code, text);
      return;
    }
    this.#tape[this.#codes] = code;
    this.#tape[this.#codes + 1] = length;
    this.#codes += 2;
    this.#texts[this.#textsUsed] = text;
    this.#textsUsed += 1;
    this.#units += length;
    if (this.#units >= CHUNK || this.#codes >= CODES) this.#flush();
  }

  #parts(code: number, text: string): void {
    // A key this long is nothing anybody needs to have quickly.
    if (code === KEY) throw LEFT_TO_THE_ENGINE;
    let at = 0;
    while (at + CHUNK < text.length) {
      // The two halves of a character stay together.
      const isFirstHalf = (text.charCodeAt(at + CHUNK - 1) & 0xfc00) === 0xd800;
      const end = isFirstHalf ? at + CHUNK - 1 : at + CHUNK;
      this.#text(PART, text.slice(at, end));
      at = end;
    }
    this.#text(code, text.slice(at));
  }

  #value(value: unknown, depth: number): void {
    switch (typeof value) {
      case 'string':
        this.#text(TEXT, value);
        break;
      case 'number':
        this.#number(value);
        break;
      case 'boolean':
        this.#code(value ? TRUE : FALSE);
        break;
      case 'object':
        if (value === null) this.#code(NULL);
        else this.#object(value, depth);
        break;
      default:
        // BigInts; and functions, which may have a `toJSON`.
        throw LEFT_TO_THE_ENGINE;
    }
  }

  #object(value: object, depth: number): void {
    const prototype: unknown = Object.getPrototypeOf(value);
    const { toJSON } = value as { toJSON?: unknown };
    if (prototype === datePrototype && toJSON === dateJson) {
      this.#value((value as Date).toJSON(), depth);
      return;
    }
    if (toJSON !== undefined || depth === 0) throw LEFT_TO_THE_ENGINE;
    if (Array.isArray(value)) this.#list(value, depth - 1);
    else if (prototype === Object.prototype || this.#isRecord(value, prototype)) this.#fields(value, depth - 1);
    else throw LEFT_TO_THE_ENGINE;
  }

  /** Whether a value of another prototype has nothing but its fields: instances of classes, objects of other realms. */
  #isRecord(value: object, prototype: unknown): boolean {
    if (prototype === null) return !isRawJSON?.(value);
    if (this.#recordPrototypes.has(prototype)) return true;
    if (isExotic(value) || tag(value) !== '[object Object]') return false;
    // Fields that it inherits are none to JSON, but are to `in`.
    for (const _ in prototype) return false;
    this.#recordPrototypes.add(prototype);
    return true;
  }

  #list(list: readonly unknown[], depth: number): void {
    if (isSparse(list)) throw LEFT_TO_THE_ENGINE;
    this.#code(LIST);
    const { length } = list;
    for (let at = 0; at < length; at += 1) {
      const item = list[at];
      if (item === undefined || typeof item === 'symbol') this.#code(NULL);
      else this.#value(item, depth);
    }
    this.#code(LIST_END);
  }

  #fields(value: object, depth: number): void {
    this.#code(OBJECT);
    let isFirst = true;
    // Its own fields: its prototypes show none.
    for (const key in value) {
      // Bytes may have been given this prototype.
      if (isFirst && key === '0') throw LEFT_TO_THE_ENGINE;
      isFirst = false;
      const field: unknown = (value as Record<string, unknown>)[key];
      if (field === undefined || typeof field === 'symbol') continue;
      const number = this.#keys.get(key);
      if (number !== undefined) this.#code(number);
      else this.#key(key);
      this.#value(field, depth);
    }
    // A kind of its own that shows no fields: JSON would not tell it from an empty object.
    if (isFirst && tag(value) !== '[object Object]') throw LEFT_TO_THE_ENGINE;
    this.#code(OBJECT_END);
  }

  #key(key: string): void {
    if (this.#keys.size >= MOST_KEYS || key.length > LONGEST_KEY) {
      this.#text(KEY, key);
      return;
    }
    const number = FIRST_KEY + this.#keys.size;
    this.#keys.set(key, number);
    this.#newKeys.push(key);
    this.#code(number);
  }
}

const NO_DOUBLES = new Float64Array(0);
/** One that is not in use: a getter may ask for the text of something else. */
let spare: Recorder | undefined;

/** Whether somebody has added to the prototype of all objects: what is whose is for the engine to say then. */
function isObjectPrototypeShown(): boolean {
  for (const _ in Object.prototype) return true;
  return false;
}

/** What the engine says of a value; a getter may have shown it a `toJSON` that says nothing. */
function said(value: object): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw LEFT_TO_THE_ENGINE;
  return text;
}

/**
 * The JSON text of a value of plain objects, lists, texts, numbers, booleans, dates and null, of which JSON loses
 * nothing; undefined for everything else, and for what only the engine can say. Throws what a getter throws.
 */
export function jsonText(value: object): Json | undefined {
  if (isObjectPrototypeShown()) return undefined;
  const recorder = spare ?? new Recorder();
  spare = undefined;
  try {
    return recorder.record(value);
  } catch (error) {
    if (error === LEFT_TO_THE_ENGINE) return undefined;
    throw error;
  } finally {
    recorder.reset();
    spare = recorder;
  }
}
