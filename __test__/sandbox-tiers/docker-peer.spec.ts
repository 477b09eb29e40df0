import { spawnSync } from 'node:child_process';
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { createDockerSandbox, type DockerodeModule, type DockerSandboxOptions, type SandboxRunOptions } from 'ferrule/sandbox';

const source = { kind: 'source', source: 'return __INPUT__' } as const;

function frame(kind: number, text: string | Buffer): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

interface Script {
  readonly logs?: unknown;
  readonly status?: number;
  create?(request: Record<string, any>): void | Promise<void>;
  start?(): void | Promise<void>;
  wait?(): Promise<{ StatusCode: number }>;
  remove?(): void | Promise<void>;
}

/** A stand-in with the documented members only. */
function peer(script: Script = {}) {
  const calls: unknown[] = [];
  const requests: Record<string, any>[] = [];
  const container = {
    async start() {
      calls.push('start');
      await script.start?.();
    },
    wait() {
      calls.push('wait');
      return script.wait?.() ?? Promise.resolve({ StatusCode: script.status ?? 0 });
    },
    logs(options: unknown) {
      calls.push(['logs', options]);
      return Promise.resolve(script.logs ?? '');
    },
    async remove(options: unknown) {
      calls.push(['remove', options]);
      await script.remove?.();
    },
  };
  const load = vi.fn(
    async () =>
      ({
        default: class {
          constructor(...all: unknown[]) {
            calls.push(['new', ...all]);
          }
          async createContainer(request: Record<string, any>) {
            requests.push(request);
            await script.create?.(request);
            return container;
          }
        },
      }) as unknown as DockerodeModule,
  );
  const run = (opts: Partial<SandboxRunOptions> = {}, options: DockerSandboxOptions = {}, code: any = source) =>
    createDockerSandbox({ peerLoader: load, ...options }).run(code, { input: { a: 1 }, ...opts });
  return { calls, requests, load, run };
}

const removed = ['remove', { force: true }];

describe('spec 04 §1.6 docker with a peer', () => {
  it('makes exactly the documented calls', async () => {
    const { calls, run } = peer({ logs: frame(1, '{"b":2}') });
    expect(await run()).toEqual({ ok: true, output: { b: 2 }, durationMs: expect.any(Number) });
    expect(calls).toEqual([['new', undefined], 'start', 'wait', ['logs', { stdout: true, stderr: true }], removed]);
    const other = peer({ logs: '1' });
    await other.run({}, { socketPath: '/x.sock' });
    expect(other.calls[0]).toEqual(['new', { socketPath: '/x.sock' }]);
  });

  it('sends the whole hardening block', async () => {
    const { requests, run } = peer({ logs: '1' });
    await run({ env: { B: '2', A: '1' } });
    const [request] = requests;
    expect(request).toMatchObject({
      Image: 'graphorin-sandbox:latest',
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
      OpenStdin: true,
      StdinOnce: true,
      Tty: false,
      NetworkDisabled: true,
      User: '10001:10001',
      HostConfig: {
        Memory: 512 * 1048576,
        MemorySwap: 512 * 1048576,
        ReadonlyRootfs: true,
        PidsLimit: 128,
        NanoCpus: 1e9,
        AutoRemove: false,
      },
    });
    expect(request!.Env).toEqual(['B=2', 'A=1']);
    expect(request!.Cmd.slice(0, 2)).toEqual(['node', '-e']);
    expect(request!.Cmd[2]).toContain('__INPUT__');
    expect(request!.Cmd[2]).toContain('{"a":1}');
    expect(request!.HostConfig.Tmpfs).toEqual({ '/work': 'rw,size=64m,uid=10001,gid=10001,mode=0700' });
    expect(request!.HostConfig.CapDrop).toEqual(['ALL']);
    expect(request!.HostConfig.SecurityOpt).toEqual(['no-new-privileges']);
    expect('Binds' in request!.HostConfig || 'Mounts' in request!.HostConfig).toBe(false);
  });

  const variants: ReadonlyArray<readonly [DockerSandboxOptions, Partial<SandboxRunOptions>, (request: any) => unknown, unknown]> = [
    [{ pidsLimit: 1 }, {}, (r) => r.HostConfig.PidsLimit, 16],
    [{ pidsLimit: 5000 }, {}, (r) => r.HostConfig.PidsLimit, 4096],
    [{ pidsLimit: 64.9 }, {}, (r) => r.HostConfig.PidsLimit, 64],
    [{ cpus: 0 }, {}, (r) => r.HostConfig.NanoCpus, 1e8],
    [{ cpus: 100 }, {}, (r) => r.HostConfig.NanoCpus, 8e9],
    [{ user: '' }, {}, (r) => ['User' in r, r.HostConfig.Tmpfs['/work']], [false, 'rw,size=64m']],
    [{ user: 'nobody' }, {}, (r) => [r.User, r.HostConfig.Tmpfs['/work']], ['nobody', 'rw,size=64m']],
    [{ memoryLimitMb: 64 }, {}, (r) => r.HostConfig.Memory, 64 * 1048576],
    [{ memoryLimitMb: 64 }, { maxMemoryMb: 32 }, (r) => r.HostConfig.Memory, 32 * 1048576],
    [{}, { allowNetwork: true, allowFs: true }, (r) => [r.NetworkDisabled, r.HostConfig.ReadonlyRootfs], [false, false]],
    [{ image: 'mine' }, {}, (r) => [r.Image, r.Env], ['mine', []]],
  ];
  for (const [options, opts, read, expected] of variants) {
    it(`request with ${JSON.stringify({ ...options, ...opts })}`, async () => {
      const { requests, run } = peer({ logs: '1' });
      await run(opts, options);
      expect(read(requests[0])).toEqual(expected);
    });
  }

  describe('its program', () => {
    const outcome = async (code: unknown, input: unknown = { a: 1 }) => {
      // The stand-in runs the program for real, in a process of this machine.
      let ran: ReturnType<typeof spawnSync> | undefined;
      const { run } = peer({
        create: (request) => {
          ran = spawnSync(process.execPath, request.Cmd.slice(1));
        },
        wait: () => Promise.resolve({ StatusCode: ran!.status! }),
        get logs() {
          return Promise.resolve(Buffer.concat([frame(1, ran!.stdout as Buffer), frame(2, ran!.stderr as Buffer)]));
        },
      });
      const result = await run({ input }, {}, code);
      return { result, stdout: String(ran!.stdout) };
    };
    const run = (text: string, input?: unknown) => outcome({ kind: 'source', source: text }, input);

    it('writes the answer as plain JSON', async () => {
      const { result, stdout } = await run('return { ...__INPUT__, dir: typeof require("fs") } // comment');
      expect(result).toMatchObject({ ok: true, output: { a: 1, dir: 'object' } });
      expect(stdout).toBe('{"a":1,"dir":"object"}');
    });

    it('survives what the code prints', async () => {
      const { result } = await run('console.log("{ noise"); return await Promise.resolve([1])');
      expect(result).toMatchObject({ ok: true, output: [1] });
    });

    it('keeps any input as it is', async () => {
      const input = { quote: `'"\\`, line: 'a\nb\u2028\u2029\r', ['__proto__x']: 1, lone: '\ud800', nul: '\0' };
      expect((await run('return __INPUT__', input)).result).toMatchObject({ ok: true, output: input });
      const proto = JSON.parse('{"__proto__":{"x":1}}');
      expect((await run('return Object.hasOwn(__INPUT__, "__proto__")', proto)).result).toMatchObject({ output: true });
    });

    it('turns undefined into null', async () => {
      expect((await run('')).result).toMatchObject({ ok: true, output: null });
    });

    it('reports an exception by status and first line', async () => {
      const { result } = await run('throw new TypeError("boo")');
      expect(result).toMatchObject({
        error: { kind: 'execution-failed', message: 'the container exited with status 1 - TypeError: boo' },
      });
    });

    it('imports a handler', async () => {
      const module = 'data:text/javascript,export const f = (i) => i.a + 1; export const g = 1';
      expect((await outcome({ kind: 'handler', module, export: 'f' })).result).toMatchObject({ output: 2 });
      expect((await outcome({ kind: 'handler', module, export: 'g' })).result).toMatchObject({
        error: { message: expect.stringContaining('is not a function') },
      });
    });
  });

  describe('logs', () => {
    const table: ReadonlyArray<readonly [string, unknown, unknown]> = [
      ['one frame', frame(1, '42'), 42],
      ['split across frames', Buffer.concat([frame(1, '{"a"'), frame(1, ''), frame(1, ':1}')]), { a: 1 }],
      ['stderr between', Buffer.concat([frame(1, '[1'), frame(2, 'noise'), frame(0, 'in'), frame(1, ']')]), [1]],
      ['no frames', '{"plain":true}', { plain: true }],
      ['shorter than a header', '7', 7],
      ['a stream of buffers', Readable.from([frame(1, '"a'), frame(1, 'b"')]), 'ab'],
      ['a stream cut within a header', Readable.from([frame(1, '12').subarray(0, 5), frame(1, '12').subarray(5)]), 12],
      ['nothing', '', undefined],
      ['white space', frame(1, ' \n'), undefined],
    ];
    for (const [name, logs, output] of table) {
      it(name, async () => {
        expect(await peer({ logs }).run()).toEqual({ ok: true, output, durationMs: expect.any(Number) });
      });
    }

    it('that are no JSON fail with the cause', async () => {
      const result = await peer({ logs: 'no json' }).run();
      expect(result).toMatchObject({ error: { kind: 'execution-failed' } });
      expect(!result.ok && result.error.cause).toBeInstanceOf(SyntaxError);
    });

    it('of a failed run become message and cause', async () => {
      const long = 'x'.repeat(400);
      const logs = Buffer.concat([frame(1, 'out'), frame(2, `${long}\nsecond`)]);
      expect(await peer({ logs, status: 3 }).run()).toMatchObject({
        error: {
          kind: 'execution-failed',
          message: `the container exited with status 3 - ${'x'.repeat(300)}`,
          cause: { stdout: 'out', stderr: `${long}\nsecond` },
        },
      });
      expect(await peer({ status: 2 }).run()).toMatchObject({ error: { message: 'the container exited with status 2' } });
    });
  });

  describe('refusals', () => {
    const loaders: Record<string, () => Promise<any>> = {
      'a loader that rejects': () => Promise.reject(new Error('no')),
      'a loader without default': async () => ({}),
      'a constructor that throws': async () => ({
        default: class {
          constructor() {
            throw new Error('no');
          }
        },
      }),
    };
    for (const [name, loader] of Object.entries(loaders)) {
      it(`${name} is remembered`, async () => {
        const load = vi.fn(loader);
        const sandbox = createDockerSandbox({ peerLoader: load });
        for (let turn = 0; turn < 2; turn++) {
          const result = await sandbox.run(source, { input: 1 });
          expect(result).toMatchObject({ error: { kind: 'sandbox-violation' } });
          expect(!result.ok && result.error.message).toMatch(/dockerode.*daemon.*pnpm add dockerode/);
        }
        expect(load).toHaveBeenCalledTimes(1);
      });
    }

    it('names the kind of other code', async () => {
      const result = await peer().run({}, {}, { kind: 'file', path: '/x' });
      expect(result).toMatchObject({ error: { kind: 'sandbox-violation', message: expect.stringContaining("'file'") } });
    });

    it('answers a daemon that refuses, and input that JSON refuses, with a failure', async () => {
      const refused = new Error('connect ENOENT');
      const create = () => Promise.reject(refused);
      const result = await peer({ create }).run();
      expect(result).toMatchObject({ error: { kind: 'execution-failed', message: 'connect ENOENT', cause: refused } });
      expect(await peer().run({ input: 1n })).toMatchObject({ error: { kind: 'execution-failed' } });
    });
  });

  describe('ends', () => {
    it('aborted before: nothing is loaded', async () => {
      const { load, run } = peer();
      expect(await run({ signal: AbortSignal.abort() })).toMatchObject({ error: { kind: 'aborted' } });
      expect(load).not.toHaveBeenCalled();
    });

    it('aborted while it waits: one forced removal, no listener left', async () => {
      const controller = new AbortController();
      const remove = vi.spyOn(controller.signal, 'removeEventListener');
      const { calls, run } = peer({ wait: () => new Promise(() => {}) });
      setTimeout(() => controller.abort(), 20);
      expect(await run({ signal: controller.signal })).toMatchObject({ error: { kind: 'aborted' } });
      expect(calls.filter((call) => Array.isArray(call) && call[0] === 'remove')).toEqual([removed]);
      expect(remove).toHaveBeenCalled();
    });

    it('aborted inside start and inside create', async () => {
      for (const at of ['start', 'create'] as const) {
        const controller = new AbortController();
        const { calls, run } = peer({ [at]: () => controller.abort(), wait: () => new Promise(() => {}) });
        expect(await run({ signal: controller.signal })).toMatchObject({ error: { kind: 'aborted' } });
        await vi.waitFor(() => expect(calls).toContainEqual(removed));
      }
    });

    it('aborted while the daemon hangs in create: answered at once, removed when it comes', async () => {
      const controller = new AbortController();
      let finish = (): void => {};
      const create = () => new Promise<void>((resolve) => (finish = resolve));
      const { calls, run } = peer({ create });
      setTimeout(() => controller.abort(), 20);
      expect(await run({ signal: controller.signal })).toMatchObject({ error: { kind: 'aborted' } });
      finish();
      await vi.waitFor(() => expect(calls).toContainEqual(removed));
    });

    it('timed out; a later rejection of wait stays unseen', async () => {
      let reject: (error: Error) => void = () => {};
      const wait = () => new Promise<never>((_, no) => (reject = no));
      const { calls, run } = peer({ wait });
      expect(await run({ timeoutMs: 30 })).toMatchObject({
        error: { kind: 'timeout', message: expect.stringContaining('timed out after 30 ms') },
      });
      reject(new Error('late'));
      expect(calls.at(-1)).toEqual(removed);
    });

    it('no limit for 0', async () => {
      const wait = () => new Promise<{ StatusCode: number }>((resolve) => setTimeout(() => resolve({ StatusCode: 0 }), 50));
      expect(await peer({ wait, logs: '1' }).run({ timeoutMs: 0 })).toMatchObject({ output: 1 });
    });

    it('removes after failures of start, wait and logs, and ignores failures to remove', async () => {
      const boom = () => Promise.reject(new Error('boom'));
      for (const script of [{ start: boom }, { wait: boom }, { get logs() { return boom(); } }]) {
        const { calls, run } = peer({ ...script, remove: boom });
        expect(await run()).toMatchObject({ error: { kind: 'execution-failed', message: 'boom' } });
        expect(calls.filter((call) => Array.isArray(call) && call[0] === 'remove')).toEqual([removed]);
      }
    });
  });
});
