//! One tool call from lookup to completed record, and the scheduling of a batch.
//!
//! Read [`pipeline`] first: it tells the story of a call from top to bottom, one phase a line, and
//! each phase has a file of its name. The pipeline is written against the [`Host`] trait: it
//! decides, counts and orders; the host holds the values and calls the callbacks. Everything runs
//! on one thread; nothing here knows napi.
//!
//! Invariants: a call ends in exactly one of success, [`Failure`] or [`Stop::Escaped`]; once the tool
//! has returned, nothing a callback does can lose its result (`Cx::contain`).

mod batch;
mod config;
mod cx;
mod facts;
mod host;
mod message;
mod outcome;
mod phases;
mod pipeline;
mod retry;
pub mod tier;

#[cfg(test)]
mod tests;

pub use batch::{BatchHost, run_batch, run_single};
pub use config::{BatchOptions, Config, DEFAULT_MAX_PARALLEL, RetryConfig, Wiring};
pub use facts::{ApprovalForm, Learned, ToolFacts};
pub use host::{
    AuditRow, BoundPlan, Bounded, Dispatched, Event, Field, FlowVerdict, Held, Host, Idempotent, Key, Lookup,
    Pacing, Permission, PermissionAnswer, PolicyVerdict, Producer, Repair, SandboxFault, Sanitised, Text,
    Thrown, Unpacked,
};
pub use outcome::{Attempt, Failure, RecoveryHint, Stop, default_recovery};
pub use pipeline::{Ending, run_call};
