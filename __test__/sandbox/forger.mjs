// A sandbox binary gone bad: reads the request, then does what the "source" names. Started per script.
import { readSync, writeSync } from 'node:fs';

const read = (length) => {
  const buffer = Buffer.alloc(length);
  for (let at = 0; at < length; ) at += readSync(0, buffer, at, length - at, null) || process.exit(0);
  return buffer;
};
const head = read(5);
const request = JSON.parse(read(head.readUInt32LE(0)).toString());
const frame = (kind, payload = Buffer.alloc(0), length = payload.length) => {
  const out = Buffer.alloc(5);
  out.writeUInt32LE(length, 0);
  out[4] = kind;
  return Buffer.concat([out, payload]);
};
const call = (id, tool = 0, text = '1', format = 0, length = undefined) => {
  const out = Buffer.alloc(13);
  out.writeUInt32LE(id >>> 0, 0);
  out.writeUInt32LE(tool, 4);
  out[8] = format;
  out.writeUInt32LE(length ?? Buffer.byteLength(text), 9);
  return Buffer.concat([out, Buffer.from(text)]);
};
const value = (text, format = 0) => Buffer.concat([Buffer.from([format]), Buffer.from(text)]);
const say = (...frames) => {
  const bytes = Buffer.concat(frames);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== 'EAGAIN') process.exit(0);
    }
  }
};
const stay = () => setInterval(() => {}, 1000);

const tricks = {
  'a length beyond any cap': () => (say(frame(18, Buffer.alloc(0), 0xffffffff)), stay()),
  'an unknown kind': () => (say(frame(99)), stay()),
  'a host frame': () => (say(frame(2, Buffer.alloc(10))), stay()),
  'a truncated frame': () => say(frame(18, value('1'), 100)),
  'a truncated header': () => say(Buffer.from([1, 0])),
  'half a call': () => (say(frame(16, call(0).subarray(0, 8))), stay()),
  'a call that claims more bytes': () => (say(frame(16, call(0, 0, '1', 0, 999))), stay()),
  'a repeated call': () => (say(frame(16, call(0)), frame(16, call(0))), stay()),
  'a call out of order': () => (say(frame(16, call(5))), stay()),
  'a negative call': () => (say(frame(16, call(-1))), stay()),
  'a tool that was not offered': () => (say(frame(16, call(0, 7))), stay()),
  'arguments that are no JSON': () => (say(frame(16, call(0, 0, '{'))), stay()),
  'arguments in an unknown format': () => (say(frame(16, call(0, 0, '1', 9))), stay()),
  'arguments nested for ever': () => (say(frame(16, call(0, 0, '['.repeat(50000) + ']'.repeat(50000)))), stay()),
  'a result nested for ever': () => (say(frame(18, value('['.repeat(50000) + ']'.repeat(50000)))), stay()),
  'a result without a format': () => (say(frame(18)), stay()),
  'a result that is no JSON': () => (say(frame(18, value('nope'))), stay()),
  'a table with references to nowhere': () => (say(frame(18, value('[[3],["O"]]', 1))), stay()),
  'a large result that is no JSON': () => (say(frame(18, value(`[${'1,'.repeat(60_000)}]`))), stay()),
  'a large result that ends early': () => (say(frame(18, value(`[${'[1,2],'.repeat(20_000)}`))), stay()),
  'a large result of too many parts': () => (say(frame(18, value(`[${'0,'.repeat(300_000)}0]`))), stay()),
  'a large table that leads nowhere': () => (say(frame(18, value(`[[1],["A"${',[99999]'.repeat(20_000)}]]`, 1))), stay()),
  'large arguments that are no JSON': () => (say(frame(16, call(0, 0, `[${'{},'.repeat(40_000)}}`))), stay()),
  'a call out of order behind large arguments': () => (say(frame(16, call(0, 0, `[${'{},'.repeat(40_000)}{}]`)), frame(16, call(5))), stay()),
  'an unknown kind behind large arguments': () => (say(frame(16, call(0, 0, `[${'{},'.repeat(40_000)}{}]`)), frame(99)), stay()),
  'two large results': () => (say(frame(18, value(`[${'1,'.repeat(60_000)}1]`)), frame(18, value(`[${'2,'.repeat(60_000)}2]`))), stay()),
  'a flood behind large arguments': () => {
    say(frame(16, call(0, 0, `[${'{},'.repeat(40_000)}{}]`)));
    const lines = frame(17, Buffer.concat(Array.from({ length: 3000 }, () => Buffer.from([0, 1, 0, 0, 0, 65]))));
    for (let i = 0; i < 500; i++) say(lines);
    say(frame(18, value('1')));
    stay();
  },
  'a failure without a message': () => (say(frame(19, Buffer.from('{"kind":"execution-failed"}'))), stay()),
  'a failure that is null': () => (say(frame(19, Buffer.from('null'))), stay()),
  'a failure of a kind of its own': () => (say(frame(19, Buffer.from('{"kind":"aborted","message":"me"}'))), stay()),
  'console lines that lie': () => (say(frame(17, Buffer.from([0, 255, 0, 0, 0, 65]))), stay()),
  'idle twice': () => (say(frame(21), frame(21)), stay()),
  'idle while a call is open': () => (say(frame(16, call(0, 1)), frame(21)), stay()),
  'two results': () => (say(frame(18, value('1')), frame(18, value('2'))), stay()),
  'calls after the result': () => (say(frame(18, value('1')), frame(16, call(0))), stay()),
  'a result after exit': () => (say(frame(20, Buffer.from([0, 0, 0, 0])), frame(18, value('1'))), stay()),
  'a flood of calls': () => (say(...Array.from({ length: 200 }, (_, n) => frame(16, Buffer.concat(Array.from({ length: 200 }, (_, m) => call(n * 200 + m)))))), stay()),
  'a result one byte at a time': () => {
    const bytes = frame(18, value('"slow"'));
    for (const byte of bytes) say(Buffer.from([byte]));
    stay();
  },
  silence: () => stay(),
  'leaving at once': () => process.exit(0),
  'leaving with the memory code': () => process.exit(77),
  'a signal': () => process.kill(process.pid, 'SIGSEGV'),
};
tricks[request.source]();
