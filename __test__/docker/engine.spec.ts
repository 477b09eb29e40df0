import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { createDockerSandbox } from 'ferrule/sandbox';
import { sweepDockerOrphans } from 'ferrule/sandbox/docker';
import { containers, image, nothingIsLeft, options, run } from './support.js';

const dist = new URL('../../dist/sandbox/index.js', import.meta.url).href;
/** Runs a program that uses the built package in a Node process of its own. */
const host = (program: string) =>
  spawn(process.execPath, ['--input-type=module', '-e', `import { createDockerSandbox } from ${JSON.stringify(dist)};\n${program}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });

describe.skipIf(image === undefined)('docker on a real engine (spec 04 §1.6, §1.8)', { timeout: 60_000 }, () => {
  afterAll(nothingIsLeft);

  describe('results', () => {
    it('source and handler', async () => {
      expect(await run('return __INPUT__.a + require("os").EOL.length // note', { input: { a: 41 } })).toEqual({
        ok: true,
        output: 42,
        durationMs: expect.any(Number),
      });
      const sandbox = createDockerSandbox(options);
      expect(
        await sandbox.run({ kind: 'handler', module: '/app/handlers.mjs', export: 'twice' }, { input: 21 }),
      ).toMatchObject({ output: 42 });
      expect(
        await sandbox.run({ kind: 'handler', module: '/app/handlers.mjs', export: 'notAFunction' }, { input: 1 }),
      ).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('is not a function') } });
    });

    it('printing cannot corrupt them', async () => {
      const noise = 'console.log("{"); process.stdout.write("x".repeat(1e6)); console.error("y".repeat(1e6));';
      expect(await run(`${noise} return [1]`)).toMatchObject({ ok: true, output: [1] });
      const child = 'require("child_process").spawn("sh", ["-c", "while true; do echo noise; done"], { stdio: "inherit" });';
      expect(await run(`${child} await new Promise((r) => setTimeout(r, 200)); return "z".repeat(200000).length`)).toMatchObject({
        output: 200_000,
      });
    });

    it('megabytes go in and come out', async () => {
      const input = 'ü'.repeat(3_000_000);
      const result = await run('return __INPUT__', { input });
      expect(result.ok && result.output === input).toBe(true);
    });

    it('undefined is null; what JSON refuses fails', async () => {
      expect(await run('')).toMatchObject({ ok: true, output: null });
      expect(await run('return 1n')).toMatchObject({ error: { kind: 'execution-failed', message: expect.stringContaining('BigInt') } });
      expect(await run('return 1', { input: 1n })).toMatchObject({ error: { kind: 'execution-failed' } });
    });

    it('a non-zero status carries both streams', async () => {
      expect(await run('console.log("out"); console.error("first\\nsecond"); process.exit(7)')).toMatchObject({
        error: {
          kind: 'execution-failed',
          message: 'the container exited with status 7 - first',
          cause: { stdout: 'out\n', stderr: 'first\nsecond\n' },
        },
      });
      expect(await run('throw new TypeError("boo")')).toMatchObject({
        error: { message: 'the container exited with status 1 - TypeError: boo' },
      });
    });

    it('an exit without a result is a failure, unless the code wrote one itself', async () => {
      expect(await run('process.exit(0)')).toMatchObject({
        error: { kind: 'execution-failed', message: expect.stringContaining('exited before producing a result') },
      });
      expect(await run('await new Promise(() => {})')).toMatchObject({ ok: false, error: { kind: 'execution-failed' } });
      expect(await run('process.stdout.write("[5]", () => process.exit(0)); await new Promise(() => {})')).toMatchObject({ output: [5] });
    });

    it('a result over the limit is refused', async () => {
      expect(await run('return "x".repeat(5000)', {}, { maxResultBytes: 1000 })).toMatchObject({
        error: { kind: 'execution-failed', message: expect.stringContaining('larger than 1000 bytes') },
      });
    });
  });

  describe('the view from inside', () => {
    it('user, root, work folder, network, pids, environment', async () => {
      const source = `
        const fs = require('fs');
        const attempt = (action) => { try { action(); return 'allowed'; } catch (error) { return error.code; } };
        const status = fs.readFileSync('/proc/self/status', 'utf8');
        return {
          uid: process.getuid(), gid: process.getgid(),
          work: attempt(() => fs.writeFileSync('/work/a', 'x')),
          root: attempt(() => fs.writeFileSync('/a', 'x')),
          shm: attempt(() => fs.writeFileSync('/dev/shm/a', 'x')),
          network: Object.keys(require('os').networkInterfaces()).filter((name) => name !== 'lo'),
          route: fs.readFileSync('/proc/net/route', 'utf8').trim().split('\\n').length - 1,
          pids: ['/sys/fs/cgroup/pids/pids.max', '/sys/fs/cgroup/pids.max'].map((p) => { try { return fs.readFileSync(p, 'utf8').trim(); } catch { return undefined; } }).find(Boolean),
          caps: /CapEff:\\s*(\\w+)/.exec(status)[1], privileges: /NoNewPrivs:\\s*(\\d)/.exec(status)[1],
          env: { given: process.env.GIVEN, image: process.env.BASELINE },
          command: fs.readFileSync('/proc/self/cmdline', 'utf8').includes('secret-input'),
        };`;
      const result = await run(source, { input: 'secret-input', env: { GIVEN: 'yes' } });
      expect(result).toMatchObject({
        ok: true,
        output: {
          uid: 10001,
          gid: 10001,
          work: 'allowed',
          root: 'EROFS',
          network: [],
          route: 0,
          caps: '0000000000000000',
          privileges: '1',
          env: { given: 'yes', image: 'image' },
          command: false,
        },
      });
      const { shm, pids } = (result as { output: { shm: string; pids?: string } }).output;
      expect(shm).not.toBe('allowed');
      if (pids !== undefined) expect(pids).toBe('128');
    });

    it('allowFs opens the root', async () => {
      const source = 'require("fs").writeFileSync("/tmp/a", "x"); return "written"';
      expect(await run(source, { allowFs: true })).toMatchObject({ output: 'written' });
    });
  });

  describe('limits, each by code that exceeds it', () => {
    it('memory', async () => {
      const heap = 'const all = []; for (;;) all.push(Buffer.alloc(1e6, 1))';
      expect(await run(heap, { maxMemoryMb: 64 })).toMatchObject({ error: { kind: 'memory-exceeded' } });
      const objects = 'const all = []; for (let i = 0;; i++) all.push({ i, s: "x" + i })';
      expect(await run(objects, { maxMemoryMb: 96 })).toMatchObject({ error: { kind: 'memory-exceeded' } });
    });

    it('processes', async () => {
      const source = `
        const { spawn } = require('child_process');
        let failed = 0;
        for (let i = 0; i < 40; i++) spawn('sleep', ['5']).on('error', () => failed++);
        await new Promise((r) => setTimeout(r, 300));
        return failed > 0`;
      expect(await run(source, {}, { pidsLimit: 30 })).toMatchObject({ output: true });
    });

    it('processors', async () => {
      const source = 'const c = process.cpuUsage(), end = Date.now() + 1000; while (Date.now() < end); return process.cpuUsage(c).user / 1e6';
      const result = await run(source, {}, { cpus: 0.2 });
      expect(result.ok && (result.output as number)).toBeLessThan(0.6);
    });

    it('the work folder', async () => {
      const source = 'try { require("fs").writeFileSync("/work/a", Buffer.alloc(80e6)); return "written" } catch (e) { return e.code }';
      expect(await run(source)).toMatchObject({ output: 'ENOSPC' });
    });

    it('time: sleeping, and in a loop that nothing interrupts', async () => {
      for (const source of ['await new Promise((r) => setTimeout(r, 60000))', 'for (;;);']) {
        expect(await run(source, { timeoutMs: 300 })).toMatchObject({
          error: { kind: 'timeout', message: expect.stringContaining('timed out after 300 ms') },
        });
      }
      expect(await run('return 1', { timeoutMs: 0 })).toMatchObject({ output: 1 });
    });
  });

  it('an abort answers at once, wherever the run is', async () => {
    for (const after of [0, 30, 80, 150, 250, 600]) {
      const controller = new AbortController();
      const pending = run('await new Promise((r) => setTimeout(r, 60000))', { signal: controller.signal });
      await new Promise((resolve) => setTimeout(resolve, after));
      const start = performance.now();
      controller.abort();
      expect(await pending).toMatchObject({ error: { kind: 'aborted' } });
      expect(performance.now() - start).toBeLessThan(200);
    }
    await nothingIsLeft();
  });

  it('an image that is not there, a daemon that is not there', async () => {
    expect(await run('return 1', {}, { image: 'no-such-image:1' })).toMatchObject({
      error: { kind: 'execution-failed', message: expect.stringContaining('no-such-image') },
    });
    const result = await run('return 1', {}, { socketPath: '/nonexistent.sock' });
    expect(result).toMatchObject({ error: { kind: 'sandbox-violation' } });
    expect(!result.ok && result.error.message).toMatch(/Docker.*nonexistent\.sock/);
  });

  describe('the pool', () => {
    it('is far faster than a cold start, and never serves two runs with one container', async () => {
      const sandbox = createDockerSandbox({ ...options, pool: { size: 2, idleTimeoutMs: 3000 } });
      const source = 'const before = globalThis.left; globalThis.left = 1; return [before ?? null, process.env.N, require("os").hostname()]';
      const times: number[] = [];
      const hosts = new Set<string>();
      for (let turn = 0; turn < 6; turn++) {
        const result = await sandbox.run({ kind: 'source', source }, { input: null, env: { N: String(turn) } });
        const [before, env, name] = (result as { output: [unknown, string, string] }).output;
        expect([before, env]).toEqual([null, String(turn)]);
        hosts.add(name);
        times.push(result.durationMs);
        await vi.waitFor(async () => expect((await containers()).filter((one) => one.includes('Up')).length).toBe(2), { timeout: 10_000 });
      }
      expect(hosts.size).toBe(6);
      const warm = times.slice(1).sort((a, b) => a - b)[2]!;
      expect(warm).toBeLessThan(times[0]! / 3);
      // An unused pool is given up.
      await nothingIsLeft();
    });

    it('keeps kinds of containers apart', async () => {
      const sandbox = createDockerSandbox({ ...options, pool: { size: 1, idleTimeoutMs: 4000 } });
      const code = {
        kind: 'source',
        source: 'try { require("fs").writeFileSync("/tmp/a", "x"); return "written" } catch (e) { return e.code }',
      } as const;
      for (let turn = 0; turn < 2; turn++) {
        expect(await sandbox.run(code, { input: null })).toMatchObject({ output: 'EROFS' });
        const open = await sandbox.run(code, { input: null, allowFs: true });
        expect(open).toMatchObject({ output: 'written' });
        if (turn === 1) expect(open.durationMs).toBeLessThan(150);
        await vi.waitFor(async () => expect((await containers()).filter((one) => one.includes('Up')).length).toBe(2), { timeout: 10_000 });
      }
      await nothingIsLeft();
    });
  });

  describe('nothing is left behind', () => {
    it('after 200 runs with random aborts and limits', { timeout: 300_000 }, async () => {
      const sandbox = createDockerSandbox({ ...options, pool: { size: 2, idleTimeoutMs: 2000 } });
      let left = 200;
      const kinds: Record<string, number> = {};
      const worker = async () => {
        while (left-- > 0) {
          const controller = new AbortController();
          const dice = Math.random();
          if (dice < 0.4) setTimeout(() => controller.abort(), Math.random() * 700);
          const result = await sandbox.run(
            { kind: 'source', source: dice < 0.7 ? 'await new Promise((r) => setTimeout(r, 2000))' : 'return 1' },
            { input: null, signal: controller.signal, timeoutMs: 100 + Math.random() * 500, allowFs: Math.random() < 0.5 },
          );
          const kind = result.ok ? 'ok' : result.error.kind;
          kinds[kind] = (kinds[kind] ?? 0) + 1;
        }
      };
      await Promise.all(Array.from({ length: 4 }, worker));
      expect(Object.keys(kinds).sort()).toEqual(['aborted', 'ok', 'timeout']);
      await nothingIsLeft();
    });

    it('when the process ends by itself, and while a run is under way', async () => {
      const natural = host(`const s = createDockerSandbox({ image: '${image}', pool: { size: 1 } });
        console.log((await s.run({ kind: 'source', source: 'return 1' }, { input: null })).output);`);
      expect(await once(natural, 'exit')).toEqual([0, null]);
      await nothingIsLeft();
      const hasty = host(`const s = createDockerSandbox({ image: '${image}' });
        s.run({ kind: 'source', source: 'await new Promise((r) => setTimeout(r, 60000))' }, { input: null });
        setTimeout(() => process.exit(0), 800);`);
      expect(await once(hasty, 'exit')).toEqual([0, null]);
      await nothingIsLeft();
    });

    it('when the process was killed: the next one sweeps', async () => {
      const doomed = host(`const s = createDockerSandbox({ image: '${image}' });
        s.run({ kind: 'source', source: 'setInterval(() => {}, 1000); await new Promise(() => {})' }, { input: null, timeoutMs: 0 });`);
      await vi.waitFor(async () => expect((await containers()).some((one) => one.includes('Up'))).toBe(true), { timeout: 10_000 });
      doomed.kill('SIGKILL');
      await once(doomed, 'exit');
      expect((await containers()).length).toBe(1);
      expect(await sweepDockerOrphans()).toBe(1);
      await nothingIsLeft();
      expect(await sweepDockerOrphans()).toBe(0);
    });
  });
});
