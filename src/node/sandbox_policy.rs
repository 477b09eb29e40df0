//! Door of `sandbox::policy`.

use crate::sandbox::policy::{PolicyOverride, SandboxKind, resolve};
use napi_derive::napi;

/// What an operator asks for.
#[napi(object)]
pub struct SandboxPolicyRequest {
    pub kind: Option<String>,
    pub no_network: Option<bool>,
    pub no_filesystem: Option<bool>,
    pub timeout_ms: Option<f64>,
    pub max_memory_mb: Option<f64>,
}

/// The decision.
#[napi(object)]
pub struct SandboxPolicyAnswer {
    pub kind: String,
    pub no_network: bool,
    pub no_filesystem: bool,
    pub timeout_ms: f64,
    pub max_memory_mb: f64,
    pub forced: bool,
    pub reason: String,
}

#[napi(catch_unwind)]
pub fn resolve_sandbox_policy(trust_level: String, asked: SandboxPolicyRequest) -> SandboxPolicyAnswer {
    let policy = resolve(
        &trust_level,
        &PolicyOverride {
            kind: asked.kind.as_deref().map(SandboxKind::parse),
            no_network: asked.no_network,
            no_filesystem: asked.no_filesystem,
            timeout_ms: asked.timeout_ms,
            max_memory_mb: asked.max_memory_mb,
        },
    );
    SandboxPolicyAnswer {
        kind: policy.kind.as_str().to_owned(),
        no_network: policy.no_network,
        no_filesystem: policy.no_filesystem,
        timeout_ms: policy.timeout_ms,
        max_memory_mb: policy.max_memory_mb,
        forced: policy.forced,
        reason: policy.reason,
    }
}
