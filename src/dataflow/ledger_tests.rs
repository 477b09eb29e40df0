//! The ledger against the tables of spec 04 section 2.3.

use super::super::fold::fold;
use super::*;
use proptest::prelude::*;

fn utf16(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

fn ledger(min: usize, budget: usize) -> Ledger {
    Ledger::new(min, budget, Tiles::default(), Encodings::default())
}

/// The algorithm as the spec words it, without the further readings.
fn reference(spans: &[(u32, Vec<u16>)], min: usize, args: &[u16]) -> Vec<u32> {
    let args = fold(args).to_wide();
    let width = min.min(args.len());
    let mut kinds = Vec::new();
    if width < FLOOR {
        return kinds;
    }
    for (kind, span) in spans {
        let span = fold(span).to_wide();
        let tracked = span.len() >= min;
        if tracked
            && span.windows(width).any(|s| args.windows(width).any(|a| a == s))
            && !kinds.contains(kind)
        {
            kinds.push(*kind);
        }
    }
    kinds
}

const PAGE: &str = "The quarterly figures are attached; forward them to the auditors before Friday noon.";

#[test]
fn a_copied_half_sentence_is_found_whatever_its_disguise() {
    let mut ledger = ledger(DEFAULT_MIN, 262_144);
    ledger.record(3, &utf16(PAGE));
    for args in [
        "forward them to the auditors",
        "FORWARD   them\n\tto... the AUDITORS",
        "\u{FF46}\u{FF4F}\u{FF52}\u{FF57}\u{FF41}\u{FF52}\u{FF44} them to the auditors",
        r#"{"to":"x@y.z","body":"please forward them to the auditors, ok?","n":3}"#,
        "forward-them_to/the.auditors",
    ] {
        assert_eq!(ledger.inspect(&utf16(args)), Probe { kinds: vec![3], resumed: false }, "{args}");
    }
    for args in
        ["", "forward", "send the numbers to the people who check the books", "auditors the to them forward"]
    {
        assert_eq!(ledger.inspect(&utf16(args)), Probe::default(), "{args}");
    }
}

#[test]
fn json_escapes_and_several_leaves_hide_nothing() {
    let mut ledger = ledger(DEFAULT_MIN, 262_144);
    ledger.record(0, &utf16("forward\nthem to\nthe audi\ntors before noon"));
    for args in [
        r#"{"body":"forward\nthem to\nthe audi\ntors before noon"}"#,
        r#"{"a":"forward them t","b":"o the auditors before noon"}"#,
        r#"["forward\r\nthem",["to\tthe"],{"k":"auditors"}]"#,
        r#"{"forward\nthem to\nthe audi\ntors before noon":1}"#,
        r#"{"body":"forward\u000athem to\u0009the auditors"}"#,
    ] {
        assert_eq!(ledger.inspect(&utf16(args)).kinds, [0], "{args}");
    }
    // One short value alone stays no evidence.
    assert_eq!(ledger.inspect(&utf16(r#"{"city":"the auditors","x":1}"#)).kinds, [0_u32; 0]);
}

#[test]
fn encoded_copies_are_found_on_request_only() {
    let all = Encodings { percent: true, base64: true, hex: true, json: true };
    for (args, plain) in [
        (r#"{"q":"Zm9yd2FyZCB0aGVtIHRvIHRoZSBhdWRpdG9ycw=="}"#, false),
        (r#"{"q":"666f7277617264207468656d20746f207468652061756469746f7273"}"#, false),
        (r#"{"q":"%66%6f%72%77%61%72%64%20%74%68%65%6d%20%74%6f%20%74%68%65%20%61uditors"}"#, false),
        (r#"{"q":"{\"body\":\"forward\\nthem\\nto\\nthe\\naud\\nitors\"}"}"#, false),
    ] {
        for (encodings, expected) in [(Encodings::default(), plain), (all, true)] {
            let mut ledger = Ledger::new(DEFAULT_MIN, 262_144, Tiles::default(), encodings);
            ledger.record(0, &utf16(PAGE));
            assert_eq!(!ledger.inspect(&utf16(args)).kinds.is_empty(), expected, "{args} {encodings:?}");
        }
    }
}

#[test]
fn short_texts_and_the_floor() {
    let mut ledger = ledger(5, 1000);
    assert_eq!(ledger.min(), FLOOR);
    ledger.record(0, &utf16("abcdefg"));
    assert_eq!(ledger.tracked(), 0);
    ledger.record(0, &utf16("abcdefgh"));
    assert_eq!(ledger.inspect(&utf16("abcdefgh")).kinds, [0]);
    assert!(ledger.inspect(&utf16("abcdefg")).kinds.is_empty());
}

#[test]
fn arguments_below_the_minimum_must_be_contained_whole() {
    let mut ledger = ledger(20, 1000);
    ledger.record(0, &utf16("abcdefghijklmnopqrstuvwxyz"));
    assert_eq!(ledger.inspect(&utf16("hijklmnop")).kinds, [0]);
    assert!(ledger.inspect(&utf16("hijklmnoq")).kinds.is_empty());
    assert!(ledger.inspect(&utf16("hijklmn")).kinds.is_empty());
}

#[test]
fn eviction_is_first_in_first_out() {
    let mut ledger = ledger(10, 90);
    let texts = [
        "alpha alpha alpha alpha alpha alpha one",
        "bravo bravo bravo bravo bravo bravo two",
        "delta delta delta delta delta delta six",
    ];
    for (kind, text) in (0..).zip(texts) {
        ledger.record(kind, &utf16(text));
    }
    assert!(ledger.tracked() <= 90);
    let found = |text: &str| ledger.inspect(&utf16(text)).kinds;
    assert!(found("alpha alpha one").is_empty());
    assert_eq!(found("bravo bravo two"), [1]);
    assert_eq!(found("delta delta six"), [2]);
}

#[test]
fn one_span_is_cut_to_the_budget_and_never_evicted() {
    let mut ledger = ledger(8, 10);
    ledger.record(0, &utf16("abcdefghijklmnop"));
    assert_eq!(ledger.tracked(), 10);
    assert_eq!(ledger.inspect(&utf16("cdefghij")).kinds, [0]);
    assert!(ledger.inspect(&utf16("ijklmnop")).kinds.is_empty());
}

#[test]
fn kinds_come_in_span_order_each_once() {
    let mut ledger = ledger(20, 100_000);
    let shared = "some sentence that everybody copies";
    for kind in [4, 2, 4, 0] {
        ledger.record(kind, &utf16(&format!("source {kind} says {shared} again and again")));
    }
    assert_eq!(ledger.inspect(&utf16(shared)).kinds, [4, 2, 0]);
    assert_eq!(ledger.inspect(&utf16("everybodycopies")).kinds, [4, 2, 0]);
}

#[test]
fn repetitive_text_takes_the_linear_way_and_agrees() {
    let mut ledger = ledger(20, 1 << 20);
    let near_miss = "abababababababababx".repeat(20_000);
    ledger.record(0, &utf16(&near_miss));
    ledger.record(1, &utf16("abababababababababab"));
    let args = format!("{}y", "ababababababababab".repeat(40));
    assert_eq!(ledger.inspect(&utf16(&args)).kinds, [1]);
}

#[test]
fn tiles_answer_only_when_no_live_span_does() {
    let mut before = ledger(20, 10_000);
    before.record(0, &utf16(&PAGE.repeat(2)));
    let tiles = Tiles::new(before.tile_hashes(), [20]);
    let mut after = Ledger::new(20, 10_000, tiles, Encodings::default());
    let args = utf16(PAGE);
    assert_eq!(after.inspect(&args), Probe { kinds: vec![], resumed: true });
    assert_eq!(after.inspect(&utf16("nothing of that kind was ever read by anybody here")), Probe::default());
    assert_eq!(after.inspect(&utf16("forwardthem")), Probe::default());
    after.record(7, &args);
    assert_eq!(after.inspect(&args), Probe { kinds: vec![7], resumed: false });
}

#[test]
fn what_is_evicted_is_forgotten_and_the_rest_is_found() {
    let mut seed = 7;
    let texts: Vec<String> = (0..40).map(|_| words(&mut seed, 10)).collect();
    let mut ledger = ledger(20, 300);
    for (kind, text) in (0..).zip(&texts) {
        ledger.record(kind, &utf16(text));
    }
    // Sixty units each, so five fit.
    assert_eq!(ledger.tracked(), 300);
    for (kind, text) in (0..).zip(&texts) {
        let expected: &[u32] = if kind < 35 { &[] } else { &[kind] };
        assert_eq!(ledger.inspect(&utf16(text)).kinds, expected);
    }
    let fingerprints: usize = ledger.spans.iter().map(|span| span.fingerprints.len()).sum();
    assert_eq!(ledger.fingerprints, fingerprints);
}

#[test]
fn a_copy_is_found_wherever_it_begins_in_a_long_text() {
    let mut seed = 3;
    let text = fold(&utf16(&words(&mut seed, 350))).to_wide();
    let mut ledger = ledger(20, 1 << 20);
    ledger.record(0, &text);
    for (start, run) in text.windows(20).enumerate() {
        assert_eq!(ledger.inspect(run).kinds, [0], "at {start}");
        let mut broken = run.to_vec();
        broken[start % 20] = u16::from(b'0');
        assert!(ledger.inspect(&broken).kinds.is_empty(), "at {start}");
    }
}

#[test]
fn limits_as_an_app_gives_them() {
    let limits = |min, budget| {
        let Limits { min, budget } = Limits::new(min, budget);
        (min, budget)
    };
    assert_eq!(limits(None, None), (20, 262_144));
    assert_eq!(limits(Some(f64::NAN), Some(f64::NAN)), (20, 262_144));
    assert_eq!(limits(Some(5.0), Some(1.0)), (8, 8));
    assert_eq!(limits(Some(-1.0), Some(-1.0)), (8, 8));
    assert_eq!(limits(Some(8.9), Some(90.9)), (8, 90));
    assert_eq!(limits(Some(f64::INFINITY), Some(0.0)), (CEILING, CEILING));
    assert_eq!(limits(Some(300_000.0), None), (300_000, 300_000));
}

#[test]
fn a_snapshot_holds_live_and_resumed_tiles_once_each() {
    let mut first = ledger(DEFAULT_MIN, 10_000);
    assert_eq!(first.snapshot(), (vec![], vec![]));
    first.record(0, &utf16(PAGE));
    let (hashes, widths) = first.snapshot();
    assert_eq!((hashes.len(), widths.len()), (fold(&utf16(PAGE)).len() / 20, 0));
    // Resumed with another minimum: the lengths are told.
    let tiles = Tiles::new(hashes.clone(), [DEFAULT_MIN]);
    let mut second = Ledger::new(30, 10_000, tiles, Encodings::default());
    assert_eq!(second.snapshot(), (hashes.clone(), vec![]));
    second.record(0, &utf16(&format!("{PAGE} and more that is long enough to be a tile")));
    let (both, widths) = second.snapshot();
    assert_eq!(widths, [30, DEFAULT_MIN]);
    assert!(both.ends_with(&hashes) && both.len() > hashes.len());
    // The same text again adds nothing.
    let tiles = Tiles::new(hashes.clone(), [DEFAULT_MIN]);
    let mut third = Ledger::new(DEFAULT_MIN, 10_000, tiles, Encodings::default());
    third.record(0, &utf16(PAGE));
    assert_eq!(third.snapshot(), (hashes, vec![]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn verdicts_equal_the_definition(
        spans in proptest::collection::vec((0_u32..4, "[abAB é\u{3b1}]{0,60}"), 0..6),
        args in "[abAB é\u{3b1}]{0,60}",
        min in 8_usize..24,
    ) {
        let mut ledger = ledger(min, 1 << 20);
        let spans: Vec<(u32, Vec<u16>)> = spans.into_iter().map(|(kind, text)| (kind, utf16(&text))).collect();
        for (kind, text) in &spans {
            ledger.record(*kind, text);
        }
        prop_assert_eq!(ledger.inspect(&utf16(&args)).kinds, reference(&spans, min, &utf16(&args)));
    }

    #[test]
    fn the_linear_way_equals_the_sampled_one(
        spans in proptest::collection::vec((0_u32..3, "[ab]{8,80}"), 1..5),
        args in "[ab]{16,60}",
    ) {
        let mut ledger = ledger(16, 1 << 20);
        for (kind, text) in &spans {
            ledger.record(*kind, &utf16(text));
        }
        let folded = fold(&utf16(&args));
        let (mut sampled, mut linear) = (Found { first: vec![] }, Found { first: vec![] });
        prop_assert!(ledger.probe_samples(&[&folded], &mut sampled));
        with_units!(&folded, units => ledger.probe_all(units, &mut linear));
        prop_assert_eq!(sampled.into_kinds(), linear.into_kinds());
    }

    #[test]
    fn any_copied_run_of_the_minimum_is_found(
        text in "[a-z0-9 .,\u{e9}\u{3b1}]{40,400}",
        at in 0.0..1.0_f64,
        min in 8_usize..32,
        before in "[A-Z ]{0,40}",
        after in "[A-Z ]{0,40}",
    ) {
        let mut ledger = ledger(min, 1 << 20);
        ledger.record(0, &utf16(&text));
        let folded = fold(&utf16(&text)).to_wide();
        prop_assume!(folded.len() >= min);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let start = ((folded.len() - min) as f64 * at) as usize;
        let copied = String::from_utf16_lossy(&folded[start..start + min]);
        let args = format!("{before}{copied}{after}");
        prop_assert_eq!(ledger.inspect(&utf16(&args)).kinds, [0]);
    }
}

/// A small generator, so that the ten thousand pairs need no crate.
fn words(seed: &mut u64, count: usize) -> String {
    let mut text = String::new();
    for _ in 0..count {
        for _ in 0..6 {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push(char::from(b'a' + u8::try_from((*seed >> 33) % 26).unwrap()));
        }
        text.push(' ');
    }
    text
}

#[test]
fn ten_thousand_random_pairs_give_no_false_positive() {
    let mut seed = 42;
    for _ in 0..10_000 {
        let mut ledger = ledger(DEFAULT_MIN, 262_144);
        ledger.record(0, &utf16(&words(&mut seed, 40)));
        let args = format!(r#"{{"a":"{}","b":"{}"}}"#, words(&mut seed, 10), words(&mut seed, 10));
        assert_eq!(ledger.inspect(&utf16(&args)), Probe::default());
    }
}
