import { once } from './once.js';

/**
 * Node's own modules that an app may not have loaded yet, each found at first use: `node:crypto`,
 * `node:net`, `node:child_process` and their like take Node longer to set up than all of our own code
 * takes to load, and most processes that import the package never need most of them. `node:fs` is there
 * already, but an `import` of it reads all its properties and so loads the streams; that of `node:util`
 * loads what its getters do, where `node:util/types` is light. What Node has loaded by itself
 * (`node:path`, `node:url`, `node:async_hooks`) is imported as usual.
 *
 * @internal
 */
export const builtins = {
  buffer: once(() => process.getBuiltinModule('node:buffer')),
  childProcess: once(() => process.getBuiltinModule('node:child_process')),
  crypto: once(() => process.getBuiltinModule('node:crypto')),
  fs: once(() => process.getBuiltinModule('node:fs')),
  module: once(() => process.getBuiltinModule('node:module')),
  net: once(() => process.getBuiltinModule('node:net')),
  os: once(() => process.getBuiltinModule('node:os')),
  vm: once(() => process.getBuiltinModule('node:vm')),
  workerThreads: once(() => process.getBuiltinModule('node:worker_threads')),
} as const;
