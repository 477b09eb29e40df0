//! Labels: how far a text is trusted, and whether it must not leave (spec 04, section 2.2).
//!
//! Two bits, each of which only ever goes from false to true: what a run has read cannot be unread.

use crate::tool::TrustClass;

/// What is known about one text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Label {
    /// It comes from outside: it may hold instructions that nobody here wrote.
    pub untrusted: bool,
    /// It must not leave.
    pub sensitive: bool,
}

impl Label {
    /// The label of what a tool returned: untrusted by the tool's class, sensitive when its sensitivity
    /// is one of `tiers`. A sensitivity nobody told is never sensitive.
    pub fn derive<'a>(
        trust_class: &str,
        sensitivity: Option<&str>,
        tiers: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self {
            untrusted: is_untrusted(trust_class),
            sensitive: sensitivity.is_some_and(|told| tiers.into_iter().any(|tier| tier == told)),
        }
    }

    /// Both together: no flag is ever taken back.
    #[must_use]
    pub const fn join(self, other: Self) -> Self {
        Self { untrusted: self.untrusted || other.untrusted, sensitive: self.sensitive || other.sensitive }
    }
}

/// Whether output of this class is untrusted. The one definition for the whole package. A word that is
/// no class is trusted, as the original has it: the registry refuses such words.
#[must_use]
pub fn is_untrusted(trust_class: &str) -> bool {
    TrustClass::parse(trust_class).is_some_and(|class| match class {
        TrustClass::SkillUntrusted
        | TrustClass::McpDerived
        | TrustClass::WebSearch
        | TrustClass::ChannelInbound => true,
        TrustClass::FirstPartyBuiltIn | TrustClass::FirstPartyUserDefined | TrustClass::SkillTrusted => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn four_classes_are_untrusted() {
        let untrusted: Vec<_> =
            TrustClass::ALL.iter().map(|class| class.as_str()).filter(|class| is_untrusted(class)).collect();
        assert_eq!(untrusted, ["skill-untrusted", "mcp-derived", "web-search", "channel-inbound"]);
        for word in ["", "constructor", "MCP-derived", "mcp-derived "] {
            assert!(!is_untrusted(word), "{word:?}");
        }
    }

    #[test]
    fn sensitive_by_tier() {
        for (told, tiers, sensitive) in [
            (None, vec!["secret"], false),
            (Some("secret"), vec!["secret"], true),
            (Some("internal"), vec!["secret"], false),
            (Some("internal"), vec!["internal", "secret"], true),
            (Some("secret"), vec![], false),
        ] {
            let label = Label::derive("skill-trusted", told, tiers.iter().copied());
            assert_eq!(label, Label { untrusted: false, sensitive }, "{told:?} {tiers:?}");
        }
    }

    proptest! {
        #[test]
        fn joining_is_a_lattice_that_never_narrows(bits in proptest::array::uniform3(any::<(bool, bool)>())) {
            let [a, b, c] = bits.map(|(untrusted, sensitive)| Label { untrusted, sensitive });
            prop_assert_eq!(a.join(b), b.join(a));
            prop_assert_eq!(a.join(b).join(c), a.join(b.join(c)));
            prop_assert_eq!(a.join(a), a);
            prop_assert_eq!(a.join(Label::default()), a);
            let joined = a.join(b);
            prop_assert!((joined.untrusted || !a.untrusted) && (joined.sensitive || !a.sensitive));
        }
    }
}
