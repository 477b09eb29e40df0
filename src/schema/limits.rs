//! What a schema may ask of the compiler.
//!
//! Three things cost more than their text shows, before any value is looked at: chains of references
//! (compiled and followed on the stack), patterns (each may take milliseconds to compile), and
//! `unevaluatedProperties` / `unevaluatedItems`, for which the compiler unfolds everything that applies
//! at the same place, shared definitions again at each use. A schema beyond a limit is unusable.

use super::SchemaError;
use super::fuel::{DATA, MAPS};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

/// Most references in a schema.
const MAX_REFS: usize = 1_000;
/// Most different patterns, `patternProperties` included.
const MAX_PATTERNS: usize = 64;
/// Most subschemas that may unfold under one `unevaluated…` keyword.
const MAX_UNFOLDED: usize = 400;

/// How many links lead from one schema to another that applies to the same value.
///
/// # Errors
///
/// [`SchemaError::Invalid`] naming the limit that is passed.
pub(super) fn check(schema: &Value) -> Result<usize, SchemaError> {
    let mut survey = Survey::default();
    survey.visit(schema);
    let refuse = |what: &str| Err(SchemaError::Invalid(what.to_owned()));
    if survey.refs > MAX_REFS {
        return refuse("too many references");
    }
    if survey.patterns.len() > MAX_PATTERNS {
        return refuse("too many patterns");
    }
    let mut unfolding = Unfolding { root: schema, anchors: &survey.anchors, sizes: FxHashMap::default() };
    if survey.unevaluated.iter().any(|node| unfolding.size(node) > MAX_UNFOLDED) {
        return refuse("too much to unfold under an unevaluated keyword");
    }
    Ok(survey.refs + survey.branches)
}

/// What is found on one walk over the subschemas. Recursion is bounded by the nesting limit.
#[derive(Default)]
struct Survey<'s> {
    refs: usize,
    branches: usize,
    patterns: FxHashSet<&'s str>,
    unevaluated: Vec<&'s Value>,
    anchors: FxHashMap<&'s str, &'s Value>,
}

impl<'s> Survey<'s> {
    fn visit(&mut self, schema: &'s Value) {
        let Value::Object(object) = schema else { return };
        for (key, value) in object {
            match (key.as_str(), value) {
                (key, _) if DATA.contains(&key) => {}
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(_)) => self.refs += 1,
                ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                    self.anchors.insert(name, schema);
                }
                ("pattern", Value::String(pattern)) => {
                    self.patterns.insert(pattern);
                }
                (key, Value::Object(map)) if MAPS.contains(&key) => {
                    if key == "patternProperties" {
                        self.patterns.extend(map.keys().map(String::as_str));
                    }
                    map.values().for_each(|value| self.visit(value));
                }
                (_, Value::Object(_)) => {
                    self.branches += 1;
                    self.visit(value);
                }
                (key, Value::Array(items)) => {
                    self.branches += if key == "prefixItems" { 1 } else { items.len() };
                    for item in items {
                        self.visit(item);
                    }
                }
                _ => {}
            }
        }
        if object.contains_key("unevaluatedProperties") || object.contains_key("unevaluatedItems") {
            self.unevaluated.push(schema);
        }
    }
}

/// Counts how many subschemas apply at the place of one, shared ones at each use.
struct Unfolding<'s, 'a> {
    root: &'s Value,
    anchors: &'a FxHashMap<&'s str, &'s Value>,
    /// By the address of the node; 0 while it is being counted, so that cycles end.
    sizes: FxHashMap<*const Value, usize>,
}

impl<'s> Unfolding<'s, '_> {
    fn size(&mut self, node: &'s Value) -> usize {
        let Value::Object(object) = node else { return 1 };
        let key = std::ptr::from_ref(node);
        if let Some(&size) = self.sizes.get(&key) {
            return size;
        }
        self.sizes.insert(key, 0);
        let size = self.branches(object);
        self.sizes.insert(key, size);
        size
    }

    fn branches(&mut self, object: &'s Map<String, Value>) -> usize {
        let mut total = 1_usize;
        for (key, value) in object {
            let size = match (key.as_str(), value) {
                ("allOf" | "anyOf" | "oneOf", Value::Array(branches)) => {
                    branches.iter().fold(0, |sum, branch| self.size(branch).saturating_add(sum))
                }
                ("dependentSchemas" | "dependencies", Value::Object(map)) => {
                    map.values().fold(0, |sum, branch| self.size(branch).saturating_add(sum))
                }
                ("not" | "if" | "then" | "else", Value::Object(_)) => self.size(value),
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                    // A reference across documents cannot be followed here: assume the worst.
                    self.resolve(target).map_or(usize::MAX, |target| self.size(target))
                }
                _ => 0,
            };
            total = total.saturating_add(size);
        }
        total
    }

    fn resolve(&self, target: &str) -> Option<&'s Value> {
        let fragment = target.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            // A pointer in percent-encoding is rare, and not finding it errs on the safe side.
            return self.root.pointer(fragment);
        }
        self.anchors.get(fragment).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn doubling(levels: usize, top: &Value) -> Value {
        let mut defs: Map<String, Value> = (0..levels)
            .map(|i| {
                let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
                (format!("d{i}"), json!({"allOf": [next, next]}))
            })
            .collect();
        defs.insert(format!("d{levels}"), json!({"properties": {"a": true}}));
        let mut schema = json!({"$defs": defs, "$ref": "#/$defs/d0"});
        schema.as_object_mut().expect("an object").extend(top.as_object().expect("an object").clone());
        schema
    }

    #[test]
    fn references_and_patterns_are_counted() {
        let refs = |n| json!({"allOf": vec![json!({"$ref": "#/$defs/a"}); n]});
        assert!(check(&refs(MAX_REFS)).is_ok());
        assert!(check(&refs(MAX_REFS + 1)).is_err());
        let patterns = |n: usize| json!({"allOf": (0..n).map(|i| json!({"pattern": format!("a{i}")})).collect::<Vec<_>>()});
        assert!(check(&patterns(MAX_PATTERNS)).is_ok());
        assert!(check(&patterns(MAX_PATTERNS + 1)).is_err());
        assert!(check(&json!({"enum": vec![json!({"pattern": "a"}); 100]})).is_ok());
    }

    #[test]
    fn unfolding_counts_only_under_unevaluated_keywords() {
        assert!(check(&doubling(30, &json!({}))).is_ok());
        assert!(check(&doubling(30, &json!({"unevaluatedProperties": false}))).is_err());
        assert!(check(&doubling(30, &json!({"unevaluatedItems": false}))).is_err());
        assert!(check(&doubling(4, &json!({"unevaluatedProperties": false}))).is_ok());
        assert!(check(&json!({"unevaluatedItems": false, "allOf": [{"$ref": "#"}]})).is_ok());
        assert!(check(&json!({"unevaluatedItems": false, "$ref": "other.json"})).is_err());
    }
}
