//! Checking a value, and what is said about one that does not fit.

use super::fuel::GivenUp;
use super::{Compiled, MAX_DEPTH, SchemaError, parse, stack, text, wording};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

/// Most issues reported for one value.
pub const MAX_ISSUES: usize = 20;

/// One step of a path into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// A property name.
    Key(String),
    /// A position in an array.
    Index(u32),
}

/// One thing wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The JSON Schema keyword that refused, or the code of a [`crate::schema::SchemaError`].
    pub code: String,
    /// Where; empty for the root. For a missing property it ends with that property.
    pub path: Vec<Segment>,
    /// What is wrong, without path and without quoting the value.
    pub message: String,
}

impl Compiled {
    /// Checks the JSON text of a value; no issues means it fits. At most [`MAX_ISSUES`] are given.
    #[must_use]
    pub fn check(&self, text: &str) -> Vec<Issue> {
        let depth = text::depth(text);
        if depth > MAX_DEPTH {
            return vec![refused(&SchemaError::TooDeep { limit: MAX_DEPTH })];
        }
        let issues = if stack::estimate(depth, self.links) <= stack::INLINE {
            // Twice the estimate: it is no promise, the look at the stack is.
            self.check_text(text, 2 * stack::INLINE)
        } else {
            stack::on_own(|| self.check_text(text, stack::OWN_LIMIT)).and_then(|issues| issues)
        };
        issues.unwrap_or_else(|GivenUp| {
            vec![whole("schema", "could not be checked: the schema asks for too much work")]
        })
    }

    fn check_text(&self, text: &str, stack: usize) -> Result<Vec<Issue>, GivenUp> {
        match parse(text) {
            Ok(value) => self.check_value(&value, text.len(), stack),
            Err(error) => Ok(vec![refused(&error)]),
        }
    }

    fn check_value(&self, value: &Value, size: usize, stack: usize) -> Result<Vec<Issue>, GivenUp> {
        // Most values fit, and finding that out is several times cheaper than looking for errors.
        if self.fuel.verdict(size, stack, || self.validator.is_valid(value))? {
            return Ok(Vec::new());
        }
        let all = || self.validator.iter_errors(value).take(MAX_ISSUES).map(|e| issue(&e, value)).collect();
        if let Ok(issues) = self.fuel.description(stack, all)
            && !Vec::is_empty(&issues)
        {
            return Ok(issues);
        }
        // A large value may hold more errors than there is time for; the first is found much sooner.
        let first = || self.validator.validate(value).err().map(|error| issue(&error, value));
        let first = self.fuel.description(stack, first).ok().flatten();
        Ok(vec![first.unwrap_or_else(|| whole("schema", "does not fit the schema"))])
    }
}

fn refused(error: &SchemaError) -> Issue {
    whole(error.code(), &error.to_string())
}

fn whole(code: &str, message: &str) -> Issue {
    Issue { code: code.to_owned(), path: Vec::new(), message: message.to_owned() }
}

fn issue(error: &ValidationError<'_>, root: &Value) -> Issue {
    let mut path = segments(error.instance_path().as_str(), root);
    if let ValidationErrorKind::Required { property: Value::String(name) } = error.kind() {
        path.push(Segment::Key(name.clone()));
    }
    Issue { code: error.kind().keyword().to_owned(), path, message: wording::describe(error) }
}

/// Reads a JSON pointer; the value tells positions from properties named like numbers.
fn segments(pointer: &str, root: &Value) -> Vec<Segment> {
    let mut current = Some(root);
    pointer
        .split('/')
        .skip(1)
        .map(|raw| {
            let name = raw.replace("~1", "/").replace("~0", "~");
            let index = current.filter(|value| value.is_array()).and_then(|_| name.parse::<u32>().ok());
            current = match (current, index) {
                (Some(Value::Array(items)), Some(index)) => items.get(index as usize),
                (Some(value), _) => value.get(&name),
                (None, _) => None,
            };
            index.map_or(Segment::Key(name), Segment::Index)
        })
        .collect()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
