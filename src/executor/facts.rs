//! What the pipeline knows of a registered tool: the fields it decides by, without the JavaScript
//! values (spec 02 section 2.2).

use super::config::BatchOptions;
use super::tier::{self, Tier, TrustLevel};
use crate::audit::{KnownKey, key};
use crate::tool::{
    DEFAULT_MAX_RESULT_TOKENS, InboundPolicy, MemoryGuardTier, SandboxPolicy, Sensitivity, SideEffectClass,
    TruncationStrategy, TrustClass,
};
use std::cell::{Cell, OnceCell};

/// The form of `needsApproval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ApprovalForm {
    /// Absent or `false`.
    #[default]
    Never,
    /// `true`.
    Always,
    /// A predicate.
    Predicate,
}

/// A tool as the pipeline sees it.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "one flag a declared field")]
pub struct ToolFacts {
    /// The registered name.
    pub name: String,
    /// `__sideEffectClass`
    pub class: SideEffectClass,
    /// `__trustClass`
    pub trust: TrustClass,
    /// `sensitivity`
    pub sensitivity: Option<Sensitivity>,
    /// `memoryGuardTier`
    pub memory_tier: Option<MemoryGuardTier>,
    /// `inboundSanitization`
    pub inbound: InboundPolicy,
    /// `truncationStrategy`
    pub truncation: TruncationStrategy,
    /// `maxResultTokens`; 0 turns the cap off.
    pub max_result_tokens: f64,
    /// `sandboxPolicy`
    pub sandbox: Option<SandboxPolicy>,
    /// `needsApproval`
    pub approval: ApprovalForm,
    /// `failClosed`
    pub fail_closed: bool,
    /// `__hasIdempotencyKey`
    pub has_idempotency_key: bool,
    /// `idempotencyKey` is a function.
    pub idempotency_callback: bool,
    /// `__streamingHint`
    pub streaming: bool,
    /// `outputSchema` is there.
    pub output_schema: bool,
    /// What the calls before have worked out.
    pub learned: Learned,
}

/// What depends on the tool alone, so that a tool's second call does not work it out again.
#[derive(Debug, Clone, Default)]
pub struct Learned {
    keys: OnceCell<ToolKeys>,
    tier: Cell<Option<(TrustLevel, Tier)>>,
}

/// The metrics every call writes.
#[derive(Debug, Clone)]
pub(super) struct ToolKeys {
    pub invocations: KnownKey,
    pub duration_ms: KnownKey,
    pub size_tokens: KnownKey,
    pub scan_us: KnownKey,
}

impl ToolFacts {
    /// A reader of the app's own, with every default: what tests start from.
    #[must_use]
    pub fn reader(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            class: SideEffectClass::ReadOnly,
            trust: TrustClass::FirstPartyUserDefined,
            sensitivity: None,
            memory_tier: None,
            inbound: InboundPolicy::DetectAndFlag,
            truncation: TruncationStrategy::Middle,
            max_result_tokens: f64::from(DEFAULT_MAX_RESULT_TOKENS),
            sandbox: None,
            approval: ApprovalForm::Never,
            fail_closed: false,
            has_idempotency_key: false,
            idempotency_callback: false,
            streaming: false,
            output_schema: false,
            learned: Learned::default(),
        }
    }

    /// The keys of the metrics every call writes.
    pub(super) fn keys(&self) -> &ToolKeys {
        self.learned.keys.get_or_init(|| {
            let of_tool = |name: &str| KnownKey::new(key(name, &[("toolName", &self.name)]));
            let of_trust = [("trustClass", self.trust.as_str())];
            ToolKeys {
                invocations: of_tool("tool.executor.invocations.total"),
                duration_ms: of_tool("tool.executor.duration_ms"),
                size_tokens: of_tool("tool.result.size.tokens"),
                scan_us: KnownKey::new(key("tool.inbound.sanitization.scan.duration_us.total", &of_trust)),
            }
        })
    }

    /// The sandbox tier in a batch with these options.
    pub(super) fn tier(&self, batch: BatchOptions) -> Tier {
        let level = batch.trust_level;
        if let Some((_, tier)) = self.learned.tier.get().filter(|(known, _)| *known == level) {
            return tier;
        }
        let tier = tier::resolve(level, self.sandbox);
        self.learned.tier.set(Some((level, tier)));
        tier
    }

    /// The memory guard tier, `unknown` when undeclared.
    #[must_use]
    pub fn tier_word(&self) -> &'static str {
        self.memory_tier.unwrap_or(MemoryGuardTier::Unknown).as_str()
    }
}
