//! What to tell a model about a value that does not fit.
//!
//! The wording says what is expected and, at most, which JSON type was found. The value itself is
//! never quoted: it may be secret, and error texts travel far. Texts out of the schema are shortened,
//! because the schema may come from a stranger.

use super::compile::shorten;
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// Longest text quoted from a schema, in bytes.
const QUOTE: usize = 120;
/// Most branches of a union that are described.
const BRANCHES: usize = 4;

/// One sentence, without the path.
pub(super) fn describe(error: &ValidationError<'_>) -> String {
    let found = || type_name(error.instance());
    match error.kind() {
        Kind::Type { kind } => format!("expected {}, received {}", type_list(kind), found()),
        Kind::Required { .. } => "is required".to_owned(),
        Kind::Enum { options } => format!("expected one of {}", list(options)),
        Kind::Constant { expected_value } => format!("expected {}", quote(expected_value)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!(
                "unexpected {}: {}",
                plural(unexpected.len(), "property", "properties"),
                names(unexpected)
            )
        }
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::UnevaluatedItems { .. } => "has unexpected items".to_owned(),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => union(error, context),
        Kind::OneOfMultipleValid { .. } => "matches more than one of the allowed forms".to_owned(),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be greater than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {}", count(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", count(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", count(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", count(*limit, "item")),
        Kind::MinProperties { limit } => {
            format!("must have at least {limit} {}", plural_u64(*limit, "property", "properties"))
        }
        Kind::MaxProperties { limit } => {
            format!("must have at most {limit} {}", plural_u64(*limit, "property", "properties"))
        }
        Kind::Pattern { pattern } => format!("must match the pattern {}", shorten(pattern, QUOTE)),
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "could not be matched against the pattern within its limit".to_owned()
        }
        Kind::Format { format } => format!("is not a valid {}", shorten(format, QUOTE)),
        Kind::UniqueItems => "must not have two equal items".to_owned(),
        Kind::Contains => "has no item, or not the right number of items, of the required form".to_owned(),
        Kind::PropertyNames { error } => format!("has a property name that {}", name_rule(error)),
        Kind::Not { .. } => "has a form that is not allowed".to_owned(),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::ContentEncoding { content_encoding } => {
            format!("is not encoded as {}", shorten(content_encoding, QUOTE))
        }
        Kind::ContentMediaType { content_media_type } => {
            format!("is not of media type {}", shorten(content_media_type, QUOTE))
        }
        Kind::FromUtf8 { .. } => "does not decode to text".to_owned(),
        Kind::Referencing(_) => "the schema has a reference that cannot be resolved".to_owned(),
        Kind::Custom { message, .. } => shorten(message, QUOTE),
    }
}

/// A union of plain types reads as a type list; any other names what its branches ask for.
fn union(error: &ValidationError<'_>, context: &[Vec<ValidationError<'static>>]) -> String {
    let root = error.instance_path().as_str();
    let types: Option<Vec<String>> = context
        .iter()
        .map(|branch| match branch.as_slice() {
            [only] if only.instance_path().as_str() == root => match only.kind() {
                Kind::Type { kind } => Some(type_list(kind)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    if let Some(types) = types.filter(|types| !types.is_empty()) {
        return format!("expected {}, received {}", types.join(" or "), type_name(error.instance()));
    }
    let mut branches: Vec<String> = context
        .iter()
        .take(BRANCHES)
        .filter_map(|branch| branch.first())
        .map(|first| {
            let path = first.instance_path().as_str().strip_prefix(root).unwrap_or_default();
            let inner = match first.kind() {
                // One level only: unions within unions would multiply.
                Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "matches none of its forms".to_owned(),
                _ => describe(first),
            };
            let property = match first.kind() {
                Kind::Required { property: Value::String(name) } => format!("/{name}"),
                _ => String::new(),
            };
            match format!("{path}{property}").trim_start_matches('/') {
                "" => inner,
                at => format!("{}: {inner}", shorten(&at.replace('/', "."), QUOTE)),
            }
        })
        .collect();
    if context.len() > BRANCHES {
        branches.push("…".to_owned());
    }
    format!("matches none of the {} allowed forms ({})", context.len(), branches.join(" | "))
}

fn name_rule(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Enum { options } => format!("is not one of {}", list(options)),
        Kind::Pattern { pattern } => format!("does not match the pattern {}", shorten(pattern, QUOTE)),
        _ => "is not allowed".to_owned(),
    }
}

fn type_list(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => single.to_string(),
        TypeKind::Multiple(set) => set.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The options of an enum, as JSON.
fn list(options: &Value) -> String {
    let Some(options) = options.as_array() else { return quote(options) };
    shorten(&options.iter().map(Value::to_string).collect::<Vec<_>>().join(", "), 2 * QUOTE)
}

fn names(names: &[String]) -> String {
    let quoted = names.iter().take(10).map(|name| quote(&Value::String(shorten(name, 60))));
    quoted.collect::<Vec<_>>().join(", ")
}

fn quote(value: &Value) -> String {
    shorten(&value.to_string(), QUOTE)
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn plural(number: usize, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}

fn plural_u64(number: u64, one: &'static str, many: &'static str) -> &'static str {
    if number == 1 { one } else { many }
}
