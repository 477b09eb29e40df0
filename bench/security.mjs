// Rows of `npm run bench` for the security rooms. Each row times the work and its yardstick in the
// same run; times are milliseconds, the median of several rounds.
import { createTaintLedger } from 'ferrule/dataflow';
import { createStrictFullGuard } from 'ferrule/guard';
import { evaluatePermissionDecision } from 'ferrule/policy';

const label = { untrusted: true, sensitive: false, sourceKind: 'web-search' };

/** Words that look like prose, the same in every run. */
function prose(length, seed) {
  let state = seed >>> 0 || 1;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const word = 2 + (state >>> 28);
    for (let at = 0; at < word; at += 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      text += String.fromCharCode(97 + ((state >>> 24) % 26));
    }
    text += ' ';
  }
  return text.slice(0, length);
}

function median(rounds, work) {
  const times = [];
  for (let round = 0; round < rounds; round += 1) times.push(work());
  return times.sort((a, b) => a - b)[times.length >> 1];
}

function timed(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}

const outputs = Array.from({ length: 200 }, (_, at) => prose(20_000, at + 1));

function filled() {
  const ledger = createTaintLedger({ maxTrackedChars: 8_000_000 });
  for (const text of outputs) ledger.recordOutput(label, text);
  return ledger;
}

const clean = JSON.stringify({ to: 'somebody', body: prose(2000, 9999) });
const copied = JSON.stringify({ to: 'somebody', body: outputs[150].slice(7000, 9000) });

export const rows = [
  {
    name: 'taint: 200 outputs of 20 KB recorded',
    goal: '<= 10 ms',
    run: () => ({
      ms: median(9, () => timed(filled)),
      yardstick: { name: 'toLowerCase of the same text', ms: median(9, () => timed(() => outputs.map((text) => text.toLowerCase().length))) },
    }),
  },
  {
    name: 'taint: probe 2 KB of arguments against 4 MB tracked',
    goal: '<= 1 ms',
    run: () => {
      const ledger = filled();
      const joined = outputs.join('');
      return {
        ms: Math.max(...[clean, copied].map((args) => median(51, () => timed(() => ledger.inspectArgs(args))))),
        yardstick: { name: 'indexOf of one absent phrase in the same text', ms: median(9, () => timed(() => joined.indexOf('qzxv absent'))) },
      };
    },
  },
  {
    name: 'memory guard: strict snapshot and verify of one 10 KB region',
    goal: '<= 0.2 ms each at the 95th percentile',
    run: async () => {
      const guard = createStrictFullGuard();
      const text = prose(10_240, 3);
      const reader = { regions: ['memory'], read: async () => text };
      const times = [];
      for (let round = 0; round < 200; round += 1) {
        const before = await guard.snapshot(reader);
        times.push(before.durationUs, (await guard.verify(before, reader)).verifyDurationUs);
      }
      return { ms: times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)] / 1000 };
    },
  },
  {
    name: 'argument policy: 50 rules, 1,000 decisions',
    goal: '<= 10 ms',
    run: () => {
      const rules = Array.from({ length: 50 }, (_, at) => ({
        effect: at % 7 === 0 ? 'ask' : 'allow',
        tool: `group${at}.*`,
        when: (facts) => facts.args !== undefined,
      }));
      const facts = { toolName: 'group49.send', sideEffectClass: 'external-stateful', args: {} };
      return {
        ms: median(9, () =>
          timed(() => {
            for (let round = 0; round < 1000; round += 1) evaluatePermissionDecision({ rules }, facts);
          }),
        ),
      };
    },
  },
];
