//! Handles of spilled results: `graphorin-spill:<run>/<file>` (spec 03 section 1.5).

use super::names;
use thiserror::Error;

/// The scheme of handles to spilled artifacts.
pub const SCHEME: &str = "graphorin-spill:";

/// Why a handle names no artifact. The messages show nothing of the host's file system.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HandleError {
    /// Another scheme.
    #[error("Unsupported result handle {0}")]
    Unsupported(String),
    /// Nothing after the scheme.
    #[error("Empty result handle: it names no artifact")]
    Empty,
    /// The name of a taint sidecar.
    #[error("A result handle cannot name a taint sidecar")]
    Sidecar,
    /// Not two segments.
    #[error("Malformed result handle {0}: expected graphorin-spill:<run>/<file>")]
    Malformed(String),
    /// A segment that would leave the root.
    #[error("Result handle {0} escapes the artifact root")]
    Escapes(String),
}

/// The two segments of a handle, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle<'a> {
    /// The folder of the run.
    pub run: &'a str,
    /// The artifact in it.
    pub file: &'a str,
}

/// Parses a handle. No percent-decoding and no query: the text after the scheme is the path.
///
/// # Errors
/// One variant of [`HandleError`] a check, in the order of its variants.
pub fn parse(uri: &str) -> Result<Handle<'_>, HandleError> {
    let Some(path) = uri.strip_prefix(SCHEME) else {
        return Err(HandleError::Unsupported(quoted(uri)));
    };
    if path.is_empty() {
        return Err(HandleError::Empty);
    }
    if names::is_sidecar(path) {
        return Err(HandleError::Sidecar);
    }
    let mut segments = path.split('/');
    let (Some(run), Some(file), None) = (segments.next(), segments.next(), segments.next()) else {
        return Err(HandleError::Malformed(quoted(uri)));
    };
    if run.is_empty() || file.is_empty() {
        return Err(HandleError::Malformed(quoted(uri)));
    }
    if [run, file].iter().any(|segment| !stays_inside(segment)) {
        return Err(HandleError::Escapes(quoted(uri)));
    }
    Ok(Handle { run, file })
}

/// Neither a step up nor a separator of any system; on Windows no drive or stream name either.
fn stays_inside(segment: &str) -> bool {
    let drive = cfg!(windows) && segment.contains(':');
    segment != "." && segment != ".." && !segment.contains(['\\', '\0']) && !drive
}

/// The handle in JSON quotes, cut short: it came from a model.
fn quoted(uri: &str) -> String {
    const SHOWN: usize = 200;
    let shown: String = uri.chars().take(SHOWN).collect();
    serde_json::Value::String(shown).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn section_1_5_in_order() {
        assert_eq!(parse("graphorin-spill:run/c1.txt"), Ok(Handle { run: "run", file: "c1.txt" }));
        for (uri, fragment) in [
            ("file:///etc/passwd", "Unsupported result handle \"file:///etc/passwd\""),
            ("GRAPHORIN-SPILL:run/c1.txt", "Unsupported result handle"),
            ("", "Unsupported result handle"),
            ("graphorin-spill:", "Empty result handle"),
            ("graphorin-spill:run/c1.txt.meta.json", "taint sidecar"),
            ("graphorin-spill:run/c1.txt.META.json", "taint sidecar"),
            ("graphorin-spill:../../../etc/passwd", "Malformed result handle"),
            ("graphorin-spill:a/b/c", "Malformed result handle"),
            ("graphorin-spill:flat.txt", "Malformed result handle"),
            ("graphorin-spill:run/", "Malformed result handle"),
            ("graphorin-spill:/x", "Malformed result handle"),
            ("graphorin-spill:../passwd", "escapes the artifact root"),
            ("graphorin-spill:run/..", "escapes the artifact root"),
            ("graphorin-spill:./x", "escapes the artifact root"),
            ("graphorin-spill:run/..\\..\\x", "escapes the artifact root"),
            ("graphorin-spill:run/x\0y", "escapes the artifact root"),
        ] {
            let message = parse(uri).map_err(|error| error.to_string());
            assert!(message.as_ref().is_err_and(|text| text.contains(fragment)), "{uri:?}: {message:?}");
        }
        assert_eq!(
            parse("graphorin-spill:run/%2e%2e"),
            Ok(Handle { run: "run", file: "%2e%2e" }),
            "no percent-decoding"
        );
    }

    proptest! {
        #[test]
        fn parsed_segments_stay_inside(rest in "[./\\\\a:~]{0,12}") {
            let uri = format!("{SCHEME}{rest}");
            if let Ok(handle) = parse(&uri) {
                for segment in [handle.run, handle.file] {
                    prop_assert!(!segment.is_empty() && segment != "." && segment != "..");
                    prop_assert!(!segment.contains(['/', '\\']));
                }
            }
        }
    }
}
