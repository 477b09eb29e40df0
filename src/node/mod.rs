//! The door: the only place that knows napi. It converts and forwards; no logic lives here.
//!
//! Lint exceptions: napi generates `extern "C"` glue, so `unsafe_code` is allowed in this room only,
//! and `#[napi]` items take owned values by design (`needless_pass_by_value`).
#![allow(unsafe_code, reason = "the napi door")]
#![allow(clippy::needless_pass_by_value, reason = "napi hands over owned values")]
#![allow(missing_docs, reason = "documented once, on the TypeScript side")]
#![cfg_attr(test, allow(dead_code, reason = "in a test binary napi exports nothing, so nothing is used"))]

mod audit;
mod dataflow;
#[cfg(feature = "docker")]
mod docker;
mod executor;
mod external_string;
mod guard;
mod inbound;
mod json_text;
mod long_text;
#[cfg(target_os = "linux")]
mod mapped;
mod outbound;
mod policy;
mod registry;
mod result;
mod roomy;
mod sandbox;
mod sandbox_policy;
mod schema;
mod secrets;
mod streaming;
mod text;
