// What a person sees while the assistant works.
const colours = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colours ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, red, green, yellow] = ['1', '2', '31', '32', '33'].map(paint);

const short = (text, length) => {
  const line = text.replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};
const json = (value, length) => short(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'), length);

/** Prints turns, calls, progress and outcomes, each with the milliseconds since the start. */
export function createTimeline() {
  const start = performance.now();
  const at = () => dim(`${(performance.now() - start).toFixed(0).padStart(6)} ms`);
  const line = (text) => console.log(`${at()}  ${text}`);
  const label = (call) => `${call.toolName}${dim(` ${call.toolCallId}`)}`;
  return {
    turn: (number, text) => console.log(`\n${bold(`Turn ${number}`)}  ${text}`),
    started: (call) => line(`  ${dim('→')} ${label(call)} ${dim(json(call.args, 70))}`),
    progress: (call, current, what) => line(`  ${dim('…')} ${label(call)} ${dim(`${current} ${what ?? ''}`)}`),
    asked: (call, decision) =>
      line(`  ${yellow('?')} ${label(call)} ${decision.granted ? `granted by ${decision.by}` : 'refused'}`),
    inner: (name, args) => line(`  ${dim('⇢')} ${dim(`script: ${name} ${json(args, 50)}`)}`),
    ended(call, outcome, expected) {
      const failed = 'kind' in outcome;
      const mark = expected ? (failed ? yellow('✗') : green('✓')) : red('✗');
      const what = failed
        ? `${outcome.kind}: ${short(outcome.message, 100)}`
        : outcome.resultHandle
          ? `${(outcome.resultHandle.bytes / 1024).toFixed(1)} KB, too long: kept as ${outcome.resultHandle.uri}`
          : json(outcome.output, 90);
      line(`  ${mark} ${label(call)} ${what}${failed ? '' : dim(`  ${outcome.durationMs.toFixed(1)} ms`)}`);
    },
    fault: (text) => line(red(`  ! ${text}`)),
    summary(rows, faults) {
      console.log(`\n${bold('Summary')}`);
      for (const [name, value] of rows) console.log(`  ${name.padEnd(28)}${value}`);
      console.log(faults === 0 ? green('  all as expected') : red(`  ${faults} not as expected`));
    },
  };
}
