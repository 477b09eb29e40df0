'use strict';
// What a bundler for the browser finds instead of the package: a sentence, not a parse error in a binary.
throw new Error(
  'ferrule runs on a server (Node, Electron main process), and this is a bundle for the browser. ' +
    'Import it in server code only; `import type` and ferrule/core work everywhere.',
);
