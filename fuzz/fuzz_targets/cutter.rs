//! `node scripts/fuzz.mjs cutter`; the body is shared with `tests/fuzz_smoke.rs`.
#![no_main]

#[path = "../bodies/results.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::cutter(data));
