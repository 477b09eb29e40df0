//! `node scripts/fuzz.mjs reader_range`; the body is shared with `tests/fuzz_smoke.rs`.
#![no_main]

#[path = "../bodies/results.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::reader_range(data));
