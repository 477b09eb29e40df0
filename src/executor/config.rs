//! The options of an executor that the pipeline itself reads (spec 02 section 3).

use super::tier::TrustLevel;
use crate::tool::ToolErrorKind;

/// Bound of the parallel part of a batch.
pub const DEFAULT_MAX_PARALLEL: usize = 8;
/// Wait after an abort before a tool that ignores its signal is given up on, in milliseconds.
pub const DEFAULT_GRACE_MS: f64 = 50.0;
/// Limit of an in-process call whose tier has none, in milliseconds.
pub const DEFAULT_INLINE_TIMEOUT_MS: f64 = 60_000.0;
/// Attempts in all, unless configured.
pub const DEFAULT_MAX_ATTEMPTS: f64 = 3.0;
/// First pause between attempts, in milliseconds.
pub const DEFAULT_BACKOFF_MS: f64 = 250.0;

/// When a failed attempt is made again (section 8).
#[derive(Debug, Clone)]
pub struct RetryConfig {
    /// Attempts in all; below 1 and NaN mean 1.
    pub max_attempts: f64,
    /// First pause, doubled each time.
    pub backoff_ms: f64,
    /// The kinds that are retried.
    pub kinds: Vec<ToolErrorKind>,
}

impl Default for RetryConfig {
    fn default() -> Self {
        Self {
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            backoff_ms: DEFAULT_BACKOFF_MS,
            kinds: vec![ToolErrorKind::RateLimited],
        }
    }
}

/// Which optional collaborators an executor has. Absent ones cost nothing.
#[derive(Debug, Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "one flag a collaborator")]
pub struct Wiring {
    /// `permissionHook`
    pub permission_hook: bool,
    /// `approvalGate`
    pub approval_gate: bool,
    /// `argumentPolicy` with `decide` or `evaluate`
    pub argument_policy: bool,
    /// `argumentPolicy.deniesName`
    pub denies_name: bool,
    /// `repair`
    pub repair: bool,
    /// `dataFlowGuard`
    pub data_flow_guard: bool,
    /// `memoryGuardFactory`
    pub memory_guard: bool,
    /// `sandboxResolver`
    pub sandbox_resolver: bool,
    /// `idempotencyStore`
    pub idempotency_store: bool,
}

/// The options the pipeline reads.
#[derive(Debug, Clone)]
pub struct Config {
    /// Bound of the parallel part of a batch, at least 1.
    pub max_parallel: usize,
    /// Grace after an abort, in milliseconds.
    pub grace_ms: f64,
    /// Explicit limit of in-process calls, in milliseconds; 0 and non-finite mean none.
    pub inline_timeout_ms: Option<f64>,
    /// Retry rules.
    pub retry: RetryConfig,
    /// Collaborators present.
    pub wiring: Wiring,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_parallel: DEFAULT_MAX_PARALLEL,
            grace_ms: DEFAULT_GRACE_MS,
            inline_timeout_ms: None,
            retry: RetryConfig::default(),
            wiring: Wiring::default(),
        }
    }
}

/// What the caller of a batch says about all its calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct BatchOptions {
    /// Decides the sandbox tier together with the tool's wish.
    pub trust_level: TrustLevel,
    /// Turns the repair hook off.
    pub disable_repair: bool,
    /// A human already granted these very calls.
    pub pre_approved: bool,
    /// Writers are refused.
    pub read_only: bool,
}
