// Runs in the container by `node -e`. Reads its job from stdin, answers in marked chunks on stdout.
'use strict';
{
  const fs = require('fs');
  const { readSync, writeSync } = fs;
  const { from, alloc, concat } = Buffer;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const { wait } = Atomics;
  const stringify = JSON.stringify;

  // Blocks until all bytes are there; undefined at the end of the stream.
  const read = (size) => {
    const buffer = alloc(size);
    let at = 0;
    while (at < size) {
      let got;
      try {
        got = readSync(0, buffer, at, size - at, null);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        wait(pause, 0, 0, 1);
        continue;
      }
      if (got === 0) return undefined;
      at += got;
    }
    return buffer;
  };
  const frame = () => {
    const head = read(4);
    return head && read(head.readUInt32BE(0))?.toString();
  };
  // At most 4096 bytes at once: a pipe takes those whole, whoever else writes to it.
  const write = (bytes) => {
    for (;;) {
      try {
        const written = writeSync(1, bytes);
        if (written === bytes.length) return;
        bytes = bytes.subarray(written);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
        wait(pause, 0, 0, 1);
      }
    }
  };

  const head = frame();
  // The host went away before it had anything to do.
  if (head === undefined) process.exit(0);
  const { nonce, program, env } = JSON.parse(head);
  const job = JSON.parse(frame());
  for (const name of Object.keys(env)) process.env[name] = env[name];

  const send = (text) => {
    const bytes = from(text);
    let at = 0;
    do {
      const part = bytes.subarray(at, at + 4058);
      at += part.length;
      const size = part.length.toString(16).padStart(4, '0');
      write(concat([from('\x01' + nonce + (at === bytes.length ? 'e' : 'm') + size), part]));
    } while (at < bytes.length);
  };
  const fail = (error) => {
    let text;
    try {
      text = String((error && error.stack) || error);
    } catch {
      text = 'an error that cannot be printed was thrown';
    }
    process.exitCode = 1;
    process.stderr.write(text + '\n', () => process.exit(1));
  };
  const AsyncFunction = (async () => {}).constructor;
  if (program !== undefined) {
    new AsyncFunction('require', 'job', 'send', program)(require, job, send).catch(fail);
  } else {
    const input = JSON.parse(job.input);
    const run = async () => {
      if (job.kind === 'source') {
        return new AsyncFunction('__INPUT__', 'require', job.source + '\n')(input, require);
      }
      const handler = (await import(job.module))[job.export];
      if (typeof handler !== 'function') {
        throw new TypeError(`export '${job.export}' of '${job.module}' is not a function`);
      }
      return handler(input);
    };
    run().then((value) => send(stringify(value) ?? 'null')).catch(fail);
  }
}
