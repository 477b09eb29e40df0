//! Text and values shared by every room: UTF-16 to WTF-8 and back, cuts that keep pairs whole, the
//! canonical form of JSON, and JSON text from a recorded walk.
//!
//! JavaScript text is UTF-16 and may hold lone surrogates; nothing here replaces one.

mod canonical;
pub mod cut;
pub mod tape;
pub mod wtf8;

pub use canonical::{MAX_DEPTH, TOO_DEEP, canonical_json};
