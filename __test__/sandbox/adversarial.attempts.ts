// What a hostile script tries. `expect`: 'ok' and the output, or the kind and a part of the message.
export interface Attempt {
  readonly name: string;
  readonly source: string;
  readonly options?: Record<string, unknown>;
  /** The output that shows the attempt led nowhere, or [kind, fragment]; several are allowed. */
  readonly ends: ReadonlyArray<{ readonly output: unknown } | { readonly kind: string; readonly text: string }>;
}

const gives = (output: unknown) => ({ output });
const failed = (text = '') => ({ kind: 'execution-failed', text });
const violation = (text = 'access denied') => ({ kind: 'sandbox-violation', text });
const timeout = { kind: 'timeout', text: 'timed out' };
const memory = failed('memory limit');
const deep = failed('too deeply');
const stack = failed('call stack');
/** However it ends, it ends inside: for attacks where speed decides which limit is met first. */
const any = [timeout, memory, deep, stack, failed(), violation('')];

const attempt = (name: string, source: string, ends: Attempt['ends'][number] | Attempt['ends'], options?: Record<string, unknown>): Attempt => ({
  name, source, ends: Array.isArray(ends) ? ends : [ends as Attempt['ends'][number]], ...(options === undefined ? {} : { options }),
});

export const groups: Record<string, ReadonlyArray<Attempt>> = {
  reach: [
    attempt('process members', 'return Object.keys(process).sort()', gives(['cwd', 'env', 'exit', 'nextTick'])),
    attempt('getBuiltinModule', 'return process.getBuiltinModule("fs")', failed('not a callable')),
    attempt('process.binding', 'return process.binding("fs")', failed('not a callable')),
    attempt('process.kill', 'process.kill(process.ppid, 9)', failed('not a callable')),
    attempt('process.dlopen', 'process.dlopen({}, "x")', failed('not a callable')),
    attempt('process.mainModule', 'return typeof process.mainModule', gives('undefined')),
    attempt('require fs', 'return require("fs").readFileSync("/etc/passwd", "utf8")', violation()),
    attempt('require through the global', 'return globalThis.require("child_process")', violation()),
    attempt('require.cache', 'return typeof require.cache + typeof require.resolve', gives('undefinedundefined')),
    attempt('import child_process', 'return (await import("node:child_process")).execSync("id")', violation()),
    attempt('import a data URL', 'return await import("data:text/javascript,export default 1")', violation()),
    attempt('import a file', 'return await import("file:///etc/passwd")', violation()),
    attempt('import with attributes', 'return await import("/etc/passwd", { with: { type: "json" } })', [violation(), failed()]),
    attempt('import an object with a toString', 'return await import({ toString() { return "fs" } })', violation()),
    attempt('eval', 'return eval("1")', failed('strings')),
    attempt('indirect eval', 'return (0, eval)("this")', failed('strings')),
    attempt('Function', 'return Function("return this")()', failed('strings')),
    attempt('constructor of a function', 'return (() => 1).constructor("return this")()', failed('strings')),
    attempt('constructor of a tool', 'return tools.echo.constructor("return process")()', failed('strings')),
    attempt('constructor of a tool result', 'return (await tools.host()).constructor.constructor?.("return process")()', failed('')),
    attempt('constructor of a tool promise', 'return tools.echo(1).constructor.constructor("return process")()', failed('strings')),
    attempt('constructor of a tool error', 'try { await tools.reject() } catch (e) { return e.constructor.constructor("return process")() }', failed('strings')),
    attempt('async and generator constructors', 'const C = [(async () => {}), (function* () {}), (async function* () {})].map((f) => f.constructor); const out = []; for (const c of C) { try { c("1"); out.push("made") } catch { out.push("refused") } } return out', gives(['refused', 'refused', 'refused'])),
    attempt('constructor of process.exit', 'return process.exit.constructor("return this")()', failed('strings')),
    attempt('setTimeout with text', 'setTimeout("globalThis.x = 1", 1)', failed('function')),
    attempt('host globals', 'return [typeof secret, typeof globalThis.secret, typeof module, typeof exports, typeof __dirname, typeof Buffer, typeof WebSocket, typeof Worker]', gives(Array(8).fill('undefined'))),
    attempt('bootstrap bindings', 'return [typeof parentPort, typeof workerData, typeof __call, typeof __pending, typeof native, typeof shared]', gives(Array(6).fill('undefined'))),
    attempt('threads and shared memory', 'return [typeof SharedArrayBuffer, typeof Atomics, typeof WebAssembly]', gives(Array(3).fill('undefined'))),
    attempt('fetch', 'return await fetch("http://127.0.0.1:1")', violation('fetch')),
    attempt('out of the function', '}); globalThis.out = 1; (() => {', failed()),
    attempt('change tools', 'try { tools.echo = 1 } catch (e) { return e.name }', gives('TypeError')),
    attempt('a tool by prototype', 'return tools.constructor ?? tools.__proto__ ?? tools.toString ?? "none"', gives('none')),
    attempt('poison the prototypes', 'Object.prototype.toJSON = () => "x"; Array.prototype.push = () => { throw 1 }; Promise.prototype.then = null; String.prototype.replace = null; return await tools.echo({ a: [1] })', [gives({ a: [1] }), failed()]),
    attempt('replace every global', 'for (const k of Object.getOwnPropertyNames(globalThis)) { try { globalThis[k] = null } catch {} } return 1', gives(1)),
  ],
  memory: [
    attempt('doubling a string', 'let s = "x"; for (;;) s += s', memory),
    attempt('repeat', 'return "x".repeat(2 ** 29).length', [memory, failed()]),
    attempt('padStart', 'return "x".padStart(2 ** 30).length', [memory, failed()]),
    attempt('an array', 'const a = []; for (;;) a.push(a.length)', any),
    attempt('a huge array at once', 'return new Array(5e7).fill(1).length', any),
    attempt('Array.from', 'return Array.from({ length: 1e9 }).length', any),
    attempt('buffers', 'const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))', any),
    attempt('one huge buffer', 'return new ArrayBuffer(2 ** 40)', failed()),
    attempt('a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })', any),
    attempt('objects', 'let o = null; for (;;) o = { o, p: [1, 2, 3] }', any),
    attempt('closures', 'const f = []; for (;;) { const big = [1, 2, 3, 4]; f.push(() => big) }', any),
    attempt('join', 'return new Array(2 ** 28).join("xxxxxxxxxxxxxxxx").length', any),
    attempt('split', 'return "a,".repeat(1e7).split(",").length', any),
    attempt('replace blow-up', 'let s = "a".repeat(1e5); for (;;) s = s.replace(/a/g, "aa")', any),
    attempt('JSON of a shared graph', 'let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a)', any),
    attempt('returning a shared graph', 'let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return a', violation('too often')),
    attempt('a shared graph as arguments', 'let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return await tools.echo(a)', violation('too often')),
    attempt('a proxy with endless keys', 'return Object.keys(new Proxy({}, { ownKeys: () => Array.from({ length: 1e8 }, (_, i) => "k" + i) }))', any),
    attempt('a huge BigInt', 'return (2n ** (2n ** 40n)) > 0n', any),
    attempt('console spam', 'for (;;) console.log("x".repeat(1e4))', timeout),
    attempt('a huge result', 'return "x".repeat(20e6)', [failed('larger than'), memory]),
    attempt('a huge error', 'throw new Error("x".repeat(10e6))', [failed('xxx'), memory]),
    attempt('huge arguments', 'return await tools.echo("x".repeat(3e6))', [failed('larger than'), memory]),
  ],
  cpu: [
    attempt('a loop', 'for (;;) {}', timeout),
    attempt('microtasks', 'for (;;) await null', timeout),
    attempt('thenables', 'const t = { then(r) { r(t) } }; await t', timeout),
    attempt('a catastrophic pattern', 'return /(a+)+$/.test("a".repeat(40) + "!")', timeout),
    attempt('a sort comparator', 'return [3, 2, 1].sort(() => { for (;;) {} })', timeout),
    attempt('a getter on the result', 'return { get x() { for (;;) {} } }', timeout),
    attempt('a getter on arguments', 'await tools.echo({ get x() { for (;;) {} } })', timeout),
    attempt('toString of what is thrown', 'throw { toString() { for (;;) {} } }', timeout),
    attempt('message of an error', 'throw Object.defineProperty(new Error(), "message", { get() { for (;;) {} } })', timeout),
    attempt('a valueOf in a timer', 'setTimeout(() => {}, { valueOf() { for (;;) {} } })', timeout),
    attempt('recursion like fib(60)', 'const f = (n) => (n < 2 ? n : f(n - 1) + f(n - 2)); return f(60)', timeout),
    attempt('after an await', 'await tools.echo(1); for (;;) {}', timeout),
    attempt('in a timer', 'setTimeout(() => { for (;;) {} }, 1); await new Promise(() => {})', timeout),
    attempt('BigInt power', 'let n = 3n; for (;;) n = n * n', any),
    attempt('a native loop over a length', 'return [].includes.call({ length: 2 ** 53 - 1 }, 1)', timeout),
    attempt('callbacks of natives', '[1].map(() => { for (;;) {} })', timeout),
    attempt('timers without end', 'const f = () => { for (let i = 0; i < 100; i++) setTimeout(f, 0) }; f(); await new Promise(() => {})', any),
    attempt('an endless generator spread', 'return [...(function* () { for (;;) yield 1 })()]', any),
    attempt('an endless iterator in Promise.all', 'return Promise.all((function* () { for (;;) yield 1 })())', any),
  ],
  crash: [
    attempt('deep JSON.stringify', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length', any),
    attempt('deep JSON.parse', 'return JSON.parse("[".repeat(1e5) + "]".repeat(1e5))', any),
    attempt('deep source', `return ${'('.repeat(20_000)}1${')'.repeat(20_000)}`, any),
    attempt('deep array source', `return ${'['.repeat(20_000)}${']'.repeat(20_000)}`, any),
    attempt('a long else-if chain', `${'if (0) {} else '.repeat(20_000)}{} return 1`, [...any, gives(1)]),
    attempt('nested templates', `return ${'`${'.repeat(3000)}1${'}`'.repeat(3000)}`, [...any, gives('1')]),
    attempt('a long sum', `return ${'1+'.repeat(20_000)}1`, [...any, gives(20_001)]),
    attempt('a deep pattern', 'return new RegExp("(".repeat(1e5) + ")".repeat(1e5)).test("")', any),
    attempt('a proxy chain', 'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x', any),
    attempt('a long prototype chain', 'let p = {}; for (let i = 0; i < 1e5; i++) p = Object.create(p); return "x" in p', [...any, gives(false)]),
    attempt('flat(Infinity)', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity).length', any),
    attempt('String of nested arrays', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return String(a)', any),
    attempt('endless recursion', 'const f = () => f() + 1; return f()', stack),
    attempt('recursion that catches', 'const f = () => { try { f() } finally { f() } }; f()', any),
    attempt('recursion by toString', 'const o = { toString() { return `${o}` } }; return `${o}`', [...any, gives('')]),
    attempt('recursion by sort', 'const f = () => [2, 1].sort(f); return f()', any),
    attempt('bound function chain', 'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f()', [...any, gives(1)]),
    attempt('contradicting comparator', 'return Array.from({ length: 2e3 }, (_, i) => i).sort(() => Math.random() - 0.5).length', gives(2000)),
    attempt('typed array with a contradicting comparator', 'return new Float64Array(2e3).map(() => Math.random()).sort(() => Math.random() - 0.5).length', gives(2000)),
    attempt('deep structuredClone', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a); return 1', [...any, gives(1)]),
    attempt('a deep return value', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', failed('nested deeper')),
    attempt('a deep cyclic return value', 'const root = {}; let a = root; for (let i = 0; i < 1e5; i++) { a.next = {}; a = a.next } a.next = root; return root', [...any, gives('long')]),
    attempt('deep console output', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; console.log(a); return 1', [...any, gives(1)]),
    attempt('an error as its own cause', 'const e = new Error("me"); e.cause = e; throw e', failed('me')),
  ],
  flood: [
    attempt('calls over the budget', 'let n = 0; for (;;) { try { await tools.echo(n++) } catch {} }', [failed('budget'), timeout]),
    attempt('calls over the budget, at once', 'await Promise.all(Array.from({ length: 20000 }, () => tools.echo(1)))', [failed('budget'), timeout]),
    attempt('calls nobody awaits', 'for (let i = 0; i < 30000; i++) tools.echo(i); return 1', [gives(1), failed('budget'), timeout]),
    attempt('large arguments over and over', 'const big = "x".repeat(500000); for (;;) { try { await tools.echo(big) } catch {} }', [failed('budget'), timeout]),
    attempt('console lines', 'for (let i = 0; i < 2e4; i++) console.log(i); return 1', [gives(1), timeout]),
    attempt('rejections nobody handles', 'for (let i = 0; i < 1000; i++) Promise.reject(new Error("r" + i)); await new Promise(() => {})', failed('r0')),
    attempt('never ends', 'await new Promise(() => {})', timeout),
    attempt('exit in mid-call', 'tools.echo(1); process.exit(0)', failed('exited before')),
    attempt('exit from a getter', 'return { get x() { process.exit(9) } }', failed('exited with code 9')),
    attempt('exit cannot be caught', 'try { process.exit(0) } catch {} finally { for (;;) {} }', failed('exited before')),
    attempt('leaving something behind', 'globalThis.left = 1; Object.prototype.left = 1; return typeof left', gives('number')),
    attempt('finding what was left', 'return [typeof globalThis.left, typeof ({}).left]', gives(['undefined', 'undefined'])),
  ],
};
