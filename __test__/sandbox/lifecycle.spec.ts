// Processes come and go with the host (issue 6 point 1; spec 04 section 1.8, "host process").
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
// @ts-expect-error a plain script
import { ensureDist } from '../../scripts/lib.mjs';

const entry = new URL('../../dist/sandbox/index.js', import.meta.url).href;
const prelude = `import { runBridgedSource } from ${JSON.stringify(entry)}; const run = (source, options = {}) => runBridgedSource({ source, allowedTools: ['echo'], dispatch: async ({ args }) => args, ...options });`;

function host(code: string, args: string[] = []): ChildProcess {
  return spawn(process.execPath, [...args, '--input-type=module', '-e', `${prelude}\n${code}`], { stdio: ['ignore', 'pipe', 'pipe'], cwd: fileURLToPath(new URL('../..', import.meta.url)) });
}

async function finished(child: ChildProcess): Promise<{ code: number | null; out: string; ms: number }> {
  const started = performance.now();
  let out = '';
  child.stdout?.on('data', (chunk) => (out += chunk));
  child.stderr?.on('data', (chunk) => (out += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out: out.trim(), ms: performance.now() - started };
}

/** Sandbox processes below a process, with their parents. */
function below(pid: number): number[] {
  const found: [number, number][] = [];
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (stat.includes('(ferrule-sandbox)')) found.push([Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])]);
    } catch {
      // Ended in between.
    }
  }
  const zygotes = found.filter(([, parent]) => parent === pid).map(([id]) => id);
  return [...zygotes, ...found.filter(([, parent]) => zygotes.includes(parent)).map(([id]) => id)];
}

async function until(condition: () => boolean, ms = 10_000): Promise<boolean> {
  for (const started = performance.now(); performance.now() - started < ms; ) {
    if (condition()) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

describe.skipIf(process.platform !== 'linux')('with its host', () => {
  beforeAll(async () => void (await ensureDist()), 240_000);

  it('nothing is started before the first run', async () => {
    const child = host('setTimeout(() => {}, 1500)');
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(below(child.pid as number)).toEqual([]);
    expect(await finished(child)).toMatchObject({ code: 0, out: '' });
  });

  it('a pending run keeps the process alive, a settled one does not', async () => {
    const { code, out, ms } = await finished(host('run("await new Promise((r) => setTimeout(r, 300)); return await tools.echo(7)").then((r) => console.log(r.output))'));
    expect({ code, out }).toEqual({ code: 0, out: '7' });
    expect(ms).toBeLessThan(8000);
  });

  it('a signal that is none leaves nothing running', async () => {
    const { code, out, ms } = await finished(host('run("for (;;) {}", { signal: {}, timeoutMs: 20_000 }).then((r) => console.log(r.error.message))'));
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('the options are not usable') as string });
    expect(ms).toBeLessThan(8000);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('%s of the host leaves nothing running', async (signal) => {
    const child = host('run("for (;;) {}", { timeoutMs: 0, maxCpuMs: 0 }); run("await tools.echo(1); for (;;) {}", { timeoutMs: 0, maxCpuMs: 0 }); setInterval(() => {}, 1000)');
    const pid = child.pid as number;
    expect(await until(() => below(pid).length === 3)).toBe(true);
    const helpers = below(pid);
    child.kill(signal);
    await new Promise((resolve) => child.on('close', resolve));
    expect(await until(() => helpers.every((id) => !existsSync(`/proc/${id}`) || readFileSync(`/proc/${id}/stat`, 'utf8').includes(') Z ')))).toBe(true);
  });

  it('signals to all processes of an app end no script of a host that lives on', async () => {
    const code = `
      const heard = [];
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) process.on(signal, () => heard.push(signal));
      await run('return 1');
      const pending = run('await tools.echo(1); await new Promise((r) => setTimeout(r, 1500)); return 2');
      setTimeout(() => console.log('ready'), 500);
      const { ok, output } = await pending;
      console.log(heard.sort().join(), ok, output, (await run('return 3')).output);
      process.exit();`;
    // In a group of its own, as a terminal has one for each command.
    const child = spawn(process.execPath, ['--input-type=module', '-e', `${prelude}\n${code}`], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const ended = finished(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) process.kill(-(child.pid as number), signal);
    expect(await ended).toMatchObject({ code: 0, out: 'ready\nSIGHUP,SIGINT,SIGQUIT,SIGTERM true 2 3' });
  });

  it('a zygote that dies is replaced, and the run on it is told', async () => {
    const code = `
      import { readFileSync, readdirSync } from 'node:fs';
      const zygote = () => readdirSync('/proc').find((id) => { try { return /^\\d+$/.test(id) && /\\(ferrule-sandbox\\) [RSD] (\\d+)/.exec(readFileSync('/proc/' + id + '/stat', 'utf8'))?.[1] === String(process.pid) } catch { return false } });
      await run('return 1');
      const pending = run('await new Promise((r) => setTimeout(r, 5000))');
      process.kill(Number(zygote()), 'SIGKILL');
      const lost = await pending;
      const next = await run('return 2');
      console.log(lost.ok, lost.error.kind, next.output);`;
    expect(await finished(host(code))).toMatchObject({ code: 0, out: 'false execution-failed 2' });
  });

  it('a script that finds no descriptor is told so, and those that run go on', async () => {
    const code = `
      const source = 'await new Promise((r) => setTimeout(r, 300)); return await tools.echo(7)';
      const results = await Promise.all(Array.from({ length: 60 }, () => run(source)));
      const told = new Set(results.filter((r) => !r.ok).map((r) => r.error.kind + ' ' + /no room for one more script \\(Too many open files/.test(r.error.message)));
      console.log(results.some((r) => r.ok), results.every((r) => !r.ok || r.output === 7), [...told].join(), (await run('return 8')).output);`;
    const args = ['-c', 'ulimit -n 40; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', `${prelude}\n${code}`];
    const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: fileURLToPath(new URL('../..', import.meta.url)) });
    expect(await finished(child)).toMatchObject({ code: 0, out: 'true true execution-failed true 8' });
  });

  it('worker threads have their own, which goes with them', async () => {
    const code = `
      import { Worker } from 'node:worker_threads';
      const body = ${JSON.stringify(prelude)} + "import { parentPort } from 'node:worker_threads'; parentPort.postMessage((await run('return await tools.echo(5)')).output); await run('for (;;) {}', { timeoutMs: 0 });";
      const workers = [1, 2].map(() => new Worker(new URL('data:text/javascript,' + encodeURIComponent(body))));
      const got = await Promise.all(workers.map((w) => new Promise((resolve, reject) => { w.on('message', resolve); w.on('error', reject); })));
      await Promise.all(workers.map((w) => w.terminate()));
      console.log(got, (await run('return 6')).output);`;
    const child = host(code);
    const pid = child.pid as number;
    const { code: exit, out } = await finished(child);
    expect({ exit, out }).toEqual({ exit: 0, out: '[ 5, 5 ] 6' });
    expect(below(pid)).toEqual([]);
  });

  it('what a script\'s process can see of the system is nothing', async () => {
    const child = host('console.log((await run("await tools.echo(1); await new Promise((r) => setTimeout(r, 3000)); return 1")).output)');
    const pid = child.pid as number;
    expect(await until(() => below(pid).length === 2)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const script = below(pid)[1] as number;
    const status = readFileSync(`/proc/${script}/status`, 'utf8');
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(status).toMatch(/^Threads:\s+1$/m);
    const limits = readFileSync(`/proc/${script}/limits`, 'utf8');
    expect(limits).toMatch(/^Max open files\s+1\s+1\s/m);
    expect(limits).toMatch(/^Max core file size\s+0\s+0\s/m);
    expect(limits).toMatch(/^Max file size\s+0\s+0\s/m);
    expect(limits).toMatch(/^Max processes\s+0\s+0\s/m);
    let files: string[] = ['0'];
    try {
      files = readdirSync(`/proc/${script}/fd`);
    } catch {
      // Not dumpable: only root may even look.
    }
    expect(files).toEqual(['0']);
    expect(readFileSync(`/proc/${script}/cmdline`, 'utf8')).not.toContain('HOME');
    child.kill('SIGKILL');
  });
});

describe('the end of a run', () => {
  it('an answer to a call nobody awaits never costs the result', { timeout: 60_000 }, async () => {
    const { runBridgedSource } = await import('ferrule/sandbox');
    for (let i = 0; i < 150; i++) {
      const result = await runBridgedSource({ source: i % 2 === 0 ? 'tools.echo(1); return 7' : 'tools.echo(1); process.exit(3)', allowedTools: ['echo'], dispatch: async () => 'x'.repeat(100_000) });
      expect(result).toMatchObject(i % 2 === 0 ? { ok: true, output: 7, toolCalls: 1 } : { ok: false, error: { message: 'the script exited with code 3' }, toolCalls: 1 });
    }
  });
});
