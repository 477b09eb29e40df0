//! What the registry fills in where an author said nothing (spec 01 sections 3.4, 3.5, 6.2, 6.5).

use super::{InboundPolicy, SideEffectClass, ToolSource, TruncationStrategy, TrustClass};

/// Cap of a result in tokens when the author sets none.
pub const DEFAULT_MAX_RESULT_TOKENS: u32 = 16_384;

/// Longest tool name, in UTF-16 units.
pub const MAX_NAME_LENGTH: usize = 128;

impl TrustClass {
    /// The inbound policy of a tool that declares none (section 3.4).
    #[must_use]
    pub const fn default_inbound(self) -> InboundPolicy {
        match self {
            Self::FirstPartyBuiltIn => InboundPolicy::PassThrough,
            Self::FirstPartyUserDefined | Self::SkillTrusted => InboundPolicy::DetectAndFlag,
            Self::SkillUntrusted | Self::McpDerived | Self::WebSearch | Self::ChannelInbound => {
                InboundPolicy::DetectAndStripAndWrap
            }
        }
    }

    /// The truncation strategy of a tool that declares none (section 3.5; first match wins).
    #[must_use]
    pub fn default_truncation(self, tool_name: &str) -> TruncationStrategy {
        if self == Self::FirstPartyBuiltIn && tool_name == "code_execution" {
            TruncationStrategy::Tail
        } else if self == Self::WebSearch || tool_name == "web_search" {
            TruncationStrategy::Summarize
        } else {
            TruncationStrategy::Middle
        }
    }

    /// The rung on the ladder that decides collisions (section 6.5).
    #[must_use]
    pub const fn ladder(self) -> u8 {
        match self {
            Self::FirstPartyBuiltIn | Self::FirstPartyUserDefined => 100,
            Self::SkillTrusted => 80,
            Self::SkillUntrusted => 60,
            Self::McpDerived => 40,
            Self::WebSearch => 20,
            Self::ChannelInbound => 0,
        }
    }
}

impl ToolSource {
    /// The side effect class of a tool that declares none (section 6.2): the cautious guess.
    #[must_use]
    pub const fn default_side_effect_class(&self) -> SideEffectClass {
        match self {
            Self::Mcp { .. } => SideEffectClass::ExternalStateful,
            _ => SideEffectClass::SideEffecting,
        }
    }

    /// Whether leaving the class out deserves a warning: MCP has no place to declare one.
    #[must_use]
    pub const fn warns_on_missing_class(&self) -> bool {
        !matches!(self, Self::Mcp { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::{built_in, mcp, skill, web};
    use super::*;

    /// The matrix of section 6.2: source, inbound policy, truncation plain / `code_execution` /
    /// `web_search`, side effect class, warning, ladder.
    #[test]
    fn the_matrix_of_defaults() {
        use InboundPolicy::{DetectAndFlag, DetectAndStripAndWrap, PassThrough};
        use SideEffectClass::{ExternalStateful, SideEffecting};
        use TruncationStrategy::{Middle, Summarize, Tail};
        let table = [
            (ToolSource::FirstParty, DetectAndFlag, [Middle, Middle, Summarize], SideEffecting, true, 100),
            (built_in("x"), PassThrough, [Middle, Tail, Summarize], SideEffecting, true, 100),
            (built_in("web-search"), DetectAndStripAndWrap, [Summarize; 3], SideEffecting, true, 20),
            (skill("s", true), DetectAndFlag, [Middle, Middle, Summarize], SideEffecting, true, 80),
            (skill("s", false), DetectAndStripAndWrap, [Middle, Middle, Summarize], SideEffecting, true, 60),
            (mcp("m"), DetectAndStripAndWrap, [Middle, Middle, Summarize], ExternalStateful, false, 40),
            (web("w"), DetectAndStripAndWrap, [Summarize; 3], SideEffecting, true, 20),
        ];
        for (source, inbound, truncation, class, warns, ladder) in table {
            let trust = source.trust_class();
            assert_eq!(trust.default_inbound(), inbound, "{source:?}");
            let found = ["n", "code_execution", "web_search"].map(|name| trust.default_truncation(name));
            assert_eq!(found, truncation, "{source:?}");
            assert_eq!(source.default_side_effect_class(), class, "{source:?}");
            assert_eq!(source.warns_on_missing_class(), warns, "{source:?}");
            assert_eq!(trust.ladder(), ladder, "{source:?}");
        }
        assert_eq!(TrustClass::ChannelInbound.ladder(), 0);
        assert_eq!(TrustClass::ChannelInbound.default_inbound(), DetectAndStripAndWrap);
    }
}
