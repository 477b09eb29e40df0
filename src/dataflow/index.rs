//! Where a piece of tracked text may be: a sampled fingerprint index.
//!
//! Fingerprints of `gram` units are taken at every `stride`-th unit of a span. With
//! `stride = min - gram + 1`, every run of `min` units of a span holds one whole sampled gram, so a
//! probe that looks up the gram at *each* of its positions misses no common run of `min` units. What
//! the index names is a candidate; the caller verifies it against the text.
//!
//! Entries are numbered in the order they are added and linked into chains, newest first, the way
//! compressors keep their windows: evicting the oldest entries is moving a lower bound, since a
//! chain ends at the first number below it.
//!
//! Invariants: numbers rise along `entries` by one, start at [`FIRST`], and are renumbered long before
//! they overflow; `prev` is always lower than the entry's own number.

use super::units::Unit;
use std::collections::VecDeque;

/// The lowest entry number; 0 ends a chain.
const FIRST: u32 = 1;
/// Entries per slot of the table, about. A few hops cost a probe less than a table that misses the
/// cache costs every record.
const LOAD: usize = 4;
/// Slots of the first table, and the factor it grows by: ledgers come by the thousand, and most of
/// them stay small.
const FIRST_TABLE: usize = 64;
const GROWTH: usize = 16;
/// From so many entries on, room is taken for the whole budget (up to the second number): growing by
/// doubling writes, and faults in, everything twice, while room that is not written to is not taken.
const LARGE: usize = 1 << 12;
const RESERVED: usize = 1 << 20;

#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    prev: u32,
}

/// The index. See the module's header.
#[derive(Debug)]
pub struct Index {
    gram: usize,
    stride: usize,
    /// The largest table that is worth its memory.
    largest_table: usize,
    heads: Vec<u32>,
    entries: VecDeque<Entry>,
    /// The number of `entries[0]`.
    oldest: u32,
}

impl Index {
    /// An index that finds runs of `min` units (at least 8), for about `budget` units of text.
    #[must_use]
    pub fn new(min: usize, budget: usize) -> Self {
        // A shorter gram for short runs, so that the stride stays worthwhile.
        let gram = if min >= 16 { 8 } else { 6 };
        let stride = min + 1 - gram;
        let largest_table = (budget / stride / LOAD).clamp(FIRST_TABLE, 1 << 26).next_power_of_two();
        Self { gram, stride, largest_table, heads: Vec::new(), entries: VecDeque::new(), oldest: FIRST }
    }

    /// How many units a sampled gram has.
    #[must_use]
    pub fn gram(&self) -> usize {
        self.gram
    }

    /// How far apart sampled grams are.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The number the next entry gets.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.oldest + u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// How much memory the index holds, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.heads.len() * size_of::<u32>() + self.entries.len() * size_of::<Entry>()
    }

    /// Whether so many more entries would come near the last number. The owner then builds anew.
    #[must_use]
    pub fn is_worn_out(&self, more: usize) -> bool {
        (self.next() as usize).saturating_add(more) > (u32::MAX - 16) as usize
    }

    /// Forgets everything and starts numbering anew.
    pub fn clear(&mut self) {
        self.heads.fill(0);
        self.entries.clear();
        self.oldest = FIRST;
    }

    /// Adds a span; returns how many entries it takes, numbered from [`Self::next`] on.
    pub fn add<U: Unit>(&mut self, span: &[U]) -> usize {
        let Some(room) = span.len().checked_sub(self.gram) else { return 0 };
        let count = room / self.stride + 1;
        self.reserve(count);
        let shift = self.shift();
        for (number, window) in (self.next()..).zip(span.windows(self.gram).step_by(self.stride)) {
            let hash = hash(window);
            let prev = std::mem::replace(&mut self.heads[(hash >> shift) as usize], number);
            self.entries.push_back(Entry { hash, prev });
        }
        count
    }

    /// Drops the `count` oldest entries.
    pub fn evict(&mut self, count: usize) {
        self.entries.drain(..count);
        self.oldest += u32::try_from(count).unwrap_or(u32::MAX);
    }

    /// The numbers of the entries whose gram may be the first of `text`, newest first.
    pub fn candidates<U: Unit>(&self, text: &[U]) -> impl Iterator<Item = u32> {
        let hash = text.get(..self.gram).map(hash);
        let mut at = match hash {
            Some(hash) if !self.heads.is_empty() => self.heads[(hash >> self.shift()) as usize],
            _ => 0,
        };
        std::iter::from_fn(move || {
            while at >= self.oldest {
                let number = at;
                let entry = self.entries[(at - self.oldest) as usize];
                at = entry.prev;
                if Some(entry.hash) == hash {
                    return Some(number);
                }
            }
            None
        })
    }

    fn shift(&self) -> u32 {
        32 - self.heads.len().trailing_zeros()
    }

    /// Makes room, and a larger table when chains would grow long.
    fn reserve(&mut self, more: usize) {
        let total = self.entries.len() + more;
        if total > self.entries.capacity() && total > LARGE {
            let whole = (self.largest_table * LOAD).min(RESERVED);
            self.entries.reserve(more.max(whole.saturating_sub(self.entries.len())));
        }
        let wanted = total / LOAD;
        let mut size = self.heads.len().max(FIRST_TABLE);
        while size < wanted && size < self.largest_table {
            size = (size * GROWTH).min(self.largest_table);
        }
        if size == self.heads.len() {
            return;
        }
        self.heads = vec![0; size];
        let shift = self.shift();
        for (number, entry) in (self.oldest..).zip(self.entries.iter_mut()) {
            entry.prev = std::mem::replace(&mut self.heads[(entry.hash >> shift) as usize], number);
        }
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

    #[test]
    fn every_run_of_min_units_holds_a_sampled_gram() {
        for min in 8..60 {
            let index = Index::new(min, 1000);
            for start in 0..200_usize {
                let sampled = start.next_multiple_of(index.stride());
                assert!(sampled + index.gram() <= start + min, "min {min} start {start}");
            }
        }
    }

    #[test]
    fn finds_newest_first_and_forgets_the_oldest() {
        let mut index = Index::new(20, 1000);
        assert_eq!(index.add(b"abcdefghijklmnopqrstuvwxyz"), 2);
        assert_eq!(index.add(b"abcdefgh"), 1);
        assert_eq!(index.candidates(b"abcdefghxx").collect::<Vec<_>>(), [3, 1]);
        assert_eq!(index.candidates(b"nopqrstu").collect::<Vec<_>>(), [2]);
        assert_eq!(index.candidates(b"bcdefghi").count(), 0);
        assert_eq!(index.candidates(b"abc").count(), 0);
        index.evict(2);
        assert_eq!(index.candidates(b"abcdefgh").collect::<Vec<_>>(), [3]);
        index.clear();
        assert_eq!(index.candidates(b"abcdefgh").count(), 0);
    }

    #[test]
    fn growing_keeps_every_entry() {
        let mut index = Index::new(8, 1 << 20);
        let text: Vec<u8> =
            (0..60_000_u32).flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        for piece in text.chunks(997) {
            index.add(piece);
        }
        let mut number = FIRST;
        for piece in text.chunks(997) {
            for window in piece.windows(index.gram()).step_by(index.stride()) {
                assert!(index.candidates(window).any(|found| found == number));
                number += 1;
            }
        }
    }
}
