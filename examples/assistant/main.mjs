// The main job, end to end: a recorded assistant works on real files through ferrule. The model's
// turns are in transcript.json; everything they call really runs.
import { createFileResultReader, createDefaultSpillWriter, createReadResultTool, createToolExecutor, createToolRegistry } from 'ferrule';
import { snapshotCounters } from 'ferrule/audit';
import { createCodeExecuteTool, projectToolApi } from 'ferrule/code-mode';
import { NOOP_TRACER, zeroUsage } from 'ferrule/core';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTimeline } from './timeline.mjs';
import { listPackages, readLicence, readManifest, reportWriter, searchFiles } from './tools.mjs';

const transcript = JSON.parse(readFileSync(new URL('./transcript.json', import.meta.url), 'utf8'));

function createRunContext(runId, signal) {
  const total = zeroUsage();
  return {
    runId,
    sessionId: 'demo',
    agentId: 'assistant',
    deps: {},
    tracer: NOOP_TRACER,
    signal,
    usage: { total, byModel: new Map(), add() {}, reset() {}, snapshot: () => ({ total, byModel: [] }) },
    stepNumber: 0,
    messages: [],
    state: {},
  };
}

/** Plays the transcript. Resolves to the exit code: 0 when every outcome was the expected one. */
export async function play() {
  const folder = mkdtempSync(join(tmpdir(), 'ferrule-demo-'));
  const tidy = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', tidy);
  const timeline = createTimeline();
  const abort = new AbortController();
  const runContext = createRunContext(transcript.runId, abort.signal);
  const recorded = new Map(transcript.turns.flatMap((turn) => turn.calls).map((call) => [call.id, call]));
  const running = new Map();
  const scripted = { calls: 0 };

  const spill = createDefaultSpillWriter({ root: join(folder, 'results'), startupSweepTtlMs: false });
  const registry = createToolRegistry();
  for (const one of [listPackages, readManifest, readLicence, searchFiles, reportWriter(folder)]) registry.register(one);

  const executor = createToolExecutor({
    registry,
    spill,
    approvalGate: {
      async request(call) {
        const decision = recorded.get(call.toolCallId)?.approval ?? { granted: false };
        timeline.asked(call, decision);
        return decision.granted ? { granted: true } : { granted: false, reason: 'nobody agreed' };
      },
    },
    streamingSink(event) {
      const call = running.get(event.toolCallId);
      if (!call) return;
      if (event.type === 'tool.execute.start') timeline.started(call);
      if (event.type === 'tool.execute.progress') timeline.progress(call, event.current, event.message);
    },
  });

  // A script's calls go through the same executor: governed like direct ones.
  const projection = projectToolApi(registry.list());
  const codeExecute = createCodeExecuteTool({
    projection,
    allowedTools: projection.names,
    async executeTool({ name, args }, ctx) {
      scripted.calls += 1;
      timeline.inner(name, args);
      const call = { toolCallId: `${ctx.toolCallId}-${scripted.calls}`, toolName: name, args };
      const { outcome } = await executor.executeOne({ call, runContext, stepNumber: 0 });
      if ('kind' in outcome) throw new Error(`${name}: ${outcome.message}`);
      return outcome.output;
    },
  });
  registry.register(createReadResultTool({ reader: createFileResultReader({ artifactRoot: spill.artifactRoot }) }), {
    kind: 'built-in',
    subsystem: 'results',
  });
  registry.register(codeExecute, { kind: 'built-in', subsystem: 'code-mode' });

  console.log(`“${transcript.title}”`);
  const outcomes = new Map();
  let faults = 0;
  const fault = (text) => {
    faults += 1;
    timeline.fault(text);
  };
  for (const [index, turn] of transcript.turns.entries()) {
    timeline.turn(index + 1, turn.say);
    const calls = turn.calls.map(({ id, tool, args }) => ({ toolCallId: id, toolName: tool, args }));
    for (const call of calls) running.set(call.toolCallId, call);
    const completed = await executor.executeBatch({ calls, runContext, stepNumber: index + 1 });
    for (const { call, outcome } of completed) {
      const { expect = 'ok' } = recorded.get(call.toolCallId);
      const got = 'kind' in outcome ? outcome.kind : outcome.resultHandle ? 'spilled' : 'ok';
      outcomes.set(call.toolCallId, outcome);
      timeline.ended(call, outcome, got === expect);
      if (got !== expect) fault(`${call.toolCallId} should have been ${expect}, and was ${got}`);
    }
  }

  // What the turns found must agree with each other.
  const direct = {};
  for (let number = 1; number <= 10; number += 1) {
    const licence = outcomes.get(`l${String(number).padStart(2, '0')}`)?.output?.licence;
    direct[licence] = (direct[licence] ?? 0) + 1;
  }
  const counted = JSON.parse(outcomes.get('s1')?.output ?? '{}');
  if (JSON.stringify(counted) !== JSON.stringify(direct)) {
    fault(`the script counted ${JSON.stringify(counted)}, the ten calls ${JSON.stringify(direct)}`);
  }
  const pages = ['p1', 'p2', 'p3'].map((id) => outcomes.get(id)?.output);
  const text = pages.map((page) => page?.content).join('\n');
  if (text.split('\n').length !== 300 || pages.at(-1)?.eof !== true) fault('the pages do not add up to the 300 matches');
  if (Buffer.byteLength(text) !== pages[0]?.totalBytes) fault('the pages are not the whole text');

  timeline.summary(
    [
      ['turns', transcript.turns.length],
      ['calls of the model', recorded.size],
      ['calls of its script', scripted.calls],
      ['licences', Object.entries(counted).map(([licence, count]) => `${licence} ${count}`).join(', ')],
      ['read back', `${(pages[0]?.totalBytes / 1024).toFixed(1)} KB in ${pages.length} pages`],
      ['counted by ferrule', Object.keys(snapshotCounters().counters).length + ' counters'],
    ],
    faults,
  );
  tidy();
  return faults === 0 ? 0 : 1;
}

if (process.argv[1] === new URL(import.meta.url).pathname) process.exitCode = await play();
