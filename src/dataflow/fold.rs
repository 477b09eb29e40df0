//! The fold under which texts are compared (spec 04, section 2.3): Unicode NFKC, letters and digits
//! only, ECMAScript lower case.
//!
//! Works on UTF-16, because lengths are counted in its units and JavaScript strings may hold lone
//! surrogates. Most text is *simple*: a unit that NFKC leaves alone, that composes with nothing
//! before it, and that lower-cases to one unit or is dropped. Those go through a table, one page of
//! 256 units at a time, filled at first use. Everything else is normalised in small segments.
//!
//! Invariants: a segment starts at the simple unit before the first complex one (which it may compose
//! with) and ends before the next simple one (which cannot compose backwards), so folding segment by
//! segment equals folding the whole. A capital sigma depends on its neighbours after the filter, so
//! it stays as it is until the end.

use super::units::Units;
use std::sync::OnceLock;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Table mark: dropped by the filter.
const DROP: u16 = 0;
/// Table mark: needs the general path. U+FFFF is no character, so no unit maps to it.
const COMPLEX: u16 = 0xFFFF;
/// Lower-cases to one of two letters, depending on what surrounds it.
const SIGMA: u16 = 0x03A3;

type Page = Box<[u16; 256]>;

/// A pure function's values, not state: the same for every thread and realm.
static PAGES: [OnceLock<Page>; 256] = [const { OnceLock::new() }; 256];

/// ASCII, the bulk of real text, without the page look-up.
const ASCII: [u8; 128] = {
    let mut table = [0; 128];
    let mut c: u8 = 0;
    while c < 128 {
        if c.is_ascii_alphanumeric() {
            table[c as usize] = c.to_ascii_lowercase();
        }
        c += 1;
    }
    table
};

/// Whether the general category is L* or N*.
///
/// `char::is_alphabetic` adds combining vowel signs (M*) and enclosed letters (So) to L* and Nl.
fn is_letter_or_number(c: char) -> bool {
    let enclosed = matches!(c, '\u{24B6}'..='\u{24E9}' | '\u{1F130}'..='\u{1F189}');
    (c.is_alphabetic() && !enclosed && !is_combining_mark(c)) || c.is_numeric()
}

fn classify(unit: u16) -> u16 {
    let Some(c) = char::from_u32(u32::from(unit)) else { return COMPLEX };
    let stable = is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes && canonical_combining_class(c) == 0;
    if !stable {
        return COMPLEX;
    }
    if !is_letter_or_number(c) {
        return DROP;
    }
    if unit == SIGMA {
        return SIGMA;
    }
    let mut lower = c.to_lowercase();
    match (lower.next().map(u32::from), lower.next()) {
        (Some(one), None) => u16::try_from(one).unwrap_or(COMPLEX),
        _ => COMPLEX,
    }
}

fn page(high: usize) -> &'static Page {
    PAGES[high].get_or_init(|| {
        let base = u16::try_from(high << 8).unwrap_or(0);
        Box::new(std::array::from_fn(|low| classify(base | u16::try_from(low).unwrap_or(0))))
    })
}

fn lookup(unit: u16) -> u16 {
    match ASCII.get(usize::from(unit)) {
        Some(&lower) => u16::from(lower),
        None => page(usize::from(unit >> 8))[usize::from(unit & 0xFF)],
    }
}

/// The general path, for one segment.
fn fold_segment(segment: &[u16], out: &mut Vec<u16>) {
    let mut buffer = [0; 2];
    let mut push = |c: char, out: &mut Vec<u16>| {
        if !is_letter_or_number(c) {
            return;
        }
        if u32::from(c) == u32::from(SIGMA) {
            out.push(SIGMA);
            return;
        }
        for lower in c.to_lowercase() {
            out.extend_from_slice(lower.encode_utf16(&mut buffer));
        }
    };
    // A lone surrogate is a starter of category Cs: nothing composes across it, and it is dropped.
    let mut piece = String::new();
    for item in char::decode_utf16(segment.iter().copied()) {
        if let Ok(c) = item {
            piece.push(c);
        } else {
            piece.nfkc().for_each(|c| push(c, out));
            piece.clear();
        }
    }
    piece.nfkc().for_each(|c| push(c, out));
}

/// Folds `text`. Linear in its length.
#[must_use]
pub fn fold(text: &[u16]) -> Units {
    // Or-ed in blocks: a loop that the compiler turns into vector instructions.
    if text.chunks(64).all(|block| block.iter().fold(0, |all, unit| all | unit) < 128) {
        return Units::Narrow(fold_ascii(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut sigma = false;
    let mut at = 0;
    // Where the last simple unit is, and how long `out` was before it.
    let mut last: Option<(usize, usize)> = None;
    while at < text.len() {
        let unit = text[at];
        let mapped = lookup(unit);
        if mapped != COMPLEX {
            last = Some((at, out.len()));
            if mapped != DROP {
                sigma |= mapped == SIGMA;
                out.push(mapped);
            }
            at += 1;
            continue;
        }
        let start = last.take().map_or(at, |(index, length)| {
            out.truncate(length);
            index
        });
        while at < text.len() && lookup(text[at]) == COMPLEX {
            at += 1;
        }
        let before = out.len();
        fold_segment(&text[start..at], &mut out);
        sigma |= out[before..].contains(&SIGMA);
    }
    if sigma {
        out = resolve_sigma(&out);
    }
    Units::from_wide(out)
}

/// What two ASCII units at once fold to: up to two bytes, and above them how many.
static PAIRS: [u32; 1 << 14] = {
    let mut table = [0; 1 << 14];
    let mut index = 0;
    while index < table.len() {
        let (first, second) = (ASCII[index & 0x7F] as u32, ASCII[index >> 7] as u32);
        table[index] = match (first, second) {
            (0, 0) => 0,
            (0, one) | (one, 0) => one | 1 << 16,
            (first, second) => first | second << 8 | 2 << 16,
        };
        index += 1;
    }
    table
};

fn fold_ascii(text: &[u16]) -> Vec<u8> {
    const BLOCK: usize = 128;
    let mut out = Vec::with_capacity(text.len());
    for block in text.chunks(BLOCK) {
        let mut kept = [0_u8; BLOCK + 1];
        let mut length = 0;
        let (pairs, odd) = block.as_chunks::<2>();
        for &[first, second] in pairs {
            // Written always, counted only when kept: no branch to mispredict at every blank.
            let pair = PAIRS[usize::from(first & 0x7F) | usize::from(second & 0x7F) << 7];
            let [a, b, count, _] = pair.to_le_bytes();
            kept[length % BLOCK] = a;
            kept[length % BLOCK + 1] = b;
            length += usize::from(count);
        }
        out.extend_from_slice(&kept[..length]);
        out.extend(odd.iter().map(|&unit| ASCII[usize::from(unit & 0x7F)]).filter(|&kept| kept != 0));
    }
    out.shrink_to_fit();
    out
}

/// Everything but capital sigma is in lower case already, and lower-casing is idempotent.
fn resolve_sigma(units: &[u16]) -> Vec<u16> {
    String::from_utf16_lossy(units).to_lowercase().encode_utf16().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word by word.
    fn reference(text: &[u16]) -> Vec<u16> {
        let mut normal = String::new();
        let mut piece = String::new();
        for item in char::decode_utf16(text.iter().copied()) {
            if let Ok(c) = item {
                piece.push(c);
            } else {
                normal.extend(piece.nfkc());
                piece.clear();
            }
        }
        normal.extend(piece.nfkc());
        let kept: String = normal.chars().filter(|&c| is_letter_or_number(c)).collect();
        kept.to_lowercase().encode_utf16().collect()
    }

    fn utf16(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    #[test]
    fn vectors() {
        for (given, expected) in [
            ("", ""),
            ("Hello, World! 42", "helloworld42"),
            ("line\nbreak\ttab_under-score", "linebreaktabunderscore"),
            ("\u{FF28}\u{FF25}\u{FF2C}\u{FF2C}\u{FF2F}", "hello"),
            ("e\u{301}t\u{E9}", "\u{E9}t\u{E9}"),
            ("\u{FB01}n\u{E9}", "fin\u{E9}"),
            ("\u{130}", "i\u{307}"),
            ("\u{39F}\u{394}\u{39F}\u{3A3}", "\u{3BF}\u{3B4}\u{3BF}\u{3C2}"),
            ("\u{39F}\u{3A3}, \u{39F}", "\u{3BF}\u{3C3}\u{3BF}"),
            ("\u{3A3}", "\u{3C3}"),
            ("\u{1D400}\u{1F600}\u{10400}", "a\u{10428}"),
            ("\u{24B6}\u{2460}\u{BD}", "a112"),
            ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
            ("\u{D558}\u{11AB}", "\u{D55C}"),
            ("\u{6F22}\u{5B57}\u{3000}\u{30AB}\u{3099}", "\u{6F22}\u{5B57}\u{30AC}"),
            ("\u{915}\u{93E}", "\u{915}"),
        ] {
            let folded = fold(&utf16(given)).to_wide();
            assert_eq!(folded, utf16(expected), "{given:?}");
        }
    }

    #[test]
    fn lone_surrogates_vanish_and_block_composition() {
        assert_eq!(fold(&[0x61, 0xD800, 0x62, 0xDC00]).to_wide(), utf16("ab"));
        assert_eq!(fold(&[0x65, 0xD800, 0x301]).to_wide(), utf16("e"));
    }

    #[test]
    fn every_code_point_folds_as_defined_between_letters() {
        for c in (0..=0x10_FFFF).filter_map(char::from_u32) {
            let text = utf16(&format!("e{c}a"));
            assert_eq!(fold(&text).to_wide(), reference(&text), "U+{:04X}", u32::from(c));
        }
    }

    proptest! {
        #[test]
        fn folding_by_segment_equals_folding_the_whole(text in "[aeouΣσİéＡ\\u{301}\\u{308}\\u{327}\\u{1100}\\u{1161}\\u{11A8}가ﬁ 😀漢.]{0,24}") {
            let text = utf16(&text);
            prop_assert_eq!(fold(&text).to_wide(), reference(&text));
        }

        #[test]
        fn arbitrary_units(text in proptest::collection::vec(any::<u16>(), 0..40)) {
            prop_assert_eq!(fold(&text).to_wide(), reference(&text));
        }
    }
}
