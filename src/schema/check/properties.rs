//! What has to hold for any schema and any value: limits and counting change no verdict, and nothing
//! runs for long.

use super::*;
use crate::schema::Formats;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, json};
use std::time::{Duration, Instant};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..4).prop_map(Value::from),
        select(vec!["", "a", "ab", "$ref"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(select(vec!["a", "b", "allOf"]), inner, 0..3).prop_map(|map| {
                Value::Object(map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let types = vec!["string", "integer", "number", "boolean", "null", "object", "array"];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        select(types).prop_map(|name| json!({"type": name})),
        value().prop_map(|constant| json!({"const": constant})),
        vec(value(), 1..3).prop_map(|options| json!({"enum": options})),
        Just(json!({"minLength": 1})),
        Just(json!({"required": ["a"]})),
        select(vec!["#", "#/$defs/x", "#/$defs/y"]).prop_map(|target| json!({"$ref": target})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let many = vec(inner.clone(), 1..3);
        prop_oneof![
            (select(vec!["allOf", "anyOf", "oneOf"]), many.clone()).prop_map(|(key, all)| json!({key: all})),
            (
                select(vec!["not", "items", "additionalProperties", "contains", "unevaluatedProperties"]),
                inner.clone()
            )
                .prop_map(|(key, one)| json!({key: one})),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
            (inner.clone(), inner.clone()).prop_map(
                |(a, b)| json!({"properties": {"a": a, "allOf": b}, "additionalProperties": false})
            ),
            (many, inner).prop_map(|(all, rest)| json!({"prefixItems": all, "unevaluatedItems": rest})),
        ]
    })
}

fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(root, x, y)| {
        let mut object = match root {
            Value::Object(object) => object,
            other => Map::from_iter([("not".to_owned(), Value::Bool(other == json!(false)))]),
        };
        object.insert("$defs".to_owned(), json!({"x": x, "y": y}));
        Value::Object(object)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn counting_changes_no_verdict(schema in document(), value in value()) {
        let ours = Compiled::new(&schema.to_string(), Formats::Annotate);
        let theirs = jsonschema::options().offline().should_validate_formats(false).build(&schema);
        prop_assume!(theirs.is_ok());
        // Only the limits on unfolding may make a schema of theirs unusable here.
        let Ok(ours) = ours else { return Ok(()) };
        let started = Instant::now();
        let issues = ours.check(&value.to_string());
        prop_assert!(started.elapsed() < Duration::from_secs(2));
        let given_up = issues.iter().any(|issue| issue.message.contains("too much work"));
        prop_assert!(given_up || issues.is_empty() == theirs.expect("checked").is_valid(&value), "{issues:?}");
    }

    #[test]
    fn any_text_is_an_answer(schema in "[{}\\[\\]\":,a-z$#/0-9]{0,60}", value in "\\PC{0,40}") {
        if let Ok(compiled) = Compiled::new(&schema, Formats::Assert) {
            let _ = compiled.check(&value);
        }
    }
}
