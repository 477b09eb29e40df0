//! JSON text in and out, depth and size limits, canonical form, well-formed cuts, token estimates.

mod canonical;

pub use canonical::{MAX_DEPTH, TOO_DEEP, canonical_json};
