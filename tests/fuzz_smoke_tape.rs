//! The body of the fuzz target of the JSON writer on generated input, for toolchains without libFuzzer.

use proptest::prelude::*;

#[path = "../fuzz/bodies/tape.rs"]
mod bodies;

fn json() -> impl Strategy<Value = String> {
    let quoted = |text: String| serde_json::to_string(&text).expect("a text");
    let text = prop_oneof![any::<String>(), "[a-z\"\\\\\n]{0,60}", "\u{1F600}{1,9}"].prop_map(quoted);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<f64>().prop_map(|number| if number.is_finite() {
            format!("{number:e}")
        } else {
            "0".to_owned()
        }),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<i32>().prop_map(|number| number.to_string()),
        text.clone(),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let field = (text.clone(), inner.clone()).prop_map(|(key, value)| format!("{key}:{value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec(field, 0..6).prop_map(|fields| format!("{{{}}}", fields.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn json_tape(text in json()) {
        bodies::json_tape(text.as_bytes());
    }

    #[test]
    fn any_bytes(data in proptest::collection::vec(any::<u8>(), 0..200)) {
        bodies::json_tape(&data);
    }
}
