//! UTF-16 to WTF-8 bytes and back.
//!
//! WTF-8 is UTF-8 that also encodes lone surrogates, as three bytes each. Well-formed text gives
//! exactly its UTF-8, so files and hashes agree with everybody else's, and text with a lone
//! surrogate survives a round trip unchanged. Invariant, tested: `to_utf16(&from_utf16(t)) == t`.

/// Units looked at together by the ASCII fast path.
const BLOCK: usize = 32;

/// UTF-16 units as WTF-8 bytes. Linear; ASCII text costs one pass.
#[must_use]
pub fn from_utf16(units: &[u16]) -> Vec<u8> {
    let mut out = Vec::with_capacity(units.len() + units.len() / 8);
    let mut rest = units;
    while !rest.is_empty() {
        let block = &rest[..rest.len().min(BLOCK)];
        if block.iter().fold(0, |all, unit| all | unit) < 0x80 {
            out.extend(block.iter().map(|unit| low_byte(*unit)));
            rest = &rest[block.len()..];
        } else {
            let taken = push_mixed(rest, block.len(), &mut out);
            rest = &rest[taken..];
        }
    }
    out
}

/// Encodes at least `want` units (one more when a pair straddles the end); returns how many it took.
fn push_mixed(units: &[u16], want: usize, out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while at < want {
        let unit = units[at];
        let pair = units.get(at + 1).filter(|low| is_high(unit) && is_low(**low));
        if let Some(low) = pair {
            let scalar = 0x1_0000 + ((u32::from(unit) - 0xD800) << 10) + (u32::from(*low) - 0xDC00);
            out.extend([
                byte(0xF0 | (scalar >> 18)),
                byte(0x80 | ((scalar >> 12) & 0x3F)),
                byte(0x80 | ((scalar >> 6) & 0x3F)),
                byte(0x80 | (scalar & 0x3F)),
            ]);
            at += 2;
            continue;
        }
        let code = u32::from(unit);
        match code {
            0..0x80 => out.push(byte(code)),
            0x80..0x800 => out.extend([byte(0xC0 | (code >> 6)), byte(0x80 | (code & 0x3F))]),
            _ => out.extend([
                byte(0xE0 | (code >> 12)),
                byte(0x80 | ((code >> 6) & 0x3F)),
                byte(0x80 | (code & 0x3F)),
            ]),
        }
        at += 1;
    }
    at
}

/// Bytes as UTF-16 units. Encoded surrogates come back as they were; every other invalid sequence
/// becomes U+FFFD, as in the WHATWG decoder.
#[must_use]
pub fn to_utf16(bytes: &[u8]) -> Vec<u16> {
    if bytes.is_ascii() {
        return bytes.iter().map(|b| u16::from(*b)).collect();
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                out.extend(text.encode_utf16());
                return out;
            }
            Err(error) => {
                let (good, bad) = rest.split_at(error.valid_up_to());
                // Validated one line above; the lossless form costs nothing on valid input.
                out.extend(String::from_utf8_lossy(good).encode_utf16());
                if let [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, ..] = bad {
                    out.push(0xD000 | (u16::from(second & 0x3F) << 6) | u16::from(third & 0x3F));
                    rest = &bad[3..];
                } else {
                    out.push(0xFFFD);
                    match error.error_len() {
                        Some(len) => rest = &bad[len..],
                        None => return out,
                    }
                }
            }
        }
    }
}

/// The length of [`from_utf16`]'s result without making it.
#[must_use]
pub fn len_of_utf16(units: &[u16]) -> usize {
    let mut total = 0;
    let mut at = 0;
    while at < units.len() {
        let unit = units[at];
        if is_high(unit) && units.get(at + 1).is_some_and(|low| is_low(*low)) {
            total += 4;
            at += 2;
        } else {
            total += match unit {
                0..0x80 => 1,
                0x80..0x800 => 2,
                _ => 3,
            };
            at += 1;
        }
    }
    total
}

/// Whether a unit is the first half of a pair.
#[must_use]
pub fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

/// Whether a unit is the second half of a pair.
#[must_use]
pub fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

#[allow(clippy::cast_possible_truncation, reason = "callers pass values below 256")]
fn byte(value: u32) -> u8 {
    value as u8
}

#[allow(clippy::cast_possible_truncation, reason = "callers pass ASCII")]
fn low_byte(unit: u16) -> u8 {
    unit as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn well_formed_text_is_plain_utf8() {
        for text in ["", "abc", "é", "a\u{20AC}b", "🦊 and 🎉", &"x".repeat(100), &"ü🦊".repeat(40)] {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(from_utf16(&units), text.as_bytes());
            assert_eq!(to_utf16(text.as_bytes()), units);
            assert_eq!(len_of_utf16(&units), text.len());
        }
    }

    #[test]
    fn invalid_bytes_become_replacement_characters() {
        assert_eq!(to_utf16(b"a\xFFb"), [0x61, 0xFFFD, 0x62]);
        assert_eq!(to_utf16(b"a\xE2\x82"), [0x61, 0xFFFD]);
        assert_eq!(to_utf16(&[0xED, 0xA0, 0xBD]), [0xD83D]);
    }

    #[test]
    fn a_pair_across_a_block_stays_whole() {
        let mut units = vec![0x61; BLOCK - 1];
        units.extend([0xE9]);
        units.insert(BLOCK - 2, 0xE9);
        units.splice(BLOCK - 1..BLOCK - 1, [0xD83E, 0xDD8A]);
        assert_eq!(to_utf16(&from_utf16(&units)), units);
    }

    proptest! {
        #[test]
        fn every_text_survives_the_round_trip(units in proptest::collection::vec(any::<u16>(), 0..200)) {
            let bytes = from_utf16(&units);
            prop_assert_eq!(bytes.len(), len_of_utf16(&units));
            prop_assert_eq!(to_utf16(&bytes), units);
        }

        #[test]
        fn surrogate_soup_survives(units in proptest::collection::vec(0xD700u16..0xE100, 0..100)) {
            prop_assert_eq!(to_utf16(&from_utf16(&units)), units);
        }

        #[test]
        fn any_bytes_decode(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let expected: Vec<u16> = String::from_utf8_lossy(&bytes).encode_utf16().collect();
            if !bytes.contains(&0xED) {
                prop_assert_eq!(to_utf16(&bytes), expected);
            }
        }
    }
}
