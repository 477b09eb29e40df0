//! Mends gaps of the engine by adding code to the script, where it would compute something else, fail, or take time that
//! grows with the square of a text.
//!
//! One file for each gap. Ways out of loops and of `finally` blocks come first, since what they add may need the others;
//! text that is gathered comes last. Within each of these three passes all find their places in the same tree. What is
//! added moves nothing that is the script's own, other than within its line, and is told as [`Added`]. Whoever calls
//! makes sure that the script still parses, and leaves it as it is otherwise.

mod cases;
mod exits;
mod fields;
mod finals;
mod growing;
mod jumps;
mod keys;
mod operands;
mod vars;

use super::added::{self, Added};
use super::strip::read;
use oxc_ast::ast::Program;

/// Code to put in front of the byte.
type Piece = (usize, String);

/// Code with additions, and what they are.
type Mended = Option<(Vec<u16>, Added)>;

/// The code with the ways out of loops over keys and of `finally` blocks mended, in which there may be other gaps then;
/// None when there are none.
pub fn exits_mended(code: &[u16]) -> Mended {
    if !holds(code, "finally") && !holds_word(code, "in") {
        return None;
    }
    with_pieces(code, |_, program| {
        let (mut pieces, ends) = keys::pieces(program);
        pieces.extend(exits::pieces(program));
        pieces.extend(ends);
        pieces
    })
}

/// The code with its other gaps mended; None when there is none.
pub fn mended(code: &[u16]) -> Mended {
    let words = ["class", "finally", "break", "switch", "=", "++", "--"];
    if !words.iter().any(|word| holds(code, word)) {
        return None;
    }
    with_pieces(code, |text, program| {
        let mut pieces = fields::pieces(text, program);
        pieces.extend(operands::pieces(program));
        pieces.extend(finals::pieces(program));
        pieces.extend(jumps::pieces(program));
        pieces.extend(vars::pieces(program));
        pieces.extend(cases::pieces(text, program));
        pieces
    })
}

/// The code with what its variables gather piece by piece kept from being copied for each; None when none does. Comes
/// last: it has to know every place that names them.
pub fn growing_mended(code: &[u16]) -> Mended {
    if !holds(code, "+") {
        return None;
    }
    with_pieces(code, growing::pieces)
}

fn with_pieces(code: &[u16], pieces: impl FnOnce(&str, &Program<'_>) -> Vec<Piece>) -> Mended {
    let pieces = read(code, |text, parsed| units(text, pieces(text, &parsed.program)));
    if pieces.is_empty() {
        return None;
    }
    Some(added::insert(code, pieces))
}

/// Whether a word may be in the code: nothing without it has such a gap.
fn holds(code: &[u16], word: &str) -> bool {
    let word: Vec<u16> = word.encode_utf16().collect();
    code.windows(word.len()).any(|part| part == word)
}

/// The same of a word that is in many others.
fn holds_word(code: &[u16], word: &str) -> bool {
    let word: Vec<u16> = word.encode_utf16().collect();
    let ends = |unit: Option<&u16>| {
        unit.is_none_or(|unit| {
            u8::try_from(*unit).is_ok_and(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
        })
    };
    let at = |(at, part): (usize, &[u16])| {
        part == word
            && ends(at.checked_sub(1).and_then(|before| code.get(before)))
            && ends(code.get(at + word.len()))
    };
    code.windows(word.len()).enumerate().any(at)
}

/// By units in place of bytes: each character has as many here as there.
fn units(text: &str, mut pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.sort_by_key(|(at, _)| *at);
    let (mut byte, mut unit) = (0, 0);
    for (at, _) in &mut pieces {
        unit += text[byte..*at].encode_utf16().count();
        byte = *at;
        *at = unit;
    }
    pieces
}

#[cfg(test)]
fn mend(code: &str) -> String {
    mend_by(mended, code)
}

#[cfg(test)]
fn mend_exits(code: &str) -> String {
    mend_by(exits_mended, code)
}

#[cfg(test)]
fn mend_growing(code: &str) -> String {
    mend_by(growing_mended, code)
}

#[cfg(test)]
fn mend_by(mended: fn(&[u16]) -> Mended, code: &str) -> String {
    let units: Vec<u16> = code.encode_utf16().collect();
    mended(&units).map_or_else(|| code.to_owned(), |(code, _)| String::from_utf16(&code).unwrap())
}
