//! Other ways to read a call's arguments, so that the usual disguises do not hide a copy.
//!
//! Callers probe the JSON text of the arguments. There a line break is the letter `n` after a
//! backslash, and the name of a key stands between two values. So the string values are also read
//! decoded, one after another (which holds each of them alone, too), and so are the keys. On request,
//! values are read with their percent, base64, hex or JSON encoding undone.
//!
//! Views only ever add findings: the text as given is always probed first. There are three at most,
//! however many values there are, since each may cost a scan of all that is tracked.
//!
//! The reader does not check JSON, it only finds the string literals: malformed text yields views of
//! what is there, in linear time and without recursion.

use super::decode::{Encodings, decode_all};

/// String literals, decoded, with a blank between two (the fold drops it, but nothing composes
/// across it).
#[derive(Debug, Default)]
struct Strings {
    text: Vec<u16>,
    ends: Vec<usize>,
    /// Whether an escape stood for something else than the character after the backslash.
    decoded: bool,
}

impl Strings {
    fn push(&mut self, literal: &[u16]) {
        if !self.ends.is_empty() {
            self.text.push(u16::from(b' '));
        }
        self.decoded |= unescape(literal, &mut self.text);
        self.ends.push(self.text.len());
    }

    fn iter(&self) -> impl Iterator<Item = &[u16]> {
        self.ends.iter().enumerate().map(|(at, &end)| {
            let start = if at == 0 { 0 } else { self.ends[at - 1] + 1 };
            &self.text[start..end]
        })
    }
}

const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;

fn is_blank(unit: u16) -> bool {
    matches!(unit, 0x09 | 0x0A | 0x0D | 0x20)
}

/// The further readings of `text`, without the text itself.
#[must_use]
pub fn views(text: &[u16], encodings: Encodings) -> Vec<Vec<u16>> {
    let mut views = Vec::new();
    let first = text.iter().copied().find(|&unit| !is_blank(unit));
    let is_json = first.is_some_and(|unit| [QUOTE, u16::from(b'{'), u16::from(b'[')].contains(&unit));
    let mut decoded = Vec::new();
    if !is_json {
        decode_all(text, encodings, &mut decoded);
        views.extend(together(&decoded));
        return views;
    }
    let (values, keys) = literals(text);
    if encodings.any() {
        for value in values.iter() {
            decode_all(value, encodings, &mut decoded);
        }
    }
    views.extend(together(&decoded));
    // One undisguised value is a part of the text as given.
    if values.ends.len() > 1 || values.decoded {
        views.push(values.text);
    }
    if keys.decoded {
        views.push(keys.text);
    }
    views
}

/// One view of many pieces, as [`Strings`] has it.
fn together(pieces: &[Vec<u16>]) -> Option<Vec<u16>> {
    (!pieces.is_empty()).then(|| pieces.join(&u16::from(b' ')))
}

/// All string literals, values and keys apart.
fn literals(text: &[u16]) -> (Strings, Strings) {
    let (mut values, mut keys) = (Strings::default(), Strings::default());
    let mut rest = text;
    while let Some(open) = rest.iter().position(|&unit| unit == QUOTE) {
        rest = &rest[open + 1..];
        let length = literal_length(rest);
        let literal = &rest[..length];
        rest = rest.get(length + 1..).unwrap_or_default();
        let next = rest.iter().copied().find(|&unit| !is_blank(unit));
        if next == Some(u16::from(b':')) {
            keys.push(literal);
        } else {
            values.push(literal);
        }
    }
    (values, keys)
}

/// Up to the closing quote, or the end.
fn literal_length(text: &[u16]) -> usize {
    let mut at = 0;
    while at < text.len() && text[at] != QUOTE {
        at += if text[at] == BACKSLASH { 2 } else { 1 };
    }
    at.min(text.len())
}

/// Appends `literal` with its escapes undone; tells whether one of them stood for another character.
pub(super) fn unescape(literal: &[u16], out: &mut Vec<u16>) -> bool {
    let mut changed = false;
    let mut at = 0;
    while at < literal.len() {
        if literal[at] != BACKSLASH {
            out.push(literal[at]);
            at += 1;
            continue;
        }
        let Some(&escape) = literal.get(at + 1) else { break };
        at += 2;
        let plain = match u8::try_from(escape) {
            Ok(b'n') => 0x0A,
            Ok(b'r') => 0x0D,
            Ok(b't') => 0x09,
            Ok(b'b') => 0x08,
            Ok(b'f') => 0x0C,
            Ok(b'u') => {
                let Some(unit) = literal.get(at..at + 4).and_then(hex4) else { continue };
                at += 4;
                unit
            }
            _ => {
                out.push(escape);
                continue;
            }
        };
        changed = true;
        out.push(plain);
    }
    changed
}

fn hex4(digits: &[u16]) -> Option<u16> {
    digits.iter().try_fold(0, |value, &unit| {
        let digit = char::from(u8::try_from(unit).ok()?).to_digit(16)?;
        Some(value << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, encodings: Encodings) -> Vec<String> {
        let units: Vec<u16> = text.encode_utf16().collect();
        views(&units, encodings).iter().map(|view| String::from_utf16_lossy(view)).collect()
    }

    #[test]
    fn values_are_read_decoded_and_together() {
        for (text, expected) in [
            ("plain text with \\n", vec![]),
            (r#"{"a":"one"}"#, vec![]),
            (r#"{"a":"one","b":["two",{"c":3}]}"#, vec!["one two"]),
            (r#" ["line\nbreak"] "#, vec!["line\nbreak"]),
            (r#"{"k\ney":1}"#, vec!["k\ney"]),
            (r#"{"a":"A\"\/\\"}"#, vec![]),
            (r#"{"a":"\u0041\u00e9"}"#, vec!["A\u{e9}"]),
            (r#"{"a" : "x", "b":"y"#, vec!["x y"]),
            (r#"{"a":"x\"#, vec![]),
            (r#"["\u00"]"#, vec![]),
            ("", vec![]),
        ] {
            assert_eq!(texts(text, Encodings::default()), expected, "{text}");
        }
    }

    #[test]
    fn encodings_only_on_request() {
        let text = r#"{"a":"%61%62%63%64"}"#;
        assert!(texts(text, Encodings::default()).is_empty());
        assert_eq!(texts(text, Encodings { percent: true, ..Encodings::default() }), ["abcd"]);
    }
}
