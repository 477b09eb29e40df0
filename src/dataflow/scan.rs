//! The probe of last resort: rolls a hash over whole spans.
//!
//! Text that repeats itself (one gram a hundred thousand times) makes the index name more candidates
//! than a probe may spend. This scan costs the same for every text: linear in the spans it reads,
//! with one comparison for each hit of the hash.

use super::units::{Unit, common_prefix};
use rustc_hash::FxHashMap;

/// Any odd number with well-spread bits serves.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The distinct runs of `width` units of a text, ready to be found in others.
#[derive(Debug)]
pub struct Grams<'a, U> {
    text: &'a [U],
    width: usize,
    /// `BASE` to the power of `width`: the weight of the unit that leaves the window.
    leaving: u64,
    /// Starts of distinct runs, by hash.
    starts: FxHashMap<u64, Vec<usize>>,
    /// One bit for each hash that may be in `starts`: most windows end here.
    filter: Vec<u64>,
    shift: u32,
}

impl<'a, U: Unit> Grams<'a, U> {
    /// Takes every run of `width` units of `text`, which is at least that long.
    #[must_use]
    pub fn new(text: &'a [U], width: usize) -> Self {
        let bits = (text.len() * 16).next_power_of_two().max(64);
        let mut grams = Self {
            text,
            width,
            leaving: BASE.wrapping_pow(u32::try_from(width).unwrap_or(u32::MAX)),
            starts: FxHashMap::default(),
            filter: vec![0; bits / 64],
            shift: 64 - bits.trailing_zeros(),
        };
        let mut hash = 0_u64;
        for end in 0..text.len() {
            hash = grams.roll(hash, text, end);
            if end + 1 >= width {
                let start = end + 1 - width;
                let bit = mix(hash) >> grams.shift;
                grams.filter[usize::try_from(bit / 64).unwrap_or(0)] |= 1 << (bit % 64);
                let starts = grams.starts.entry(hash).or_default();
                let same = |&known: &usize| common_prefix(&text[known..], &text[start..], width) == width;
                if !starts.iter().any(same) {
                    starts.push(start);
                }
            }
        }
        grams
    }

    /// Whether one of the runs occurs in `span`.
    #[must_use]
    pub fn occur_in<S: Unit>(&self, span: &[S]) -> bool {
        let mut hash = 0_u64;
        (0..span.len()).any(|end| {
            hash = self.roll(hash, span, end);
            end + 1 >= self.width && self.is_known(hash, &span[end + 1 - self.width..])
        })
    }

    fn roll<S: Unit>(&self, hash: u64, text: &[S], end: usize) -> u64 {
        let unit = |at: usize| u64::from(text[at].into()) + 1;
        let rolled = hash.wrapping_mul(BASE).wrapping_add(unit(end));
        match end.checked_sub(self.width) {
            Some(left) => rolled.wrapping_sub(unit(left).wrapping_mul(self.leaving)),
            None => rolled,
        }
    }

    fn is_known<S: Unit>(&self, hash: u64, window: &[S]) -> bool {
        let bit = mix(hash) >> self.shift;
        self.filter[usize::try_from(bit / 64).unwrap_or(0)] >> (bit % 64) & 1 == 1
            && self.starts.get(&hash).is_some_and(|starts| {
                starts
                    .iter()
                    .any(|&start| common_prefix(&self.text[start..], window, self.width) == self.width)
            })
    }
}

/// The low bits of a rolling hash depend on the last units only; spread them.
fn mix(hash: u64) -> u64 {
    (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn finds_runs_and_nothing_else() {
        let grams = Grams::new(b"xxthe quick brownyy", 8);
        assert!(grams.occur_in(b"see the quick fox"));
        assert!(grams.occur_in(b"the quic"));
        assert!(!grams.occur_in(b"the quix the quyck"));
        assert!(!grams.occur_in(b"short"));
        assert!(!grams.occur_in(b""));
    }

    proptest! {
        #[test]
        fn agrees_with_comparing_everything(a in "[ab]{8,60}", b in "[ab]{0,80}", width in 8_usize..14) {
            prop_assume!(a.len() >= width);
            let expected = b.as_bytes().windows(width).any(|w| a.as_bytes().windows(width).any(|v| v == w));
            prop_assert_eq!(Grams::new(a.as_bytes(), width).occur_in(b.as_bytes()), expected);
            let wide: Vec<u16> = b.encode_utf16().collect();
            prop_assert_eq!(Grams::new(a.as_bytes(), width).occur_in(&wide), expected);
        }
    }
}
