/**
 * Frames from and to a sandbox process: `[length u32 LE][kind u8][payload]`. A reader never holds more
 * than the cap of the frame it is reading.
 *
 * @internal
 */

/** Frame kinds; `src/sandbox/wire/frame.rs` says what each carries. @internal */
export const Frame = { start: 1, answers: 2, calls: 16, console: 17, result: 18, failure: 19, exit: 20, idle: 21, refused: 22 } as const;

/** A frame that breaks the protocol. @internal */
export class ProtocolError extends Error {}

/** Pieces are put together until they have this much, because a write of its own costs more than a copy. */
const WRITE_BYTES = 64 * 1024;

/** How much there is in pieces. @internal */
export function sizeOf(pieces: ReadonlyArray<Buffer>): number {
  let length = 0;
  for (const piece of pieces) length += piece.length;
  return length;
}

/** A frame of one payload given in pieces; in a few pieces itself. @internal */
export function frame(kind: number, pieces: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> {
  const head = Buffer.allocUnsafe(5);
  head.writeUInt32LE(sizeOf(pieces), 0);
  head[4] = kind;
  const out: Buffer[] = [];
  let held: Buffer[] = [head];
  let size = head.length;
  for (const piece of pieces) {
    held.push(piece);
    size += piece.length;
    if (size < WRITE_BYTES) continue;
    out.push(Buffer.concat(held, size));
    held = [];
    size = 0;
  }
  if (size > 0) out.push(Buffer.concat(held, size));
  return out;
}

/** Cuts a stream into frames, which are good until the next bytes come: who keeps one longer copies it. @internal */
export class FrameReader {
  #held: Buffer[] = [];
  #size = 0;
  #need = 5;

  /** `cap` gives the largest payload of a kind; undefined for a kind that must not come. */
  constructor(
    private readonly cap: (kind: number) => number | undefined,
    private readonly take: (kind: number, payload: Buffer) => void,
  ) {}

  /** Whether bytes of an unfinished frame are waiting. */
  get partial(): boolean {
    return this.#size > 0;
  }

  /**
   * Takes the first `size` bytes of a chunk, which is the caller's again afterwards; calls back for each
   * finished frame. Throws {@link ProtocolError}.
   */
  push(chunk: Buffer, size: number): void {
    let bytes = chunk;
    let end = size;
    if (this.#size > 0) {
      this.#hold(chunk, 0, size);
      if (this.#size < this.#need) return;
      bytes = Buffer.concat(this.#held, this.#size);
      end = this.#size;
      this.#held = [];
      this.#size = 0;
    }
    for (let at = 0; at < end; at += this.#need) {
      this.#need = 5;
      if (end - at >= 5) {
        const length = bytes.readUInt32LE(at);
        const kind = bytes[at + 4] as number;
        const cap = this.cap(kind);
        if (cap === undefined) throw new ProtocolError(`a frame of kind ${kind} came out of turn`);
        if (length > cap) throw new ProtocolError(`a frame of ${length} bytes is over its limit of ${cap}`);
        this.#need = 5 + length;
      }
      if (end - at < this.#need) return this.#hold(bytes, at, end);
      this.take(bytes[at + 4] as number, bytes.subarray(at + 5, at + this.#need));
    }
  }

  #hold(bytes: Buffer, from: number, to: number): void {
    this.#held.push(Buffer.from(bytes.subarray(from, to)));
    this.#size += to - from;
  }
}
