//! Taint: which untrusted text a run has seen, whether a call carries it outwards, and what to do
//! about it (spec 04, section 2).
//!
//! Labels, the ledger, the decision before a sink, and the search for personal data. Nothing here sees a
//! JavaScript object: the face reads the fields and calls the predicates.

mod decode;
mod fold;
mod index;
mod labels;
mod ledger;
mod pii;
mod policy;
mod scan;
mod tiles;
mod units;
mod views;

pub use decode::Encodings;
pub use fold::fold;
pub use labels::{Label, is_untrusted};
pub use ledger::{DEFAULT_MIN, FLOOR, Ledger, Limits, Probe};
pub use pii::contains_pii;
pub use policy::{Action, Flow, FlowPolicy, Mode, Sink, Taint};
pub use tiles::{MAX_TILES, Tiles, fnv1a, tile_name};
pub use units::Units;
