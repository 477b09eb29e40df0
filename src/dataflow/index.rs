//! Where a piece of tracked text may be: sampled fingerprints.
//!
//! Fingerprints of `gram` units are taken at every `stride`-th unit of a span. With
//! `stride = min - gram + 1`, every run of `min` units of a span holds one whole sampled gram, so a
//! probe that knows the gram at *each* of its positions misses no common run of `min` units. What the
//! fingerprints name is a candidate; the caller verifies it against the text.
//!
//! A span keeps its fingerprints as a plain list, four bytes for a dozen units or so, and a probe reads
//! the lists from end to end. That is half a nanosecond each, so a few megabytes of text cost a fraction
//! of a millisecond; a table from fingerprint to place would answer faster still, but it would be random
//! writes into cold memory for every text recorded, and most texts are never asked about.

use super::units::{Unit, Units, with_units};

/// Which grams of a span are fingerprinted.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    gram: usize,
    stride: usize,
}

impl Sampling {
    /// Finds runs of `min` units (at least 8).
    #[must_use]
    pub fn new(min: usize) -> Self {
        // A shorter gram for short runs, so that the stride stays worthwhile.
        let gram = if min >= 16 { 8 } else { 6 };
        Self { gram, stride: min + 1 - gram }
    }

    /// How many units a sampled gram has.
    #[must_use]
    pub fn gram(self) -> usize {
        self.gram
    }

    /// How far apart sampled grams are: the `n`-th begins at `n * stride`.
    #[must_use]
    pub fn stride(self) -> usize {
        self.stride
    }

    /// The fingerprints of a span.
    #[must_use]
    pub fn sample<U: Unit>(self, span: &[U]) -> Box<[u32]> {
        span.windows(self.gram).step_by(self.stride).map(hash).collect()
    }
}

/// How many of a fingerprint's first bits the filter looks at: 128 bits of filter for each gram of
/// two kilobytes of arguments. Fixed, since shifts by a constant are what makes the filter fast; much longer
/// arguments only raise more false alarms.
const FILTER_BITS: u32 = 18;
const FILTER_WORDS: usize = 1 << (FILTER_BITS - 6);
const MOST_CHAINS: usize = 1 << 24;
/// Ends a chain.
const NONE: u32 = u32::MAX;

/// The word of the filter that a fingerprint is in, and its bit there.
fn filter_place(hash: u32) -> (usize, u32) {
    let bit = hash >> (32 - FILTER_BITS);
    ((bit >> 6) as usize, bit & 63)
}

/// Where a gram is: which reading of the arguments, and where in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The reading, by its place in the list.
    pub reading: u32,
    /// The gram's first unit.
    pub at: u32,
}

#[derive(Debug)]
struct Gram {
    hash: u32,
    /// The gram before it in its chain.
    before: u32,
    place: Place,
}

/// Every gram of every reading of a call's arguments, ready to be met among fingerprints. All readings
/// together, since each pass over the fingerprints costs the same.
#[derive(Debug)]
pub struct Wanted {
    /// One bit for each fingerprint that may be wanted: almost every other one ends here.
    filter: Vec<u64>,
    /// The last gram of each chain, by the first bits of the fingerprint.
    heads: Vec<u32>,
    head_shift: u32,
    grams: Vec<Gram>,
}

impl Wanted {
    /// Takes the gram at each position of each reading.
    #[must_use]
    pub fn new(readings: &[&Units], sampling: Sampling) -> Self {
        let total: usize = readings.iter().map(|reading| reading.len()).sum();
        let chains = total.next_power_of_two().clamp(2, MOST_CHAINS);
        let mut wanted = Self {
            filter: vec![0; FILTER_WORDS],
            heads: vec![NONE; chains],
            head_shift: 32 - chains.trailing_zeros(),
            grams: Vec::with_capacity(total),
        };
        for (reading, text) in (0..).zip(readings) {
            with_units!(text, units => for (at, gram) in (0..).zip(units.windows(sampling.gram)) {
                wanted.add(hash(gram), Place { reading, at });
            });
        }
        wanted
    }

    fn add(&mut self, hash: u32, place: Place) {
        let Some(number) = u32::try_from(self.grams.len()).ok().filter(|&number| number != NONE) else {
            return;
        };
        let (word, bit) = filter_place(hash);
        self.filter[word] |= 1 << bit;
        let before = std::mem::replace(&mut self.heads[(hash >> self.head_shift) as usize], number);
        self.grams.push(Gram { hash, before, place });
    }

    /// Those of up to 64 fingerprints that may be wanted, one bit each. Without a branch: nearly all of
    /// them are not, and the few that are would be mispredicted. A function of its own, so that all it
    /// needs stays in registers.
    #[inline(never)]
    #[must_use]
    pub fn alarms(&self, block: &[u32]) -> u64 {
        // Its length in the type: no index needs a check.
        let Some(filter) = self.filter.first_chunk::<FILTER_WORDS>() else { return u64::MAX };
        let alarms = block.iter().fold(0, |alarms, &hash| {
            let (word, bit) = filter_place(hash);
            alarms >> 1 | (filter[word] >> bit) << 63
        });
        // A shorter block leaves its bits at the upper end.
        alarms >> (64 - block.len().clamp(1, 64))
    }

    /// The places in the chain that holds this fingerprint, last first; `None` for one that has another
    /// fingerprint, so that the caller can count the steps.
    pub fn chain(&self, hash: u32) -> impl Iterator<Item = Option<Place>> + '_ {
        let mut at = self.heads[(hash >> self.head_shift) as usize];
        std::iter::from_fn(move || {
            let gram = self.grams.get(at as usize)?;
            at = gram.before;
            Some((gram.hash == hash).then_some(gram.place))
        })
    }
}

/// Up to eight units, mixed. Not keyed: a forced collision costs a comparison, never a verdict.
fn hash<U: Unit>(gram: &[U]) -> u32 {
    let [low, high] = U::pack(gram);
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xD6E8_FEB8_6659_FD93);
    #[allow(clippy::cast_possible_truncation, reason = "folding the product into 32 bits")]
    let folded = (product >> 64) as u64 ^ product as u64;
    (folded >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(wanted: &Wanted, hash: u32) -> Vec<(u32, u32)> {
        assert_eq!(wanted.alarms(&[hash, hash]) == 3, wanted.chain(hash).any(|place| place.is_some()));
        wanted.chain(hash).flatten().map(|place| (place.reading, place.at)).collect()
    }

    fn narrow(text: &str) -> Units {
        Units::Narrow(text.as_bytes().to_vec())
    }

    #[test]
    fn every_run_of_min_units_holds_a_sampled_gram() {
        for min in 8..60 {
            let sampling = Sampling::new(min);
            for start in 0..200_usize {
                let sampled = start.next_multiple_of(sampling.stride());
                assert!(sampled + sampling.gram() <= start + min, "min {min} start {start}");
            }
        }
    }

    #[test]
    fn samples_every_stride() {
        let sampling = Sampling::new(20);
        let alphabet = b"abcdefghijklmnopqrstuvwxyz";
        assert_eq!(*sampling.sample(alphabet), [hash(b"abcdefgh"), hash(b"nopqrstu")]);
        assert_eq!(*sampling.sample(b"abcdefgh"), [hash(b"abcdefgh")]);
        assert_eq!(sampling.sample(b"abcdefg").len(), 0);
        let wide: Vec<u16> = alphabet.iter().map(|&unit| u16::from(unit)).collect();
        assert_eq!(sampling.sample(&wide), sampling.sample(alphabet));
    }

    #[test]
    fn wanted_grams_are_found_in_every_reading() {
        let (one, two) = (narrow("xxabcdefghxxabcdefgh"), narrow("abcdefghi"));
        let wanted = Wanted::new(&[&one, &two], Sampling::new(20));
        assert_eq!(places(&wanted, hash(b"abcdefgh")), [(1, 0), (0, 12), (0, 2)]);
        assert_eq!(places(&wanted, hash(b"xabcdefg")), [(0, 11), (0, 1)]);
        assert_eq!(places(&wanted, hash(b"hgfedcba")), []);
        assert_eq!(places(&Wanted::new(&[&narrow("abc")], Sampling::new(20)), hash(b"abcdefgh")), []);
        assert_eq!(places(&Wanted::new(&[], Sampling::new(8)), hash(b"abcdef")), []);
    }
}
