//! Tests of the rules: the grammar, the order of strength, and the walk against its definition.

use super::*;
use proptest::prelude::*;

fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn rules(list: &[(&str, &str)]) -> Rules {
    let owned: Vec<_> = list.iter().map(|(effect, tool)| (utf16(effect), utf16(tool))).collect();
    Rules::new(owned.iter().map(|(effect, tool)| (effect.as_slice(), tool.as_slice())))
}

/// Walks as the face does, with the given predicate answers (missing: yes).
fn decide(rules: &Rules, name: &str, says: impl Fn(usize) -> bool, default: DefaultDeny) -> Verdict {
    let name = utf16(name);
    let mut applied = Vec::new();
    for Mention { rule, is_final } in rules.speaking_of(&name) {
        if says(rule) {
            applied.push(rule);
            if is_final {
                break;
            }
        }
    }
    match rules.conclude(&applied, None, default) {
        Verdict::Rule { place, effect } => Verdict::Rule { place: applied[place], effect },
        Verdict::Unjudged { place, fault } => Verdict::Unjudged { place: applied[place], fault },
        other => other,
    }
}

fn plain(list: &[(&str, &str)]) -> Verdict {
    decide(&rules(list), "mail.send", |_| true, DefaultDeny::default())
}

#[test]
fn names_match_exactly_or_by_prefix() {
    for (tool, fits) in [
        ("*", true),
        ("mail.*", true),
        ("mail.send*", true),
        ("mail.send", true),
        ("Mail.send", false),
        ("mail", false),
        ("mail.send.x*", false),
        ("m*send", false),
        ("*send", false),
        ("", false),
        ("**", false),
    ] {
        assert_eq!(
            rules(&[("deny", tool)]).speaking_of(&utf16("mail.send")).count(),
            usize::from(fits),
            "{tool}"
        );
    }
    assert_eq!(rules(&[("deny", "**")]).speaking_of(&utf16("*x")).count(), 1);
    assert_eq!(rules(&[("deny", "a*b")]).speaking_of(&utf16("a*b")).count(), 1);
    let lone = Rules::new([(utf16("deny").as_slice(), [0xD800].as_slice())]);
    assert_eq!(lone.speaking_of(&[0xD800]).count(), 1);
    assert_eq!(lone.speaking_of(&[0xD801]).count(), 0);
    assert_eq!(lone.speaking_of(&[0xFFFD]).count(), 0);
}

#[test]
fn the_order_of_strength() {
    let rule = |place, effect| Verdict::Rule { place, effect };
    for (effects, expected) in [
        (vec![], Verdict::NoMatch),
        (vec!["allow"], rule(0, Effect::Allow)),
        (vec!["ask", "allow"], rule(0, Effect::Ask)),
        (vec!["allow", "ask", "ask"], rule(1, Effect::Ask)),
        (vec!["ask", "defer", "ask", "defer"], rule(1, Effect::Defer)),
        (vec!["allow", "defer", "deny", "forbid"], rule(2, Effect::Deny)),
        (vec!["forbid"], rule(0, Effect::Deny)),
        (vec!["maybe"], Verdict::Unjudged { place: 0, fault: Fault::UnknownEffect }),
        (vec!["allow", "Deny", "deny"], Verdict::Unjudged { place: 1, fault: Fault::UnknownEffect }),
    ] {
        let list: Vec<_> = effects.iter().map(|effect| (*effect, "*")).collect();
        assert_eq!(plain(&list), expected, "{effects:?}");
    }
}

#[test]
fn default_deny_needs_both_and_no_rule_that_applies() {
    let both = DefaultDeny { deny_sensitive: true, sensitive: true };
    let none = rules(&[("allow", "other")]);
    assert_eq!(decide(&none, "mail.send", |_| true, both), Verdict::DefaultDeny);
    for one in [DefaultDeny { sensitive: false, ..both }, DefaultDeny { deny_sensitive: false, ..both }] {
        assert_eq!(decide(&none, "mail.send", |_| true, one), Verdict::NoMatch);
    }
    for effect in ["allow", "ask"] {
        let lifted = decide(&rules(&[(effect, "*")]), "mail.send", |_| true, both);
        assert!(matches!(lifted, Verdict::Rule { place: 0, .. }), "{effect}: {lifted:?}");
    }
    assert_eq!(decide(&rules(&[("allow", "*")]), "mail.send", |_| false, both), Verdict::DefaultDeny);
}

#[test]
fn a_predicate_that_cannot_be_judged_denies() {
    let rules = rules(&[("allow", "*"), ("ask", "*"), ("deny", "*")]);
    let conclude = |applied: &[usize], fault| rules.conclude(applied, fault, DefaultDeny::default());
    let threw = Fault::PredicateThrew;
    assert_eq!(conclude(&[0, 1], Some(threw)), Verdict::Unjudged { place: 1, fault: threw });
    assert_eq!(conclude(&[2], Some(threw)), Verdict::Unjudged { place: 0, fault: threw });
    // Nothing after a denial is asked, but if it were, the denial would stand.
    assert_eq!(conclude(&[2, 0], Some(threw)), Verdict::Rule { place: 0, effect: Effect::Deny });
    assert_eq!(conclude(&[], Some(threw)), Verdict::Unjudged { place: 0, fault: threw });
}

#[test]
fn places_out_of_range_are_left_out() {
    let rules = rules(&[("ask", "*")]);
    let verdict = rules.conclude(&[9, 0], None, DefaultDeny::default());
    assert_eq!(verdict, Verdict::Rule { place: 1, effect: Effect::Ask });
}

#[test]
fn only_denials_deny_a_name() {
    let rules = rules(&[("allow", "*"), ("maybe", "*"), ("forbid", "mail.*"), ("deny", "x"), ("deny", "*")]);
    assert_eq!(rules.denying(&utf16("mail.send")).collect::<Vec<_>>(), [2, 4]);
}

/// The definition, word by word (spec 04, section 4.3).
fn defined(list: &[(&str, &str)], says: &[bool], name: &str, default: DefaultDeny) -> Verdict {
    let mut strongest: Option<(usize, Effect)> = None;
    for (at, &(effect, tool)) in list.iter().enumerate() {
        let fits = tool.strip_suffix('*').map_or(tool == name, |prefix| name.starts_with(prefix));
        if !fits || !says[at] {
            continue;
        }
        let own = match effect {
            "deny" | "forbid" => return Verdict::Rule { place: at, effect: Effect::Deny },
            "defer" => Effect::Defer,
            "ask" => Effect::Ask,
            "allow" => Effect::Allow,
            _ => return Verdict::Unjudged { place: at, fault: Fault::UnknownEffect },
        };
        if strongest.is_none_or(|(_, known)| own > known) {
            strongest = Some((at, own));
        }
    }
    match strongest {
        Some((place, effect)) => Verdict::Rule { place, effect },
        None if default.deny_sensitive && default.sensitive => Verdict::DefaultDeny,
        None => Verdict::NoMatch,
    }
}

proptest! {
    #[test]
    fn agrees_with_the_definition(
        list in proptest::collection::vec(
            (
                prop::sample::select(vec!["allow", "ask", "defer", "deny", "forbid", "odd"]),
                prop::sample::select(vec!["*", "a*", "ab*", "ab", "b", "**", "a*b", ""]),
            ),
            0..8,
        ),
        says in proptest::collection::vec(any::<bool>(), 8),
        name in "[ab*]{0,3}",
        deny_sensitive: bool,
        sensitive: bool,
    ) {
        let default = DefaultDeny { deny_sensitive, sensitive };
        let ours = decide(&rules(&list), &name, |rule| says[rule], default);
        prop_assert_eq!(ours, defined(&list, &says, &name, default));
    }
}
