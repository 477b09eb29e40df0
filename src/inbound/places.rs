//! Where a pattern may start, found by a filter that compilers turn into vector code.
//!
//! Every pattern begins with one of a few words followed by white space, or with `<` and one of a few
//! bytes. A place of the first kind is a blank behind three letters whose hash is that of some first
//! word's last three; the word itself is compared only there. The cost hardly depends on how often
//! such words occur, and a text full of them is no attack on it.

use super::catalogue::{AFTER_ANGLE, FIRST_WORDS, TAG_PATTERNS};
use super::fold::is_word;

/// Bytes before and after a byte that decide about it.
const BEFORE: usize = 3;
const AFTER: usize = 1;
const LANES: usize = 64;
const WINDOW: usize = BEFORE + LANES + AFTER;
const WORDS: usize = LANES / 8;

const HASHES: [u8; FIRST_WORDS.len()] = {
    let mut hashes = [0; FIRST_WORDS.len()];
    let mut i = 0;
    while i < hashes.len() {
        let word = FIRST_WORDS[i].0.as_bytes();
        let len = word.len();
        hashes[i] = hash(word[len - 3], word[len - 2], word[len - 1]);
        i += 1;
    }
    hashes
};

const fn hash(third_last: u8, second_last: u8, last: u8) -> u8 {
    last.wrapping_add(second_last << 1).wrapping_add(third_last << 2)
}

/// The end of a chain of words with one hash.
const NONE: u8 = u8::MAX;

/// The first word of each hash, and for each word the next one of its hash.
const CHAINS: ([u8; 256], [u8; FIRST_WORDS.len()]) = {
    let mut first = [NONE; 256];
    let mut next = [NONE; FIRST_WORDS.len()];
    let mut i: u8 = 0;
    while (i as usize) < FIRST_WORDS.len() {
        let slot = HASHES[i as usize] as usize;
        next[i as usize] = first[slot];
        first[slot] = i;
        i += 1;
    }
    (first, next)
};

/// Marks the bytes of a window that deserve a look.
///
/// Without optimisation the passes of [`mark_lanes`] cost a microsecond a byte, and scans of a few
/// hundred kilobytes would run out of their time in development builds.
fn mark(window: &[u8; WINDOW], marks: &mut [u8; LANES]) {
    if cfg!(debug_assertions) { mark_by_table(window, marks) } else { mark_lanes(window, marks) }
}

/// One look-up a blank, one comparison an angle.
fn mark_by_table(window: &[u8; WINDOW], marks: &mut [u8; LANES]) {
    for (lane, bytes) in window.windows(BEFORE + 1 + AFTER).enumerate() {
        let [third_last, second_last, last, here, next] = *bytes else { return };
        marks[lane] = match here {
            b' ' => u8::from(CHAINS.0[usize::from(hash(third_last, second_last, last))] != NONE),
            b'<' => u8::from(AFTER_ANGLE.contains(&next)),
            _ => 0,
        };
    }
}

/// Written as plain passes over the lanes, constants outside, which compilers turn into vector code.
fn mark_lanes(window: &[u8; WINDOW], marks: &mut [u8; LANES]) {
    let mut endings = [0; LANES];
    for (lane, ending) in endings.iter_mut().enumerate() {
        *ending = hash(window[lane], window[lane + 1], window[lane + 2]);
    }
    let mut is_ending = [0; LANES];
    for known in &HASHES {
        for (is, ending) in is_ending.iter_mut().zip(&endings) {
            *is |= u8::from(ending == known);
        }
    }
    let mut is_tag = [0; LANES];
    for known in &AFTER_ANGLE {
        for (is, next) in is_tag.iter_mut().zip(&window[BEFORE + 1..]) {
            *is |= u8::from(next == known);
        }
    }
    for (lane, mark) in marks.iter_mut().enumerate() {
        let here = window[BEFORE + lane];
        *mark = (is_ending[lane] & u8::from(here == b' ')) | (is_tag[lane] & u8::from(here == b'<'));
    }
}

/// `ends_with`, backwards byte by byte: most tries fail within two bytes, before a call would pay.
fn ends_with(text: &[u8], word: &[u8]) -> bool {
    text.len() >= word.len() && text.iter().rev().zip(word.iter().rev()).all(|(a, b)| a == b)
}

/// The places of a fold, in ascending order for every pattern: where a match may start, and of which
/// patterns.
pub struct Places<'a> {
    fold: &'a [u8],
    /// Where the marked window starts in the fold.
    base: usize,
    /// The window's marks, eight lanes a word, one byte a lane.
    marks: [u64; WORDS],
    /// The word of marks looked at; what was looked at is cleared.
    word: usize,
}

impl<'a> Places<'a> {
    /// Starts at the beginning.
    pub fn new(fold: &'a [u8]) -> Self {
        let mut places = Self { fold, base: 0, marks: [0; WORDS], word: 0 };
        places.mark_window();
        places
    }

    fn mark_window(&mut self) {
        let from = self.base;
        let inside = from >= BEFORE && from + LANES + AFTER <= self.fold.len();
        let mut marks = [0; LANES];
        if inside {
            let window = self.fold[from - BEFORE..].first_chunk().unwrap_or(&[0; WINDOW]);
            mark(window, &mut marks);
        } else {
            // At the edges, with zeros around the text.
            let mut window = [0; WINDOW];
            for (offset, byte) in window.iter_mut().enumerate() {
                let at = (from + offset).checked_sub(BEFORE);
                *byte = at.and_then(|at| self.fold.get(at)).copied().unwrap_or(0);
            }
            mark(&window, &mut marks);
        }
        for (word, bytes) in self.marks.iter_mut().zip(marks.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        self.word = 0;
    }

    /// What can start at, or just before, a marked byte.
    fn place(&self, at: usize) -> Option<(usize, &'static [usize])> {
        if self.fold[at] == b'<' {
            return Some((at, &TAG_PATTERNS));
        }
        let before = &self.fold[..at];
        let [.., third_last, second_last, last] = before else { return None };
        let (first, next) = &CHAINS;
        let mut known = first[usize::from(hash(*third_last, *second_last, *last))];
        while known != NONE {
            let (word, patterns) = &FIRST_WORDS[usize::from(known)];
            if ends_with(before, word.as_bytes()) {
                let start = at - word.len();
                let inside_word = start > 0 && is_word(before[start - 1]);
                return (!inside_word).then_some((start, patterns));
            }
            known = next[usize::from(known)];
        }
        None
    }
}

impl Iterator for Places<'_> {
    type Item = (usize, &'static [usize]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            while self.word < WORDS {
                let marks = self.marks[self.word];
                if marks == 0 {
                    self.word += 1;
                    continue;
                }
                self.marks[self.word] = marks & (marks - 1);
                let lane = self.word * 8 + marks.trailing_zeros() as usize / 8;
                if let Some(place) = self.place(self.base + lane) {
                    return Some(place);
                }
            }
            self.base += LANES;
            if self.base >= self.fold.len() {
                return None;
            }
            self.mark_window();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by definition, byte for byte.
    fn slow(fold: &[u8]) -> Vec<(usize, &'static [usize])> {
        let mut found = Vec::new();
        for at in 0..fold.len() {
            if fold[at] == b'<' && fold.get(at + 1).is_some_and(|next| AFTER_ANGLE.contains(next)) {
                found.push((at, &TAG_PATTERNS[..]));
            }
            for (word, patterns) in FIRST_WORDS {
                let start = at.wrapping_sub(word.len());
                let whole = at >= word.len() && &fold[start..at] == word.as_bytes();
                if fold[at] == b' ' && whole && (start == 0 || !is_word(fold[start - 1])) {
                    found.push((start, patterns));
                }
            }
        }
        found
    }

    proptest! {
        #[test]
        fn finds_exactly_the_first_words_and_tags(
            parts in proptest::collection::vec(
                prop::sample::select(vec![
                    "ignore", "new", "act", "you", "jailbroken", "jailbroke", "show", "re", "<", "<|", "t", " ", "  ",
                    "x", "-", "clear", "updated",
                ]),
                0..60,
            ),
            padding in 0usize..70,
        ) {
            let text = "y".repeat(padding) + " " + &parts.concat();
            prop_assert_eq!(Places::new(text.as_bytes()).collect::<Vec<_>>(), slow(text.as_bytes()));
        }
    }

    proptest! {
        #[test]
        fn both_ways_to_mark_agree(
            parts in proptest::collection::vec(
                prop::sample::select(vec!["ignore ", "new ", "act", "you ", "<", "<|", "<t", " ", "x", "ore ", "\u{80}"]),
                WINDOW,
            ),
        ) {
            let text = parts.concat();
            for window in text.as_bytes().windows(WINDOW).filter_map(<[u8]>::first_chunk) {
                let (mut by_table, mut by_lanes) = ([0; LANES], [0; LANES]);
                mark_by_table(window, &mut by_table);
                mark_lanes(window, &mut by_lanes);
                prop_assert_eq!(by_table, by_lanes);
            }
        }
    }

    #[test]
    fn no_first_word_ends_in_another() {
        for (word, _) in FIRST_WORDS {
            for (other, _) in FIRST_WORDS {
                assert!(word == other || !word.ends_with(other), "{word} ends in {other}");
            }
        }
    }
}
