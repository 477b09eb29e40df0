//! `node scripts/fuzz.mjs ledger`; the body is shared with `tests/ledger_smoke.rs`.
#![no_main]

#[path = "../bodies/ledger.rs"]
mod bodies;

libfuzzer_sys::fuzz_target!(|data: &[u8]| bodies::ledger(data));
