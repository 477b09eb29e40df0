// The docker tier: what a run costs from the call to its result, against a real engine.
//
//   node scripts/docker-engine.mjs run -- node bench/run.mjs --only=docker
//
// Without an engine there are no rows.
import { createDockerSandbox } from 'ferrule/sandbox';
import { createDockerCodeModeRunner } from 'ferrule/sandbox/docker';

const image = process.env.FERRULE_DOCKER_IMAGE;
if (image === undefined) console.error('docker: no engine, no rows (node scripts/docker-engine.mjs run -- node bench/run.mjs)');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The median of what runs report, with a rest between them that lets a pool fill up again. */
async function median(times, rest, work) {
  const taken = [];
  for (let turn = 0; turn < times; turn++) {
    const result = await work();
    if (!result.ok) throw new Error(result.error.message);
    taken.push(result.durationMs);
    await pause(rest);
  }
  return taken.sort((a, b) => a - b)[times >> 1];
}

const source = (sandbox) => () => sandbox.run({ kind: 'source', source: 'return 1' }, { input: null });
const script = (runner) => () =>
  runner({ source: 'return await tools.echo(1)', allowedTools: ['echo'], dispatch: async ({ args }) => args });

/** A run on a pool that has had time to fill. */
async function warm(work) {
  await work();
  await pause(1500);
  return median(7, 800, work);
}

export const rows = image === undefined
  ? []
  : [
      {
        name: 'docker: `return 1`, cold (create, start, run)',
        goal: '<= 500 ms',
        run: async () => ({ ms: await median(7, 200, source(createDockerSandbox({ image }))) }),
      },
      {
        name: 'docker: `return 1`, warm pool',
        goal: '<= 30 ms',
        run: async () => {
          const cold = await median(3, 200, source(createDockerSandbox({ image })));
          const ms = await warm(source(createDockerSandbox({ image, pool: { size: 2 } })));
          return { ms, yardstick: { name: 'the same, cold', ms: cold } };
        },
      },
      {
        name: 'docker: code mode with one call, warm pool',
        goal: '<= 60 ms',
        run: async () => {
          const cold = await median(3, 200, script(createDockerCodeModeRunner({ image })));
          const ms = await warm(script(createDockerCodeModeRunner({ image, pool: { size: 2 } })));
          return { ms, yardstick: { name: 'the same, cold', ms: cold } };
        },
      },
    ];
