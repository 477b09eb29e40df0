//! The rule of two: an agent should not have untrusted input, sensitive data and external side effects
//! all at once (spec 04, section 4.4). A profile says which of the three it has; what it lacks is taken
//! away.

use crate::tool::SideEffectClass;

/// One of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leg {
    /// Text that others wrote comes in.
    UntrustedInput,
    /// Secrets are within reach.
    SensitiveData,
    /// Something outside changes.
    ExternalSideEffects,
}

impl Leg {
    /// The word JavaScript uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UntrustedInput => "untrusted-input",
            Self::SensitiveData => "sensitive-data",
            Self::ExternalSideEffects => "external-side-effects",
        }
    }
}

/// Which of the three an agent has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "the three legs are independent")]
pub struct Profile {
    /// [`Leg::UntrustedInput`].
    pub untrusted_input: bool,
    /// [`Leg::SensitiveData`].
    pub sensitive_data: bool,
    /// [`Leg::ExternalSideEffects`].
    pub external_side_effects: bool,
}

/// A rule that forbids, for every tool, what a profile lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restriction {
    /// Tools that change something may not run.
    NoSideEffects,
    /// Tools that bring in untrusted text may not run.
    NoUntrustedInput,
}

impl Restriction {
    /// Whether it forbids a call of a tool of this class.
    #[must_use]
    pub fn forbids(self, side_effect_class: &str, untrusted_source: bool) -> bool {
        match self {
            Self::NoSideEffects => {
                SideEffectClass::parse(side_effect_class).is_some_and(SideEffectClass::is_writer)
            }
            Self::NoUntrustedInput => untrusted_source,
        }
    }

    /// Why.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::NoSideEffects => {
                "the rule-of-two profile holds no external side effects: only reading tools may run"
            }
            Self::NoUntrustedInput => {
                "the rule-of-two profile holds no untrusted input: tools that bring it in may not run"
            }
        }
    }
}

impl Profile {
    /// The legs it has, in the order of [`Leg`].
    #[must_use]
    pub fn held(self) -> Vec<Leg> {
        let all = [
            (Leg::UntrustedInput, self.untrusted_input),
            (Leg::SensitiveData, self.sensitive_data),
            (Leg::ExternalSideEffects, self.external_side_effects),
        ];
        all.into_iter().filter_map(|(leg, held)| held.then_some(leg)).collect()
    }

    /// What takes away what it lacks, in the order of the rules.
    #[must_use]
    pub fn restrictions(self) -> Vec<Restriction> {
        let all = [
            (Restriction::NoSideEffects, self.external_side_effects),
            (Restriction::NoUntrustedInput, self.untrusted_input),
        ];
        all.into_iter().filter_map(|(restriction, held)| (!held).then_some(restriction)).collect()
    }

    /// Whether only reading is left.
    #[must_use]
    pub const fn is_read_only(self) -> bool {
        !self.external_side_effects
    }

    /// Whether sensitive tools are denied unless a rule allows them.
    #[must_use]
    pub const fn denies_sensitive(self) -> bool {
        !self.sensitive_data
    }

    /// Whether it has all three.
    #[must_use]
    pub const fn is_full_trifecta(self) -> bool {
        self.untrusted_input && self.sensitive_data && self.external_side_effects
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_eight_profiles() {
        for bits in 0..8_u8 {
            let profile = Profile {
                untrusted_input: bits & 1 != 0,
                sensitive_data: bits & 2 != 0,
                external_side_effects: bits & 4 != 0,
            };
            let held: Vec<_> = profile.held().iter().map(|leg| leg.as_str()).collect();
            let expected: Vec<_> = ["untrusted-input", "sensitive-data", "external-side-effects"]
                .into_iter()
                .enumerate()
                .filter_map(|(at, word)| (bits >> at & 1 == 1).then_some(word))
                .collect();
            assert_eq!(held, expected);
            assert_eq!(profile.is_full_trifecta(), bits == 7);
            assert_eq!(profile.is_read_only(), bits & 4 == 0);
            assert_eq!(profile.denies_sensitive(), bits & 2 == 0);
            let forbids = |class: &str, untrusted| {
                profile.restrictions().iter().any(|restriction| restriction.forbids(class, untrusted))
            };
            for (class, writes) in
                [("pure", false), ("read-only", false), ("side-effecting", true), ("external-stateful", true)]
            {
                assert_eq!(forbids(class, false), writes && bits & 4 == 0);
                assert_eq!(forbids(class, true), (writes && bits & 4 == 0) || bits & 1 == 0);
            }
            assert!(!forbids("no word", false));
        }
    }

    #[test]
    fn reasons_name_what_is_missing() {
        assert!(Restriction::NoSideEffects.reason().contains("external side effects"));
        assert!(Restriction::NoUntrustedInput.reason().contains("untrusted input"));
    }
}
