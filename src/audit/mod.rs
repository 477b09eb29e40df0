//! Counters, histograms, audit rows and spans.
//!
//! Nothing here is global: a [`Metrics`] belongs to one realm (one load of the package in one
//! JavaScript thread), so that worker threads and second copies never see each other's counts
//! (spec 04 section 9.10).

mod known;
mod metrics;

pub use known::KnownKey;
pub use metrics::{Kind, Metrics, key};
