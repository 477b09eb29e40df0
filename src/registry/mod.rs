//! Finding tools: tokens, the BM25 index and the name scan (spec 01 sections 6.6 and 6.7).
//!
//! The registry's entries are JavaScript objects and stay there, and so do the rules that move them
//! (collisions). What lives here is what needs no object: texts in, ranked keys out. The index is
//! incremental, so that a search costs what the query's words cost, not what the catalogue costs.

mod bm25;
mod log;
mod postings;
mod scan;
mod tokens;

pub use bm25::{Bm25, Bm25Options, Hit, slice_end};
pub use scan::NameScan;
pub use tokens::{DEFAULT_STOP_WORDS, StopWords, tokenise};
