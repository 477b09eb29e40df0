//! From the text of a JSON Schema to a validator.
//!
//! A schema comes from strangers (an MCP server), so: nothing is ever fetched for a `$ref`, neither
//! over the network nor from files; patterns have a backtracking limit and a size limit; text has a
//! size limit; and whatever is wrong is an error of this one schema.
//!
//! The dialect is the one `$schema` names. Without `$schema` it is 2020-12, and if the schema is not
//! valid there (array-form `items`, boolean `exclusiveMinimum`), draft 7 and then draft 4 are tried.

use super::fuel::{self, Fuel, Visit};
use super::{SchemaError, limits, parse, stack};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;
use std::sync::Arc;

/// Largest schema text, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 2 << 20;

/// Steps a pattern with look-around or back-references may go back before it counts as failed. One
/// step may cost the length of the text; 1,000 keep a hostile pattern on 5,000 characters under 50 ms.
/// Patterns without these run in linear time and need no limit.
const BACKTRACK_LIMIT: usize = 1_000;

/// Largest compiled pattern, in bytes: `(a{1000}){1000}` must not take a second to compile.
const PATTERN_SIZE_LIMIT: usize = 512 << 10;

/// What a validator does about `format`, `contentEncoding` and `contentMediaType`, in every draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formats {
    /// They describe; nothing is refused for them.
    #[default]
    Annotate,
    /// The formats the drafts define are checked; names unknown to them are ignored.
    Assert,
}

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Compiled {
    pub(super) validator: Validator,
    pub(super) fuel: Arc<Fuel>,
    /// How far one value may lead from schema to schema.
    pub(super) links: usize,
}

impl Compiled {
    /// Compiles the JSON text of a schema.
    ///
    /// # Errors
    ///
    /// A [`SchemaError`] that says what is wrong with this schema.
    pub fn new(text: &str, formats: Formats) -> Result<Self, SchemaError> {
        if text.len() > MAX_SCHEMA_BYTES {
            return Err(SchemaError::TooLarge { size: text.len(), limit: MAX_SCHEMA_BYTES });
        }
        stack::on_own(|| Self::compile(text, formats))
            .unwrap_or_else(|_| Err(SchemaError::Invalid("the validator fails on it".to_owned())))
    }

    fn compile(text: &str, formats: Formats) -> Result<Self, SchemaError> {
        let mut schema = parse(text)?;
        let links = limits::check(&schema)?;
        fuel::mark(&mut schema);
        let fuel = Arc::new(Fuel::default());
        let mut first_error = None;
        for &draft in dialects(&schema)? {
            match build(&schema, draft, formats, &fuel) {
                Ok(validator) => return Ok(Self { validator, fuel, links }),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| SchemaError::Invalid("no dialect".to_owned())))
    }
}

/// The dialects to try, best first.
fn dialects(schema: &Value) -> Result<&'static [Draft], SchemaError> {
    let Some(named) = schema.get("$schema") else {
        return Ok(&[Draft::Draft202012, Draft::Draft7, Draft::Draft4]);
    };
    let unknown = || SchemaError::UnknownDialect(shorten(&named.to_string(), 200));
    match Draft::from_schema_uri(named.as_str().ok_or_else(unknown)?) {
        Draft::Draft4 => Ok(&[Draft::Draft4]),
        Draft::Draft6 => Ok(&[Draft::Draft6]),
        Draft::Draft7 => Ok(&[Draft::Draft7]),
        Draft::Draft201909 => Ok(&[Draft::Draft201909]),
        Draft::Draft202012 => Ok(&[Draft::Draft202012]),
        _ => Err(unknown()),
    }
}

fn build(schema: &Value, draft: Draft, formats: Formats, fuel: &Arc<Fuel>) -> Result<Validator, SchemaError> {
    let fuel = Arc::clone(fuel);
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(BACKTRACK_LIMIT)
        .size_limit(PATTERN_SIZE_LIMIT)
        .dfa_size_limit(PATTERN_SIZE_LIMIT);
    let assert = formats == Formats::Assert;
    let mut options = jsonschema::options()
        .offline()
        .with_draft(draft)
        .with_pattern_options(patterns)
        .should_validate_formats(assert)
        .should_ignore_unknown_formats(true)
        .with_keyword(fuel::KEYWORD, move |_, _, _| Ok(Box::new(Visit(Arc::clone(&fuel)))));
    if !assert {
        options = options
            .without_content_media_type_support("application/json")
            .without_content_encoding_support("base64");
    }
    options.build(schema).map_err(|error| classify(&error))
}

fn classify(error: &ValidationError<'_>) -> SchemaError {
    let message = shorten(&error.masked().to_string(), 300);
    match error.kind() {
        ValidationErrorKind::Referencing(_) => SchemaError::UnresolvableRef(message),
        _ => SchemaError::Invalid(match error.instance_path().as_str() {
            "" => message,
            path => format!("{} at {}", message, shorten(path, 200)),
        }),
    }
}

/// At most `limit` bytes of `text`, cut at a character.
pub(super) fn shorten(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}
