//! Why a JSON Schema or a value could not be worked with.
//!
//! Every variant is the problem of one tool. Messages name what to change and never quote values.

use thiserror::Error;

/// A failure of the schema room.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SchemaError {
    /// The text is larger than [`crate::schema::MAX_SCHEMA_BYTES`].
    #[error("the schema has {size} bytes; the limit is {limit}")]
    TooLarge {
        /// Size of the text in bytes.
        size: usize,
        /// The limit it exceeds.
        limit: usize,
    },
    /// Objects and arrays nest deeper than [`crate::schema::MAX_DEPTH`].
    #[error("nested deeper than {limit} levels")]
    TooDeep {
        /// The deepest level allowed.
        limit: usize,
    },
    /// The text is no JSON.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// `$schema` names a dialect other than drafts 4, 6, 7, 2019-09 and 2020-12.
    #[error("unknown JSON Schema dialect {0}")]
    UnknownDialect(String),
    /// A `$ref` leads out of the document or nowhere. Nothing is ever fetched.
    #[error("a reference cannot be resolved: {0}")]
    UnresolvableRef(String),
    /// The schema breaks the rules of its dialect.
    #[error("not a valid JSON Schema: {0}")]
    Invalid(String),
}

impl SchemaError {
    /// A stable name of the kind, for reports and metrics.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too-large",
            Self::TooDeep { .. } => "too-deep",
            Self::NotJson(_) => "not-json",
            Self::UnknownDialect(_) => "unknown-dialect",
            Self::UnresolvableRef(_) => "unresolvable-ref",
            Self::Invalid(_) => "invalid-schema",
        }
    }
}
