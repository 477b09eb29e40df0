//! Undoing the encodings that cheaply hide a copy: percent, base64, hex and JSON escapes.
//!
//! Bounded: at most three encodings inside one another, and no more decoded text than eight times the
//! input. What decodes to rubbish is harmless, since rubbish matches nothing.

use super::views::unescape;

/// Which encodings to undo. None by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "a set of four independent choices")]
pub struct Encodings {
    /// `%41`, as in URLs.
    pub percent: bool,
    /// Base64, both alphabets, with or without padding and line breaks.
    pub base64: bool,
    /// Pairs of hex digits.
    pub hex: bool,
    /// JSON inside a JSON string.
    pub json: bool,
}

impl Encodings {
    /// Whether there is anything to undo.
    #[must_use]
    pub fn any(self) -> bool {
        self != Self::default()
    }
}

const MAX_NESTING: usize = 3;
/// Encoded runs below this many characters hold less than the shortest run that may match.
const MIN_RUN: usize = 11;

/// Appends every reading of `text` with one or more encodings undone.
pub fn decode_all(text: &[u16], encodings: Encodings, out: &mut Vec<Vec<u16>>) {
    if !encodings.any() {
        return;
    }
    let mut left = text.len() * 8;
    let mut layer = vec![text.to_vec()];
    for _ in 0..MAX_NESTING {
        let mut next = Vec::new();
        for text in &layer {
            decode_once(text, encodings, &mut next);
        }
        next.retain(|view| {
            let fits = view.len() <= left;
            left -= if fits { view.len() } else { 0 };
            fits
        });
        if next.is_empty() {
            break;
        }
        out.extend(next.iter().cloned());
        layer = next;
    }
}

fn decode_once(text: &[u16], encodings: Encodings, out: &mut Vec<Vec<u16>>) {
    if encodings.percent {
        out.extend(percent(text));
    }
    if encodings.json {
        let mut plain = Vec::with_capacity(text.len());
        if unescape(text, &mut plain) {
            out.push(plain);
        }
    }
    if encodings.base64 {
        out.extend(runs(text, base64_value, 4).iter().filter_map(|digits| base64(digits)));
    }
    if encodings.hex {
        out.extend(runs(text, hex_value, 2).iter().filter_map(|digits| hex(digits)));
    }
}

fn to_units(bytes: &[u8]) -> Vec<u16> {
    String::from_utf8_lossy(bytes).encode_utf16().collect()
}

fn ascii(unit: u16) -> Option<u8> {
    u8::try_from(unit).ok().filter(u8::is_ascii)
}

fn hex_value(unit: u16) -> Option<u8> {
    char::from(ascii(unit)?).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

fn base64_value(unit: u16) -> Option<u8> {
    match ascii(unit)? {
        c @ b'A'..=b'Z' => Some(c - b'A'),
        c @ b'a'..=b'z' => Some(c - b'a' + 26),
        c @ b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

/// Runs of digits, without the line breaks and blanks inside them, as digit values. A blank ends a
/// run as well as it continues one: encoders wrap lines, and words precede a blob. So both are tried.
fn runs(text: &[u16], value: fn(u16) -> Option<u8>, group: usize) -> Vec<Vec<u8>> {
    let is_blank = |unit: u16| matches!(unit, 0x09 | 0x0A | 0x0D | 0x20);
    let mut found = Vec::new();
    let long_enough = |digits: &Vec<u8>| digits.len() >= MIN_RUN.max(group);
    for piece in text.split(|&unit| value(unit).is_none() && !is_blank(unit)) {
        let words: Vec<Vec<u8>> = piece
            .split(|&unit| is_blank(unit))
            .map(|word| word.iter().filter_map(|&unit| value(unit)).collect())
            .collect();
        if words.len() > 1 {
            found.extend(Some(words.concat()).filter(long_enough));
        }
        found.extend(words.into_iter().filter(long_enough));
    }
    found
}

fn base64(digits: &[u8]) -> Option<Vec<u16>> {
    let bytes: Vec<u8> = digits
        .chunks(4)
        .flat_map(|four| {
            let bits = four.iter().fold(0_u32, |bits, &digit| bits << 6 | u32::from(digit));
            let [_, a, b, c] = (bits << (6 * (4 - four.len()))).to_be_bytes();
            [a, b, c].into_iter().take(four.len().saturating_sub(1))
        })
        .collect();
    (!bytes.is_empty()).then(|| to_units(&bytes))
}

fn hex(digits: &[u8]) -> Option<Vec<u16>> {
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    (!bytes.is_empty()).then(|| to_units(&bytes))
}

fn percent(text: &[u16]) -> Option<Vec<u16>> {
    if !text.contains(&u16::from(b'%')) {
        return None;
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = Vec::new();
    let mut changed = false;
    let mut at = 0;
    while at < text.len() {
        let pair = |at: usize| Some(hex_value(*text.get(at + 1)?)? << 4 | hex_value(*text.get(at + 2)?)?);
        if text[at] == u16::from(b'%')
            && let Some(byte) = pair(at)
        {
            bytes.push(byte);
            changed = true;
            at += 3;
            continue;
        }
        if !bytes.is_empty() {
            out.extend(to_units(&bytes));
            bytes.clear();
        }
        out.push(text[at]);
        at += 1;
    }
    out.extend(to_units(&bytes));
    changed.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Encodings = Encodings { percent: true, base64: true, hex: true, json: true };

    fn decoded(text: &str, encodings: Encodings) -> Vec<String> {
        let mut out = Vec::new();
        decode_all(&text.encode_utf16().collect::<Vec<_>>(), encodings, &mut out);
        out.iter().map(|view| String::from_utf16_lossy(view)).collect()
    }

    #[test]
    fn each_encoding() {
        for (text, expected) in [
            ("caf%C3%A9 au lait%21", "caf\u{e9} au lait!"),
            ("aGVsbG8gd29ybGQsIGFnYWlu", "hello world, again"),
            ("see: aGVsbG8gd29ybGQsIGFnYWluIQ== ok", "hello world, again!"),
            ("aGVsbG8g\nd29ybGQs\nIGFnYWlu", "hello world, again"),
            ("68656c6c6f20776f726c64", "hello world"),
            ("0x68656C6C6F20776F726C64", "hello world"),
            ("a\\nb\\u0041", "a\nbA"),
            ("~~8J-YgPCfmIDwn5iA~~", "\u{1F600}\u{1F600}\u{1F600}"),
        ] {
            assert!(
                decoded(text, ALL).iter().any(|view| view == expected),
                "{text}: {:?}",
                decoded(text, ALL)
            );
        }
    }

    #[test]
    fn nested_encodings() {
        // base64 of hex of "hello world"
        assert!(decoded("Njg2NTZjNmM2ZjIwNzc2ZjcyNmM2NA==", ALL).contains(&"hello world".to_owned()));
    }

    #[test]
    fn nothing_without_a_request_or_without_an_encoding() {
        assert!(decoded("%41%42 aGVsbG8gd29ybGQ=", Encodings::default()).is_empty());
        assert!(decoded("100% sure", Encodings { percent: true, ..Encodings::default() }).is_empty());
        assert!(decoded("", ALL).is_empty());
        assert!(decoded("%", ALL).is_empty());
    }

    #[test]
    fn the_work_is_bounded() {
        let text = "ab ".repeat(20_000);
        let total: usize = decoded(&text, ALL).iter().map(String::len).sum();
        assert!(total <= text.len() * 8 * 3);
    }
}
