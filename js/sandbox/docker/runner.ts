import type { BridgedSourceOptions, BridgedSourceResult, CodeModeRunner } from '../bridged/index.js';
import { messageOf } from '../types.js';
import { makeCodec } from './codec.js';
import {
  MAX_RESULT_BYTES,
  nonce,
  openEngine,
  openSession,
  ranOutOfMemory,
  type NativeEngine,
  type NativeEvent,
  type NativeSession,
} from './engine.js';
import { containerSpec, type ContainerSpec, type DockerSandboxOptions } from './options.js';

type FailureKind = Extract<BridgedSourceResult, { readonly ok: false }>['error']['kind'];

/** What a script's container sends. Not trusted: every field is checked where it is used. */
interface BridgeMessage {
  readonly t?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
  readonly args?: unknown;
  readonly value?: unknown;
  readonly message?: unknown;
  readonly violation?: unknown;
  readonly code?: unknown;
}

const codec = makeCodec();
/** Calls a script may have open at once; a flood beyond it is refused. */
const MAX_OPEN_CALLS = 1024;

/**
 * Code mode in a container: the same contract as `runBridgedSource`, with the script in a bare realm of
 * a Node process inside a fresh container of the docker tier.
 *
 * The budget, the allowed names and the sizes are enforced on this side. The clock starts when the
 * container has started. `maxMemoryMb` limits the whole container, Node included (about 40 MiB), and is
 * raised to 64 where it is less. What the script logs is dropped.
 *
 * @example
 * ```ts
 * const run = createDockerCodeModeRunner({ image: 'node:22-slim', pool: { size: 2 } });
 * const tool = createCodeExecuteTool({ projection, allowedTools, executeTool, run });
 * ```
 */
export function createDockerCodeModeRunner(
  options: Omit<DockerSandboxOptions, 'peerLoader' | 'defaultTimeoutMs'> = {},
): CodeModeRunner {
  let engine: NativeEngine | undefined;
  return async (run) => {
    const script = new Script(run, options);
    if (run.signal?.aborted) return script.fail('aborted', 'the run was aborted before it started');
    try {
      engine ??= openEngine(options, scriptSpec(options, {}).env);
      return await script.runOn(engine);
    } catch (thrown) {
      return script.fail('execution-failed', messageOf(thrown));
    }
  };
}

/** One run of a script. */
class Script {
  readonly #run: BridgedSourceOptions;
  readonly #options: DockerSandboxOptions;
  readonly #allowed: ReadonlySet<string>;
  readonly #maxToolCalls: number;
  readonly #timeoutMs: number;
  readonly #start = performance.now();
  #toolCalls = 0;
  #open = 0;
  #ended = false;

  constructor(run: BridgedSourceOptions, options: DockerSandboxOptions) {
    this.#run = run;
    this.#options = options;
    this.#allowed = new Set(run.allowedTools);
    this.#maxToolCalls = run.maxToolCalls ?? 64;
    this.#timeoutMs = run.timeoutMs ?? 30_000;
  }

  fail(kind: FailureKind, message: string): BridgedSourceResult {
    return {
      ok: false,
      error: { kind, message },
      toolCalls: this.#toolCalls,
      durationMs: performance.now() - this.#start,
    };
  }

  async runOn(engine: NativeEngine): Promise<BridgedSourceResult> {
    const { source, signal, maxMemoryMb } = this.#run;
    const memory = maxMemoryMb !== undefined && maxMemoryMb > 0 ? { maxMemoryMb: Math.max(64, maxMemoryMb) } : {};
    const session = openSession(engine, {
      spec: scriptSpec(this.#options, memory),
      nonce: nonce(),
      payload: JSON.stringify({
        source: String(source),
        tools: [...this.#allowed],
        maxToolCalls: this.#maxToolCalls,
        codec: makeCodec.toString(),
      }),
      bridge: true,
      timeoutMs: this.#timeoutMs,
      maxMessageBytes: this.#options.maxResultBytes ?? MAX_RESULT_BYTES,
      maxOutputBytes: 65_536,
    });
    const cancel = (): void => session.cancel();
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      for (;;) {
        const event = await session.next();
        if (event?.kind !== 'message') return this.#ending(event);
        const done = this.#receive(JSON.parse(event.text ?? 'null') as BridgeMessage, session);
        if (done !== undefined) return done;
      }
    } finally {
      this.#ended = true;
      signal?.removeEventListener('abort', cancel);
      session.cancel();
    }
  }

  /** Takes one message; answers with the result when it was the last. */
  #receive(message: BridgeMessage | null, session: NativeSession): BridgedSourceResult | undefined {
    switch (message?.t) {
      case 'call':
        this.#call(message, session);
        return undefined;
      case 'spent':
        this.#toolCalls = Math.min(this.#toolCalls + 1, this.#maxToolCalls);
        return undefined;
      case 'log':
        return undefined;
      case 'done':
        return {
          ok: true,
          output: codec.decode(String(message.value)),
          toolCalls: this.#toolCalls,
          durationMs: performance.now() - this.#start,
        };
      case 'error':
        return this.fail(message.violation === true ? 'sandbox-violation' : 'execution-failed', String(message.message));
      case 'exit':
        return this.fail('execution-failed', exitText(Number(message.code)));
      default:
        return this.fail('execution-failed', 'the container sent a message that makes no sense');
    }
  }

  #call(message: BridgeMessage, session: NativeSession): void {
    const { id } = message;
    const name = String(message.name);
    const answer = (reply: { readonly value: string } | { readonly error: string }): void => {
      if (!this.#ended) session.send(JSON.stringify({ id, ...reply }));
    };
    if (this.#toolCalls >= this.#maxToolCalls) {
      answer({ error: `tool call budget exceeded (${this.#maxToolCalls})` });
      return;
    }
    this.#toolCalls += 1;
    if (!this.#allowed.has(name)) {
      answer({ error: `tool not available in code-mode: ${name}` });
      return;
    }
    if (this.#open >= MAX_OPEN_CALLS) {
      answer({ error: `more than ${MAX_OPEN_CALLS} tool calls are open at once` });
      return;
    }
    this.#open += 1;
    let pending: Promise<unknown>;
    try {
      pending = Promise.resolve(this.#run.dispatch({ name, args: codec.decode(String(message.args)) }));
    } catch (thrown) {
      pending = Promise.reject(thrown);
    }
    pending
      .then(
        (value) => answer(encoded(value)),
        (thrown) => answer({ error: messageOf(thrown) || `tool call failed: ${String(id)}` }),
      )
      .finally(() => {
        this.#open -= 1;
      })
      .catch(() => {});
  }

  #ending(event: NativeEvent | null | undefined): BridgedSourceResult {
    switch (event?.kind) {
      case 'aborted':
        return this.fail('aborted', 'the run was aborted by AbortSignal');
      case 'timeout': {
        const text = `the script timed out after ${this.#timeoutMs} ms`;
        try {
          this.#run.warn?.(text);
        } catch {
          // A warning that cannot be delivered must not change the result.
        }
        return this.fail('timeout', text);
      }
      case 'unavailable':
        return this.fail('sandbox-violation', event.text ?? 'no Docker engine answers');
      case 'too-large':
        return this.fail('execution-failed', 'a message of the script is larger than the limit');
      case 'exited':
        return this.fail(
          'execution-failed',
          ranOutOfMemory(event) ? 'the script exceeded its memory limit' : exitText(event.exitCode ?? -1),
        );
      default:
        return this.fail('execution-failed', event?.text ?? 'the container ended without a result');
    }
  }
}

/** A script's container. Node asks for the flag before it lets anyone answer a dynamic import. */
function scriptSpec(options: DockerSandboxOptions, run: { readonly maxMemoryMb?: number }): ContainerSpec {
  return containerSpec(options, { ...run, env: { NODE_OPTIONS: '--experimental-vm-modules --no-warnings' } });
}

function encoded(value: unknown): { readonly value: string } | { readonly error: string } {
  try {
    return { value: codec.encode(value) };
  } catch (thrown) {
    return { error: `tool result is not serialisable: ${messageOf(thrown)}` };
  }
}

function exitText(code: number): string {
  return code === 0 ? 'the script exited before producing a result' : `the script exited with code ${code}`;
}
