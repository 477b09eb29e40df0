/**
 * One run: the host's side of the conversation, and every decision about it. Nothing the script's
 * process says is believed: calls are counted here, sizes are checked before a byte is kept, ids must
 * come in order, and the first final frame ends the conversation.
 *
 * @internal
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import * as types from 'node:util/types';
import { inNextTurn, turn } from '../../turns.js';
import { Frame, FrameReader, ProtocolError, frame, sizeOf } from './frames.js';
import { filterWaived, openLine, sandboxBinaryProblem, type Ending, type Line } from './process.js';
import { MalformedValue } from './malformed.js';
import { writeSmall } from './pieces.js';
import { Format, decode, encode, type Encoded } from './values.js';

/** Why a run failed; `memory-exceeded` is known to the isolated tier only. @internal */
export type FailureKind = 'timeout' | 'memory-exceeded' | 'sandbox-violation' | 'aborted' | 'execution-failed';

/** How a run ended. @internal */
export type Ended = { readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly kind: FailureKind; readonly message: string };

/** Limits of a run, all given. Times in milliseconds, 0 for none; sizes in bytes. @internal */
export interface Limits {
  readonly timeoutMs: number;
  readonly cpuMs: number;
  readonly memoryMb: number;
  readonly calls: number;
  readonly callsInFlight: number;
  readonly sourceBytes: number;
  readonly argsBytes: number;
  readonly resultBytes: number;
  readonly outputBytes: number;
  readonly consoleBytes: number;
  readonly parts: number;
}

/** What to run. @internal */
export interface RunRequest {
  readonly source: string;
  /** A script with a completion value instead of a function body. */
  readonly script: boolean;
  readonly input?: string;
  readonly tools: ReadonlyArray<string>;
  readonly dispatch?: (call: { name: string; args: unknown }) => unknown;
  readonly signal?: AbortSignal;
  readonly limits: Limits;
}

/** How long the calls of one frame may keep a turn of the event loop busy, in milliseconds. */
const BURST_MS = 8;
/** Calls between two looks at the clock. */
const BURST_CALLS = 16;
/** Calls that waited and may then follow each other in one turn of the event loop. */
const TURN_CALLS = 64;
/** Refused calls after which a script is ended instead of answered. */
const MAX_REFUSALS = 10_000;
/** How long a script that can never settle is left alone, should an abort or a time-out be coming. */
const DEADLOCK_GRACE_MS = 5000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** What a thrown value says, without ever throwing itself. @internal */
export function messageOf(error: unknown): string {
  try {
    return types.isNativeError(error) || error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'a value that has no text was thrown';
  }
}

/** What a script's process says about a failure; its frames are small. */
function failureOf(payload: Buffer): { kind?: unknown; message?: unknown } | null {
  try {
    return JSON.parse(payload.toString('utf8')) as { kind?: unknown; message?: unknown } | null;
  } catch {
    throw new ProtocolError('a failure is no JSON');
  }
}

/** Runs a request to its end; never rejects. @internal */
export class Run {
  #settle!: (ended: Ended) => void;
  readonly ended: Promise<Ended>;
  readonly started = performance.now();
  readonly lines: string[] = [];
  toolCalls = 0;
  #open = true;
  #line: Line | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #deadlock: ReturnType<typeof setTimeout> | undefined;
  #idle = false;
  #received = 0;
  #refused = 0;
  #inFlight = 0;
  #followed = 0;
  #console: number;
  readonly #waiting: (() => void)[] = [];
  #answers: Buffer[] = [];
  #scheduled = false;
  readonly #reader: FrameReader;
  /** Frames that wait until the one before is done with. */
  readonly #inbox: [number, Buffer][] = [];
  #busy = false;
  readonly #enter: <R>(call: () => R) => R;
  readonly #wanted = (): boolean => this.#open;
  readonly #onAbort = (): void => this.#end({ ok: false, kind: 'aborted', message: 'the script was aborted by AbortSignal' });

  constructor(private readonly request: RunRequest) {
    this.ended = new Promise((settle) => (this.#settle = settle));
    this.#console = request.limits.consoleBytes;
    this.#enter = AsyncLocalStorage.snapshot() as <R>(call: () => R) => R;
    const { argsBytes, outputBytes, consoleBytes } = request.limits;
    const caps: Record<number, number> = {
      // Calls travel together until a quarter of a megabyte is full; the last one may be as large as one may be.
      [Frame.calls]: argsBytes + 2 * 1024 * 1024,
      [Frame.console]: consoleBytes + 64 * 1024,
      [Frame.result]: outputBytes + 16,
      [Frame.failure]: 256 * 1024,
      [Frame.exit]: 4,
      [Frame.idle]: 0,
      [Frame.refused]: 16 * 1024,
    };
    this.#reader = new FrameReader((kind) => caps[kind], (kind, payload) => {
      if (this.#busy) this.#inbox.push([kind, Buffer.from(payload)]);
      else if (this.#open) this.#take(kind, payload);
    });
    this.#begin();
  }

  #begin(): void {
    const { source, signal, limits, tools, script, input } = this.request;
    if (signal?.aborted === true) return this.#fail('aborted', 'the script was aborted before it started');
    if (typeof source !== 'string') return this.#fail('execution-failed', 'the source is not a string');
    if (source.length > limits.sourceBytes || Buffer.byteLength(source) > limits.sourceBytes) {
      return this.#fail('execution-failed', `the source is larger than ${limits.sourceBytes} bytes: write a shorter script`);
    }
    // Before the process is there: what is no signal throws here, and nobody would be left to end the process.
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    try {
      const body = {
        source, script, tools, maxArgs: limits.argsBytes, maxOutput: limits.outputBytes, maxConsole: limits.consoleBytes, maxParts: limits.parts,
        memory: Math.round(limits.memoryMb * 1024 * 1024), cpuMs: Math.ceil(limits.cpuMs), withoutFilter: filterWaived(),
        ...(input === undefined ? {} : { input }),
      };
      this.#line = openLine({ data: (bytes, size) => this.#data(bytes, size), end: (ending) => this.#died(ending) });
      this.#line.write(frame(Frame.start, [Buffer.from(JSON.stringify(body))]));
    } catch (error) {
      const problem = sandboxBinaryProblem();
      return this.#fail('execution-failed', problem ?? `the sandbox process could not be started: ${messageOf(error)}`);
    }
    if (limits.timeoutMs > 0) {
      const left = Math.max(1, limits.timeoutMs - (performance.now() - this.started));
      this.#timer = setTimeout(() => this.#timeout(), Math.min(left, MAX_TIMER_MS));
    }
  }

  #timeout(): void {
    const { timeoutMs } = this.request.limits;
    const why = this.#idle ? `: ${this.#stuck()}` : '';
    this.#fail('timeout', `the script timed out after ${timeoutMs} ms${why}`);
  }

  #stuck(): string {
    return 'it waits for a promise that nothing can settle, no tool call and no timer is open. Check that every new Promise calls resolve';
  }

  #end(ended: Ended): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#timer);
    clearTimeout(this.#deadlock);
    this.request.signal?.removeEventListener('abort', this.#onAbort);
    this.#waiting.length = 0;
    this.#inbox.length = 0;
    this.#answers = [];
    this.#line?.close();
    this.#settle(ended);
  }

  #fail(kind: FailureKind, message: string): void {
    this.#end({ ok: false, kind, message });
  }

  /** What breaks the protocol ends the run. */
  #data(bytes: Buffer, size: number): void {
    try {
      this.#reader.push(bytes, size);
    } catch (error) {
      this.#broken(error);
    }
  }

  #broken(error: unknown): void {
    if (error instanceof ProtocolError || error instanceof MalformedValue) this.#fail('sandbox-violation', `the sandbox process broke the protocol: ${error.message}`);
    else this.#fail('execution-failed', `what the script sent could not be read: ${messageOf(error)}`);
  }

  /** Takes frames in order. One that takes time holds up the rest, and what comes after on the line. */
  #take(kind: number, payload: Buffer): void {
    const done = this.#frame(kind, payload);
    if (done === undefined) return;
    this.#busy = true;
    this.#line?.pause();
    done.then(() => {
      this.#busy = false;
      while (this.#open && !this.#busy) {
        const next = this.#inbox.shift();
        if (next === undefined) break;
        this.#take(...next);
      }
      if (!this.#busy) this.#line?.resume();
    }).catch((error: unknown) => this.#broken(error));
  }

  #frame(kind: number, payload: Buffer): Promise<void> | undefined {
    switch (kind) {
      case Frame.calls:
        return this.#calls(payload, 0);
      case Frame.console:
        this.#log(payload);
        return;
      case Frame.result:
        return this.#result(payload);
      case Frame.failure:
        this.#failure(payload);
        return;
      case Frame.exit: {
        const code = payload.length === 4 ? payload.readInt32LE(0) : 0;
        this.#fail('execution-failed', code === 0 ? 'the script exited before producing a result' : `the script exited with code ${code}`);
        return;
      }
      case Frame.idle:
        if (this.#idle || this.#inFlight > 0) throw new ProtocolError('idle was said out of turn');
        this.#idle = true;
        this.#deadlock = setTimeout(() => this.#fail('execution-failed', `the script never finishes: ${this.#stuck()}`), DEADLOCK_GRACE_MS);
        return;
      case Frame.refused:
        this.#fail('execution-failed', `the sandbox process refused to run: ${payload.toString('utf8')}`);
        return;
    }
    return;
  }

  /** A value of the script, as a promise when it is large. */
  #decode(format: number, bytes: Buffer): unknown {
    return decode(format, bytes, this.request.limits.parts, this.#wanted);
  }

  #result(payload: Buffer): Promise<void> | undefined {
    if (payload.length === 0) throw new ProtocolError('a result has no format');
    const output = this.#decode(payload[0] as number, payload.subarray(1));
    if (!types.isPromise(output)) {
      this.#end({ ok: true, output });
      return;
    }
    // The script was in time, and its process has nothing more to say.
    clearTimeout(this.#timer);
    this.#line?.close();
    return output.then((value) => this.#end({ ok: true, output: value }));
  }

  #failure(payload: Buffer): void {
    const said = failureOf(payload);
    const kind = said?.kind === 'sandbox-violation' ? 'sandbox-violation' : 'execution-failed';
    if (typeof said?.message !== 'string') throw new ProtocolError('a failure has no message');
    this.#fail(kind, said.message);
  }

  #log(payload: Buffer): void {
    for (let at = 0; at < payload.length; ) {
      if (at + 5 > payload.length) throw new ProtocolError('a console line is cut off');
      const length = payload.readUInt32LE(at + 1);
      const text = payload.subarray(at + 5, at + 5 + length);
      if (text.length !== length) throw new ProtocolError('a console line is cut off');
      at += 5 + length;
      if (this.#console <= 0) continue;
      this.#console -= length + 1;
      this.lines.push(text.toString('utf8'));
    }
  }

  /** Takes the calls of a frame from `at` on; a promise when that takes more than this turn. `kept` says that the payload will not change. */
  #calls(payload: Buffer, at: number, kept = false): Promise<void> | undefined {
    const end = payload.length > BURST_CALLS * 13 ? performance.now() + BURST_MS : Infinity;
    for (let count = 1; at < payload.length && this.#open; count++) {
      if (at + 13 > payload.length) throw new ProtocolError('a call is cut off');
      const id = payload.readUInt32LE(at);
      const name = this.request.tools[payload.readUInt32LE(at + 4)];
      const format = payload[at + 8] as number;
      const length = payload.readUInt32LE(at + 9);
      const bytes = payload.subarray(at + 13, at + 13 + length);
      at += 13 + length;
      if (bytes.length !== length) throw new ProtocolError('a call is cut off');
      // Ids count up from 0, so a repeated or invented call cannot be mistaken for a new one.
      if (id !== this.#received++) throw new ProtocolError('a call came out of order');
      if (name === undefined) throw new ProtocolError('a call names no tool');
      const taken = this.#call(id, name, format, bytes);
      if (taken !== undefined) return this.#callsAfter(taken, payload, at, kept);
      if (count % BURST_CALLS === 0 && performance.now() > end) {
        return this.#callsAfter(turn(), payload, at, kept);
      }
    }
    return;
  }

  async #callsAfter(taken: Promise<void>, payload: Buffer, at: number, kept: boolean): Promise<void> {
    const rest = kept ? payload : Buffer.from(payload);
    await taken;
    if (this.#open) await this.#calls(rest, at, true);
  }

  #call(id: number, name: string, format: number, bytes: Buffer): Promise<void> | undefined {
    const { calls, argsBytes } = this.request.limits;
    if (this.toolCalls >= calls) {
      if (++this.#refused > MAX_REFUSALS) this.#fail('execution-failed', `the script went on calling tools after its budget was exceeded (${calls})`);
      else this.#reject(id, `tool-call budget exceeded (${calls}): make fewer calls in one script`);
      return;
    }
    this.toolCalls += 1;
    if (format === Format.refused) {
      this.#reject(id, `tool arguments are not serialisable: ${bytes.subarray(0, 4096).toString('utf8')}`);
      return;
    }
    if (bytes.length > argsBytes) throw new ProtocolError('arguments are over their limit');
    const args = this.#decode(format, bytes);
    if (types.isPromise(args)) return args.then((value) => this.#accept(id, name, value));
    this.#accept(id, name, args);
    return;
  }

  #accept(id: number, name: string, args: unknown): void {
    if (!this.#open) return;
    if (this.#inFlight >= this.request.limits.callsInFlight) this.#waiting.push(() => void this.#dispatch(id, name, args));
    else {
      this.#inFlight += 1;
      void this.#dispatch(id, name, args);
    }
  }

  /** Never rejects. */
  async #dispatch(id: number, name: string, args: unknown): Promise<void> {
    const { request } = this;
    let value: unknown;
    try {
      value = await this.#enter(() => request.dispatch?.({ name, args }));
    } catch (error) {
      if (!this.#open) return;
      this.#reject(id, messageOf(error) || `tool call failed: ${id}`);
      this.#next();
      return;
    }
    if (this.#open) this.#answered(id, value);
  }

  #answered(id: number, value: unknown): void {
    const sent = (encoded: Encoded): void => {
      this.#answer(id, true, encoded);
      this.#next();
    };
    const failed = (error: unknown): void => {
      this.#reject(id, `tool result is not serialisable: ${messageOf(error)}`);
      this.#next();
    };
    const max = this.request.limits.resultBytes;
    let json: string | undefined;
    let encoded: Encoded | Promise<Encoded> | undefined;
    try {
      json = value === undefined ? undefined : writeSmall(value, max);
      encoded = json === undefined ? encode(value, max, this.#wanted) : undefined;
    } catch (error) {
      return failed(error);
    }
    if (json !== undefined) this.#plain(id, json);
    else if (types.isPromise(encoded)) encoded.then(sent, failed);
    else if (encoded !== undefined) sent(encoded);
  }

  /** Answers with short JSON text: at once when no other call is under way whose answer could travel along. */
  #plain(id: number, json: string): void {
    this.#next();
    if (this.#inFlight === 0 && !this.#scheduled && this.#line?.answer(id, json) === true) return;
    this.#answer(id, true, { format: Format.json, bytes: [Buffer.from(json)] });
  }

  /** Gives the place of a call that is done to one that waits. */
  #next(): void {
    const start = this.#waiting.shift();
    if (start === undefined) this.#inFlight -= 1;
    // Tools that answer at once would otherwise follow each other without a turn of the event loop.
    else if (++this.#followed % TURN_CALLS === 0) inNextTurn(() => this.#open && start());
    else start();
  }

  #reject(id: number, message: string): void {
    this.#answer(id, false, { format: Format.refused, bytes: [Buffer.from(message.slice(0, 64 * 1024))] });
  }

  #answer(id: number, ok: boolean, { format, bytes }: Encoded): void {
    if (!this.#open) return;
    const head = Buffer.allocUnsafe(10);
    head.writeUInt32LE(id, 0);
    head[4] = ok ? 1 : 0;
    head[5] = format;
    head.writeUInt32LE(sizeOf(bytes), 6);
    this.#answers.push(head, ...bytes);
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the microtasks of this turn, so that calls answered together travel together.
    process.nextTick(() => {
      this.#scheduled = false;
      if (!this.#open || this.#answers.length === 0) return;
      this.#line?.write(frame(Frame.answers, this.#answers));
      this.#answers = [];
    });
  }

  #died(ending: Ending): void {
    const { memoryMb, cpuMs } = this.request.limits;
    if (ending !== undefined && 'code' in ending) {
      switch (ending.code) {
        case 77:
          return this.#fail('memory-exceeded', `the script went over its memory limit of ${memoryMb} MB: work on smaller pieces`);
        case 78:
          return this.#fail('execution-failed', 'the script was nested or recursed too deeply (stack overflow)');
        case 0:
          return this.#fail('execution-failed', 'the script exited before producing a result');
        default:
          return this.#fail('execution-failed', `the sandbox process could not be set up (exit code ${ending.code})`);
      }
    }
    switch (ending?.signal) {
      case 24:
      case 27:
        return this.#fail('timeout', `the script timed out after ${cpuMs} ms of CPU time`);
      case 31:
        return this.#fail('sandbox-violation', 'the script made its process attempt a forbidden system call');
      case 6:
      case 7:
      case 11:
        return this.#fail('execution-failed', 'the script made the engine crash: write that part differently');
      default:
        return this.#fail('execution-failed', 'the sandbox process was killed before producing a result');
    }
  }
}
