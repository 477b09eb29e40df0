//! Canonical JSON: one text for one value, whatever the order of its keys (RFC 8785).
//!
//! Keys are sorted by UTF-16 code units, numbers and strings are written as JavaScript's
//! `JSON.stringify` writes them, there is no white space. `js/value/canonical.ts` writes the same text
//! for the same value; a property test holds the two together. Used where values are compared or
//! hashed: fingerprints of tool definitions, keys of repeated calls.

use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// Containers nested deeper than this are written as [`TOO_DEEP`], so that no input can exhaust the
/// stack.
pub const MAX_DEPTH: usize = 512;

/// Stands for a container beyond [`MAX_DEPTH`].
pub const TOO_DEEP: &str = "\"[too deep]\"";

/// The canonical JSON text of a value.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, 0, &mut out);
    out
}

fn write_value(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(_) | Value::Object(_) if depth >= MAX_DEPTH => out.push_str(TOO_DEEP),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, depth + 1, out);
            }
            out.push(']');
        }
        Value::Object(fields) => write_object(fields, depth, out),
    }
}

fn write_object(fields: &Map<String, Value>, depth: usize, out: &mut String) {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_unstable_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    for (index, (key, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        write_value(value, depth + 1, out);
    }
    out.push('}');
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                write!(out, "\\u{:04x}", u32::from(control)).expect("writing to a String cannot fail");
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn write_number(number: &Number, out: &mut String) {
    match number.as_f64() {
        Some(value) if value.is_finite() => write_float(value, out),
        _ => out.push_str("null"),
    }
}

/// Writes a finite number as ECMAScript's `Number::toString` does.
#[allow(clippy::cast_sign_loss, reason = "each branch has checked the sign")]
fn write_float(value: f64, out: &mut String) {
    if value == 0.0 {
        out.push('0');
        return;
    }
    if value < 0.0 {
        out.push('-');
    }
    let (digits, point) = shortest_digits(value.abs());
    let count = i32::try_from(digits.len()).expect("a double has at most 17 digits");
    if (1..=21).contains(&point) && count <= point {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', (point - count) as usize));
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point as usize);
        write!(out, "{whole}.{fraction}").expect("writing to a String cannot fail");
    } else if (-5..=0).contains(&point) {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', -point as usize));
        out.push_str(&digits);
    } else {
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        write!(out, "{first}{dot}{rest}e{:+}", point - 1).expect("writing to a String cannot fail");
    }
}

/// The shortest digits that read back as a positive number, and where its decimal point stands
/// before them. Of two equally short and equally close the even one, as ECMAScript asks; that is why
/// the digits are `serde_json`'s and not those of `{:e}`, which takes the upper one.
fn shortest_digits(value: f64) -> (String, i32) {
    let text = Number::from_f64(value).expect("the number is finite").to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().expect("the exponent is a whole number");
    let whole_digits = i32::try_from(whole.len()).expect("a double has at most 309 whole digits");
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let leading = i32::try_from(all.len() - digits.len()).expect("no more zeros than digits");
    (digits.trim_end_matches('0').to_owned(), whole_digits - leading + exponent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        let table = [
            ("1.0", "1"),
            ("-0.0", "0"),
            ("100.0", "100"),
            ("1e21", "1e+21"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e-6", "0.000001"),
            ("1e-7", "1e-7"),
            ("1.5e-7", "1.5e-7"),
            ("-12.5", "-12.5"),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709552000"),
            ("904307437012762.25", "904307437012762.2"),
            ("0.00012345", "0.00012345"),
            ("120", "120"),
            ("5e-324", "5e-324"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ];
        for (text, written) in table {
            assert_eq!(canonical_json(&serde_json::from_str(text).unwrap()), written, "{text}");
        }
    }

    #[test]
    fn keys_sort_by_utf16_units() {
        // U+FFFD sorts after the surrogates of U+1F600 in UTF-16, before it in UTF-8.
        let value = json!({ "b": 1, "\u{FFFD}": 2, "\u{1F600}": 3, "B": 4, "_": 5, "a": 6 });
        assert_eq!(
            canonical_json(&value),
            "{\"B\":4,\"_\":5,\"a\":6,\"b\":1,\"\u{1F600}\":3,\"\u{FFFD}\":2}"
        );
    }

    #[test]
    fn strings_escape_what_json_stringify_escapes() {
        let value = json!("\"\\\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}\u{2028}é");
        assert_eq!(canonical_json(&value), "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\u{2028}é\"");
    }

    #[test]
    fn depth_is_bounded() {
        let mut value = json!(1);
        for _ in 0..MAX_DEPTH + 10 {
            value = Value::Array(vec![value]);
        }
        let text = canonical_json(&value);
        assert_eq!(text.matches('[').count(), MAX_DEPTH + 1, "the limit and the bracket of the mark");
        assert!(text.contains(TOO_DEEP));
    }

    proptest! {
        #[test]
        fn the_order_of_keys_does_not_matter(pairs in proptest::collection::hash_map("\\PC{0,4}", any::<i32>(), 0..8)) {
            let forward: Map<String, Value> = pairs.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
            let backward: Map<String, Value> = forward.clone().into_iter().rev().collect();
            let text = canonical_json(&Value::Object(forward.clone()));
            prop_assert_eq!(&text, &canonical_json(&Value::Object(backward)));
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), Value::Object(forward));
        }

        #[test]
        fn numbers_read_back(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            let text = canonical_json(&json!(value));
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), (value + 0.0).to_bits());
        }
    }
}
