//! Which sandbox tier a call gets (spec 02 section 12).
//!
//! The executor passes the tool's wish as the only override of the general resolver.

use crate::sandbox::policy::{self, PolicyOverride, SandboxKind};
use crate::tool::SandboxPolicy;

/// How far the caller of a batch trusts its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustLevel {
    /// The framework's own.
    BuiltIn,
    /// The app's own.
    #[default]
    UserDefined,
    /// Third party, vetted.
    Trusted,
    /// Third party, not vetted.
    Untrusted,
}

/// The isolation of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierKind {
    /// In the process.
    None,
    /// A worker thread.
    WorkerThreads,
    /// An isolate or a separate process.
    IsolatedVm,
    /// A container.
    Docker,
}

impl TierKind {
    /// The word JavaScript uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::WorkerThreads => "worker-threads",
            Self::IsolatedVm => "isolated-vm",
            Self::Docker => "docker",
        }
    }
}

/// What the pipeline needs of a resolved policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tier {
    /// The isolation.
    pub kind: TierKind,
    /// Its limit in milliseconds; 0 means none.
    pub timeout_ms: f64,
    /// Network refused.
    pub no_network: bool,
    /// Files refused.
    pub no_filesystem: bool,
    /// A wish of the tool was overruled.
    pub forced: bool,
}

/// Resolves the tier of a call from the batch's trust level and the tool's declared policy, by the
/// rules of `sandbox::policy`.
#[must_use]
pub fn resolve(level: TrustLevel, declared: Option<SandboxPolicy>) -> Tier {
    let kind = declared.map(|policy| match policy {
        SandboxPolicy::None => SandboxKind::None,
        SandboxPolicy::Sandboxed => SandboxKind::WorkerThreads,
        SandboxPolicy::Isolated => SandboxKind::IsolatedVm,
        SandboxPolicy::Docker => SandboxKind::Docker,
    });
    let level = match level {
        TrustLevel::BuiltIn => "built-in",
        TrustLevel::UserDefined => "user-defined",
        TrustLevel::Trusted => "trusted",
        TrustLevel::Untrusted => "untrusted",
    };
    let resolved = policy::resolve(level, &PolicyOverride { kind, ..PolicyOverride::default() });
    Tier {
        kind: match resolved.kind {
            SandboxKind::None => TierKind::None,
            SandboxKind::IsolatedVm => TierKind::IsolatedVm,
            SandboxKind::Docker => TierKind::Docker,
            SandboxKind::WorkerThreads | SandboxKind::Other(_) => TierKind::WorkerThreads,
        },
        timeout_ms: resolved.timeout_ms,
        no_network: resolved.no_network,
        no_filesystem: resolved.no_filesystem,
        forced: resolved.forced,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_12_table() {
        use SandboxPolicy::{Docker, Isolated, None as Inline, Sandboxed};
        use TierKind::{Docker as D, IsolatedVm, None as N, WorkerThreads};
        use TrustLevel::{BuiltIn, Trusted, Untrusted, UserDefined};
        let table = [
            (BuiltIn, Some(Docker), N, 0.0, false, false),
            (UserDefined, None, WorkerThreads, 5_000.0, false, false),
            (UserDefined, Some(Inline), N, 0.0, false, false),
            (Trusted, Some(Docker), D, 30_000.0, false, false),
            (UserDefined, Some(Isolated), IsolatedVm, 5_000.0, false, false),
            (Untrusted, None, WorkerThreads, 5_000.0, true, false),
            (Untrusted, Some(Sandboxed), WorkerThreads, 5_000.0, true, false),
            (Untrusted, Some(Inline), WorkerThreads, 5_000.0, true, true),
            (Untrusted, Some(Docker), D, 30_000.0, true, false),
        ];
        for (level, declared, kind, timeout_ms, closed, forced) in table {
            let expected = Tier { kind, timeout_ms, no_network: closed, no_filesystem: closed, forced };
            assert_eq!(resolve(level, declared), expected, "{level:?} {declared:?}");
        }
    }
}
