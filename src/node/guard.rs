//! Door of `guard`: the region hash.

use crate::guard;
use napi_derive::napi;

/// Lone surrogates are hashed as U+FFFD.
#[napi(catch_unwind)]
pub fn xxh32_text(text: String, seed: u32) -> u32 {
    guard::xxh32(text.as_bytes(), seed)
}

#[napi(catch_unwind)]
pub fn xxh32_bytes(bytes: &[u8], seed: u32) -> u32 {
    guard::xxh32(bytes, seed)
}
