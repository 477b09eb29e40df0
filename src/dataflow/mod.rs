//! Taint: which untrusted text a run has seen, whether a call carries it outwards, and what to do
//! about it (spec 04, section 2).
//!
//! Labels are three look-ups on a JavaScript object and stay in the face; the ledger, the decision
//! and the search for personal data are here.

mod decode;
mod flow;
mod fold;
mod index;
mod ledger;
mod pii;
mod scan;
mod tiles;
mod units;
mod views;

pub use decode::Encodings;
pub use flow::{Action, Facts, Flow, Mode, decide};
pub use fold::fold;
pub use ledger::{DEFAULT_MIN, FLOOR, Ledger, Probe};
pub use pii::contains_pii;
pub use tiles::{MAX_TILES, Tiles, fnv1a};
pub use units::Units;
