//! `node scripts/fuzz.mjs json_tape`; the body is shared with `tests/fuzz_smoke_tape.rs`.
#![no_main]

#[path = "../bodies/tape.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::json_tape(data));
