//! The cutter for the default token counter: four UTF-16 units a token.
//!
//! A cut needs only a window of the text (as many units as the cap allows, from either end), so a
//! text of any size costs the same. Invariants, tested: no cut splits a surrogate pair, and the
//! result keeps to the cap whenever the marker itself fits.

use crate::value::cut::{prefix_end, suffix_start};

/// UTF-16 units the default counter takes for one token.
pub const UNITS_PER_TOKEN: usize = 4;

/// Which pieces of the text surround the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Head, marker, tail.
    Middle,
    /// Marker, tail.
    Tail,
    /// Head, marker.
    Head,
}

/// How many tokens the pieces of a shape may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budgets {
    /// Tokens of the piece before the marker.
    pub head: usize,
    /// Tokens of the piece after it.
    pub tail: usize,
}

/// Splits the cap between the pieces, after the marker and the line feeds that join them.
#[must_use]
pub fn budgets(shape: Shape, cap_tokens: usize, marker_units: usize) -> Budgets {
    let slot = cap_tokens.saturating_sub(marker_units.div_ceil(UNITS_PER_TOKEN));
    let line_feeds = if shape == Shape::Middle { 2 } else { 1 };
    // A token less when the line feeds would not fit beside a full slot.
    let room = cap_tokens.saturating_mul(UNITS_PER_TOKEN).saturating_sub(marker_units + line_feeds);
    let slot = slot.min(room / UNITS_PER_TOKEN);
    match shape {
        Shape::Middle => Budgets { head: slot / 2, tail: slot - slot / 2 },
        Shape::Tail => Budgets { head: 0, tail: slot },
        Shape::Head => Budgets { head: slot, tail: 0 },
    }
}

/// Builds the bounded text.
///
/// `head` starts where the text starts and `tail` ends where it ends; each must be at least as long
/// as its budget (or the whole text). One unit beyond the budget lets the cut see a pair.
#[must_use]
pub fn assemble(shape: Shape, cap_tokens: usize, marker: &[u16], head: &[u16], tail: &[u16]) -> Vec<u16> {
    const LINE_FEED: u16 = b'\n' as u16;
    let budgets = budgets(shape, cap_tokens, marker.len());
    let head = &head[..prefix_end(head, budgets.head.saturating_mul(UNITS_PER_TOKEN))];
    let tail = &tail[suffix_start(tail, budgets.tail.saturating_mul(UNITS_PER_TOKEN))..];
    let mut out = Vec::with_capacity(head.len() + marker.len() + tail.len() + 2);
    if shape != Shape::Tail {
        out.extend_from_slice(head);
        out.push(LINE_FEED);
    }
    out.extend_from_slice(marker);
    if shape != Shape::Head {
        out.push(LINE_FEED);
        out.extend_from_slice(tail);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Vec<u16> {
        text.encode_utf16().collect()
    }

    fn cut(shape: Shape, cap: usize, marker: &str, text: &str) -> String {
        let all = units(text);
        String::from_utf16_lossy(&assemble(shape, cap, &units(marker), &all, &all))
    }

    #[test]
    fn pieces_surround_the_marker() {
        assert_eq!(cut(Shape::Middle, 6, "/*m*/", "0123456789abcdefghij"), "01234567\n/*m*/\ncdefghij");
        assert_eq!(cut(Shape::Tail, 4, "/*mm*/", "0123456789abcdefghij"), "/*mm*/\ncdefghij");
        assert_eq!(cut(Shape::Head, 4, "/*mm*/", "0123456789abcdefghij"), "01234567\n/*mm*/");
        assert_eq!(cut(Shape::Middle, 1, "/*mm*/", "0123456789abcdefghij"), "\n/*mm*/\n");
    }

    proptest! {
        #[test]
        fn keeps_to_the_cap_and_to_pairs(
            text in "[a🦊é]{0,400}", cap in 0usize..120, marker in "[a-z]{1,60}",
            shape in prop::sample::select(vec![Shape::Middle, Shape::Tail, Shape::Head])
        ) {
            let all = units(&text);
            prop_assume!(all.len() > cap * UNITS_PER_TOKEN);
            let out = assemble(shape, cap, &units(&marker), &all, &all);
            prop_assert!(String::from_utf16(&out).is_ok());
            if marker.len() + 2 <= cap * UNITS_PER_TOKEN {
                prop_assert!(out.len().div_ceil(UNITS_PER_TOKEN) <= cap);
            }
            // A window instead of the text gives the same result.
            let window = cap * UNITS_PER_TOKEN + 1;
            let head = &all[..window.min(all.len())];
            let tail = &all[all.len() - window.min(all.len())..];
            prop_assert_eq!(assemble(shape, cap, &units(&marker), head, tail), out);
        }
    }
}
