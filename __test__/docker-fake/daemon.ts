import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a scripted daemon does at each step; every step may be replaced. */
export interface DaemonScript {
  version?(answer: ServerResponse): void;
  create?(answer: ServerResponse): void;
  /** The container's side of the attached stream, once its two first frames have come. */
  container?(stream: Socket, job: { nonce: string; payload: any }): void;
  attach?(request: IncomingMessage, stream: Socket): void;
  start?(answer: ServerResponse): void;
  wait?(answer: ServerResponse): void;
  inspect?(answer: ServerResponse): void;
  kill?(answer: ServerResponse): void;
  remove?(answer: ServerResponse, attempt: number): void;
}

export const json = (answer: ServerResponse, status: number, body: unknown): void => {
  answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** One frame of the attached stream. */
export function frame(kind: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

/** A message of the wrapper, in chunks of at most `size` bytes. */
export function message(nonce: string, text: string, size = 4058): Buffer {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let at = 0; at === 0 || at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size);
    const kind = at + size >= bytes.length ? 'e' : 'm';
    chunks.push(Buffer.from(`\x01${nonce}${kind}${part.length.toString(16).padStart(4, '0')}`), part);
  }
  return Buffer.concat(chunks);
}

/** A Docker engine on a socket of its own, which does what it is told and counts what it is asked. */
export class FakeDaemon {
  readonly requests: string[] = [];
  readonly socketPath: string;
  script: DaemonScript = {};
  createBody: any;
  #removals = 0;
  readonly #folder = mkdtempSync(join(tmpdir(), 'fake-docker-'));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor() {
    this.socketPath = join(this.#folder, 'docker.sock');
    this.#server = createServer((request, answer) => void this.#answer(request, answer));
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket)).on('error', () => {});
    });
    this.#server.on('upgrade', (request, socket) => this.#attach(request, socket as Socket));
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.socketPath, resolve));
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  reset(script: DaemonScript): void {
    this.requests.length = 0;
    this.#removals = 0;
    this.script = script;
  }

  count(step: string): number {
    return this.requests.filter((one) => one === step).length;
  }

  async #answer(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, 'http://daemon');
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const step = request.method === 'DELETE' ? 'remove' : pathname === '/version' || /\/version$/.test(pathname) ? 'version' : pathname.split('/').at(-1)!;
    const known = step === 'json' ? (/\/containers\/json$/.test(pathname) ? 'list' : 'inspect') : step;
    this.requests.push(known);
    const { script } = this;
    switch (known) {
      case 'version':
        return script.version ? script.version(answer) : json(answer, 200, { ApiVersion: '1.41' });
      case 'list':
        return json(answer, 200, []);
      case 'create':
        this.createBody = JSON.parse(Buffer.concat(pieces).toString());
        return script.create ? script.create(answer) : json(answer, 201, { Id: 'abc', Warnings: [] });
      case 'start':
        return script.start ? script.start(answer) : void answer.writeHead(204).end();
      case 'wait':
        return script.wait ? script.wait(answer) : json(answer, 200, { StatusCode: 0 });
      case 'inspect':
        return script.inspect ? script.inspect(answer) : json(answer, 200, { State: { Running: false, ExitCode: 0, OOMKilled: false } });
      case 'kill':
        return script.kill ? script.kill(answer) : void answer.writeHead(204).end();
      case 'remove':
        return script.remove ? script.remove(answer, (this.#removals += 1)) : void answer.writeHead(204).end();
      default:
        return json(answer, 404, { message: `unexpected ${pathname}` });
    }
  }

  #attach(request: IncomingMessage, stream: Socket): void {
    this.requests.push('attach');
    stream.setNoDelay(true);
    if (this.script.attach !== undefined) return this.script.attach(request, stream);
    stream.write('HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    let bytes = Buffer.alloc(0);
    let frames: string[] | undefined = [];
    stream.on('data', (piece: Buffer) => {
      bytes = Buffer.concat([bytes, piece]);
      while (frames !== undefined && bytes.length >= 4 && bytes.length >= 4 + bytes.readUInt32BE(0)) {
        const size = bytes.readUInt32BE(0);
        frames.push(bytes.subarray(4, 4 + size).toString());
        bytes = bytes.subarray(4 + size);
        if (frames.length < 2) continue;
        const { nonce } = JSON.parse(frames[0]!);
        const payload = JSON.parse(frames[1]!);
        frames = undefined;
        this.script.container?.(stream, { nonce, payload });
      }
    });
  }
}
