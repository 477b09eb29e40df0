// Sends every import of ferrule to the package under BENCH_TARGET; see run.mjs.
import { register } from 'node:module';

register(new URL('./redirect-hooks.mjs', import.meta.url));
