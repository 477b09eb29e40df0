//! `node scripts/fuzz.mjs search_index`; the body is shared with `tests/fuzz_smoke_registry.rs`.
#![no_main]

#[path = "../bodies/registry.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::search_index(data));
