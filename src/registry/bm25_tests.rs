//! The vectors of spec 01 section 12, and the index against one built from scratch.

use super::*;
use proptest::prelude::*;

/// Builds an index the way `defineBm25Index` does: one group an id, positions as given.
fn build(docs: &[(&str, &str)], options: Bm25Options) -> (Bm25, Vec<String>) {
    let mut index = Bm25::new(options);
    let mut ids: Vec<String> = Vec::new();
    for (order, (id, text)) in docs.iter().enumerate() {
        let key = ids.iter().position(|known| known == id).unwrap_or_else(|| {
            ids.push((*id).to_owned());
            ids.len() - 1
        });
        index.add(u32::try_from(key).unwrap(), u32::try_from(order).unwrap(), text);
    }
    (index, ids)
}

fn search(docs: &[(&str, &str)], query: &str) -> Vec<(String, f64)> {
    search_with(docs, query, 5.0, Bm25Options::default())
}

fn search_with(docs: &[(&str, &str)], query: &str, limit: f64, options: Bm25Options) -> Vec<(String, f64)> {
    let (mut index, ids) = build(docs, options);
    index.query(query, limit).into_iter().map(|hit| (ids[hit.key as usize].clone(), hit.score)).collect()
}

#[track_caller]
#[allow(clippy::float_cmp, reason = "scores are equal bit for bit, that is the point")]
fn expect(found: &[(String, f64)], wanted: &[(&str, f64)]) {
    let found: Vec<_> = found.iter().map(|(id, score)| (id.as_str(), *score)).collect();
    assert_eq!(found, wanted);
}

const THREE: [(&str, &str); 3] =
    [("d1", "search issues tracker issues"), ("d2", "list repos code"), ("d3", "send message tracker")];

#[test]
fn three_documents() {
    expect(&search(&THREE, "issues"), &[("d1", 1.0)]);
    expect(&search(&THREE, "tracker"), &[("d3", 1.0), ("d1", 0.886_554_621_848_739_6)]);
    expect(&search(&THREE, "tracker tracker"), &[("d3", 1.0), ("d1", 0.886_554_621_848_739_6)]);
    expect(&search(&THREE, "issue"), &[]);
    expect(
        &search(&THREE, "code tracker"),
        &[("d2", 1.0), ("d3", 0.479_190_060_657_903_7), ("d1", 0.424_828_163_020_242_4)],
    );
    expect(&search(&THREE, "issues tracker"), &[("d1", 1.0), ("d3", 0.286_365_902_751_686_5)]);
    expect(&search(&THREE, "the of"), &[]);
    expect(&search(&THREE, ""), &[]);
    expect(&search_with(&THREE, "tracker", 1.0, Bm25Options::default()), &[("d3", 1.0)]);
    expect(&search_with(&THREE, "tracker", 0.0, Bm25Options::default()), &[]);
}

#[test]
fn other_parameters() {
    let options = Bm25Options { k1: 2.0, b: 0.0, ..Bm25Options::default() };
    let found = search_with(&[THREE[0], THREE[2]], "tracker issues", 5.0, options);
    expect(&found, &[("d1", 1.0), ("d3", 0.149_194_142_192_248_72)]);
}

#[test]
fn four_documents() {
    let docs = [
        ("weather.lookup", "weather.lookup Look up the current weather for a city. weather forecast"),
        ("orders.list", "orders.list List orders, newest first. Pass the returned nextCursor to page."),
        ("refund.create", "refund.create Issue a refund for a previously placed order."),
        ("city.population", "city.population Population of a city"),
    ];
    expect(
        &search(&docs, "weather in a city"),
        &[("weather.lookup", 1.0), ("city.population", 0.446_883_427_877_541_8)],
    );
    expect(
        &search(&docs, "refund order city"),
        &[
            ("refund.create", 1.0),
            ("city.population", 0.375_088_284_715_522),
            ("weather.lookup", 0.219_064_166_283_435_17),
        ],
    );
    expect(
        &search(&docs, "city city"),
        &[("city.population", 1.0), ("weather.lookup", 0.584_033_613_445_378_2)],
    );
    expect(&search(&docs, "order"), &[("refund.create", 1.0)]);
}

#[test]
fn ties_keep_the_order_of_first_touch() {
    let docs = [("a", "red blue"), ("b", "blue red"), ("c", "green red")];
    expect(&search(&docs, "blue red"), &[("a", 1.0), ("b", 1.0), ("c", 0.221_248_788_861_879_5)]);
    expect(
        &search(&docs, "green blue"),
        &[("c", 1.0), ("a", 0.479_190_060_657_903_7), ("b", 0.479_190_060_657_903_7)],
    );
}

#[test]
fn duplicate_ids_add_up() {
    let docs = [("x", "foo"), ("x", "foo bar"), ("y", "foo")];
    expect(&search(&docs, "foo"), &[("x", 1.0), ("y", 0.924_050_632_911_392_3)]);
}

/// A group takes the place of its first document that holds the term, not of its first document.
#[test]
fn postings_follow_the_documents_that_hold_the_term() {
    let docs = [("x", "bar"), ("y", "foo pad"), ("x", "foo pad")];
    let found = search(&docs, "foo");
    assert_eq!(found.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["y", "x"]);
}

#[test]
fn limits_are_those_of_slice() {
    let table = [
        (5, 2.0, 2),
        (5, 2.9, 2),
        (5, 0.0, 0),
        (5, -1.0, 4),
        (5, -9.0, 0),
        (5, f64::NAN, 0),
        (5, f64::INFINITY, 5),
        (5, f64::NEG_INFINITY, 0),
        (0, 3.0, 0),
        (5, -0.5, 0),
    ];
    for (length, limit, end) in table {
        assert_eq!(slice_end(length, limit), end, "slice(0, {limit}) of {length}");
    }
}

#[test]
fn an_emptied_index_forgets_its_words() {
    let mut index = Bm25::default();
    for round in 0..100 {
        index.add(round, round, &format!("word{round} common"));
        index.remove(round);
    }
    assert!(index.is_empty() && index.term_at.is_empty() && index.group_at.is_empty());
    assert!(index.terms.len() <= 2 && index.groups.len() <= 1, "slots are used again");
    assert!(index.query("common", 5.0).is_empty());
}

#[derive(Debug, Clone)]
enum Step {
    Add(u32, String),
    Remove(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let text = proptest::collection::vec(prop_oneof!["red", "blue", "green", "the", "[a-c]{1,2}"], 0..6);
    prop_oneof![
        3 => (0u32..12, text).prop_map(|(key, words)| Step::Add(key, words.join(" "))),
        1 => (0u32..12).prop_map(Step::Remove),
    ]
}

proptest! {
    /// After any sequence of changes the index answers as one built from scratch, bit for bit.
    #[test]
    fn incremental_equals_rebuilt(steps in proptest::collection::vec(step(), 0..80), query in "(red|blue|green|a|b|ab| ){0,6}") {
        let mut index = Bm25::default();
        let mut docs: Vec<(u32, u32, String)> = Vec::new();
        for step in steps {
            match step {
                Step::Add(key, text) => {
                    // As in the registry: a group's documents share its order.
                    index.add(key, key, &text);
                    docs.push((key, key, text));
                }
                Step::Remove(key) => {
                    index.remove(key);
                    docs.retain(|doc| doc.0 != key);
                }
            }
        }
        let mut fresh = Bm25::default();
        docs.sort_by_key(|doc| doc.1);
        for (key, order, text) in &docs {
            fresh.add(*key, *order, text);
        }
        prop_assert_eq!(index.len(), fresh.len());
        for limit in [0.0, 1.0, 3.0, 100.0] {
            prop_assert_eq!(index.query(&query, limit), fresh.query(&query, limit));
        }
    }
}
