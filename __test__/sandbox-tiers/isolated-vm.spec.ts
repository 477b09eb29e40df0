import { describe, expect, it, vi } from 'vitest';
import { createIsolatedVMSandbox, createNoneSandbox, type IsolatedVMPeerModule } from 'ferrule/sandbox';

const source = { kind: 'source', source: 'the source' } as const;

/** A stand-in with the documented members only, which records what is called. */
function peer(run: (input: string) => unknown, compile: (text: string) => void = () => {}) {
  const log: unknown[] = [];
  let input = '';
  class Isolate {
    constructor(options?: { memoryLimit?: number }) {
      log.push(['Isolate', options?.memoryLimit]);
    }
    createContext() {
      return Promise.resolve({
        global: {
          setSync: (name: string, value: unknown) => {
            log.push(['set', name, value]);
            input = value as string;
          },
        },
        release: () => log.push('context.release'),
      });
    }
    async compileScript(text: string) {
      log.push(['compile', text]);
      compile(text);
      return {
        run: async (_context: unknown, options: unknown) => {
          log.push(['run', options]);
          return run(input);
        },
        release: () => log.push('script.release'),
      };
    }
    dispose() {
      log.push('isolate.dispose');
    }
  }
  return { log, load: vi.fn(async () => ({ Isolate }) as unknown as IsolatedVMPeerModule) };
}

describe('spec 04 §1.5 isolated-vm with a peer', () => {
  it('makes exactly the documented calls, in order', async () => {
    const { log, load } = peer((input) => JSON.parse(input).a + 1);
    const sandbox = createIsolatedVMSandbox({ peerLoader: load, memoryLimitMb: 64 });
    expect(await sandbox.run(source, { input: { a: 1 }, timeoutMs: 77 })).toMatchObject({ ok: true, output: 2 });
    expect(log).toEqual([
      ['Isolate', 64],
      ['set', '__GRAPHORIN_INPUT__', '{"a":1}'],
      ['compile', 'the source'],
      ['run', { timeout: 77, promise: true, copy: true }],
      'script.release',
      'context.release',
      'isolate.dispose',
    ]);
    await sandbox.run(source, { input: undefined });
    expect(log).toContainEqual(['set', '__GRAPHORIN_INPUT__', 'null']);
    expect(log).toContainEqual(['run', { timeout: 5000, promise: true, copy: true }]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  for (const [message, kind] of [
    ['Script execution TIMED OUT.', 'timeout'],
    ['Isolate was disposed: Memory limit', 'memory-exceeded'],
    ['x is not defined', 'execution-failed'],
  ] as const) {
    it(`reads "${message}" as ${kind}`, async () => {
      const thrown = new Error(message);
      const { log, load } = peer(() => {
        throw thrown;
      });
      const result = await createIsolatedVMSandbox({ peerLoader: load }).run(source, { input: 1 });
      expect(result).toMatchObject({ error: { kind, message } });
      expect(!result.ok && result.error.cause).toBe(thrown);
      expect(log.slice(-3)).toEqual(['script.release', 'context.release', 'isolate.dispose']);
    });
  }

  it('refuses handlers by name of the kind', async () => {
    const result = await createIsolatedVMSandbox({ peerLoader: peer(() => 1).load }).run(
      { kind: 'handler', module: 'm', export: 'e' },
      { input: 1 },
    );
    expect(result).toMatchObject({ error: { kind: 'sandbox-violation', message: expect.stringContaining("'handler'") } });
  });

  it('finds Isolate under default, where a CommonJS package shows it', async () => {
    const { load } = peer(() => 'deep');
    const wrapped = async () => ({ default: await load() }) as unknown as IsolatedVMPeerModule;
    expect(await createIsolatedVMSandbox({ peerLoader: wrapped }).run(source, { input: 1 })).toMatchObject({ output: 'deep' });
  });

  it('tries source that is no script as a function body', async () => {
    const { log, load } = peer(
      () => 3,
      (text) => {
        if (!text.startsWith('(async')) throw new SyntaxError('Illegal return statement');
      },
    );
    const result = await createIsolatedVMSandbox({ peerLoader: load }).run({ kind: 'source', source: 'return 3 // c' }, { input: 1 });
    expect(result).toMatchObject({ output: 3 });
    expect(log).toContainEqual(['compile', '(async () => {return 3 // c\n})()']);
  });

  it('honours the signal and the memory of the call', async () => {
    const controller = new AbortController();
    const { log, load } = peer(() => new Promise(() => {}));
    const pending = createIsolatedVMSandbox({ peerLoader: load }).run(source, { input: 1, signal: controller.signal, maxMemoryMb: 33 });
    setTimeout(() => controller.abort(), 10);
    expect(await pending).toMatchObject({ error: { kind: 'aborted' } });
    expect(log[0]).toEqual(['Isolate', 33]);
    expect(log.at(-1)).toBe('isolate.dispose');
    expect(
      await createIsolatedVMSandbox({ peerLoader: load }).run(source, { input: 1, signal: AbortSignal.abort() }),
    ).toMatchObject({ error: { kind: 'aborted' } });
  });

  it('answers an input that JSON refuses with a failure', async () => {
    const { load } = peer(() => 1);
    expect(await createIsolatedVMSandbox({ peerLoader: load }).run(source, { input: 1n })).toMatchObject({
      error: { kind: 'execution-failed' },
    });
  });
});

describe('spec 04 §1.5 isolated-vm without its peer', () => {
  const broken = () => Promise.reject(new Error('not found'));

  for (const options of [{ fallback: 'throw' } as const, {}]) {
    it(`says what to install (${JSON.stringify(options)})`, async () => {
      const result = await createIsolatedVMSandbox({ peerLoader: broken, ...options }).run(source, { input: 1 });
      expect(result).toMatchObject({ ok: false, error: { kind: 'sandbox-violation' } });
      expect(!result.ok && result.error.message).toContain('isolated-vm peer dependency is not installed');
      expect(!result.ok && result.error.message).toContain('pnpm add isolated-vm');
    });
  }

  it('falls back with one warning, handing over code and options', async () => {
    const warn = vi.fn();
    const load = vi.fn(broken);
    const adapter = createNoneSandbox({ resolveHandler: () => (input: unknown) => ['fell back', input] });
    const run = vi.fn(adapter.run);
    const sandbox = createIsolatedVMSandbox({ peerLoader: load, fallbackAdapter: { ...adapter, run: run as typeof adapter.run }, warn });
    const code = { kind: 'handler', module: 'm', export: 'e' } as const;
    const opts = { input: 5 };
    expect(await sandbox.run(code, opts)).toMatchObject({ output: ['fell back', 5] });
    await sandbox.run(code, opts);
    expect(run.mock.calls[0]).toEqual([code, opts]);
    expect(run.mock.calls[0]![0]).toBe(code);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]![0]).toContain('falling back');
    expect(load).toHaveBeenCalledTimes(1);
  });
});
