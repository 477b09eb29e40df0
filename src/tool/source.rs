//! Where a tool came from (spec 01 sections 2.2, 3.3, 6.3 and 6.5).

use super::TrustClass;

/// The origin of a tool. Two sources are the same when all their fields are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ToolSource {
    /// The app's own code.
    FirstParty,
    /// A subsystem of the framework.
    BuiltIn {
        /// Which one; `web-search` is trusted no more than the web.
        subsystem: String,
    },
    /// A skill.
    Skill {
        /// Its name.
        skill_name: String,
        /// Whether the user trusts it.
        trusted: bool,
    },
    /// An MCP server.
    Mcp {
        /// Whatever identifies the server: a name or a URL.
        server_identity: String,
    },
    /// A web search provider.
    WebSearch {
        /// Its name.
        provider_name: String,
    },
}

impl ToolSource {
    /// The word in the `kind` field.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::FirstParty => "first-party",
            Self::BuiltIn { .. } => "built-in",
            Self::Skill { .. } => "skill",
            Self::Mcp { .. } => "mcp",
            Self::WebSearch { .. } => "web-search",
        }
    }

    /// The field that tells sources of one kind apart; empty for first-party.
    #[must_use]
    pub fn identity(&self) -> &str {
        match self {
            Self::FirstParty => "",
            Self::BuiltIn { subsystem } => subsystem,
            Self::Skill { skill_name, .. } => skill_name,
            Self::Mcp { server_identity } => server_identity,
            Self::WebSearch { provider_name } => provider_name,
        }
    }

    /// The trust class that follows from the source (section 3.3).
    #[must_use]
    pub fn trust_class(&self) -> TrustClass {
        match self {
            Self::FirstParty => TrustClass::FirstPartyUserDefined,
            Self::BuiltIn { subsystem } if subsystem == "web-search" => TrustClass::WebSearch,
            Self::BuiltIn { .. } => TrustClass::FirstPartyBuiltIn,
            Self::Skill { trusted: true, .. } => TrustClass::SkillTrusted,
            Self::Skill { trusted: false, .. } => TrustClass::SkillUntrusted,
            Self::Mcp { .. } => TrustClass::McpDerived,
            Self::WebSearch { .. } => TrustClass::WebSearch,
        }
    }

    /// How audit rows and errors name the source (section 6.5).
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::FirstParty => "first-party".to_owned(),
            Self::Skill { skill_name, trusted } => {
                format!("skill:{skill_name}#{}", if *trusted { "trusted" } else { "untrusted" })
            }
            other => format!("{}:{}", other.kind(), other.identity()),
        }
    }

    /// Whether a collision is won by precedence: first-party and built-in alike.
    #[must_use]
    pub const fn is_first_party_like(&self) -> bool {
        matches!(self, Self::FirstParty | Self::BuiltIn { .. })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn built_in(subsystem: &str) -> ToolSource {
        ToolSource::BuiltIn { subsystem: subsystem.to_owned() }
    }

    pub(crate) fn skill(name: &str, trusted: bool) -> ToolSource {
        ToolSource::Skill { skill_name: name.to_owned(), trusted }
    }

    pub(crate) fn mcp(server: &str) -> ToolSource {
        ToolSource::Mcp { server_identity: server.to_owned() }
    }

    pub(crate) fn web(provider: &str) -> ToolSource {
        ToolSource::WebSearch { provider_name: provider.to_owned() }
    }

    /// Sections 3.3 and 6.5: source, trust class, description.
    #[test]
    fn sources_map_to_trust_and_text() {
        let table = [
            (ToolSource::FirstParty, TrustClass::FirstPartyUserDefined, "first-party"),
            (built_in("files"), TrustClass::FirstPartyBuiltIn, "built-in:files"),
            (built_in("web-search"), TrustClass::WebSearch, "built-in:web-search"),
            (skill("pdf", true), TrustClass::SkillTrusted, "skill:pdf#trusted"),
            (skill("pdf", false), TrustClass::SkillUntrusted, "skill:pdf#untrusted"),
            (mcp("linear"), TrustClass::McpDerived, "mcp:linear"),
            (web("brave"), TrustClass::WebSearch, "web-search:brave"),
        ];
        for (source, trust, text) in table {
            assert_eq!(source.trust_class(), trust, "{text}");
            assert_eq!(source.describe(), text);
        }
    }

    #[test]
    fn same_source_means_all_fields() {
        assert_eq!(skill("a", true), skill("a", true));
        assert_ne!(skill("a", true), skill("a", false));
        assert_ne!(mcp("a"), web("a"));
        assert!(built_in("a").is_first_party_like() && !mcp("a").is_first_party_like());
    }
}
