//! JSON Schema: compiling and checking raw schemas of any draft.
//!
//! Invariants: nothing is fetched; nothing recurses deeper than [`MAX_DEPTH`]; a schema that cannot
//! be used is an error value of its own and never a panic; messages never quote the checked value.

mod check;
mod compile;
mod error;
mod fuel;
mod limits;
mod stack;
mod text;
mod wording;

pub use check::{Issue, MAX_ISSUES, Segment};
pub use compile::{Compiled, Formats, MAX_SCHEMA_BYTES};
pub use error::SchemaError;
pub use text::{MAX_DEPTH, parse};
