//! Door of `guard`: the region hash, the comparison of snapshots, the tiers.

use crate::guard::{self, Variant};
use crate::tool::MemoryGuardTier;
use napi::bindgen_prelude::Utf16String;
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

/// Places in the digests: `changed` and `added` in the later one, `vanished` in the earlier.
#[napi(object)]
pub struct NativeDrift {
    pub changed: Vec<u32>,
    pub added: Vec<u32>,
    pub vanished: Vec<u32>,
}

/// A digest is a region and its hash, alternating.
#[napi(catch_unwind)]
pub fn memory_drift(before: Vec<Utf16String>, after: Vec<Utf16String>) -> NativeDrift {
    let drift = guard::drift(&digest(&before), &digest(&after));
    let places = |list: Vec<usize>| list.into_iter().filter_map(|at| u32::try_from(at).ok()).collect();
    NativeDrift {
        changed: places(drift.changed),
        added: places(drift.added),
        vanished: places(drift.vanished),
    }
}

fn digest(list: &[Utf16String]) -> Vec<(&[u16], &[u16])> {
    let (pairs, _) = list.as_chunks::<2>();
    pairs.iter().map(|[region, hash]| (&**region, &**hash)).collect()
}

/// Undefined for a word that is no tier.
#[napi(catch_unwind)]
pub fn memory_guard_variant(tier: String) -> Option<&'static str> {
    MemoryGuardTier::parse(&tier).map(|tier| Variant::of(tier).as_str())
}
