//! The argument policy: which calls may run, by tool name and arguments (spec 04, section 4).
//!
//! Rules are JavaScript objects, and what they ask about the arguments are JavaScript functions. Here
//! is everything else: which rules speak of a tool, which of them end the walk, what follows from
//! those that apply, and how it is worded. A decision goes over the border twice: [`Rules::speaking_of`]
//! names the rules to be asked, in order; the face asks their predicates, in that order, up to the first
//! one that ends the walk; [`Rules::conclude`] makes the decision of those that applied. So a predicate is
//! called exactly when the definition calls it, and no object is converted.
//!
//! Text is UTF-16: names may hold lone surrogates, and two of them must not become equal on the way.

mod rule_of_two;
mod rules;
mod wording;

pub use rule_of_two::{Leg, Profile, Restriction};
pub use rules::{DefaultDeny, Effect, Fault, Mention, Rules, Verdict};
pub use wording::{Ground, RuleText, default_reason, fault_reason};
