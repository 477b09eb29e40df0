//! The imperative-pattern catalogue, its scanner, and the untrusted-content envelope (spec 03
//! section 3).
//!
//! Everything works on the units of a text, so that offsets and lengths are the ones JavaScript sees,
//! and through a *fold*: ASCII letters in lower case, every white space a blank, everything else
//! beyond ASCII opaque. Matching on the fold is exact (the catalogue is ASCII, its word boundaries are
//! ASCII) and linear. ASCII text is worked on as bytes, any other as UTF-16.

pub mod body;
pub mod catalogue;
pub mod edits;
pub mod envelope;
pub mod fold;
pub mod invisible;
pub mod mask;
mod parts;
mod places;
pub mod sanitize;
pub mod scan;
mod seen;
mod veil;
