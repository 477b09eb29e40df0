//! Door of `policy`: the rules of one policy as a class, the wording, and the rule of two.

use super::text::JsText;
use crate::policy::{self, DefaultDeny, Effect, Fault, Ground, Profile, Restriction, RuleText, Verdict};
use napi::bindgen_prelude::Utf16String;
use napi_derive::napi;

/// The rules of a policy, as they were when it was made.
#[napi]
pub struct NativeRules(policy::Rules);

#[napi]
impl NativeRules {
    /// `text` is effect and tool pattern of every rule, one after another; `lengths` says how long each
    /// of them is.
    #[napi(constructor, catch_unwind)]
    pub fn new(text: Utf16String, lengths: &[u32]) -> Self {
        let mut rest: &[u16] = &text;
        let mut take = |length: u32| {
            let (head, tail) = rest.split_at((length as usize).min(rest.len()));
            rest = tail;
            head
        };
        let (pairs, _) = lengths.as_chunks::<2>();
        Self(policy::Rules::new(pairs.iter().map(|&[effect, tool]| (take(effect), take(tool)))))
    }

    /// The rules that speak of a tool, in order: twice the place, and one more when the walk ends with
    /// that rule if it applies.
    #[napi(catch_unwind)]
    pub fn speaking_of(&self, name: Utf16String) -> Vec<u32> {
        self.0
            .speaking_of(&name)
            .map(|mention| place(mention.rule) << 1 | u32::from(mention.is_final))
            .collect()
    }

    /// The rules that deny a tool if they have no predicate, in order.
    #[napi(catch_unwind)]
    pub fn denying(&self, name: Utf16String) -> Vec<u32> {
        self.0.denying(&name).map(place).collect()
    }

    /// `applied`: the rules that applied, in order. `fault`: 1 when the predicate of the last of them
    /// threw, 2 when it answered with a promise, else 0. `defaults`: bit 0 the policy denies sensitive
    /// tools by default, bit 1 this one is sensitive. The answer is an outcome (0 nothing matched,
    /// 1 default-deny, 2 allow, 3 ask, 4 defer, 5 deny, 6 threw, 7 not boolean, 8 unknown effect) and, in
    /// the bits from 4 on, the place in `applied` of the rule that decided.
    #[napi(catch_unwind)]
    pub fn conclude(&self, applied: &[u32], fault: u32, defaults: u32) -> u32 {
        let applied: Vec<usize> = applied.iter().map(|&rule| rule as usize).collect();
        let default = DefaultDeny { deny_sensitive: defaults & 1 != 0, sensitive: defaults & 2 != 0 };
        match self.0.conclude(&applied, predicate_fault(fault), default) {
            Verdict::NoMatch => 0,
            Verdict::DefaultDeny => 1,
            Verdict::Rule { place: at, effect } => {
                let outcome = match effect {
                    Effect::Allow => 2,
                    Effect::Ask => 3,
                    Effect::Defer => 4,
                    Effect::Deny | Effect::Unknown => 5,
                };
                place(at) << 4 | outcome
            }
            Verdict::Unjudged { place: at, fault } => {
                let outcome = match fault {
                    Fault::PredicateThrew => 6,
                    Fault::PredicateNotBoolean => 7,
                    Fault::UnknownEffect => 8,
                };
                place(at) << 4 | outcome
            }
        }
    }
}

fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn predicate_fault(number: u32) -> Option<Fault> {
    match number {
        1 => Some(Fault::PredicateThrew),
        2 => Some(Fault::PredicateNotBoolean),
        _ => None,
    }
}

/// The reason of an outcome (see [`NativeRules::conclude`]; 9: denied by name) that has none of its own.
#[napi(catch_unwind)]
pub fn policy_reason(outcome: u32, name: Utf16String) -> JsText {
    let ground = match outcome {
        1 => Ground::DefaultDeny,
        3 => Ground::Approval,
        4 => Ground::Deferred,
        9 => Ground::DeniedByName,
        _ => Ground::Denied,
    };
    policy::default_reason(ground, &name).into()
}

/// The reason of a denial by a rule that could not be judged.
#[napi(catch_unwind)]
pub fn policy_fault_reason(
    outcome: u32,
    name: Utf16String,
    rule: u32,
    effect: Utf16String,
    tool: Utf16String,
    reason: Option<Utf16String>,
) -> JsText {
    let fault = match outcome {
        6 => Fault::PredicateThrew,
        7 => Fault::PredicateNotBoolean,
        _ => Fault::UnknownEffect,
    };
    let rule = RuleText { at: rule as usize, effect: &effect, tool: &tool, reason: reason.as_deref() };
    policy::fault_reason(&name, rule, fault).into()
}

/// A rule of two, compiled.
#[napi(object)]
pub struct NativeRuleOfTwo {
    pub held: Vec<String>,
    /// 0: no side effects. 1: no untrusted input.
    pub restrictions: Vec<u32>,
    pub reasons: Vec<String>,
    pub read_only: bool,
    pub denies_sensitive: bool,
    pub full_trifecta: bool,
}

const RESTRICTIONS: [Restriction; 2] = [Restriction::NoSideEffects, Restriction::NoUntrustedInput];

#[napi(catch_unwind)]
pub fn rule_of_two(
    untrusted_input: bool,
    sensitive_data: bool,
    external_side_effects: bool,
) -> NativeRuleOfTwo {
    let profile = Profile { untrusted_input, sensitive_data, external_side_effects };
    let restrictions = profile.restrictions();
    NativeRuleOfTwo {
        held: profile.held().into_iter().map(|leg| leg.as_str().to_owned()).collect(),
        restrictions: restrictions.iter().map(|&restriction| restriction as u32).collect(),
        reasons: restrictions.iter().map(|restriction| restriction.reason().to_owned()).collect(),
        read_only: profile.is_read_only(),
        denies_sensitive: profile.denies_sensitive(),
        full_trifecta: profile.is_full_trifecta(),
    }
}

/// Whether a restriction forbids a call.
#[napi(catch_unwind)]
pub fn rule_of_two_forbids(restriction: u32, effects: String, untrusted_source: bool) -> bool {
    RESTRICTIONS
        .get(restriction as usize)
        .is_none_or(|restriction| restriction.forbids(&effects, untrusted_source))
}
