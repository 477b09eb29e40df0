//! `node scripts/fuzz.mjs canonical`; the body is shared with `tests/fuzz_smoke_registry.rs`.
#![no_main]

#[path = "../bodies/registry.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::canonical(data));
