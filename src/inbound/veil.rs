//! The catalogue's phrasings behind characters that a reader does not see, or sees as white space.
//!
//! The fast scan reads a text as it stands. This one looks only around *veils*, and undoes them:
//!
//! - control characters (C0 and C1 but white space, DEL), terminal escape sequences and lone surrogates
//!   are skipped, and bound a word just as the fast scan sees them do;
//! - invisible format characters (those of [`super::invisible`], and U+1D173–1D17A) are skipped and bound
//!   nothing: a soft hyphen does not make two words of one;
//! - fillers (U+115F, U+1160, U+180E, U+3164, U+FEFF, U+FFA0) are skipped inside a word and are white
//!   space between words;
//! - U+0085 and U+2800 are white space;
//! - `\uXXXX`, `\b` and `\f` as JSON spells them, and any line break or tab that is escaped twice, are the
//!   character they stand for, and begin an escape sequence or end a tag as it would.
//!
//! Invariants: ranges are of the text itself, which is never changed or copied here; they are ascending
//! and do not overlap; the time is linear, since a place is tried once and a try ends with the phrase.

use super::catalogue::{COUNT, FIRST_WORDS, NextAngle, PATTERNS, Step, tag_patterns};
use super::fold::{Unit, is_word};
use super::scan::{Budget, Matches, PatternSet};
use super::seen::{Seen, controls, is_veil, next_veil, see};
use std::ops::Range;

/// How far before a veil a phrase that it is in may begin, not counting white space.
const REACH: usize = 64;
/// Veils between two looks at the clock.
const VEILS_PER_CLOCK: usize = 64;

/// Which letters first words begin with, one bit each.
const FIRST_LETTERS: u32 = {
    let mut letters = 0;
    let mut i = 0;
    while i < FIRST_WORDS.len() {
        letters |= 1 << (FIRST_WORDS[i].0.as_bytes()[0] & 0x1F);
        i += 1;
    }
    letters
};

/// Matches with a veil in them or right before them. `None` when the budget ran out.
#[must_use]
pub fn find<U: Unit>(text: &[U], wanted: PatternSet, budget: &Budget) -> Option<Matches> {
    let mut walk =
        Walk { text, wanted, free_from: [0; COUNT], angle: NextSeenAngle::default(), found: Vec::new() };
    let (mut tried_to, mut after_word) = (0, false);
    let mut veils = 0_usize;
    while let Some(veil) = next_veil(text, tried_to) {
        if veils.is_multiple_of(VEILS_PER_CLOCK) && budget.exceeded() {
            return None;
        }
        veils += 1;
        let start = reach(text, tried_to, veil);
        if start > tried_to {
            after_word = is_word(text[start - 1].fold());
        }
        // What stands right behind the veil is tried as well: the fast scan took the end of an escape
        // for a letter before it. It is no veil, or it is the next one.
        let mut at = start;
        while at <= veil {
            let Some((seen, length)) = see(text, at) else { break };
            walk.try_at(at, seen, length, after_word);
            if seen != Seen::Gone {
                after_word = seen.is_word();
            }
            at += length;
        }
        let crowd = controls(text, at);
        if crowd > 0 {
            after_word = false;
            at += crowd;
        }
        if let Some((seen, length)) = see(text, at)
            && !is_veil(text, at)
        {
            walk.try_at(at, seen, length, after_word);
            after_word = seen.is_word();
            at += length;
        }
        tried_to = at;
    }
    Some(walk.found)
}

/// Where a phrase around a veil may begin at the earliest, not before `least`.
fn reach<U: Unit>(text: &[U], least: usize, veil: usize) -> usize {
    let mut at = veil;
    let mut left = REACH;
    while at > least && left > 0 {
        at -= 1;
        if at > least && text[at - 1].fold() == b'\\' && matches!(text[at].fold(), b'n' | b'r' | b't') {
            // White space, too, as JSON spells it.
            at -= 1;
        } else {
            left -= usize::from(text[at].fold() != b' ');
        }
    }
    at
}

/// Where the next closing angle bracket is, as it is or spelled; linear over a whole text as [`NextAngle`] is.
#[derive(Default)]
struct NextSeenAngle {
    plain: NextAngle,
    /// Behind a spelled one, and the place up to which none comes before it.
    spelled: Option<usize>,
    spelled_from: usize,
}

impl NextSeenAngle {
    /// Where the next one at or after a place ends.
    fn end<U: Unit>(&mut self, text: &[U], at: usize) -> Option<usize> {
        let plain = self.plain.from(text, at).map(|at| at + 1);
        let limit = plain.unwrap_or(text.len());
        if self.spelled.is_none_or(|end| end <= at) {
            self.spelled = None;
            let mut from = at.max(self.spelled_from);
            while self.spelled.is_none() && from < limit {
                let Some(slash) = U::find(&text[from..limit], b'\\') else { break };
                let Some((seen, length)) = see(text, from + slash) else { break };
                from += slash + length;
                self.spelled = (seen == Seen::Char(b'>')).then_some(from);
            }
            self.spelled_from = if self.spelled.is_some() { from } else { limit.max(from) };
        }
        self.spelled.filter(|end| plain.is_none_or(|plain| *end < plain)).or(plain)
    }
}

struct Walk<'a, U> {
    text: &'a [U],
    wanted: PatternSet,
    free_from: [usize; COUNT],
    angle: NextSeenAngle,
    found: Matches,
}

impl<U: Unit> Walk<'_, U> {
    /// Tries what may start at a place.
    fn try_at(&mut self, at: usize, seen: Seen, length: usize, after_word: bool) {
        let Seen::Char(byte) = seen else { return };
        if byte == b'<' {
            let next = in_word(self.text, at + length).map_or(0, |(byte, _)| byte);
            for pattern in tag_patterns(next) {
                self.try_pattern(*pattern, at);
            }
        } else if !after_word && byte.is_ascii_lowercase() && FIRST_LETTERS & (1 << (byte & 0x1F)) != 0 {
            let text = self.text;
            let first = FIRST_WORDS.iter().find(|(word, _)| {
                word.as_bytes()[0] == byte
                    && after_known(word, text, at).is_some_and(|end| word_ends(text, end))
            });
            for pattern in first.map_or(&[][..], |(_, patterns)| patterns) {
                self.try_pattern(*pattern, at);
            }
        }
    }

    fn try_pattern(&mut self, pattern: usize, at: usize) {
        if !self.wanted.has(pattern) || at < self.free_from[pattern] {
            return;
        }
        let end = PATTERNS[pattern].iter().find_map(|steps| run(steps, self.text, at, &mut self.angle));
        if let Some(end) = end {
            self.free_from[pattern] = end;
            self.found.push((u8::try_from(pattern).unwrap_or(u8::MAX), at..end));
        }
    }
}

/// The catalogue's steps over what a reader sees.
fn run<U: Unit>(steps: &[Step], text: &[U], start: usize, angle: &mut NextSeenAngle) -> Option<usize> {
    let mut at = start;
    for step in steps {
        at = match step {
            Step::Word(words) => after_word(words, text, at)?,
            Step::Text(texts) => texts.iter().find_map(|known| after_known(known, text, at))?,
            Step::Space => after_space(text, at)?,
            Step::Gap => after_space(text, at).unwrap_or(at),
            Step::Maybe(word) => {
                after_word(&[word], text, at).and_then(|end| after_space(text, end)).unwrap_or(at)
            }
            Step::MaybeText(known) => after_known(known, text, at).unwrap_or(at),
            Step::Boundary => {
                let before = at > 0 && is_word(text[at - 1].fold());
                Some(at).filter(|at| before == word_ends(text, *at))?
            }
            Step::ToClosingAngle => angle.end(text, at)?,
        };
    }
    Some(at)
}

/// The next character of a word, and where it ends.
fn in_word<U: Unit>(text: &[U], mut at: usize) -> Option<(u8, usize)> {
    loop {
        let (seen, length) = see(text, at)?;
        at += length;
        match seen {
            Seen::Char(byte) => return Some((byte, at)),
            Seen::Blank => return None,
            Seen::Filler | Seen::Gone | Seen::Cut => {}
        }
    }
}

/// Where a known text that is at a place ends.
fn after_known<U: Unit>(known: &str, text: &[U], at: usize) -> Option<usize> {
    known
        .bytes()
        .try_fold(at, |at, byte| in_word(text, at).filter(|(seen, _)| *seen == byte).map(|(_, end)| end))
}

fn after_word<U: Unit>(words: &[&str], text: &[U], at: usize) -> Option<usize> {
    words.iter().filter_map(|word| after_known(word, text, at)).find(|end| word_ends(text, *end))
}

/// Whether no word goes on at a place.
fn word_ends<U: Unit>(text: &[U], mut at: usize) -> bool {
    while let Some((seen, length)) = see(text, at) {
        if seen != Seen::Gone {
            return !seen.is_word();
        }
        at += length;
    }
    true
}

/// Where the white space at a place ends, if there is any.
fn after_space<U: Unit>(text: &[U], mut at: usize) -> Option<usize> {
    let mut any = false;
    while let Some((seen, length)) = see(text, at) {
        match seen {
            Seen::Char(_) => break,
            Seen::Blank | Seen::Filler => any = true,
            Seen::Gone | Seen::Cut => {}
        }
        at += length;
    }
    any.then_some(at)
}

/// The places that matches cover, ascending, those that overlap as one.
#[must_use]
pub fn covered(matches: &[(u8, Range<usize>)]) -> Vec<Range<usize>> {
    let mut ranges: Vec<_> = matches.iter().map(|(_, range)| range.clone()).collect();
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let overlap = next.start < last.end;
        if overlap {
            last.end = last.end.max(next.end);
        }
        overlap
    });
    ranges
}

#[cfg(test)]
#[path = "veil_tests.rs"]
mod tests;
