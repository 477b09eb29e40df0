//! What a reader makes of the units of a text, and where that is not what the fast scan makes of them.
//!
//! The rules are those of [`super::veil`], which looks for phrasings in it. Most text needs no look: whole
//! blocks of it are passed over.

use super::fold::{OPAQUE, Unit, is_word};
use super::invisible;
use std::ops::Range;

/// The longest terminal escape sequence that is undone.
const LONGEST_ESCAPE: usize = 128;
/// The most backslashes before an escaped character that are undone.
const MOST_BACKSLASHES: usize = 8;
/// Units that are passed over at once when all of them are ordinary.
const BLOCK: usize = 64;
/// What a reader makes of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A character, folded.
    Char(u8),
    /// White space.
    Blank,
    /// Nothing inside a word, a blank between words.
    Filler,
    /// Nothing, and no end of a word.
    Gone,
    /// Nothing, but a word may end here.
    Cut,
}

impl Seen {
    /// Whether it belongs to a word.
    pub fn is_word(self) -> bool {
        matches!(self, Self::Char(byte) if is_word(byte))
    }
}

/// What is at a place, and how many units it takes.
pub fn see<U: Unit>(text: &[U], at: usize) -> Option<(Seen, usize)> {
    let unit: u16 = (*text.get(at)?).into();
    if matches!(unit, 0x21..0x5C) || matches!(unit, 0x5D..0x7F) {
        return Some((Seen::Char(text[at].fold()), 1));
    }
    Some(match unit {
        0x1B | 0x90..=0x9F => (Seen::Cut, 1 + sequence(unit, text, at + 1)),
        0x5C => escaped(text, at),
        0xD800..=0xDFFF => surrogates(unit, text.get(at + 1).map_or(0, |next| (*next).into())),
        _ => (single(unit), 1),
    })
}

/// A unit that stands for itself.
fn single(unit: u16) -> Seen {
    match unit {
        0x85 | 0x2800 => Seen::Blank,
        0x115F | 0x1160 | 0x180E | 0x3164 | 0xFEFF | 0xFFA0 => Seen::Filler,
        _ => match unit.fold() {
            b' ' => Seen::Blank,
            0..0x20 | 0x7F => Seen::Cut,
            OPAQUE if unit < 0xA0 => Seen::Cut,
            // U+FFF0 to U+FFF8 are nothing yet, and what is to be will not be seen.
            OPAQUE if invisible::may_be_invisible(unit) || matches!(unit, 0xFFF0..=0xFFF8) => Seen::Gone,
            byte => Seen::Char(byte),
        },
    }
}

/// A surrogate and what follows it.
fn surrogates(unit: u16, next: u16) -> (Seen, usize) {
    match (unit, next) {
        // Musical beams, shorthand format controls, and the plane of tags and selectors, given out or not.
        (0xD834, 0xDD73..=0xDD7A) | (0xD82F, 0xDCA0..=0xDCA3) | (0xDB40..=0xDB43, 0xDC00..=0xDFFF) => {
            (Seen::Gone, 2)
        }
        (0xD800..=0xDBFF, 0xDC00..=0xDFFF) => (Seen::Char(OPAQUE), 2),
        _ => (Seen::Cut, 1),
    }
}

/// How much of the terminal's control sequence that a control character begins stands at `at`, behind it:
/// nothing, when it begins none. ESC and one letter is none either, since the letter may be a word's.
fn sequence<U: Unit>(control: u16, text: &[U], at: usize) -> usize {
    let rest = &text[at.min(text.len())..text.len().min(at + LONGEST_ESCAPE - 1)];
    let first = rest.first().map_or(0, |unit| (*unit).into());
    let length = match (control, first) {
        (0x1B, 0x5B) => control_end(rest, 1),
        (0x1B, 0x5D | 0x50 | 0x58 | 0x5E | 0x5F) => string_end(rest, 1),
        // Character sets, tests and the like: intermediates, then one final byte.
        (0x1B, 0x21..=0x2F) => {
            let last = rest.iter().position(|unit| !matches!((*unit).into(), 0x20..=0x2F));
            last.filter(|last| matches!(rest[*last].into(), 0x30..=0x7E)).map(|last| last + 1)
        }
        (0x1B, 0x30..=0x3F) => Some(1),
        // The same as one character. Without a parameter its final byte may be a word's letter.
        (0x9B, 0x30..=0x3F) => control_end(rest, 0),
        (0x90 | 0x98 | 0x9D..=0x9F, _) => string_end(rest, 0),
        _ => None,
    };
    length.unwrap_or(0)
}

/// Where parameters and intermediates and one final byte end.
fn control_end<U: Unit>(rest: &[U], from: usize) -> Option<usize> {
    let last = from + rest.get(from..)?.iter().position(|unit| !matches!((*unit).into(), 0x20..=0x3F))?;
    matches!(rest[last].into(), 0x40..=0x7E).then_some(last + 1)
}

/// Where a string for the terminal, such as a title or a link, ends: behind BEL, ST or ESC \, each as it is
/// or as JSON spells it.
fn string_end<U: Unit>(rest: &[U], from: usize) -> Option<usize> {
    let slashes = |at: usize| {
        rest[at.min(rest.len())..]
            .iter()
            .take(MOST_BACKSLASHES)
            .take_while(|unit| (**unit).into() == 0x5C)
            .count()
    };
    let mut at = from;
    while at < rest.len() {
        let (control, length) = match rest[at].into() {
            0x5C => spelled(rest, at).unwrap_or((0, 1)),
            unit => (unit, 1),
        };
        at += length;
        match control {
            7 | 0x9C => return Some(at),
            0x1B if slashes(at) > 0 => return Some(at + slashes(at)),
            _ => {}
        }
    }
    None
}

/// The unit that `\uXXXX` at a place spells, and its length.
fn spelled<U: Unit>(text: &[U], at: usize) -> Option<(u16, usize)> {
    let unit = |index: usize| text.get(at + index).map_or(0, |unit| (*unit).into());
    let slashes = (0..=MOST_BACKSLASHES).take_while(|index| unit(*index) == 0x5C).count();
    if slashes == 0 || unit(slashes) != 0x75 {
        return None;
    }
    hex(text, at + slashes + 1).map(|unit| (unit, slashes + 5))
}

/// What backslashes and the unit behind them stand for.
fn escaped<U: Unit>(text: &[U], at: usize) -> (Seen, usize) {
    let unit = |index: usize| text.get(at + index).map_or(0, |unit| (*unit).into());
    let slashes = (0..=MOST_BACKSLASHES).take_while(|index| unit(*index) == 0x5C).count();
    match unit(slashes) {
        // n, r, t, f
        0x6E | 0x72 | 0x74 | 0x66 => (Seen::Blank, slashes + 1),
        // b
        0x62 => (Seen::Cut, slashes + 1),
        _ => match spelled(text, at) {
            Some((unit @ (0x1B | 0x90..=0x9F), length)) => {
                (Seen::Cut, length + sequence(unit, text, at + length))
            }
            Some((unit @ 0xD800..=0xDFFF, length)) => half(unit, text, at, length),
            Some((unit, length)) => (single(unit), length),
            None => (Seen::Char(b'\\'), 1),
        },
    }
}

/// A spelled surrogate at `at`: the pair it begins, the rest of a pair, or, without its other half, nothing.
fn half<U: Unit>(unit: u16, text: &[U], at: usize, length: usize) -> (Seen, usize) {
    if unit >= 0xDC00 {
        let before = at.checked_sub(6).and_then(|before| spelled(text, before));
        let ends_pair = matches!(before, Some((0xD800..=0xDBFF, 6)));
        return (if ends_pair { Seen::Char(OPAQUE) } else { Seen::Cut }, length);
    }
    match spelled(text, at + length) {
        Some((low @ 0xDC00..=0xDFFF, more)) => (surrogates(unit, low).0, length + more),
        _ => (Seen::Cut, length),
    }
}

/// Four hexadecimal digits.
fn hex<U: Unit>(text: &[U], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 4)?;
    digits
        .iter()
        .try_fold(0, |value, digit| Some(value << 4 | char::from(digit.fold()).to_digit(16)?))
        .and_then(|value| value.try_into().ok())
}

/// Whether a reader sees something else at a place than the fast scan does, and it may matter to a phrase.
pub fn is_veil<U: Unit>(text: &[U], at: usize) -> bool {
    let unit: u16 = text[at].into();
    let next = text.get(at + 1).map_or(0, |next| (*next).into());
    let before = at.checked_sub(1).map_or(0, |before| text[before].into());
    match unit {
        0x5C => {
            let (seen, length) = escaped(text, at);
            match seen {
                // A word may begin behind it.
                Seen::Char(OPAQUE) => text.get(at + length).is_some_and(|next| is_word(next.fold())),
                _ => length > 2 || (next == 0x66 || next == 0x62),
            }
        }
        0xDC00..=0xDFFF if matches!(before, 0xD800..=0xDBFF) => false,
        0xD800..=0xDFFF => surrogates(unit, next).0 != Seen::Char(OPAQUE),
        0x85 | 0x2800 => !(is_opaque(before) || is_opaque(next)),
        _ => {
            let seen_alike = matches!(single(unit), Seen::Char(_) | Seen::Blank);
            !(seen_alike || is_opaque(before) || is_opaque(next))
        }
    }
}

/// Whether a unit is a visible character beyond ASCII: no phrase has one, so none goes on across it.
fn is_opaque(unit: u16) -> bool {
    unit > 0x7F && !matches!(unit, 0xD800..=0xDFFF) && single(unit) == Seen::Char(OPAQUE)
}

/// How many control characters that stand for themselves follow each other at a place: nothing begins at any of
/// them, and each bounds a word, so a thousand say no more than one.
pub fn controls<U: Unit>(text: &[U], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or(&[]);
    rest.iter().take_while(|unit| matches!((**unit).into(), 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)).count()
}

/// The first veil at or after a place.
pub fn next_veil<U: Unit>(text: &[U], from: usize) -> Option<usize> {
    // Veils often come in crowds.
    let near = text.len().min(from + 4);
    if let Some(found) = first_veil(text, from..near) {
        return Some(found);
    }
    let mut at = near;
    while let Some(block) = text.get(at..=at + BLOCK) {
        let pairs = || block[..BLOCK].iter().zip(&block[1..]);
        // Without an early end, so that compilers make vector code of it.
        if !block[..BLOCK].iter().fold(true, |all, unit| all & unit.is_simple())
            && !pairs().fold(true, |all, (unit, next)| all & unit.is_usual(*next))
            && let Some(found) = first_veil(text, at..at + BLOCK)
        {
            return Some(found);
        }
        at += BLOCK;
    }
    first_veil(text, at..text.len())
}

fn first_veil<U: Unit>(text: &[U], mut range: Range<usize>) -> Option<usize> {
    range.find(|at| {
        let next = text.get(at + 1).copied().unwrap_or(U::of_ascii(b'\\'));
        !text[*at].is_usual(next) && is_veil(text, *at)
    })
}
