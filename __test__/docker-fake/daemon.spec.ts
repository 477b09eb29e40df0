import { afterAll, describe, expect, it, vi } from 'vitest';
import { createDockerSandbox, type SandboxRunOptions } from 'ferrule/sandbox';
import { createDockerCodeModeRunner, type DockerSandboxOptions } from 'ferrule/sandbox/docker';
import { FakeDaemon, frame, json, message, type DaemonScript } from './daemon.js';

/** The daemon of the last run. Each run has its own: removals of the one before may still come in. */
let daemon: FakeDaemon;
const daemons: FakeDaemon[] = [];
afterAll(() => daemons.forEach((one) => one.close()));

const run = async (script: DaemonScript, opts: Partial<SandboxRunOptions> = {}, options: DockerSandboxOptions = {}) => {
  daemon = new FakeDaemon();
  daemons.push(daemon);
  daemon.reset(script);
  await daemon.listen();
  return createDockerSandbox({ socketPath: daemon.socketPath, ...options }).run({ kind: 'source', source: 'unused' }, { input: null, ...opts });
};
const removedOnce = () => vi.waitFor(() => expect(daemon.count('remove')).toBe(1));
const never = (): void => {};

describe('a scripted daemon: the attached stream', () => {
  const streamOf = (nonce: string) =>
    Buffer.concat([
      frame(1, 'printed ü '.slice(0, 9)),
      frame(2, 'err'),
      frame(1, ''),
      frame(1, message(nonce, '{"answer":"grüße"}', 5)),
      frame(2, 'more'),
    ]);

  it('split at any byte, in one case after the other', async () => {
    const length = streamOf('0'.repeat(32)).length;
    const own = new FakeDaemon();
    daemons.push(own);
    await own.listen();
    const sandbox = createDockerSandbox({ socketPath: own.socketPath });
    for (let cut = 1; cut < length; cut++) {
      own.reset({
        container: (stream, { nonce }) => {
          const all = streamOf(nonce);
          stream.write(all.subarray(0, cut), () => setImmediate(() => stream.end(all.subarray(cut))));
        },
      });
      const result = await sandbox.run({ kind: 'source', source: '' }, { input: null });
      expect([cut, result]).toMatchObject([cut, { ok: true, output: { answer: 'grüße' } }]);
    }
  }, 60_000);

  it('byte by byte, with the text of both streams whole', async () => {
    const failing: DaemonScript = {
      container: async (stream) => {
        for (const byte of Buffer.concat([frame(1, 'aü'), frame(2, 'x'), frame(1, Buffer.from('€').subarray(0, 1)), frame(1, Buffer.from('€').subarray(1)), frame(2, 'y€')])) {
          stream.write(Buffer.from([byte]));
          await new Promise(setImmediate);
        }
        stream.end();
      },
      inspect: (answer) => json(answer, 200, { State: { Running: false, ExitCode: 3 } }),
    };
    expect(await run(failing)).toMatchObject({
      error: { message: 'the container exited with status 3 - xy€', cause: { stdout: 'aü€', stderr: 'xy€' } },
    });
  });

  it('frames over 64 KiB, megabytes in all', async () => {
    const text = JSON.stringify('ä'.repeat(1_000_000));
    const result = await run({
      container: (stream, { nonce }) => {
        const all = message(nonce, text);
        for (let at = 0; at < all.length; at += 100_000) stream.write(frame(1, all.subarray(at, at + 100_000)));
      },
    });
    expect(result.ok && result.output).toBe(JSON.parse(text));
  });

  it('without frames at all (a terminal) does not hang', async () => {
    expect(await run({ container: (stream) => stream.end('{"tty":1}\r\n') })).toMatchObject({ ok: true, output: { tty: 1 } });
    expect(await run({ container: (stream) => stream.end('plain text\r\n') })).toMatchObject({ error: { kind: 'execution-failed' } });
  });

  it('cut within a frame is a failure, not silence', async () => {
    const length = frame(1, message('0'.repeat(32), '"ok"')).length;
    for (const keep of [0, 3, 8, 20, length - 1]) {
      const result = await run({ container: (stream, { nonce }) => stream.end(frame(1, message(nonce, '"ok"')).subarray(0, keep)) });
      expect(result).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
    }
  });

  it('another run’s secret, and no secret, are printing', async () => {
    expect(await run({ container: (stream) => stream.end(frame(1, message('f'.repeat(32), '"forged"'))) })).toMatchObject({ ok: false });
  });

  it('reset by the daemon', async () => {
    const result = await run({
      container: (stream) => stream.destroy(),
      inspect: (answer) => json(answer, 500, { message: 'daemon is going down' }),
    });
    expect(result).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('daemon is going down') } });
    await removedOnce();
  });

  it('ends while the container runs on', async () => {
    const result = await run({
      container: (stream) => stream.end(),
      inspect: (answer) => json(answer, 200, { State: { Running: true } }),
    });
    expect(result).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('still runs') } });
    await removedOnce();
  });

  it('refuses a container that reports more than it may', async () => {
    const result = await run({ container: (stream, { nonce }) => stream.write(frame(1, message(nonce, '"12345678901"'))) }, {}, { maxResultBytes: 10 });
    expect(result).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('larger than 10 bytes') } });
    await removedOnce();
  });

  it('an answer that is no JSON fails', async () => {
    expect(await run({ container: (stream, { nonce }) => stream.write(frame(1, message(nonce, '{'))) })).toMatchObject({
      error: { kind: 'execution-failed' },
    });
  });
});

describe('a scripted daemon: races', () => {
  it('a deadline on a container that ended by itself is no timeout (409, 404)', async () => {
    for (const status of [409, 404]) {
      let stream: { write(bytes: Buffer): void } | undefined;
      let nonce = '';
      const result = await run(
        {
          container: (opened, job) => {
            stream = opened;
            nonce = job.nonce;
          },
          kill: (answer) => {
            json(answer, status, { message: 'is not running' });
            setTimeout(() => stream!.write(frame(1, message(nonce, '"in time"'))), 30);
          },
        },
        { timeoutMs: 100 },
      );
      expect(result).toMatchObject({ ok: true, output: 'in time' });
    }
    // The rest of the output has a bound of its own.
    expect(await run({ container: never, kill: (answer) => json(answer, 409, { message: 'no' }) }, { timeoutMs: 100 })).toMatchObject({
      error: { kind: 'timeout' },
    });
  });

  it('removal: gone already (404), under way (409), failing (500), then done', async () => {
    const answerNow: DaemonScript['container'] = (stream, { nonce }) => stream.write(frame(1, message(nonce, '1')));
    await run({ container: answerNow, remove: (answer) => json(answer, 404, { message: 'no such container' }) });
    await removedOnce();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(daemon.count('remove')).toBe(1);
    const statuses = [500, 409, 204];
    await run({
      container: answerNow,
      remove: (answer, attempt) => json(answer, statuses[attempt - 1] ?? 204, { message: 'busy' }),
    });
    await vi.waitFor(() => expect(daemon.count('remove')).toBe(3), { timeout: 3000 });
  });

  it('the exit of the container: OOM, V8 giving up, plain', async () => {
    const exits: ReadonlyArray<readonly [object, string, string]> = [
      [{ ExitCode: 137, OOMKilled: true }, '', 'memory-exceeded'],
      [{ ExitCode: 134, OOMKilled: false }, 'FATAL ERROR: JavaScript heap out of memory', 'memory-exceeded'],
      [{ ExitCode: 137, OOMKilled: false }, '', 'execution-failed'],
    ];
    for (const [state, stderr, kind] of exits) {
      const result = await run({
        container: (stream) => stream.end(frame(2, stderr)),
        // The engine reports a status that is not zero in this answer as well.
        wait: (answer) => json(answer, 200, { StatusCode: 137 }),
        inspect: (answer) => json(answer, 200, { State: { Running: false, ...state } }),
      });
      expect(result).toMatchObject({ error: { kind } });
    }
    // A child that was killed does not make a good run fail.
    expect(
      await run({
        container: (stream, { nonce }) => stream.write(frame(1, message(nonce, '1'))),
        inspect: (answer) => json(answer, 200, { State: { Running: false, ExitCode: 0, OOMKilled: true } }),
      }),
    ).toMatchObject({ ok: true });
  });
});

describe('a scripted daemon: refusing and hanging', () => {
  it('what it refuses is reported in its own words', async () => {
    const refuse = (answer: Parameters<typeof json>[0]) => json(answer, 500, { message: 'no space left' });
    for (const script of [{ create: refuse }, { start: refuse }] as DaemonScript[]) {
      expect(await run(script)).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('no space left') } });
    }
    await removedOnce();
    expect(await run({ attach: (_, stream) => stream.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n') })).toMatchObject({ ok: false });
    await removedOnce();
  });

  it('something that is no Docker engine', async () => {
    const result = await run({ version: (answer) => answer.end('<html>') });
    expect(result).toMatchObject({ error: { kind: 'sandbox-violation', message: expect.stringContaining('Docker') } });
  });

  const hangs: Record<string, DaemonScript> = {
    version: { version: never },
    create: { create: never },
    attach: { attach: never },
    start: { start: never },
  };
  for (const [step, script] of Object.entries(hangs)) {
    it(`hanging in ${step}: bounded by setupTimeoutMs`, async () => {
      const start = performance.now();
      const result = await run(script, {}, { setupTimeoutMs: 200 });
      expect(result).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('did not answer within 200 ms') } });
      expect(performance.now() - start).toBeLessThan(2000);
      if (step !== 'version') await vi.waitFor(() => expect(daemon.count('remove')).toBeGreaterThan(0));
    });

    it(`hanging in ${step}: an abort answers at once`, async () => {
      const controller = new AbortController();
      const pending = run(script, { signal: controller.signal }, { setupTimeoutMs: 1000 });
      await vi.waitFor(() => expect(daemon.requests).toContain(step));
      const start = performance.now();
      controller.abort();
      expect(await pending).toMatchObject({ error: { kind: 'aborted' } });
      expect(performance.now() - start).toBeLessThan(100);
    });
  }

  it('a container that comes into being after the abort is removed', async () => {
    const controller = new AbortController();
    let finish: () => void = never;
    const pending = run({ create: (answer) => (finish = () => json(answer, 201, { Id: 'late', Warnings: [] })) }, { signal: controller.signal });
    await vi.waitFor(() => expect(daemon.requests).toContain('create'));
    controller.abort();
    expect(await pending).toMatchObject({ error: { kind: 'aborted' } });
    expect(daemon.count('remove')).toBe(0);
    finish();
    await vi.waitFor(() => expect(daemon.count('remove')).toBe(1));
  });

  it('a removal that hangs does not hold the result back', async () => {
    const own = new FakeDaemon();
    await own.listen();
    own.reset({ container: (stream, { nonce }) => stream.write(frame(1, message(nonce, '1'))), remove: never });
    const result = await createDockerSandbox({ socketPath: own.socketPath }).run({ kind: 'source', source: '' }, { input: null });
    expect(result).toMatchObject({ ok: true, output: 1 });
    expect(result.durationMs).toBeLessThan(1000);
    own.close();
  });
});

describe('spec 04 §1.6 the request of our own client', () => {
  it('is the documented one, with labels, no log and no swap', async () => {
    const own = new FakeDaemon();
    await own.listen();
    own.reset({ container: (stream, { nonce }) => stream.write(frame(1, message(nonce, '1'))) });
    await createDockerSandbox({ socketPath: own.socketPath }).run(
      { kind: 'source', source: 'the source' },
      { input: 'the input', env: { A: '1' }, maxMemoryMb: 64 },
    );
    const body = own.createBody;
    expect(JSON.stringify(body)).not.toContain('the input');
    expect(JSON.stringify(body)).not.toContain('the source');
    body.Cmd[2] = 'program';
    body.Labels['ferrule.host'] = 'host';
    body.Labels['ferrule.owner'] = 'owner';
    expect(body).toMatchInlineSnapshot(`
      {
        "AttachStderr": true,
        "AttachStdin": true,
        "AttachStdout": true,
        "Cmd": [
          "node",
          "-e",
          "program",
        ],
        "Env": [
          "A=1",
        ],
        "HostConfig": {
          "AutoRemove": false,
          "CapDrop": [
            "ALL",
          ],
          "IpcMode": "none",
          "LogConfig": {
            "Type": "none",
          },
          "Memory": 67108864,
          "MemorySwap": 67108864,
          "NanoCpus": 1000000000,
          "NetworkMode": "none",
          "PidsLimit": 128,
          "ReadonlyRootfs": true,
          "SecurityOpt": [
            "no-new-privileges",
          ],
          "Tmpfs": {
            "/work": "rw,size=64m,uid=10001,gid=10001,mode=0700",
          },
        },
        "Image": "graphorin-sandbox:latest",
        "Labels": {
          "ferrule.host": "host",
          "ferrule.owner": "owner",
          "ferrule.sandbox": "1",
        },
        "NetworkDisabled": true,
        "OpenStdin": true,
        "StdinOnce": true,
        "Tty": false,
        "User": "10001:10001",
      }
    `);
    own.close();
  });
});

describe('a scripted container in code mode', () => {
  const script = (sent: readonly unknown[], more: object = {}) => {
    const own = new FakeDaemon();
    const answers: string[] = [];
    own.reset({
      container: (stream, { nonce }) => {
        stream.on('data', (piece: Buffer) => answers.push(piece.toString()));
        for (const one of sent) stream.write(frame(1, message(nonce, typeof one === 'string' ? one : JSON.stringify(one))));
      },
    });
    return own.listen().then(async () => {
      const dispatch = vi.fn(async () => 'dispatched');
      const result = await createDockerCodeModeRunner({ socketPath: own.socketPath })({
        source: '', allowedTools: ['known'], dispatch, timeoutMs: 2000, ...more,
      });
      own.close();
      return { result, dispatch, answers: answers.join('') };
    });
  };
  const call = (name: string, id = 1) => ({ t: 'call', id, name, args: '[1,[]]' });
  const done = { t: 'done', value: '[5,[]]', calls: 99 };

  it('cannot reach a tool it was not given, nor exceed the budget, nor report other counts', async () => {
    const { result, dispatch } = await script([call('unknown'), call('known', 2), call('known', 3), call('known', 4), done], { maxToolCalls: 3 });
    expect(result).toMatchObject({ ok: true, output: 5, toolCalls: 3 });
    expect(dispatch).toHaveBeenCalledTimes(2);
  });

  for (const [name, sent] of Object.entries({
    'no JSON': ['{'],
    'no message': ['null'],
    'an unknown kind': [{ t: 'odd' }],
    'a value that is none': [{ t: 'done', value: '[["r",7],[]]' }],
    'no value': [{ t: 'done' }],
    'an endless structure': [{ t: 'done', value: `[["r",0],[${'["a",['.repeat(2000)}${']]'.repeat(2000)}]]` }],
  })) {
    it(`sending ${name} fails the run`, async () => {
      const { result } = await script(sent);
      expect(result).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
    });
  }

  it('sending nothing ends at the limit', async () => {
    expect((await script([], { timeoutMs: 200 })).result).toMatchObject({ ok: false, error: { kind: 'timeout' } });
  });

  it('cannot pollute prototypes', async () => {
    const { result } = await script([{ t: 'done', value: '[["r",0],[["o",[["__proto__",["r",1]]]],["o",[["polluted",true]]]]]' }]);
    expect(result.ok && Object.keys(result.output as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
