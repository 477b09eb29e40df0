//! Ferrule: the tool layer of TypeScript agent apps.
//!
//! One room (module) per public subpath of the npm package, plus what they share. Rooms depend in
//! one direction; only `node` knows napi. `ARCHITECTURE.md` follows one call through them.

pub mod audit;
pub mod dataflow;
pub mod executor;
pub mod guard;
pub mod inbound;
pub mod outbound;
pub mod policy;
pub mod registry;
pub mod result;
pub mod sandbox;
pub mod schema;
pub mod secrets;
pub mod streaming;
pub mod tool;
pub mod value;

#[cfg(feature = "node")]
mod node;
