//! The resolver: which tier runs a tool, with what limits.
//!
//! A pure table over the trust level and an operator's override. Invariants: untrusted code never
//! gets less isolation than a worker with network and files blocked and a wall clock; a stronger
//! tier that an operator asks for is honoured; every part of an override that is not honoured is
//! named in `reason` and sets `forced`.

use std::fmt::Write as _;

/// Where code runs. `Other` carries a kind that only the caller's own sandbox factory knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxKind {
    /// In the host's own process and thread.
    None,
    /// In a Node worker thread.
    WorkerThreads,
    /// In an engine without host APIs.
    IsolatedVm,
    /// In a container.
    Docker,
    /// A kind of the caller's own.
    Other(String),
}

impl SandboxKind {
    /// Reads the public spelling; an unknown one is kept as it is.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "none" => Self::None,
            "worker-threads" => Self::WorkerThreads,
            "isolated-vm" => Self::IsolatedVm,
            "docker" => Self::Docker,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The public spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::None => "none",
            Self::WorkerThreads => "worker-threads",
            Self::IsolatedVm => "isolated-vm",
            Self::Docker => "docker",
            Self::Other(text) => text,
        }
    }

    /// Wall clock in milliseconds when nobody says otherwise; 0 means none. Unknown kinds get a
    /// worker's.
    #[must_use]
    pub fn default_timeout_ms(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::WorkerThreads | Self::IsolatedVm | Self::Other(_) => 5_000.0,
            Self::Docker => 30_000.0,
        }
    }

    /// Memory in MiB when nobody says otherwise; 0 means no limit. Unknown kinds get a worker's.
    #[must_use]
    pub fn default_memory_mb(&self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::WorkerThreads | Self::Other(_) => 256.0,
            Self::IsolatedVm => 128.0,
            Self::Docker => 512.0,
        }
    }

    /// Whether untrusted code may run here instead of the mandatory worker.
    #[must_use]
    pub fn is_stronger_than_worker(&self) -> bool {
        matches!(self, Self::IsolatedVm | Self::Docker)
    }
}

/// What an operator asks for; every part is optional.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyOverride {
    /// The tier.
    pub kind: Option<SandboxKind>,
    /// Block the network.
    pub no_network: Option<bool>,
    /// Block the file system.
    pub no_filesystem: Option<bool>,
    /// Wall clock in milliseconds; 0 means none (refused for untrusted code).
    pub timeout_ms: Option<f64>,
    /// Memory in MiB; values that are not positive fall back to the default.
    pub max_memory_mb: Option<f64>,
}

/// The decision. Times in milliseconds, memory in MiB, 0 for "no limit".
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedPolicy {
    /// The tier.
    pub kind: SandboxKind,
    /// Whether the network is blocked.
    pub no_network: bool,
    /// Whether the file system is blocked.
    pub no_filesystem: bool,
    /// Wall clock in milliseconds.
    pub timeout_ms: f64,
    /// Memory in MiB.
    pub max_memory_mb: f64,
    /// Whether something the operator asked for was refused.
    pub forced: bool,
    /// One sentence, or several joined by `; `.
    pub reason: String,
}

/// Memory of the mandatory worker in MiB; smaller than a worker's usual default.
const UNTRUSTED_WORKER_MEMORY_MB: f64 = 128.0;

/// Decides for a trust level (`built-in`, `user-defined`, `trusted`, `untrusted`; anything else is
/// treated as `user-defined`).
#[must_use]
pub fn resolve(trust_level: &str, asked: &PolicyOverride) -> ResolvedPolicy {
    match trust_level {
        "built-in" => built_in(),
        "untrusted" => untrusted(asked),
        "trusted" => operator_choice("trusted", asked),
        _ => operator_choice("user-defined", asked),
    }
}

fn built_in() -> ResolvedPolicy {
    ResolvedPolicy {
        kind: SandboxKind::None,
        no_network: false,
        no_filesystem: false,
        timeout_ms: 0.0,
        max_memory_mb: 0.0,
        forced: false,
        reason: "trust level 'built-in' runs in process, without a sandbox".to_owned(),
    }
}

fn operator_choice(level: &str, asked: &PolicyOverride) -> ResolvedPolicy {
    let kind = asked.kind.clone().unwrap_or(SandboxKind::WorkerThreads);
    ResolvedPolicy {
        no_network: asked.no_network.unwrap_or(false),
        no_filesystem: asked.no_filesystem.unwrap_or(false),
        timeout_ms: asked.timeout_ms.filter(|ms| *ms >= 0.0).unwrap_or_else(|| kind.default_timeout_ms()),
        max_memory_mb: asked.max_memory_mb.filter(|mb| *mb > 0.0).unwrap_or_else(|| kind.default_memory_mb()),
        forced: false,
        reason: format!("trust level '{level}' runs in '{}', as the operator may choose", kind.as_str()),
        kind,
    }
}

fn untrusted(asked: &PolicyOverride) -> ResolvedPolicy {
    let honoured = asked.kind.clone().filter(SandboxKind::is_stronger_than_worker);
    let kind = honoured.clone().unwrap_or(SandboxKind::WorkerThreads);
    let mut reason = format!(
        "a sandbox ('{}') without network and file system is mandatory for trust level 'untrusted'",
        kind.as_str()
    );
    let mut forced = false;
    if let Some(refused) = &asked.kind
        && honoured.is_none()
        && *refused != SandboxKind::WorkerThreads
    {
        forced = true;
        let _ = write!(reason, "; override kind={} ignored", refused.as_str());
    }
    if asked.no_network == Some(false) {
        forced = true;
        reason.push_str("; override noNetwork=false ignored");
    }
    if asked.no_filesystem == Some(false) {
        forced = true;
        reason.push_str("; override noFilesystem=false ignored");
    }
    if let Some(ms) = asked.timeout_ms.filter(|ms| *ms <= 0.0) {
        forced = true;
        let _ = write!(reason, "; override timeoutMs={} ignored (mandatory wall-clock)", number_text(ms));
    }
    let default_memory =
        if honoured.is_some() { kind.default_memory_mb() } else { UNTRUSTED_WORKER_MEMORY_MB };
    ResolvedPolicy {
        no_network: true,
        no_filesystem: true,
        timeout_ms: asked.timeout_ms.filter(|ms| *ms > 0.0).unwrap_or_else(|| kind.default_timeout_ms()),
        max_memory_mb: asked.max_memory_mb.filter(|mb| *mb > 0.0).unwrap_or(default_memory),
        forced,
        reason,
        kind,
    }
}

/// A number that is not positive, as JavaScript prints it.
fn number_text(value: f64) -> String {
    if value.is_infinite() {
        return "-Infinity".to_owned();
    }
    // Adding zero turns -0 into 0.
    format!("{}", value + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked_kind(kind: &str) -> PolicyOverride {
        PolicyOverride { kind: Some(SandboxKind::parse(kind)), ..PolicyOverride::default() }
    }

    #[test]
    fn built_in_ignores_the_override_entirely() {
        let asked = PolicyOverride {
            kind: Some(SandboxKind::Docker),
            no_network: Some(true),
            no_filesystem: Some(true),
            timeout_ms: Some(9.0),
            max_memory_mb: Some(9.0),
        };
        let policy = resolve("built-in", &asked);
        assert_eq!(policy, resolve("built-in", &PolicyOverride::default()));
        assert_eq!(policy.kind, SandboxKind::None);
        assert!(policy.reason.contains("'built-in'") && !policy.forced);
        assert!((policy.timeout_ms, policy.max_memory_mb) == (0.0, 0.0));
    }

    #[test]
    fn user_defined_takes_the_defaults_of_the_chosen_kind() {
        for (kind, timeout, memory) in [
            ("none", 0.0, 0.0),
            ("worker-threads", 5000.0, 256.0),
            ("isolated-vm", 5000.0, 128.0),
            ("docker", 30000.0, 512.0),
            ("firecracker", 5000.0, 256.0),
        ] {
            let policy = resolve("user-defined", &asked_kind(kind));
            assert_eq!(policy.kind.as_str(), kind);
            assert!((policy.timeout_ms, policy.max_memory_mb) == (timeout, memory), "{kind}");
            assert!(!policy.forced);
        }
        assert_eq!(resolve("user-defined", &PolicyOverride::default()).kind, SandboxKind::WorkerThreads);
    }

    #[test]
    fn bad_numbers_fall_back_and_never_force() {
        let asked = PolicyOverride {
            timeout_ms: Some(-1.0),
            max_memory_mb: Some(f64::NAN),
            ..PolicyOverride::default()
        };
        let policy = resolve("trusted", &asked);
        assert!((policy.timeout_ms, policy.max_memory_mb, policy.forced) == (5000.0, 256.0, false));
        let unlimited = PolicyOverride { timeout_ms: Some(0.0), ..PolicyOverride::default() };
        assert!(resolve("user-defined", &unlimited).timeout_ms == 0.0);
    }

    #[test]
    fn the_reason_names_the_level_and_an_unknown_one_reads_as_user_defined() {
        assert!(resolve("trusted", &PolicyOverride::default()).reason.contains("'trusted'"));
        assert!(resolve("user-defined", &PolicyOverride::default()).reason.contains("'user-defined'"));
        assert!(resolve("martian", &PolicyOverride::default()).reason.contains("user-defined"));
    }

    #[test]
    fn plain_untrusted_is_mandatory_but_not_forced() {
        let policy = resolve("untrusted", &PolicyOverride::default());
        assert_eq!(policy.kind, SandboxKind::WorkerThreads);
        assert!(policy.no_network && policy.no_filesystem && !policy.forced);
        assert!((policy.timeout_ms, policy.max_memory_mb) == (5000.0, 128.0));
        assert!(policy.reason.contains("mandatory"));
    }

    #[test]
    fn untrusted_names_everything_it_refuses() {
        let asked = PolicyOverride {
            kind: Some(SandboxKind::None),
            no_network: Some(false),
            no_filesystem: Some(false),
            timeout_ms: Some(0.0),
            max_memory_mb: Some(0.0),
        };
        let policy = resolve("untrusted", &asked);
        assert!(policy.forced);
        let parts: Vec<&str> = policy.reason.split("; ").collect();
        assert_eq!(
            parts[1..],
            [
                "override kind=none ignored",
                "override noNetwork=false ignored",
                "override noFilesystem=false ignored",
                "override timeoutMs=0 ignored (mandatory wall-clock)",
            ]
        );
        for (ms, text) in [(-0.0, "=0 "), (-2.5, "=-2.5 "), (f64::NEG_INFINITY, "=-Infinity ")] {
            let asked = PolicyOverride { timeout_ms: Some(ms), ..PolicyOverride::default() };
            assert!(resolve("untrusted", &asked).reason.contains(text));
        }
    }

    #[test]
    fn untrusted_may_be_isolated_more_than_a_worker() {
        for (kind, timeout, memory) in [("docker", 30000.0, 512.0), ("isolated-vm", 5000.0, 128.0)] {
            let policy = resolve("untrusted", &asked_kind(kind));
            assert_eq!(policy.kind.as_str(), kind);
            assert!(policy.no_network && policy.no_filesystem && !policy.forced);
            assert!((policy.timeout_ms, policy.max_memory_mb) == (timeout, memory));
        }
        // An unknown kind cannot be judged, so it does not count as stronger.
        let unknown = resolve("untrusted", &asked_kind("firecracker"));
        assert!(unknown.forced && unknown.kind == SandboxKind::WorkerThreads);
    }

    proptest! {
        #[test]
        fn untrusted_never_gets_less_than_the_floor(
            kind in proptest::option::of("none|worker-threads|isolated-vm|docker|[a-z]{1,8}"),
            no_network in proptest::option::of(any::<bool>()),
            no_filesystem in proptest::option::of(any::<bool>()),
            timeout_ms in proptest::option::of(any::<f64>()),
            max_memory_mb in proptest::option::of(any::<f64>()),
        ) {
            let kind = kind.as_deref().map(SandboxKind::parse);
            let policy = resolve("untrusted", &PolicyOverride { kind, no_network, no_filesystem, timeout_ms, max_memory_mb });
            prop_assert!(policy.no_network && policy.no_filesystem);
            prop_assert!(policy.timeout_ms > 0.0 && policy.max_memory_mb > 0.0);
            prop_assert!(policy.kind == SandboxKind::WorkerThreads || policy.kind.is_stronger_than_worker());
            prop_assert_eq!(policy.forced, policy.reason.contains(" ignored"));
        }
    }
}
