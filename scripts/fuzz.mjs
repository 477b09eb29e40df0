// Coverage-guided fuzzing with libFuzzer, on the stable toolchain.
//
//   node scripts/fuzz.mjs                      every target for ten minutes, one after another
//   node scripts/fuzz.mjs --seconds=60 scanner sidecar
//
// What cargo-fuzz asks a nightly compiler for is the address sanitizer. The targets are safe Rust, so
// coverage is enough, and its instrumentation is an ordinary pass of LLVM. Inputs worth keeping stay in
// fuzz/corpus, what fails in fuzz/artifacts; give a file to the binary to see it fail again.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root, run, say } from './lib.mjs';

const INSTRUMENTED = [
  '-Cpasses=sancov-module',
  '-Cllvm-args=-sanitizer-coverage-level=4',
  '-Cllvm-args=-sanitizer-coverage-inline-8bit-counters',
  '-Cllvm-args=-sanitizer-coverage-pc-table',
  '-Cllvm-args=-sanitizer-coverage-trace-compares',
  '-Ccodegen-units=1',
  '-Cdebug-assertions',
  '-Coverflow-checks',
  '--cfg=fuzzing',
];

const fuzz = join(root, 'fuzz');
const known = [...readFileSync(join(fuzz, 'Cargo.toml'), 'utf8').matchAll(/^\[\[bin\]\]\nname = "(\w+)"/gm)].map(
  ([, name]) => name,
);
const args = process.argv.slice(2);
const asked = args.filter((arg) => !arg.startsWith('--'));
const seconds = Number(args.find((arg) => arg.startsWith('--seconds='))?.slice('--seconds='.length) ?? 600);
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0 || !(seconds > 0)) {
  console.error(`usage: node scripts/fuzz.mjs [--seconds=600] [${known.join('] [')}]`);
  process.exit(2);
}

function hostTriple() {
  const { stdout } = spawnSync('rustc', ['-vV'], { encoding: 'utf8' });
  return /^host: (.+)$/m.exec(stdout ?? '')?.[1] ?? process.exit(1);
}

/** Runs one target; what it says goes to a log, of which the result is the last lines. */
function fuzzed(binary, target) {
  const corpus = join(fuzz, 'corpus', target);
  const artifacts = join(fuzz, 'artifacts', target);
  for (const folder of [corpus, artifacts]) mkdirSync(folder, { recursive: true });
  const logPath = join(artifacts, 'log.txt');
  const log = openSync(logPath, 'w');
  const options = [
    `-max_total_time=${seconds}`,
    `-artifact_prefix=${artifacts}/`,
    `-dict=${join(fuzz, 'words.dict')}`,
    '-print_final_stats=1',
  ];
  return new Promise((resolve) => {
    const child = spawn(binary, [corpus, ...options], { stdio: ['ignore', log, log] });
    const ended = (code) => {
      closeSync(log);
      resolve({ code, logPath, text: readFileSync(logPath, 'utf8') });
    };
    child.on('error', () => ended(127));
    child.on('close', (code) => ended(code ?? 1));
  });
}

// A target of its own keeps the flags off build scripts and macros, which run in the compiler.
const triple = hostTriple();
say('building the fuzz targets');
await run('cargo', ['build', '--release', '--locked', '--target', triple], {
  cwd: fuzz,
  env: { ...process.env, RUSTFLAGS: INSTRUMENTED.join(' ') },
});

let failed = false;
for (const target of asked.length > 0 ? asked : known) {
  say(`${target}, ${seconds} s`);
  const binary = join(fuzz, 'target', triple, 'release', target);
  const { code, logPath, text } = await fuzzed(binary, target);
  const cover = /.*\bcov: (\d+) ft: (\d+) corp: (\d+)/s.exec(text);
  const runs = /number_of_executed_units: *(\d+)/.exec(text)?.[1];
  console.log(
    code === 0
      ? `    clean: ${runs} runs, ${cover?.[1]} edges and ${cover?.[2]} features covered, ${cover?.[3]} inputs kept`
      : `    FAILED (exit ${code}): ${relative(root, logPath)}`,
  );
  failed ||= code !== 0;
}
process.exit(failed ? 1 : 0);
