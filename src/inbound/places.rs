//! Where a pattern may start, found by a filter whose first half compilers turn into vector code.
//!
//! Every pattern begins with one of a few words followed by white space, or with `<` and one of a few
//! bytes. A window of text is marked for `<`, and for blanks (or a backslash, which may spell one) behind
//! letters that a first word may end in; a table knows what ends in exactly those letters and what may
//! begin behind it, and only then is the word compared. The cost hardly depends on how often such words occur,
//! and a text full of them is no attack on it.

use super::catalogue::{FIRST_WORDS, PATTERNS, Step, blank_at, may_start_word, skip_space, tag_patterns};
use super::fold::{Unit, is_space};
use std::ops::{ControlFlow, Range};

/// Letters of a word's end that are looked at before the word.
const ENDING: usize = 3;
/// Places of a window, one bit each.
const LANES: usize = 64;
/// A window starts with what comes before its places, and ends with what follows the last of them.
const WINDOW: usize = ENDING + LANES + 1;
/// Bits of a letter in the number that stands for an ending: those that are the same in either case.
const LETTER_BITS: usize = 5;
const LETTER: u8 = (1 << LETTER_BITS) - 1;

/// The end of a chain of words with one ending.
const NONE: u8 = u8::MAX;

/// For each number that three letters can make the first word that ends in them, and for each first
/// word the next one of its ending.
static ENDINGS: ([u8; 1 << (ENDING * LETTER_BITS)], [u8; FIRST_WORDS.len()]) = {
    let mut first = [NONE; 1 << (ENDING * LETTER_BITS)];
    let mut next = [NONE; FIRST_WORDS.len()];
    let mut i: u8 = 0;
    while (i as usize) < FIRST_WORDS.len() {
        let word = FIRST_WORDS[i as usize].0.as_bytes();
        let mut ending = 0;
        let mut at = word.len() - ENDING;
        while at < word.len() {
            ending = ending << LETTER_BITS | (word[at] & LETTER) as usize;
            at += 1;
        }
        next[i as usize] = first[ending];
        first[ending] = i;
        i += 1;
    }
    (first, next)
};

/// Whether a first word may end in three letters: a few operations that let one in three words of
/// prose pass, chosen by trying such sums for the smallest ranges that hold every first word's ending.
const fn may_end_word(third_last: u8, second_last: u8, last: u8) -> bool {
    let (a, b, c) = (third_last | 0x20, second_last | 0x20, last | 0x20);
    let sum = a.wrapping_sub(b << 1).wrapping_sub(c);
    (c.wrapping_sub(b'd') < 20) & (sum.wrapping_sub(18) < 53)
}

const _: () = {
    let mut i = 0;
    while i < FIRST_WORDS.len() {
        let [.., a, b, c] = FIRST_WORDS[i].0.as_bytes() else { panic!("a first word has three letters") };
        assert!(may_end_word(*a, *b, *c), "the filter lets every first word pass");
        i += 1;
    }
};

/// Multiplying by it moves the lowest bits of eight bytes into the top one.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// The places of a window that deserve a look, one bit each.
#[allow(clippy::needless_bitwise_bool, reason = "without branches, so that compilers make vector code of it")]
fn mark(window: &[u8; WINDOW]) -> u64 {
    let mut marks = [0; LANES];
    for (lane, mark) in marks.iter_mut().enumerate() {
        let here = window[ENDING + lane];
        let ending = may_end_word(window[lane], window[lane + 1], window[lane + 2]);
        *mark = u8::from(((is_space(here) | (here == b'\\')) & ending) | (here == b'<'));
    }
    marks
        .as_chunks::<8>()
        .0
        .iter()
        .rev()
        .fold(0, |bits, eight| bits << 8 | u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56)
}

/// Whether a text ends in a word whose last letters were compared already: it is the first that differ.
fn ends_with<U: Unit>(text: &[U], word: &[u8]) -> bool {
    let Some(start) = text.len().checked_sub(word.len()) else { return false };
    text[start..].iter().zip(word).all(|(a, b)| a.fold() == *b)
}

/// For each first word the letters that the next one can begin with, one bit each.
const NEXT_LETTERS: [u32; FIRST_WORDS.len()] = {
    let mut letters = [0; FIRST_WORDS.len()];
    let mut i = 0;
    while i < FIRST_WORDS.len() {
        letters[i] = letters_after(FIRST_WORDS[i].0);
        i += 1;
    }
    letters
};

/// For each chain of words with one ending what the unit behind the blank may be, one bit each: a letter
/// that a second word can begin with, or white space (or a backslash, which may spell some). Nothing
/// may follow the end of a chain.
static AFTER_ENDING: [u32; 1 << u8::BITS] = {
    const MORE_SPACE: u32 = 1 << (b' ' & LETTER) | 0b1_1111 << b'\t' | 1 << (b'\\' & LETTER);
    let mut after = [0; 1 << u8::BITS];
    let mut i = 0;
    while i < FIRST_WORDS.len() {
        after[i] = MORE_SPACE;
        let mut known = i;
        while known != NONE as usize {
            after[i] |= NEXT_LETTERS[known];
            known = ENDINGS.1[known] as usize;
        }
        i += 1;
    }
    after
};

/// What can follow a first word and white space, over all alternatives that begin with it.
const fn letters_after(word: &str) -> u32 {
    let mut letters = 0;
    let mut pattern = 0;
    while pattern < PATTERNS.len() {
        let mut alternative = 0;
        while alternative < PATTERNS[pattern].len() {
            let steps = PATTERNS[pattern][alternative];
            if matches!(steps[0], Step::Word(words) if has(words, word)) {
                assert!(matches!(steps[1], Step::Space), "white space follows a first word");
                let mut at = 2;
                while let Step::Maybe(next) = steps[at] {
                    letters |= letter(next);
                    at += 1;
                }
                let (Step::Word(next) | Step::Text(next)) = steps[at] else { panic!("a word comes next") };
                let mut i = 0;
                while i < next.len() {
                    letters |= letter(next[i]);
                    i += 1;
                }
            }
            alternative += 1;
        }
        pattern += 1;
    }
    letters
}

const fn letter(word: &str) -> u32 {
    1 << (word.as_bytes()[0] & LETTER)
}

const fn has(words: &[&str], word: &str) -> bool {
    let mut i = 0;
    while i < words.len() {
        let (a, b) = (words[i].as_bytes(), word.as_bytes());
        let mut at = 0;
        while at < a.len() && at < b.len() && a[at] == b[at] {
            at += 1;
        }
        if at == a.len() && at == b.len() {
            return true;
        }
        i += 1;
    }
    false
}

/// Tells of the places of a text whose marked unit is in a range, in ascending order for every pattern:
/// where a match may start, and of which patterns. Ends early when told to break.
pub fn for_each_place<U: Unit, B>(
    text: &[U],
    range: Range<usize>,
    mut found: impl FnMut(usize, &'static [usize]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut base = range.start;
    while base < range.end {
        let (mut edge, mut room) = ([U::of_ascii(0); WINDOW], [0; WINDOW]);
        let window = U::narrow(window(text, base, &mut edge), &mut room);
        let mut marked = mark(window);
        if range.end - base < LANES {
            marked &= (1 << (range.end - base)) - 1;
        }
        while marked != 0 {
            let lane = marked.trailing_zeros() as usize;
            let at = base + lane;
            marked &= marked - 1;
            let (letters, rest) = window[lane..].split_at(ENDING);
            if rest[0] == b'<' {
                let patterns = text.get(at + 1).map_or(&[][..], |next| tag_patterns(next.fold()));
                if !patterns.is_empty() {
                    found(at, patterns)?;
                }
                continue;
            }
            let ending =
                letters.iter().fold(0, |all, letter| all << LETTER_BITS | usize::from(letter & LETTER));
            let known = ENDINGS.0[ending];
            // White space that is spelt out takes two units: what follows it is not in sight here.
            if rest[0] != b'\\' && AFTER_ENDING[usize::from(known)] & (1 << (rest[1] & LETTER)) == 0 {
                continue;
            }
            if let Some((start, patterns)) = first_word(text, at, known) {
                found(start, patterns)?;
            }
        }
        base += LANES;
    }
    ControlFlow::Continue(())
}

/// The window of a place: a piece of the text itself, or at its ends a copy with zeros around.
fn window<'a, U: Unit>(text: &'a [U], base: usize, edge: &'a mut [U; WINDOW]) -> &'a [U; WINDOW] {
    if let Some(inside) = base.checked_sub(ENDING).and_then(|start| text[start..].first_chunk()) {
        return inside;
    }
    let before = base.min(ENDING);
    let there = &text[base - before..text.len().min(base + LANES + 1)];
    edge[ENDING - before..][..there.len()].copy_from_slice(there);
    edge
}

/// Which word of a chain ends before a blank, if it is a whole word there and what comes after can
/// follow it.
fn first_word<U: Unit>(text: &[U], blank: usize, mut known: u8) -> Option<(usize, &'static [usize])> {
    blank_at(text, blank)?;
    while known != NONE {
        let (word, patterns) = &FIRST_WORDS[usize::from(known)];
        if ends_with(&text[..blank], word.as_bytes()) {
            let start = blank - word.len();
            let whole = may_start_word(text, start);
            return (whole && may_follow(&text[blank..], known)).then_some((start, patterns));
        }
        known = ENDINGS.1[usize::from(known)];
    }
    None
}

/// Most first words are ordinary ones: the letter after them spares most tries.
fn may_follow<U: Unit>(rest: &[U], known: u8) -> bool {
    let next = rest.get(skip_space(rest, 0)).map_or(0, |unit| unit.fold());
    NEXT_LETTERS[usize::from(known)] & (1 << (next & LETTER)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by definition, byte for byte.
    fn slow(fold: &[u8]) -> Vec<(usize, &'static [usize])> {
        let mut found = Vec::new();
        for at in 0..fold.len() {
            let tags = fold.get(at + 1).map_or(&[][..], |next| tag_patterns(*next));
            if fold[at] == b'<' && !tags.is_empty() {
                found.push((at, tags));
            }
            let blank = blank_at(fold, at).is_some();
            for (word, patterns) in FIRST_WORDS {
                let start = at.wrapping_sub(word.len());
                let whole = at >= word.len() && &fold[start..at] == word.as_bytes();
                let next = fold.get(skip_space(fold, at)).copied().unwrap_or(0);
                let follows = letters_after(word) & (1 << (next & LETTER)) != 0;
                if blank && whole && follows && may_start_word(fold, start) {
                    found.push((start, patterns));
                }
            }
        }
        found
    }

    fn places<U: Unit>(text: &[U], cut: usize) -> Vec<(usize, &'static [usize])> {
        let mut found = Vec::new();
        for range in [0..cut, cut..text.len()] {
            let end: ControlFlow<()> = for_each_place(text, range, |at, patterns| {
                found.push((at, patterns));
                ControlFlow::Continue(())
            });
            assert!(end.is_continue());
        }
        found
    }

    proptest! {
        #[test]
        fn finds_exactly_the_first_words_and_tags(
            parts in proptest::collection::vec(
                prop::sample::select(vec![
                    "ignore", "new", "act", "you", "jailbroken", "jailbroke", "show", "re", "<", "<|", "t", " ", "  ",
                    "x", "-", "clear", "updated", "\\n", "\\", "r",
                ]),
                0..60,
            ),
            padding in 0usize..70,
            cut in any::<prop::sample::Index>(),
        ) {
            let text = "y".repeat(padding) + " " + &parts.concat();
            let expected = slow(text.as_bytes());
            prop_assert_eq!(places(text.as_bytes(), 0), expected.clone());
            let units: Vec<u16> = text.encode_utf16().collect();
            prop_assert_eq!(places(&units, cut.index(units.len())), expected);
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
