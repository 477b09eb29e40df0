/**
 * Processes for scripts. On Linux one zygote per realm (a worker thread has its own) forks a child per
 * script; elsewhere the binary is started per script. Both are started at first use, silent, and gone
 * when this process ends, however it ends.
 *
 * @internal
 */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { builtins } from '../../builtins.js';
import { native, sandboxBinary } from '../../binding.js';

/** How a process ended: an exit code or a signal number; undefined when nobody can tell. @internal */
export type Ending = { readonly code: number } | { readonly signal: number } | undefined;

/** The line to one script's process. @internal */
export interface Line {
  /** Sends bytes, given in pieces; what cannot be sent any more is dropped. */
  write(pieces: ReadonlyArray<Buffer>): void;
  /** Sends one answer, short JSON text, the quick way; false when there is none just now. */
  answer(id: number, json: string): boolean;
  /** Reads nothing until {@link Line.resume}. */
  pause(): void;
  resume(): void;
  /** Kills the process and lets go of the line. Nothing is called back afterwards. */
  close(): void;
}

/** What happens on a line. @internal */
export interface LineEvents {
  /** The first `size` bytes are what came; they are good during this call. */
  data(bytes: Buffer, size: number): void;
  /** The process closed its end; how it ended is known by now, or never will be. */
  end(ending: Ending): void;
}

const REASON = 'The sandbox binary "ferrule-sandbox"';

/** Why scripts cannot run here, as a sentence that names the binary and the fix; undefined when they can. @internal */
export function sandboxBinaryProblem(): string | undefined {
  let path: string | undefined;
  try {
    path = sandboxBinary();
  } catch (error) {
    return `${REASON} cannot be located: ${(error as Error).message}`;
  }
  const fix = 'Reinstall with optional dependencies (npm install --include=optional), build it from the repository (npm run setup), or set FERRULE_SANDBOX to its path.';
  if (path === undefined) return `${REASON} is not installed for ${process.platform}-${process.arch}. ${fix}`;
  try {
    const { accessSync, constants } = builtins.fs();
    accessSync(path, process.platform === 'win32' ? constants.F_OK : constants.X_OK);
  } catch {
    return `${REASON} is not there or not executable: ${path}. ${fix}`;
  }
  return undefined;
}

/** Whether a system-call filter is required: yes, unless the operator says otherwise. @internal */
export function filterWaived(): boolean {
  return process.env['FERRULE_SANDBOX_WITHOUT_SECCOMP'] === '1';
}

interface Zygote {
  readonly control: number;
  readonly pid: number;
  fork(run: number): number;
  kill(run: number): boolean;
  close(): void;
}

/** One zygote and the runs that wait to hear how their process ended. */
class Family {
  readonly zygote: Zygote;
  readonly runs = new Map<number, (ending: Ending) => void>();
  alive = true;
  #held: Buffer = Buffer.alloc(0);
  #control: Socket;

  constructor(path: string) {
    this.zygote = new (native() as unknown as { SandboxZygote: new (path: string) => Zygote }).SandboxZygote(path);
    this.#control = new (builtins.net().Socket)({ fd: this.zygote.control, readable: true, writable: false });
    this.#control.on('data', (chunk) => this.#records(chunk));
    this.#control.on('error', () => this.#gone());
    this.#control.on('close', () => this.#gone());
    // Only runs keep this process alive, their helper does not.
    this.#control.unref();
  }

  #records(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (; this.#held.length >= 8; this.#held = this.#held.subarray(8)) {
      const status = this.#held.readInt32LE(4);
      const signal = status & 0x7f;
      this.runs.get(this.#held.readUInt32LE(0))?.(signal === 0 ? { code: (status >> 8) & 0xff } : { signal });
    }
  }

  #gone(): void {
    if (!this.alive) return;
    this.alive = false;
    if (family === this) family = undefined;
    this.#control.destroy();
    this.zygote.close();
    for (const tell of [...this.runs.values()]) tell(undefined);
  }
}

/** As much as Node reads at a time. */
const READ_BYTES = 64 * 1024;
/** What all sockets are read into, one at a time: few bytes outlive the call, so that copies of those cost less than memory for each read. */
let readBuffer: Buffer | undefined;
/** Longer answers go the way of all else. */
const SHORT_ANSWER = 16 * 1024;

/**
 * Writes straight to the socket of a stream that has nothing waiting, which saves an answer the way
 * through the stream. Gives what did not fit; whatever is wrong with the socket, the stream finds out as well.
 */
function sendNow(fd: number, bytes: Buffer): Buffer {
  try {
    return bytes.subarray(builtins.fs().writeSync(fd, bytes));
  } catch {
    return bytes;
  }
}

/** Sends pieces as one write. */
function send(stream: Writable, pieces: ReadonlyArray<Buffer>): void {
  if (pieces.length > 1) stream.cork();
  for (const piece of pieces) stream.write(piece);
  if (pieces.length > 1) stream.uncork();
}

let family: Family | undefined;
let nextRun = 1;

function openFork(path: string, events: LineEvents): Line {
  family ??= new Family(path);
  let mine = family;
  const run = nextRun++ >>> 0;
  let fd: number;
  try {
    fd = mine.zygote.fork(run);
  } catch (error) {
    // No room for one more: those that run go on, and another zygote would find no more.
    if ((error as { code?: unknown }).code === 'QueueFull') throw error;
    // It may have died without us having read that yet: one new one, no more.
    if (family === mine) family = undefined;
    mine.zygote.close();
    mine = family = new Family(path);
    fd = mine.zygote.fork(run);
  }
  const { sandboxAnswer } = native();
  let open = true;
  const buffer = (readBuffer ??= Buffer.allocUnsafe(READ_BYTES));
  const callback = (size: number): boolean => {
    if (open) events.data(buffer, size);
    return true;
  };
  const onread = { buffer, callback };
  const options = { fd, readable: true, writable: true, allowHalfOpen: true, onread };
  const socket = new (builtins.net().Socket)(options);
  let ended = false;
  let ending: Ending | null = null;
  let patience: ReturnType<typeof setTimeout> | undefined;
  const close = (): void => {
    open = false;
    clearTimeout(patience);
    mine.runs.delete(run);
    socket.destroy();
  };
  const finish = (): void => {
    if (!open) return;
    close();
    events.end(ending ?? undefined);
  };
  mine.runs.set(run, (how) => {
    ending = how;
    if (ended || how === undefined) finish();
  });
  const quiet = (): void => {
    if (!open || ended) return;
    ended = true;
    if (ending !== null) finish();
    // The record of a child follows its end within microseconds; without it there is less to say.
    else patience = setTimeout(finish, 1000);
  };
  socket.on('error', quiet);
  socket.on('end', quiet);
  socket.on('close', quiet);
  return {
    write: (pieces) => {
      if (!open || ended) return;
      const [first, ...more] = pieces;
      // A socket that is destroyed has given its descriptor away.
      if (first === undefined || more.length > 0 || socket.destroyed || socket.writableLength > 0) return send(socket, pieces);
      const left = sendNow(fd, first);
      if (left.length > 0) socket.write(left);
    },
    answer: (id, json) => {
      if (!open || ended || socket.destroyed || socket.writableLength > 0 || json.length > SHORT_ANSWER) return false;
      const left = sandboxAnswer(fd, id, json);
      if (left !== null) socket.write(left);
      return true;
    },
    pause: () => void socket.pause(),
    resume: () => void (open && socket.resume()),
    close: () => {
      if (!open) return;
      close();
      mine.zygote.kill(run);
    },
  };
}

const signals: Record<string, number> = { SIGKILL: 9, SIGABRT: 6, SIGSEGV: 11, SIGBUS: 7, SIGSYS: 31, SIGPROF: 27, SIGXCPU: 24, SIGTERM: 15 };

function openSpawn(path: string, events: LineEvents): Line {
  const child: ChildProcess = builtins.childProcess().spawn(path, ['--once'], { stdio: ['pipe', 'pipe', 'ignore'], env: {}, windowsHide: true });
  let open = true;
  const finish = (ending: Ending): void => {
    if (!open) return;
    open = false;
    events.end(ending);
  };
  child.on('error', () => finish(undefined));
  // `close` comes after the output has been read to its end.
  child.on('close', (code, signal) => finish(signal === null ? { code: code ?? 0 } : { signal: signals[signal] ?? 0 }));
  child.stdin?.on('error', () => undefined);
  child.stdout?.on('data', (chunk: Buffer) => {
    if (open) events.data(chunk, chunk.length);
  });
  return {
    write: (pieces) => {
      if (open && child.stdin !== null) send(child.stdin, pieces);
    },
    answer: () => false,
    pause: () => void child.stdout?.pause(),
    resume: () => void (open && child.stdout?.resume()),
    close: () => {
      if (!open) return;
      open = false;
      child.kill('SIGKILL');
      child.stdin?.destroy();
      child.stdout?.destroy();
      child.unref();
    },
  };
}

/** Starts a process for one script. Throws when there is no binary or it cannot be started. @internal */
export function openLine(events: LineEvents): Line {
  const path = sandboxBinary();
  if (path === undefined) throw new Error(sandboxBinaryProblem());
  const forks = process.platform === 'linux' && process.env['FERRULE_SANDBOX_MODE'] !== 'spawn';
  return forks ? openFork(path, events) : openSpawn(path, events);
}
