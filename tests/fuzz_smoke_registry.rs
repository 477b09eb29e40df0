//! The bodies of the fuzz targets of search and canonical JSON on generated input, for toolchains
//! without libFuzzer.

use proptest::prelude::*;

#[path = "../fuzz/bodies/registry.rs"]
mod bodies;

/// Texts of words that meet again, so that documents share terms.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "red|blue|tool|the|İ|\u{212A}|σς|_|x1".prop_map(String::from),
        "[ /\n]".prop_map(String::from),
        "\\PC{0,3}".prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<f64>().prop_map(|n| if n.is_finite() { format!("{n:e}") } else { "0".to_owned() }),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec((any::<String>(), inner), 0..5).prop_map(|fields| {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(k, v)| format!("{}:{v}", serde_json::to_string(k).unwrap()))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn search_index(text in texts()) {
        bodies::search_index(text.as_bytes());
    }

    #[test]
    fn canonical(text in json()) {
        bodies::canonical(text.as_bytes());
    }

    #[test]
    fn any_bytes(data in proptest::collection::vec(any::<u8>(), 0..200)) {
        bodies::search_index(&data);
        bodies::canonical(&data);
    }
}
