//! What a decision says when its rule gives no reason of its own, or could not be judged.

use super::rules::Fault;

/// What a reason is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// A rule denies.
    Denied,
    /// A rule asks.
    Approval,
    /// A rule defers.
    Deferred,
    /// No rule speaks of a sensitive tool.
    DefaultDeny,
    /// A rule denies whatever the arguments.
    DeniedByName,
}

fn units(text: &str) -> impl Iterator<Item = u16> + '_ {
    text.encode_utf16()
}

/// The reason of a decision that has none of its own.
#[must_use]
pub fn default_reason(ground: Ground, name: &[u16]) -> Vec<u16> {
    let (before, after) = match ground {
        Ground::Denied => ("tool '", "' is denied by policy"),
        Ground::Approval => ("tool '", "' requires an interactive approval by policy"),
        Ground::Deferred => ("tool '", "' requires a deferred approval by policy"),
        Ground::DefaultDeny => ("sensitive tool '", "' has no explicit allow rule (default-deny)"),
        Ground::DeniedByName => ("tool '", "' is denied by name by policy"),
    };
    units(before).chain(name.iter().copied()).chain(units(after)).collect()
}

/// A rule, as its author wrote it.
#[derive(Debug, Clone, Copy)]
pub struct RuleText<'a> {
    /// Its place in the policy.
    pub at: usize,
    /// The word, known or not.
    pub effect: &'a [u16],
    /// The pattern.
    pub tool: &'a [u16],
    /// The reason, when there is one.
    pub reason: Option<&'a [u16]>,
}

/// The reason of a denial by a rule that could not be judged; names the rule.
#[must_use]
pub fn fault_reason(name: &[u16], rule: RuleText<'_>, fault: Fault) -> Vec<u16> {
    let mut text = default_reason(Ground::Denied, name);
    text.extend(units(&format!(": rule {} (", rule.at)));
    text.extend(rule.effect);
    text.extend(units(" '"));
    text.extend(rule.tool);
    text.extend(units("'"));
    if let Some(reason) = rule.reason {
        text.extend(units(", \""));
        text.extend(reason);
        text.extend(units("\""));
    }
    text.extend(units(match fault {
        Fault::PredicateThrew => ") threw in its predicate",
        Fault::PredicateNotBoolean => ") has an async predicate",
        Fault::UnknownEffect => ") has an unknown effect",
    }));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn every_ground_names_the_tool() {
        for (ground, expected) in [
            (Ground::Denied, "tool 'mail.send' is denied by policy"),
            (Ground::Approval, "tool 'mail.send' requires an interactive approval by policy"),
            (Ground::Deferred, "tool 'mail.send' requires a deferred approval by policy"),
            (Ground::DefaultDeny, "sensitive tool 'mail.send' has no explicit allow rule (default-deny)"),
            (Ground::DeniedByName, "tool 'mail.send' is denied by name by policy"),
        ] {
            assert_eq!(String::from_utf16_lossy(&default_reason(ground, &utf16("mail.send"))), expected);
        }
    }

    #[test]
    fn a_fault_names_the_rule_with_and_without_its_reason() {
        let (effect, tool, reason) = (utf16("ask"), utf16("mail.*"), utf16("big transfers"));
        let mut rule = RuleText { at: 7, effect: &effect, tool: &tool, reason: Some(&reason) };
        let say = |rule, fault| String::from_utf16_lossy(&fault_reason(&utf16("mail.send"), rule, fault));
        assert_eq!(
            say(rule, Fault::PredicateThrew),
            "tool 'mail.send' is denied by policy: rule 7 (ask 'mail.*', \"big transfers\") threw in its predicate"
        );
        rule.reason = None;
        assert_eq!(
            say(rule, Fault::PredicateNotBoolean),
            "tool 'mail.send' is denied by policy: rule 7 (ask 'mail.*') has an async predicate"
        );
        assert!(say(rule, Fault::UnknownEffect).ends_with("has an unknown effect"));
    }

    #[test]
    fn lone_surrogates_survive() {
        assert!(default_reason(Ground::Denied, &[0xD800]).contains(&0xD800));
    }
}
