// The data of `sections.spec.ts`: section numbers of specs 01 and 02, and where what has no title of its
// own is proven. A section with subsections is not listed; its parts are.

export type Spec = '01' | '02';

/** Numbers with the range of what follows the dot: `2.1-14`. */
const expand = (text: string): string[] =>
  text.split(' ').flatMap((one) => {
    const [, head, from, to] = /^(\d+)\.(\d+)-(\d+)$/.exec(one) ?? [];
    if (head === undefined) return [one];
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => `${head}.${Number(from) + at}`);
  });

/** Left out: 13 of 01 and Appendix C of 02, which are checklists; 20 and 21 of 02, notes on others' code. */
export const SECTIONS: Readonly<Record<Spec, readonly string[]>> = {
  '01': expand('1 2.1-14 3.1-5 4.1-2 5.1-3 6.1-8 7 8.1-7 9 10 11 12'),
  '02': [
    ...expand('1.1-5 2.1-15 3 4.1-8 5.1-2 6.1-4 7.0-17 8 9.1-8 10.1-9 11.1-3 12 13.1-4 14 15 16 17 18.1-3 19 22'),
    'Appendix A', 'B.1', 'B.2', 'B.3',
  ],
};

const batch = 'executor/batch.spec.ts';
const callers = 'executor/callers.spec.ts';
const contracts = 'executor/contracts.spec.ts';
const dispatch = 'executor/dispatch.spec.ts';
const failures = 'executor/failure-sites.spec.ts';
const gates = 'executor/gates.spec.ts';
const results = 'executor/results.spec.ts';
const retry = 'executor/retry.spec.ts';
const secrets = 'executor/secrets.spec.ts';
const streaming = 'streaming.spec.ts';
const timeline = 'executor/timeline.spec.ts';

/** Sections whose tests quote another number, of the room that owns the behaviour. */
export const ELSEWHERE: Readonly<Record<string, readonly [file: string, title: string]>> = {
  '02 1.1': [callers, '1.1: the entry point exports exactly three values'],
  '02 2.11': [streaming, 'text in order; JSON deltas patch one state; images become parts'],
  '02 2.13': [dispatch, 'ok: the body does not run inline; the reference, the options and `this` are right; envelopes are unwrapped'],
  '02 4.1': [gates, 'the gate gets the wire call and the approval record; rows once each'],
  '02 4.6': [secrets, "an allowed key: the resolver\\'s own value, asked again each time"],
  '02 4.7': [secrets, 'eight keys, frozen, with defaults and as given'],
  '02 4.8': [dispatch, 'snapshot, execute, verify, in this order, with the reader and the snapshot'],
  '02 9.4': [batch, 'issue 4: maxParallelTools %s is an error at creation'],
  '02 10.2': [streaming, '1.2: exports, the default, four methods, not frozen'],
  '02 13.3': [callers, 'point 32: fake timers govern limit, grace and back-off, found at the moment of use'],
  '02 18.1': ['policy/policy.spec.ts', '4.3 evaluation'],
  '02 18.3': ['guard/guard.spec.ts', '3.3 tiers'],
  '02 B.1': ['result/truncate.spec.ts', '03 section 1.3: middle and tail'],
  '02 B.2': ['inbound/sanitize.spec.ts', '03 section 3.4: policies'],
  '02 B.3': [failures, '7.17 failure-site matrix'],
};

/** Appendix C of 02, line by line: group, behaviour, and the test that proves it. */
export const CHECKLIST: ReadonlyArray<readonly [group: string, behaviour: string, file: string, title: string]> = [
  ['batch', 'empty batch', batch, 'an empty batch and any iterable'],
  ['batch', 'order kept, unknown tool among good ones', batch, '9.5 order is kept under mixed durations'],
  ['batch', 'peak concurrency, first in first out, 100 calls with bound 16', batch, '[16, 100, 16]'],
  ['batch', 'sequential before parallel, in order', batch, '9.1, 9.2 sequential calls first'],
  ['batch', 'throwing tracer for one id, both modes', batch, '9.6 a tracer that throws for one id keeps length and order, in both modes'],
  ['batch', 'abort in the middle', batch, '9.8: an abort in the middle stops what has not started'],
  ['validation', 'parsed data reaches the tool', gates, 'defaults and transforms reach the tool'],
  ['validation', 'invalid, repair null, repair throws', failures, "site: '7.5"],
  ['validation', 'repair success, called once', gates, 'repair success: called once'],
  ['validation', 'repair still invalid, repair disabled', gates, 'repair still invalid gives the second error; disableRepair never calls it'],
  ['validation', 'repair throws', failures, '7.5 a second parse that throws, and a repair that throws'],
  ['permission', 'the four decisions, reason text, throwing hook', failures, "site: '7.6"],
  ['permission', 'rewrite replaces input, defaults re-applied', gates, 'a rewrite replaces the executed input with defaults applied again'],
  ['permission', 'pre-approved: ask, defer, identical echo', gates, 'pre-approved: ask and defer pass, an identical echo passes unchanged'],
  ['permission', 'hook before gate', gates, 'allow: gets the input of 4.3 and runs before the gate'],
  ['approval', 'boolean and predicate forms, predicate false, pre-approved', gates, 'not consulted when the predicate says no, when pre-approved'],
  ['approval', 'no gate; denied with and without reason', failures, "site: '7.7"],
  ['approval', 'effective args, rows once', gates, 'the gate gets the wire call and the approval record; rows once each'],
  ['approval', 'not consulted for invalid input', gates, 'invalid args never reach the hook, the gate or the policy'],
  ['approval', 'listeners do not accumulate', gates, '13.4: 30 gated calls one after another leave no listener'],
  ['policy', 'evaluate only, decide preferred, ask when pre-approved', gates, 'decide is preferred; evaluate alone works; ask passes when pre-approved'],
  ['policy', 'name denial before validation', gates, '7.2 name denial comes before validation'],
  ['policy', 'capability block for both writers, not for readers', gates, '7.3 readers pass a read-only run'],
  ['policy', 'capability block', failures, "site: '7.3 read-only capability'"],
  ['data flow', 'only sinks inspected, all successes recorded', gates, 'only sinks are inspected, every success is recorded'],
  ['data flow', 'verdicts and actions', gates, 'verdict %s is reported and the call goes on'],
  ['data flow', 'block', timeline, 'sink-gate block'],
  ['data flow', 'post-repair args', contracts, '19: every party of a repaired, rewritten and transformed call'],
  ['dispatch', 'throw, reject, sync throw', dispatch, 'throw, reject and synchronous throw end alike'],
  ['dispatch', 'rate limit', failures, 'rate_limited'],
  ['dispatch', 'timeout, three recovery variants', failures, "kind: 'timeout'"],
  ['dispatch', 'tool observes the limit', dispatch, 'the tool hears of the expiry'],
  ['dispatch', 'real abort wins', dispatch, 'a real abort beats the limit'],
  ['dispatch', 'grace both ways', dispatch, 'a tool that ignores its signal is given up on after the grace'],
  ['dispatch', 'grace both ways', dispatch, 'a tool that rejects promptly ends the call at once'],
  ['dispatch', 'sandbox ok', dispatch, 'ok: the body does not run inline'],
  ['dispatch', 'sandbox failures', dispatch, "'%s becomes %s'"],
  ['dispatch', 'enforced flag, resolver null', timeline, '7.11 enforced: policy %s with resolver answer %s is %s'],
  ['memory guard', 'call order', dispatch, 'snapshot, execute, verify, in this order'],
  ['memory guard', 'mismatch', dispatch, 'a mismatch is counted and reported'],
  ['memory guard', 'no reader', dispatch, 'no verify after a failure, none without a reader'],
  ['memory guard', 'swallowed failures', dispatch, 'failing snapshots and verifies are swallowed'],
  ['results', 'identity', results, 'a small structured output comes back by reference'],
  ['results', 'over-cap; marker never leaks', results, 'the marker beyond the cap leaks nowhere'],
  ['results', 'secrets not spilled', results, 'secrets are not spilled'],
  ['results', 'streamed text, deltas, images', streaming, 'text in order; JSON deltas patch one state; images become parts'],
  ['results', 'null return, conflict counter', streaming, 'an explicit %j wins over the buffer, with the conflict counter'],
  ['results', 'output schema failure', results, '22 row 5: the output schema checks'],
  ['results', 'part kinds on the span', timeline, 'part kinds'],
  ['results', 'fail-closed block', results, 'only the exact true fails closed'],
  ['results', 'MCP wrap', results, 'MCP results are wrapped'],
  ['channel', 'order, chunk indexes', streaming, '10.4: synchronous, in call order, with gap-free indexes'],
  ['channel', 'hint off, after abort', streaming, '10.4: hint off and after abort nothing happens at all'],
  ['channel', 'cap', streaming, '10.6: the cap is per chunk'],
  ['channel', 'no cap hit', streaming, 'no cap hit leaves the flag alone'],
  ['channel', 're-entrancy', streaming, '10.5: depth %s lets %s nested events through'],
  ['channel', 'sink exception', streaming, '10.4: a throwing sink'],
  ['channel', 'snapshots', streaming, '10.3: snapshots are frozen copies'],
  ['channel', 'close', streaming, '10.7: close is idempotent'],
  ['secrets', 'allowed', secrets, 'an allowed key'],
  ['secrets', 'denied', secrets, 'a denied key: the error, one row on the secrets bus'],
  ['secrets', 'missing, no resolver', secrets, '%s: optional gives null, required a plain Error'],
  ['retry', 'third attempt, on by default', retry, 'success on the third attempt, on by default; counter 2'],
  ['retry', 'gives up', retry, 'gives up at the bound'],
  ['retry', 'never for writers without a key, allowed with one', retry, "['a writer without a key', WRITER, 1], ['a writer with a key'"],
  ['retry', 'pacing', retry, 'pauses: 250 then 500 by default, a stated wait wins'],
  ['retry', 'abort during the pause', retry, '22 row 15: an abort during the pause'],
  ['outcomes', 'records, never throws; recovery per kind', failures, '7.17 failure-site matrix'],
  ['outcomes', 'the telling key', callers, 'points 11, 12, 14: no kind on success, no output on failure'],
  ['outcomes', 'rate-limit class', callers, 'points 29, 30: one class per name'],
  ['span', 'creation attributes', timeline, '7.4 at creation, in order, with and without the optional two'],
  ['span', 'one an attempt', timeline, 'a span and a full set of rows for each attempt'],
  ['span', 'values', timeline, 'values: sandbox kind, enforced, rounded duration'],
  ['span', 'cancelled', failures, '7.17 dispatch cancelled'],
  ['default spill', 'place, mode, handle', results, 'default spill: below the temporary folder, by run and call, for nobody else; the handle is opaque'],
  ['handle reads', 'same executor', results, 'same executor: the page is wrapped'],
  ['handle reads', 'artifact flag counted on a page without a hit', results, 'tool.inbound.sanitization.cross-page-flag.total'],
  ['handle reads', 'another, evicted', results, 'another executor, and an evicted entry'],
  ['handle reads', 'a reader with its own class', results, '22 row 21: any tool whose output names an untrusted class'],
  ['handle reads', 'first-party', results, 'a first-party artifact comes back untouched'],
  ['handle reads', 'no sidecar', results, 'no sidecar or a broken one'],
  ['handle reads', 'blocked at a sink', results, '18.2: the fetched text is blocked at a sink'],
];
