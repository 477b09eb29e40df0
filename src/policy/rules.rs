//! Rules, whom they speak of, and what follows from those that apply.
//!
//! Invariants: rules keep the order they were given in and are known by their place in it; a rule whose
//! effect is no word of the grammar is kept as [`Effect::Unknown`] and denies when it applies, so that a
//! typing error never opens anything.

/// What a rule wants; the stronger, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The call may run.
    Allow,
    /// Somebody has to say yes now.
    Ask,
    /// Somebody has to say yes later.
    Defer,
    /// The call must not run. `forbid` is another word for it.
    Deny,
    /// No word of the grammar.
    Unknown,
}

impl Effect {
    /// Reads the word.
    #[must_use]
    pub fn parse(word: &[u16]) -> Self {
        match String::from_utf16(word).as_deref() {
            Ok("allow") => Self::Allow,
            Ok("ask") => Self::Ask,
            Ok("defer") => Self::Defer,
            Ok("deny" | "forbid") => Self::Deny,
            _ => Self::Unknown,
        }
    }

    /// Whether a rule of this effect that applies ends the walk: no later rule could change anything.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Deny | Self::Unknown)
    }
}

const STAR: u16 = b'*' as u16;

#[derive(Debug)]
enum Pattern {
    /// Everything before the last star; nothing for `*`.
    Prefix(Vec<u16>),
    Exact(Vec<u16>),
}

impl Pattern {
    /// A star counts at the end only; anywhere else it is a character like any other.
    fn new(text: &[u16]) -> Self {
        match text.split_last() {
            Some((&STAR, prefix)) => Self::Prefix(prefix.to_vec()),
            _ => Self::Exact(text.to_vec()),
        }
    }

    fn fits(&self, name: &[u16]) -> bool {
        match self {
            Self::Prefix(prefix) => name.starts_with(prefix),
            Self::Exact(whole) => name == whole,
        }
    }
}

#[derive(Debug)]
struct Rule {
    effect: Effect,
    pattern: Pattern,
}

/// A rule that speaks of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// Its place among all rules.
    pub rule: usize,
    /// Whether the walk ends here when it applies.
    pub is_final: bool,
}

/// Why a rule could not be judged. Each denies the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Its predicate threw.
    PredicateThrew,
    /// Its predicate answered with a promise.
    PredicateNotBoolean,
    /// Its effect is [`Effect::Unknown`].
    UnknownEffect,
}

/// What decides when no rule applies.
#[derive(Debug, Clone, Copy, Default)]
pub struct DefaultDeny {
    /// The policy denies sensitive tools that no rule speaks of.
    pub deny_sensitive: bool,
    /// This tool is sensitive.
    pub sensitive: bool,
}

/// A decision. `place` counts among the rules that applied, in the order they were asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing spoke against it.
    NoMatch,
    /// No rule applied, the tool is sensitive, and the policy denies such tools.
    DefaultDeny,
    /// The rule at `place` decided.
    Rule {
        /// Which of those that applied.
        place: usize,
        /// What it wants; never [`Effect::Unknown`].
        effect: Effect,
    },
    /// The rule at `place` could not be judged, which denies.
    Unjudged {
        /// Which of those that applied.
        place: usize,
        /// Why.
        fault: Fault,
    },
}

/// The rules of a policy, read once.
#[derive(Debug)]
pub struct Rules(Vec<Rule>);

impl Rules {
    /// Takes the effect and the tool pattern of each rule.
    pub fn new<'a>(rules: impl IntoIterator<Item = (&'a [u16], &'a [u16])>) -> Self {
        let rule = |(effect, tool)| Rule { effect: Effect::parse(effect), pattern: Pattern::new(tool) };
        Self(rules.into_iter().map(rule).collect())
    }

    /// The rules whose pattern fits `name`, in order.
    pub fn speaking_of<'a>(&'a self, name: &'a [u16]) -> impl Iterator<Item = Mention> + 'a {
        let fitting = self.0.iter().enumerate().filter(move |(_, rule)| rule.pattern.fits(name));
        fitting.map(|(at, rule)| Mention { rule: at, is_final: rule.effect.is_final() })
    }

    /// The rules that deny `name` whatever its arguments, provided that they ask for nothing more.
    pub fn denying<'a>(&'a self, name: &'a [u16]) -> impl Iterator<Item = usize> + 'a {
        self.speaking_of(name).map(|mention| mention.rule).filter(|&at| self.0[at].effect == Effect::Deny)
    }

    /// Decides by the rules that applied, in the order they were asked. The last of them could not be
    /// judged when `fault` is given.
    ///
    /// A denial wins, wherever it stands; otherwise the strongest of defer, ask and allow, the first
    /// among equals. Places that are no rule's are left out.
    #[must_use]
    pub fn conclude(&self, applied: &[usize], fault: Option<Fault>, default: DefaultDeny) -> Verdict {
        let judged = applied.len() - usize::from(fault.is_some() && !applied.is_empty());
        let mut strongest: Option<(usize, Effect)> = None;
        for (place, &rule) in applied[..judged].iter().enumerate() {
            let Some(Rule { effect, .. }) = self.0.get(rule) else { continue };
            if strongest.is_none_or(|(_, known)| *effect > known) {
                strongest = Some((place, *effect));
            }
            if effect.is_final() {
                break;
            }
        }
        match (strongest, fault) {
            (Some((place, Effect::Unknown)), _) => Verdict::Unjudged { place, fault: Fault::UnknownEffect },
            (Some((place, Effect::Deny)), _) => Verdict::Rule { place, effect: Effect::Deny },
            (_, Some(fault)) => Verdict::Unjudged { place: judged, fault },
            (Some((place, effect)), None) => Verdict::Rule { place, effect },
            (None, None) if default.deny_sensitive && default.sensitive => Verdict::DefaultDeny,
            (None, None) => Verdict::NoMatch,
        }
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
