//! Memory guard: whether a tool changed memory it should not have (spec 04, section 3).
//!
//! Guards read regions and report through JavaScript, so their steps are in the face. Here is what they
//! know: the hash, run in place, since a hop to another thread would cost more; how two snapshots differ;
//! and which way of watching a tier gets.

mod drift;
mod tier;
mod xxh32;

pub use drift::{Digest, Drift, drift};
pub use tier::Variant;
pub use xxh32::xxh32;
