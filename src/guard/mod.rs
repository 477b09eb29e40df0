//! Memory guard: hashes of memory regions, to see whether a tool changed them (spec 04, section 3).
//!
//! Guards read regions and report through JavaScript, so their steps are in the face. Here is what
//! costs time: the hash, run in place, since a hop to another thread would cost more.

mod xxh32;

pub use xxh32::xxh32;
