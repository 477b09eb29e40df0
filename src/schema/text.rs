//! JSON text from JavaScript into a value, within limits.
//!
//! Two things that `JSON.stringify` emits make `serde_json` fail: nesting beyond its recursion limit
//! and escapes of lone surrogates. The first is measured before parsing, without recursion, so that
//! it is a typed error. The second is replaced: a lone `\ud83d` becomes `\ufffd` in the copy that is
//! looked at (one code point for one code point, so lengths agree). The caller's own value is never
//! touched by either.

use super::SchemaError;
use serde_json::Value;
use std::borrow::Cow;

/// Deepest nesting of objects and arrays that is looked at: the recursion limit of `serde_json`.
pub const MAX_DEPTH: usize = 127;

/// Parses JSON text as `JSON.stringify` writes it.
///
/// # Errors
///
/// [`SchemaError::TooDeep`] beyond [`MAX_DEPTH`], [`SchemaError::NotJson`] for anything else that
/// does not parse.
pub fn parse(text: &str) -> Result<Value, SchemaError> {
    if depth(text) > MAX_DEPTH {
        return Err(SchemaError::TooDeep { limit: MAX_DEPTH });
    }
    serde_json::from_str(&without_lone_surrogates(text)).map_err(|e| SchemaError::NotJson(e.to_string()))
}

/// How deep brackets nest outside of strings.
pub(super) fn depth(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut level, mut deepest) = (0, 0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'[' | b'{' => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' => level = level.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// The index of the quote that closes the string opened at `open`, or the end of the text.
fn end_of_string(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(offset) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        at += offset;
        if bytes[at] == b'"' {
            return at;
        }
        at += 2;
    }
    bytes.len()
}

/// Replaces escapes of surrogates that have no partner by the escape of U+FFFD.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at.min(bytes.len())..]) {
        at += offset;
        let Some(unit) = escaped_unit(bytes, at) else {
            at += 2;
            continue;
        };
        let is_high = (0xD800..0xDC00).contains(&unit);
        let pair = is_high && escaped_unit(bytes, at + 6).is_some_and(|low| (0xDC00..0xE000).contains(&low));
        if pair {
            at += 12;
        } else if (0xD800..0xE000).contains(&unit) {
            out.push_str(&text[copied..at]);
            out.push_str("\\ufffd");
            at += 6;
            copied = at;
        } else {
            at += 6;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The code unit of the `\uXXXX` escape at `at`, if there is one.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let escape = bytes.get(at..at + 6)?;
    if escape[0] != b'\\' || escape[1] != b'u' || !escape[2..].iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(&escape[2..]).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn nested(levels: usize) -> String {
        "[".repeat(levels) + &"]".repeat(levels)
    }

    #[test]
    fn the_limit_is_exact_and_typed() {
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        for levels in [MAX_DEPTH + 1, 129, 5_000, 1_000_000] {
            assert_eq!(parse(&nested(levels)), Err(SchemaError::TooDeep { limit: MAX_DEPTH }));
        }
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = format!(r#"{{"a\"{}":"{}\\"}}"#, "[".repeat(500), "{".repeat(500));
        assert!(parse(&text).is_ok());
    }

    #[test]
    fn lone_surrogates_are_replaced_in_keys_and_values() {
        assert_eq!(parse(r#"{"k\ud83d":"\udc00x\ud83d"}"#), Ok(json!({"k\u{fffd}": "\u{fffd}x\u{fffd}"})));
        assert_eq!(parse(r#""\ud83e\udd8a""#), Ok(json!("🦊")));
        assert_eq!(parse(r#""\ud83d\ud83e\udd8a""#), Ok(json!("\u{fffd}🦊")));
    }

    #[test]
    fn an_escaped_backslash_is_no_escape() {
        assert_eq!(parse(r#""\\ud83d""#), Ok(json!("\\ud83d")));
        assert_eq!(parse(r#""\\\ud83d""#), Ok(json!("\\\u{fffd}")));
    }

    #[test]
    fn broken_text_is_an_error_not_a_panic() {
        for text in ["", "{", "\"", "\"\\", "\"\\u", "\"\\ud8", "\"\\ud83d", "nul", "[1,]", "\"\\ud83d\\u"] {
            assert!(matches!(parse(text), Err(SchemaError::NotJson(_))), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[\\[\\]{}\"\\\\uduDF0-9a-f, :é🦊]{0,60}") {
            let _ = parse(&text);
        }

        #[test]
        fn json_without_surrogate_escapes_is_read_as_serde_reads_it(text in "\\PC{0,40}") {
            let json = serde_json::to_string(&text).expect("a string is JSON");
            prop_assert_eq!(parse(&json), Ok(Value::String(text)));
        }
    }
}
