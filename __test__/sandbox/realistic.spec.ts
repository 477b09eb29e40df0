// Scripts that models write give in the sandbox what they give in Node (issue 6, the proof).
import { beforeAll, describe, expect, it } from 'vitest';
import { runBridgedSource, type BridgedToolCall } from 'ferrule/sandbox';
import { scripts } from './realistic.scripts.js';

const items = Array.from({ length: 23 }, (_, n) => ({
  id: n + 1, name: `item ${String.fromCharCode(97 + ((n * 7) % 26))}${n}`, price: Math.round(((n * 37.7) % 90) * 100) / 100 + 5, owner: `u${(n % 5) + 1}`,
  ...(n % 3 === 0 ? { tags: n % 2 === 0 ? ['new', 'sale'] : ['old'] } : {}),
}));
const text = {
  csv: 'name,note\nAnn,"likes ""quotes"", and commas"\nBob,plain\n',
  log: '[2024-01-02T03:04:05Z] INFO started\n[2024-01-02T03:04:06Z] ERROR disk full: /dev/sda\nnoise\n[2024-01-02T03:04:07.123Z] ERROR again',
  mail: "Hi team, write to ann.b+x@example.co.uk or bob@test.org. See https://example.com/a?b=1 and (http://x.y/z). It's the end of the mail, the end.",
  html: '<table><tr><th>x</th></tr><tr><td>1</td><td class="a"><b>R&amp;D</b></td></tr>\n<tr><td>\n2</td><td>ok</td></tr></table>',
};

/** The tools, afresh for each side so that both see the same. */
function backend(): (call: BridgedToolCall) => Promise<unknown> {
  let attempts = 0;
  return async ({ name, args }) => {
    const given = (args ?? {}) as { page?: number; id?: string };
    switch (name) {
      case 'list': {
        const page = given.page ?? 1;
        return { items: items.slice((page - 1) * 6, page * 6), next: page < 4 ? page + 1 : null };
      }
      case 'get':
        if (!/^u\d$/.test(given.id ?? '')) throw new Error(`no user ${given.id}`);
        return { id: given.id, name: `User ${given.id?.slice(1)}` };
      case 'flaky':
        if (++attempts < 3) throw new Error('try again');
        return { attempts };
      default:
        return text;
    }
  };
}

const names = ['list', 'get', 'flaky', 'text'];
const AsyncFunction = (async () => undefined).constructor as new (...parts: string[]) => (tools: object) => Promise<unknown>;

async function inNode(source: string): Promise<unknown> {
  const dispatch = backend();
  const tools = Object.fromEntries(names.map((name) => [name, (args: unknown) => dispatch({ name, args })]));
  return new AsyncFunction('tools', `"use strict";\n${source}\n`)(tools);
}

describe('the same result as Node', () => {
  beforeAll(() => {
    process.env['TZ'] = 'UTC';
  });

  it('are at least sixty', () => expect(scripts.length).toBeGreaterThanOrEqual(60));

  it.each(scripts)('%s', async (_, source) => {
    const expected = await inNode(source);
    const result = await runBridgedSource({ source, allowedTools: names, dispatch: backend() });
    if (!result.ok) throw new Error(result.error.message);
    expect(result.output).toEqual(expected);
  });
});
