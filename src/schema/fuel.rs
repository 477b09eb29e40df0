//! An end to every check, whatever the schema.
//!
//! A few hundred bytes of schema can ask for work without end: thirty definitions that each refer
//! twice to the next make 2^30 visits, and a chain of references through a recursive list eats the
//! stack. The validator has no limits of its own, so every subschema that leads on to others gets one
//! more branch at the end of its `allOf`, with a keyword that counts the visit and looks at the stack.
//! When the budget is gone it unwinds to the caller, who reports that the check was given up.
//!
//! Why the end of `allOf`: keywords run in an order of the validator's own, in which a custom keyword
//! comes last, after a failing `anyOf` has already tried everything. `allOf` runs before `anyOf`,
//! `oneOf`, `not`, `if` and references; its earlier branches either hold, and the visit is counted, or
//! fail, and the subschema fails at once. Existing branches keep their positions, to which references
//! may point. (A reference of drafts 4 to 7 ignores its siblings, but what it leads to counts.)
//!
//! The budget of a verdict is a number of visits that grows with the value, so equal inputs get equal
//! answers on every machine. Describing a value that failed is limited by time instead: it decides
//! nothing.

use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The keyword that counts. A schema that uses the name itself gets nothing out of it.
pub(super) const KEYWORD: &str = "x-ferrule-fuel";

/// Visits any check may make, and how many more for each byte of the value.
const BASE_VISITS: u64 = 50_000;
const VISITS_PER_BYTE: u64 = 8;
/// How long failed values are described.
const DESCRIBE_FOR: Duration = Duration::from_millis(30);

/// Why a check was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenUp;

/// What is left of the budget of the check under way. One check at a time.
#[derive(Debug)]
pub(super) struct Fuel {
    visits: AtomicU64,
    stack_base: AtomicUsize,
    /// Bytes of stack below `stack_base` that may be used.
    stack: AtomicUsize,
    /// Microseconds after `born` at which describing ends; `u64::MAX` while a verdict is sought.
    deadline: AtomicU64,
    born: Instant,
}

impl Default for Fuel {
    fn default() -> Self {
        Self {
            visits: AtomicU64::new(0),
            stack_base: AtomicUsize::new(0),
            stack: AtomicUsize::new(0),
            deadline: AtomicU64::new(u64::MAX),
            born: Instant::now(),
        }
    }
}

impl Fuel {
    /// Runs a verdict on a value of `size` bytes, on at most `stack` bytes of stack.
    pub(super) fn verdict<T>(
        &self,
        size: usize,
        stack: usize,
        run: impl FnOnce() -> T,
    ) -> Result<T, GivenUp> {
        self.visits.store(BASE_VISITS + VISITS_PER_BYTE * size as u64, Ordering::Relaxed);
        self.deadline.store(u64::MAX, Ordering::Relaxed);
        self.run(stack, run)
    }

    /// Runs the description of a failed value, on at most `stack` bytes of stack.
    pub(super) fn description<T>(&self, stack: usize, run: impl FnOnce() -> T) -> Result<T, GivenUp> {
        self.visits.store(u64::MAX, Ordering::Relaxed);
        self.deadline.store(self.now() + micros(DESCRIBE_FOR), Ordering::Relaxed);
        self.run(stack, run)
    }

    fn run<T>(&self, stack: usize, run: impl FnOnce() -> T) -> Result<T, GivenUp> {
        let here = 0_u8;
        self.stack.store(stack, Ordering::Relaxed);
        self.stack_base.store(std::ptr::from_ref(&here).addr(), Ordering::Relaxed);
        // A genuine panic of the validator also ends as "given up": one tool's check is not worth
        // the process.
        catch_unwind(AssertUnwindSafe(run)).map_err(|_| GivenUp)
    }

    fn now(&self) -> u64 {
        micros(self.born.elapsed())
    }

    fn visit(&self) {
        let here = 0_u8;
        let left = self.visits.load(Ordering::Relaxed);
        let used = self.stack_base.load(Ordering::Relaxed).abs_diff(std::ptr::from_ref(&here).addr());
        let deadline = self.deadline.load(Ordering::Relaxed);
        if left == 0
            || used > self.stack.load(Ordering::Relaxed)
            || (deadline != u64::MAX && self.now() > deadline)
        {
            // Unlike `panic!`, this leaves the panic hook (and stderr) alone.
            resume_unwind(Box::new(GivenUp));
        }
        self.visits.store(left - 1, Ordering::Relaxed);
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX - 1)
}

/// The keyword's validator: agrees with everything, but counts.
pub(super) struct Visit(pub(super) Arc<Fuel>);

impl<'i> Keyword<'i> for Visit {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        self.0.visit();
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        self.0.visit();
        true
    }
}

/// Keywords whose value is data.
pub(super) const DATA: [&str; 4] = ["enum", "const", "default", "examples"];
/// Keywords whose value maps names to schemas.
pub(super) const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// Keywords that lead from one schema to another.
const LEADS_ON: [&str; 24] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "extends",
    "disallow",
];

/// Adds the counting keyword throughout a schema. Recursion is bounded by the nesting limit of the
/// text the schema was read from.
pub(super) fn mark(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for (key, value) in object.iter_mut() {
        match value {
            _ if DATA.contains(&key.as_str()) => {}
            Value::Object(map) if MAPS.contains(&key.as_str()) => map.values_mut().for_each(mark),
            Value::Object(_) => mark(value),
            Value::Array(items) => items.iter_mut().for_each(mark),
            _ => {}
        }
    }
    if LEADS_ON.iter().any(|key| object.contains_key(*key)) {
        let branches = object.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(branches) = branches {
            branches.push(Value::Object(Map::from_iter([(KEYWORD.to_owned(), Value::Bool(true))])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_are_marked_and_data_is_not() {
        let mut schema = json!({
            "enum": [{"anyOf": [1]}],
            "allOf": [{"type": "object"}],
            "properties": {"anyOf": {"type": "string"}, "x": {"items": {"$ref": "#"}}},
        });
        let counted = json!({KEYWORD: true});
        mark(&mut schema);
        assert_eq!(
            schema,
            json!({
                "enum": [{"anyOf": [1]}],
                "allOf": [{"type": "object"}, counted],
                "properties": {
                    "anyOf": {"type": "string"},
                    "x": {"items": {"$ref": "#", "allOf": [counted]}, "allOf": [counted]},
                },
            })
        );
    }
}
