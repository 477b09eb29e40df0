//! The imperative-pattern catalogue, its scanner, and the untrusted-content envelope (spec 03
//! section 3).
//!
//! Everything works on UTF-16 units, so that offsets and lengths are the ones JavaScript sees, and
//! on a *fold* of the text: one byte a unit, ASCII letters in lower case, every white space a blank,
//! everything else beyond ASCII one opaque byte. Matching on the fold is exact (the catalogue is
//! ASCII, its word boundaries are ASCII) and linear.

pub mod catalogue;
pub mod envelope;
pub mod fold;
pub mod invisible;
mod places;
pub mod sanitize;
pub mod scan;
