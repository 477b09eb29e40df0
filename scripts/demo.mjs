// `npm run demo`: sets the checkout up where it is stale, then plays the recorded assistant of
// `examples/assistant` in this very process, so that ending it leaves nothing behind.
import { say, setUp } from './lib.mjs';

await setUp();
say('playing the recorded assistant on the packages installed in this repository');
const { play } = await import('../examples/assistant/main.mjs');
process.exitCode = await play();
