//! Cuts that never split a surrogate pair.
//!
//! A cut that would fall inside a pair moves inward by one unit, so the piece is never longer than
//! asked. Lone surrogates that were in the text before are left alone.

use super::wtf8::{is_high, is_low};

/// Where a prefix of at most `want` units ends.
#[must_use]
pub fn prefix_end(units: &[u16], want: usize) -> usize {
    let end = want.min(units.len());
    if splits_pair(units, end) { end - 1 } else { end }
}

/// Where a suffix of at most `want` units starts.
#[must_use]
pub fn suffix_start(units: &[u16], want: usize) -> usize {
    let start = units.len() - want.min(units.len());
    if splits_pair(units, start) { start + 1 } else { start }
}

/// Whether a cut before index `at` would part a high surrogate from its low one.
#[must_use]
pub fn splits_pair(units: &[u16], at: usize) -> bool {
    at > 0 && at < units.len() && is_high(units[at - 1]) && is_low(units[at])
}

/// The longest prefix of WTF-8 bytes, at most `want` long, that ends between two characters.
///
/// Bytes that are no valid start of a character count as characters of their own. `more` tells
/// whether the text goes on after `bytes`.
#[must_use]
pub fn byte_prefix_end(bytes: &[u8], want: usize, more: bool) -> usize {
    let end = want.min(bytes.len());
    if end == bytes.len() && !more {
        return end;
    }
    // An incomplete character has its lead byte among the last three.
    for back in 1..=end.min(3) {
        let lead = bytes[end - back];
        let len = match lead {
            0x80..=0xBF => continue,
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        return if len > back { end - back } else { end };
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn cuts_move_inward() {
        let text = units("aaaaaaaaa🦊");
        assert_eq!(prefix_end(&text, 10), 9);
        assert_eq!(prefix_end(&text, 11), 11);
        assert_eq!(suffix_start(&text, 1), 11);
        assert_eq!(suffix_start(&text, 2), 9);
        assert_eq!(suffix_start(&text, 99), 0);
    }

    #[test]
    fn byte_cuts_move_inward() {
        let text = "h é🦊".as_bytes();
        let ends: Vec<usize> = (0..=text.len()).map(|n| byte_prefix_end(text, n, false)).collect();
        assert_eq!(ends, [0, 1, 2, 2, 4, 4, 4, 4, 8]);
        assert_eq!(byte_prefix_end(&text[..3], 3, true), 2);
        assert_eq!(byte_prefix_end(b"\xFF\xFF\x80", 2, true), 2);
    }

    proptest! {
        #[test]
        fn pieces_of_well_formed_text_are_well_formed(text in "\\PC{0,40}", want in 0usize..90) {
            let all = units(&text);
            let head = &all[..prefix_end(&all, want)];
            let tail = &all[suffix_start(&all, want)..];
            prop_assert!(head.len() <= want && tail.len() <= want);
            prop_assert!(String::from_utf16(head).is_ok() && String::from_utf16(tail).is_ok());
            let bytes = text.as_bytes();
            prop_assert!(std::str::from_utf8(&bytes[..byte_prefix_end(bytes, want, false)]).is_ok());
        }
    }
}
