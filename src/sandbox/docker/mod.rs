//! The docker tier: code in a fresh, locked-down container per run, over the engine's HTTP API.
//!
//! What happens in a run: create, attach, start, payload over stdin (never the command line), answer
//! over a channel that the code's own printing cannot corrupt, kill and remove. A pool of started
//! containers that wait for their payload makes repeated runs fast; each still serves one run only.
//!
//! Invariants:
//! - every container carries the labels of [`owner`] and is in the engine's live set from the moment
//!   the daemon may know it until its removal is confirmed;
//! - removal is tried on every path, also when the run was aborted while the daemon was busy;
//! - nothing the container says is trusted beyond its own result: sizes are capped, messages carry a
//!   per-run secret, budgets are the caller's.

pub mod channel;
pub mod connect;
pub mod demux;
pub mod engine;
pub mod owner;
pub mod pool;
pub mod program;
pub mod request;
pub mod session;

pub use engine::{Engine, EngineConfig};
pub use session::{Event, Job, Outcome, Session};

/// Why the engine could not be used, or a run could not be carried through.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum DockerError {
    /// No daemon answers.
    #[error("no Docker engine answers ({0}); start one, or set DOCKER_HOST or socketPath")]
    Unavailable(String),
    /// The daemon answered with an error.
    #[error("the Docker engine refused: {0}")]
    Refused(String),
    /// The daemon took too long.
    #[error("the Docker engine did not answer within {0} ms")]
    Slow(u64),
}
