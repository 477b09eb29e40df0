//! Which sandbox tier a call gets (spec 02 section 12).
//!
//! The executor passes the tool's wish as the only override, so this is the general resolver with
//! three of its inputs left out.

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

    const fn timeout_ms(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::WorkerThreads | Self::IsolatedVm => 5_000.0,
            Self::Docker => 30_000.0,
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

/// Resolves the tier of a call from the batch's trust level and the tool's declared policy.
///
/// An untrusted tool that asks for more isolation than worker threads gets it (a stronger tier is
/// never a downgrade); anything weaker is overruled.
#[must_use]
pub fn resolve(level: TrustLevel, declared: Option<SandboxPolicy>) -> Tier {
    let wish = declared.map(|policy| match policy {
        SandboxPolicy::None => TierKind::None,
        SandboxPolicy::Sandboxed => TierKind::WorkerThreads,
        SandboxPolicy::Isolated => TierKind::IsolatedVm,
        SandboxPolicy::Docker => TierKind::Docker,
    });
    let open = |kind: TierKind| Tier {
        kind,
        timeout_ms: kind.timeout_ms(),
        no_network: false,
        no_filesystem: false,
        forced: false,
    };
    match level {
        TrustLevel::BuiltIn => open(TierKind::None),
        TrustLevel::UserDefined | TrustLevel::Trusted => open(wish.unwrap_or(TierKind::WorkerThreads)),
        TrustLevel::Untrusted => {
            let kind = match wish {
                Some(stronger @ (TierKind::IsolatedVm | TierKind::Docker)) => stronger,
                _ => TierKind::WorkerThreads,
            };
            Tier {
                kind,
                timeout_ms: kind.timeout_ms(),
                no_network: true,
                no_filesystem: true,
                forced: wish.is_some_and(|wish| wish != kind),
            }
        }
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
