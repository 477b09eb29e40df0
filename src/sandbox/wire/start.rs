//! What the host asks a fresh sandbox process to do.

use super::json::{Json, JsonError, Text};

/// How the source is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The body of a strict async function with the parameter `tools`.
    Body,
    /// A script whose completion value is the result; the body of an async function when it does not
    /// parse as one.
    Script,
}

/// The one request of a run.
#[derive(Debug, Clone)]
pub struct Start {
    /// How to read the source.
    pub mode: Mode,
    /// The model's source, as written.
    pub source: Text,
    /// Names of the tools, in the order of their indices.
    pub tools: Vec<Text>,
    /// JSON text for the global `__GRAPHORIN_INPUT__`.
    pub input: Option<Text>,
    /// Bytes the script may allocate beyond what the warmed engine holds.
    pub memory: usize,
    /// CPU time in milliseconds; 0 for no limit.
    pub cpu_ms: u64,
    /// Largest encoded arguments of one call, in bytes.
    pub max_args: usize,
    /// Largest encoded return value, in bytes.
    pub max_output: usize,
    /// Parts the return value, or the arguments of one call, may have; a key weighs four.
    pub max_parts: usize,
    /// Console text kept, in bytes.
    pub max_console: usize,
    /// Run although the kernel offers no system-call filter.
    pub without_filter: bool,
}

/// Why a request is not understood.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A field is missing or of the wrong type.
    #[error("the start request has no valid `{0}`")]
    Field(&'static str),
}

fn count(json: &Json, field: &'static str) -> Result<usize, StartError> {
    let number = json.get(field).and_then(Json::as_f64).filter(|n| (0.0..=9e15).contains(n));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    number.map(|n| n as usize).ok_or(StartError::Field(field))
}

impl Start {
    /// Reads the payload of a start frame.
    ///
    /// # Errors
    /// [`StartError`] when it is malformed.
    pub fn parse(payload: &[u8]) -> Result<Self, StartError> {
        let json = Json::parse(payload)?;
        let text = |field: &'static str| json.get(field).and_then(Json::as_text).cloned();
        let tools = match json.get("tools") {
            Some(Json::Arr(items)) => items
                .iter()
                .map(|item| item.as_text().cloned().ok_or(StartError::Field("tools")))
                .collect::<Result<_, _>>()?,
            _ => return Err(StartError::Field("tools")),
        };
        Ok(Self {
            mode: if matches!(json.get("script"), Some(Json::Bool(true))) {
                Mode::Script
            } else {
                Mode::Body
            },
            source: text("source").ok_or(StartError::Field("source"))?,
            tools,
            input: text("input"),
            memory: count(&json, "memory")?,
            cpu_ms: count(&json, "cpuMs")? as u64,
            max_args: count(&json, "maxArgs")?,
            max_output: count(&json, "maxOutput")?,
            max_parts: count(&json, "maxParts")?,
            max_console: count(&json, "maxConsole")?,
            without_filter: matches!(json.get("withoutFilter"), Some(Json::Bool(true))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_and_a_broken_one_named() {
        let text = br#"{"source":"return 1","tools":["a","b.c"],"memory":1000,"cpuMs":0,"maxArgs":1,"maxOutput":2,"maxParts":5,"maxConsole":3}"#;
        let start = Start::parse(text).unwrap();
        assert_eq!((start.mode, start.tools.len(), start.memory, start.max_parts), (Mode::Body, 2, 1000, 5));
        assert!(start.input.is_none() && !start.without_filter);
        for (broken, field) in [
            ("{}", "tools"),
            (r#"{"tools":[]}"#, "source"),
            (r#"{"tools":[],"source":"","memory":-1}"#, "memory"),
        ] {
            let error = Start::parse(broken.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
    }
}
