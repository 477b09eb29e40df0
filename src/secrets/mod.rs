//! Secrets: the grammar of references (spec 04, section 6.6).
//!
//! Scopes live in async-local storage, values and stores hold JavaScript objects: those parts are in
//! the face (`js/secrets`). No secret's value ever reaches Rust.

mod reference;

pub use reference::{ParseFault, ParseFaultKind, Reference, parse};
