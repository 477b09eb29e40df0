// A real Docker engine for tests, without touching one that the machine may run: its own folder, socket
// and process. Needs root on Debian or Ubuntu; the packages come from apt.
//
//   node scripts/docker-engine.mjs run -- COMMAND…   start, run the command, stop
//   node scripts/docker-engine.mjs start|stop        for working at it by hand
//
// The command finds the engine in DOCKER_HOST and the image's name in FERRULE_DOCKER_IMAGE. A machine
// that already answers on DOCKER_HOST is used as it is. Where no engine can be had the command still
// runs (its tests then skip, saying so), except under CI, where that is an error.
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, say } from './lib.mjs';

const image = 'ferrule-test:latest';
const stateFile = join(root, 'target', 'docker-engine.json');

function sh(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });
  if (result.error || result.status !== 0) {
    throw new Error(`${command} ${args.join(' ')}: ${result.error?.message ?? result.stderr?.trim().split('\n').slice(-3).join(' ')}`);
  }
  return result.stdout;
}

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;

function ensurePackages() {
  if (has('dockerd') && existsSync('/bin/busybox')) return;
  if (process.getuid?.() !== 0 || !has('apt-get')) throw new Error('no dockerd, and neither root nor apt-get to install one');
  say('installing docker.io and busybox-static (about half a minute)');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  sh('apt-get', ['update', '-qq'], { env });
  sh('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'docker.io', 'busybox-static'], { env });
}

function ping(socketPath) {
  return new Promise((resolve) => {
    const probe = request({ socketPath, path: '/_ping', timeout: 2000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    probe.on('error', () => resolve(false));
    probe.on('timeout', () => probe.destroy());
    probe.end();
  });
}

/** A root file system with Node, what it links to, and busybox as the shell; imported as an image. */
function buildImage(folder, env) {
  const fs = join(folder, 'rootfs');
  for (const name of ['bin', 'etc', 'proc', 'sys', 'dev', 'tmp', 'work', 'app']) mkdirSync(join(fs, name), { recursive: true });
  const libraries = sh('ldd', [process.execPath]).match(/\/[^\s)]+/g) ?? [];
  for (const file of libraries) {
    mkdirSync(join(fs, dirname(file)), { recursive: true });
    cpSync(file, join(fs, file), { dereference: true });
  }
  cpSync(process.execPath, join(fs, 'bin/node'));
  cpSync('/bin/busybox', join(fs, 'bin/busybox'), { dereference: true });
  for (const name of ['sh', 'sleep', 'id', 'cat', 'kill']) sh('ln', ['-s', 'busybox', join(fs, 'bin', name)]);
  writeFileSync(join(fs, 'etc/passwd'), 'root:x:0:0::/:/bin/sh\nrunner:x:10001:10001::/work:/bin/sh\n');
  writeFileSync(join(fs, 'app/handlers.mjs'), 'export const twice = (n) => n * 2;\nexport const notAFunction = 1;\n');
  sh('chmod', ['1777', join(fs, 'tmp')]);
  sh('sh', ['-c', `tar -C '${fs}' --owner=0 --group=0 --numeric-owner -c . | docker import -c 'ENV PATH=/bin' -c 'ENV BASELINE=image' - ${image}`], { env });
  rmSync(fs, { recursive: true, force: true });
}

async function start() {
  ensurePackages();
  const folder = mkdtempSync(join(tmpdir(), 'ferrule-docker-'));
  const socket = join(folder, 'docker.sock');
  const engine = { folder, socket, pidFile: join(folder, 'pid') };
  mkdirSync(dirname(stateFile), { recursive: true });
  writeFileSync(stateFile, JSON.stringify(engine));
  say(`starting dockerd on ${socket}`);
  const log = openSync(join(folder, 'dockerd.log'), 'a');
  spawn('dockerd', [
    '--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec'), '-p', engine.pidFile, '-H', `unix://${socket}`,
    '--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false',
    '--exec-opt', 'native.cgroupdriver=cgroupfs',
  ], { stdio: ['ignore', log, log], detached: true }).unref();
  for (let turn = 0; !(await ping(socket)); turn++) {
    if (turn > 300) {
      const end = readFileSync(join(folder, 'dockerd.log'), 'utf8').trim().split('\n').slice(-3).join('\n');
      await stop();
      throw new Error(`dockerd did not come up:\n${end}`);
    }
    await sleep(100);
  }
  buildImage(folder, { ...process.env, DOCKER_HOST: `unix://${socket}` });
  return engine;
}

const alive = (pid) => existsSync(`/proc/${pid}`);

async function stop() {
  if (!existsSync(stateFile)) return;
  const { folder, socket, pidFile } = JSON.parse(readFileSync(stateFile, 'utf8'));
  // Containers survive a daemon that is killed.
  spawnSync('sh', ['-c', 'docker ps -aq | xargs -r docker rm -f'], { env: { ...process.env, DOCKER_HOST: `unix://${socket}` }, timeout: 30_000 });
  if (existsSync(pidFile)) {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    if (pid > 1 && alive(pid)) {
      process.kill(pid, 'SIGTERM');
      for (let turn = 0; alive(pid) && turn < 150; turn++) await sleep(100);
      if (alive(pid)) process.kill(pid, 'SIGKILL');
    }
  }
  for (const mount of [join(folder, 'exec/netns/default'), join(folder, 'data')]) spawnSync('umount', [mount], { stdio: 'ignore' });
  rmSync(folder, { recursive: true, force: true });
  rmSync(stateFile, { force: true });
}

async function run(command) {
  const env = { ...process.env, FERRULE_DOCKER_IMAGE: process.env.FERRULE_DOCKER_IMAGE ?? image };
  const given = /^unix:\/\/(.+)$/.exec(process.env.DOCKER_HOST ?? '')?.[1];
  let started = false;
  if (given === undefined || !(await ping(given))) {
    try {
      await stop();
      env.DOCKER_HOST = `unix://${(await start()).socket}`;
      started = true;
    } catch (error) {
      if (process.env.CI) throw error;
      console.log(`no Docker engine here (${error.message}); the tests that need one are skipped`);
      delete env.FERRULE_DOCKER_IMAGE;
    }
  }
  try {
    const child = spawn(command[0], command.slice(1), { cwd: root, stdio: 'inherit', env });
    const pass = (signal) => child.kill(signal);
    process.on('SIGINT', pass).on('SIGTERM', pass);
    const [code, signal] = await new Promise((resolve) => child.on('exit', (...end) => resolve(end)));
    return code ?? (signal ? 1 : 0);
  } finally {
    if (started) await stop();
  }
}

const [verb, ...rest] = process.argv.slice(2);
try {
  if (verb === 'start') {
    const { socket } = await start();
    console.log(`export DOCKER_HOST=unix://${socket} FERRULE_DOCKER_IMAGE=${image}`);
  } else if (verb === 'stop') await stop();
  else if (verb === 'run' && rest.length > 0) process.exitCode = await run(rest[0] === '--' ? rest.slice(1) : rest);
  else throw new Error('usage: docker-engine.mjs start | stop | run -- COMMAND…');
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
