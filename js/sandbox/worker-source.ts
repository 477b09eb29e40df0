/**
 * The program of a worker: closes what the policy closes, imports the handler, posts one result.
 *
 * It is a string, so that it needs no file beside the compiled package and works from sources and
 * bundles alike. Everything in it is private to one function: top-level names of a worker's script
 * would be globals to the handler. It keeps its own references to whatever it needs after the
 * handler's code has begun to run, and it holds nothing open: a handler that waits for nothing lets
 * the worker run dry, which the host reports.
 *
 * @internal
 */
export const WORKER_SOURCE = String.raw`'use strict';
(() => {
  const { parentPort, workerData } = require('node:worker_threads');
  const Module = require('node:module');
  const v8 = require('node:v8');
  const { isProxy } = require('node:util').types;
  const { target, exportName, noFilesystem, noNetwork, input } = workerData;
  const tty = noNetwork ? require('node:tty') : undefined;
  const crypto = noFilesystem || noNetwork ? require('node:crypto') : undefined;
  const post = parentPort.postMessage.bind(parentPort);
  const apply = Reflect.apply;
  const define = Object.defineProperty;
  const slice = Function.prototype.call.bind(String.prototype.slice);
  for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name];

  // Which modules are closed, by bare name. A null prototype: nothing can be slipped in by patching.
  const closed = Object.create(null);
  const close = (category, names) => { for (const name of names) closed[name] = category; };
  close('module', ['child_process', 'vm', 'worker_threads', 'cluster', 'inspector', 'inspector/promises', 'repl', 'wasi']);
  // Its runner starts processes. It has no bare name: a package may be called that.
  close('module', ['node:test']);
  if (noFilesystem) close('filesystem', ['fs', 'fs/promises', 'sqlite', 'trace_events']);
  if (noNetwork) {
    close('network', ['http', 'https', 'http2', 'net', 'dgram', 'tls', 'dns', 'dns/promises', '_tls_wrap', '_tls_common',
      '_http_agent', '_http_client', '_http_common', '_http_incoming', '_http_outgoing', '_http_server', '_stream_wrap']);
  }
  const bare = (specifier) => (specifier !== 'node:test' && slice(specifier, 0, 5) === 'node:' ? slice(specifier, 5) : specifier);
  const names = { filesystem: 'SandboxFsAccessDenied', network: 'SandboxNetworkAccessDenied', module: 'SandboxModuleAccessDenied' };
  const denial = (category, what) => {
    const error = new Error(category + ' access denied by sandbox policy: ' + what);
    define(error, 'name', { value: names[category], enumerable: true, configurable: true, writable: true });
    return error;
  };
  // Objects with a changing toString would pass the check as one name and load as another.
  const text = (specifier) => {
    if (typeof specifier !== 'string') throw new TypeError('a module specifier must be a string');
    return specifier;
  };
  const asRequired = (category) => (category === 'network' ? 'module' : category);
  const refuse = (owner, name, category, what) => {
    if (owner == null || !(name in owner)) return;
    // Something that may be called with new, or extended, as what it stands for.
    define(owner, name, { value: function () { throw denial(category, what); }, enumerable: true, configurable: false, writable: false });
  };

  // require(), and whatever resolves to a closed module under another name (package imports).
  const { _load, _resolveFilename } = Module;
  define(Module, '_load', { configurable: false, writable: false, enumerable: true, value(request, ...rest) {
    const category = closed[bare(text(request))];
    if (category !== undefined) throw denial(asRequired(category), request);
    return apply(_load, this, [request, ...rest]);
  } });
  define(Module, '_resolveFilename', { configurable: false, writable: false, enumerable: true, value(request, ...rest) {
    const found = apply(_resolveFilename, this, [text(request), ...rest]);
    const category = closed[bare(found)];
    if (category !== undefined) throw denial(asRequired(category), request);
    return found;
  } });

  // import. Hooks in this thread where Node has them; otherwise in a thread of this worker's own.
  if (typeof Module.registerHooks === 'function') {
    Module.registerHooks({ resolve(specifier, context, next) {
      const category = closed[bare(text(specifier))];
      if (category !== undefined) throw denial(category, specifier);
      const found = next(specifier, context);
      const behind = slice(found.url, 0, 5) === 'node:' ? closed[bare(found.url)] : undefined;
      if (behind !== undefined) throw denial(behind, specifier);
      return found;
    } });
  } else {
    const hooks = 'const closed = ' + JSON.stringify({ __proto__: null, ...closed }) + ', names = ' + JSON.stringify(names) + ';' +
      'Object.setPrototypeOf(closed, null);' +
      'const bare = (s) => (s !== "node:test" && s.startsWith("node:") ? s.slice(5) : s);' +
      'const check = (s, as) => { const c = closed[bare(s)]; if (c === undefined) return;' +
      ' const e = new Error(c + " access denied by sandbox policy: " + as); e.name = names[c]; throw e; };' +
      'export async function resolve(specifier, context, next) { check(specifier, specifier);' +
      ' const found = await next(specifier, context); if (found.url.startsWith("node:")) check(found.url, specifier); return found; }';
    Module.register('data:text/javascript,' + encodeURIComponent(hooks));
  }
  // Later hooks run first and could answer in place of ours.
  refuse(Module, 'register', 'module', 'module.register');
  refuse(Module, 'registerHooks', 'module', 'module.registerHooks');

  const { getBuiltinModule } = process;
  if (getBuiltinModule !== undefined) {
    define(process, 'getBuiltinModule', { configurable: false, writable: false, enumerable: true, value(id) {
      const category = closed[bare(text(id))];
      if (category !== undefined) throw denial(asRequired(category), id);
      return apply(getBuiltinModule, process, [id]);
    } });
  }
  // The process's own bindings pass through no hook, start processes, and open the host to a debugger.
  for (const name of ['binding', '_linkedBinding', '_debugProcess', '_debugEnd', 'execve']) {
    refuse(process, name, 'module', 'process.' + name);
  }
  // A report holds the environment of the whole process, and its settings write one when something fails.
  if (process.report != null) {
    const report = {};
    for (const name of ['getReport', 'writeReport']) {
      refuse(define(report, name, { value: undefined, configurable: true }), name,
        noFilesystem && name === 'writeReport' ? 'filesystem' : 'module', 'process.report.' + name);
    }
    define(process, 'report', { value: Object.freeze(report), configurable: false, enumerable: true, writable: false });
  }
  // Flags are those of the process, and some of them write files.
  refuse(v8, 'setFlagsFromString', 'module', 'v8.setFlagsFromString');
  if (noFilesystem || noNetwork) {
    for (const name of ['dlopen', 'kill', '_kill']) refuse(process, name, 'module', 'process.' + name);
    // An engine of OpenSSL is a library that is loaded and run.
    refuse(crypto, 'setEngine', 'module', 'crypto.setEngine');
  }
  if (noFilesystem) {
    refuse(process, 'loadEnvFile', 'filesystem', 'process.loadEnvFile');
    for (const name of ['writeHeapSnapshot', 'setHeapSnapshotNearHeapLimit', 'takeCoverage', 'stopCoverage']) {
      refuse(v8, name, 'filesystem', 'v8.' + name);
    }
    for (const name of ['enableCompileCache', 'flushCompileCache']) refuse(Module, name, 'filesystem', 'module.' + name);
    // The loader reads whatever it is told to. It goes on loading modules, but hands their text to nobody:
    // what reads a file runs for a module that is being loaded only, and what gets the text is not replaceable.
    const { getPrototypeOf, getOwnPropertyDescriptor } = Object;
    const { load, _compile } = Module.prototype;
    let loading;
    define(Module.prototype, '_compile', { value: _compile, configurable: false, enumerable: true, writable: false });
    define(Module.prototype, 'load', { configurable: false, enumerable: true, writable: false, value: function (filename) {
      const before = loading;
      loading = this;
      try { return apply(load, this, [filename]); } finally { loading = before; }
    } });
    // What a module's text is put between could catch it as well, and cannot be locked, only looked at.
    const { wrap, wrapper } = Module;
    const piece = (at) => getOwnPropertyDescriptor(wrapper, at)?.value;
    const opening = piece(0);
    const closing = piece(1);
    const rewrapped = () =>
      Module.wrap !== wrap || Module.wrapper !== wrapper || piece(0) !== opening || piece(1) !== closing;
    for (const extension of Object.keys(Module._extensions)) {
      const read = Module._extensions[extension];
      Module._extensions[extension] = (module, filename) => {
        if (module == null || module !== loading || isProxy(module) || getPrototypeOf(module) !== Module.prototype ||
          getOwnPropertyDescriptor(module, '_compile') !== undefined || rewrapped()) {
          throw denial('filesystem', 'module._extensions');
        }
        return read(module, filename);
      };
    }
  }
  if (noNetwork) {
    for (const name of ['fetch', 'WebSocket', 'EventSource']) refuse(globalThis, name, 'network', name);
    // The streams of a terminal are sockets: their class leads to one that connects. What else tty says stays.
    for (const name of ['ReadStream', 'WriteStream']) refuse(tty, name, 'network', 'tty.' + name);
    // The client behind fetch is reachable through these symbols as soon as Response is touched.
    const dispatch = () => { throw denial('network', 'fetch'); };
    for (const version of ['1', '2']) {
      define(globalThis, Symbol.for('undici.globalDispatcher.' + version), {
        value: Object.freeze({ dispatch, request: dispatch, close: dispatch, destroy: dispatch }),
        configurable: false, enumerable: false, writable: false,
      });
    }
  }
  Module.syncBuiltinESMExports();

  const part = (thrown, key) => {
    try {
      const value = thrown == null ? undefined : thrown[key];
      return typeof value === 'string' ? value : undefined;
    } catch { return undefined; }
  };
  const printed = (thrown) => {
    try { return thrown instanceof Error ? String(thrown.message) : String(thrown); }
    catch { return 'a value that cannot be printed was thrown'; }
  };
  const main = async () => {
    try {
      const handler = (await import(target))[exportName];
      if (typeof handler !== 'function') {
        post({ missing: true });
        return;
      }
      const output = await (0, handler)(input);
      post({ output });
    } catch (thrown) {
      post({ thrown: { name: part(thrown, 'name'), message: printed(thrown), stack: part(thrown, 'stack') } });
    }
  };
  void main();
})();
`;
