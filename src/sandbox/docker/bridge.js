// Code mode inside the container: a bare realm for the script, and its tool calls as messages.
// The body of an async function with the parameters `require`, `job` and `send`.
'use strict';
const vm = require('vm');
const util = require('util');
const { randomUUID } = require('crypto');
const pending = new Map();
let sequence = 0;
let calls = 0;
let logged = 0;
const finish = (message) => {
  send(JSON.stringify(message));
  process.exit(0);
};
const textOf = (thrown) => {
  try {
    if (thrown !== null && typeof thrown === 'object' && typeof thrown.message === 'string') return thrown.message;
    return String(thrown);
  } catch {
    return 'a value that cannot be printed was thrown';
  }
};

const realm = vm.createContext(Object.create(null), { codeGeneration: { strings: false, wasm: false } });
const evaluate = (text) => vm.runInContext(text, realm);
const RealmError = evaluate('Error');
const RealmPromise = evaluate('Promise');
const denials = new WeakSet();
const denied = (specifier) => {
  const bare = specifier.replace(/^node:/, '');
  const [word, name] = /^fs(\/promises)?$/.test(bare)
    ? ['filesystem', 'SandboxFsAccessDenied']
    : /^(https?|http2|net|dgram|tls|dns(\/promises)?|fetch)$/.test(bare)
      ? ['network', 'SandboxNetworkAccessDenied']
      : ['module', 'SandboxModuleAccessDenied'];
  const error = new RealmError(`${word} access denied by sandbox policy: ${specifier}`);
  Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true });
  denials.add(error);
  return error;
};

const call = (name, args) =>
  new RealmPromise((resolve, reject) => {
    if (calls >= job.maxToolCalls) {
      reject(new RealmError(`tool call budget exceeded (${job.maxToolCalls})`));
      return;
    }
    calls += 1;
    let text;
    try {
      text = encode(args);
    } catch (error) {
      send(JSON.stringify({ t: 'spent' }));
      reject(new RealmError(`tool arguments are not serialisable: ${textOf(error)}`));
      return;
    }
    const id = (sequence += 1);
    pending.set(id, { resolve, reject });
    send(JSON.stringify({ t: 'call', id, name, args: text }));
  });

const tools = evaluate('Object.create(null)');
for (const name of job.tools) {
  Object.defineProperty(tools, name, {
    value: evaluate('(call, name) => (args) => call(name, args)')(call, name),
    enumerable: true,
  });
}
Object.freeze(tools);

const define = (name, value) =>
  Object.defineProperty(realm, name, { value, configurable: true, writable: true, enumerable: false });
const log = (level) => (...parts) => {
  if (logged > 65536) return;
  const text = util.format(...parts);
  logged += text.length;
  send(JSON.stringify({ t: 'log', level, text: text.slice(0, 8192) }));
};
define('console', Object.fromEntries(['log', 'info', 'warn', 'error', 'debug', 'table'].map((level) => [level, log(level)])));
for (const name of ['setTimeout', 'clearTimeout', 'structuredClone', 'TextEncoder', 'TextDecoder', 'URL', 'URLSearchParams', 'atob', 'btoa', 'queueMicrotask']) {
  define(name, globalThis[name]);
}
define('crypto', Object.freeze({ randomUUID: () => randomUUID() }));
define('fetch', () => {
  throw denied('fetch');
});
define('require', (specifier) => {
  throw denied(String(specifier));
});
define('process', Object.freeze({
  env: Object.freeze({}),
  cwd: () => '/',
  exit: (code) => {
    finish({ t: 'exit', code: Number(code ?? 0) });
    for (;;);
  },
}));

// The host's own codec, as text: evaluated in the realm, so that the script sees its own classes.
const { encode, decode } = evaluate('(' + job.codec + ')')();

const stdin = process.stdin;
let rest = Buffer.alloc(0);
stdin.on('data', (piece) => {
  rest = Buffer.concat([rest, piece]);
  while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
    const size = rest.readUInt32BE(0);
    const answer = JSON.parse(rest.subarray(4, 4 + size).toString());
    rest = rest.subarray(4 + size);
    const waiting = pending.get(answer.id);
    pending.delete(answer.id);
    if (waiting === undefined) continue;
    if (answer.error !== undefined) waiting.reject(new RealmError(answer.error));
    else waiting.resolve(decode(answer.value));
  }
});
stdin.on('end', () => process.exit(0));

const ended = (thrown) =>
  finish({ t: 'error', violation: typeof thrown === 'object' && thrown !== null && denials.has(thrown), message: textOf(thrown) });
process.on('uncaughtException', ended);
process.on('unhandledRejection', ended);
// A promise that nothing can settle any more: no call is out and no timer runs.
if (process.getActiveResourcesInfo !== undefined) {
  setInterval(() => {
    const busy = process.getActiveResourcesInfo().some((kind) => kind === 'Timeout' || kind === 'Immediate');
    if (pending.size === 0 && !busy) finish({ t: 'exit', code: 0 });
  }, 100).unref();
}

let main;
try {
  const script = new vm.Script(`(async function (tools) { 'use strict';${job.source}\n})`, {
    filename: 'script.js',
    importModuleDynamically: (specifier) => {
      throw denied(specifier);
    },
  });
  main = script.runInContext(realm);
} catch (error) {
  finish({ t: 'error', violation: false, message: textOf(error) });
}
main.call(undefined, tools).then((value) => {
  let text;
  try {
    text = encode(value);
  } catch (error) {
    finish({ t: 'error', violation: false, message: textOf(error) });
  }
  finish({ t: 'done', value: text });
}, ended);
