//! Door of `schema`.

use crate::schema::{Compiled, Formats, Issue, Segment};
use napi::Either;
use napi_derive::napi;

/// A compiled JSON Schema.
#[napi]
pub struct JsonSchemaValidator {
    compiled: Compiled,
}

/// What makes a schema unusable: a stable code and a sentence.
#[napi(object, object_from_js = false)]
pub struct JsonSchemaProblem {
    pub code: String,
    pub message: String,
}

/// One thing wrong with a value.
#[napi(object, object_from_js = false)]
pub struct JsonSchemaIssue {
    pub code: String,
    pub path: Vec<Either<String, u32>>,
    pub message: String,
}

impl From<Issue> for JsonSchemaIssue {
    fn from(issue: Issue) -> Self {
        let path = issue
            .path
            .into_iter()
            .map(|segment| match segment {
                Segment::Key(key) => Either::A(key),
                Segment::Index(index) => Either::B(index),
            })
            .collect();
        Self { code: issue.code, path, message: issue.message }
    }
}

#[napi(catch_unwind)]
pub fn compile_json_schema(
    text: String,
    assert_formats: bool,
) -> Either<JsonSchemaValidator, JsonSchemaProblem> {
    let formats = if assert_formats { Formats::Assert } else { Formats::Annotate };
    match Compiled::new(&text, formats) {
        Ok(compiled) => Either::A(JsonSchemaValidator { compiled }),
        Err(error) => {
            Either::B(JsonSchemaProblem { code: error.code().to_owned(), message: error.to_string() })
        }
    }
}

#[napi]
impl JsonSchemaValidator {
    /// The issues of a value's JSON text; null when there are none.
    #[napi(catch_unwind)]
    pub fn check(&self, text: String) -> Option<Vec<JsonSchemaIssue>> {
        let issues = self.compiled.check(&text);
        (!issues.is_empty()).then(|| issues.into_iter().map(Into::into).collect())
    }
}
