//! The ledger: what untrusted text a run has seen, and whether a call's arguments carry a piece of it
//! (spec 04, section 2.3).
//!
//! The verdict is that of comparing every run of `min` folded units of the arguments with every run
//! of every tracked span. Three ways lead to it:
//!
//! - arguments of at least `min` units: the sampled index names candidates, each verified in place;
//! - more candidates than a probe may look at (text that repeats itself): a rolling hash over the
//!   spans, linear whatever the text;
//! - shorter arguments: they have to be contained whole, a plain substring search.
//!
//! Kinds are small numbers here; their names belong to the caller.
//!
//! Invariants: `total` is the sum of the spans' lengths; at most `budget` unless there is one span,
//! which is cut to it; span `i` owns the index entries from `first_entry` on, in span order.

use super::decode::Encodings;
use super::fold::fold;
use super::index::Index;
use super::scan::Grams;
use super::tiles::{Tiles, tile_hashes};
use super::units::{Unit, Units, common_prefix, common_suffix, with_units};
use super::views::views;
use std::collections::VecDeque;

/// The shortest run that may ever match.
pub const FLOOR: usize = 8;
/// More units than any text has; keeps the arithmetic of positions far from overflow.
const CEILING: usize = 1 << 31;
/// `minSpanLength` when none is given.
pub const DEFAULT_MIN: usize = 20;

/// Candidates a probe looks at before it scans instead: a constant, and some for each unit probed.
const CANDIDATES: usize = 8192;
const CANDIDATES_PER_UNIT: usize = 4;

#[derive(Debug)]
struct Span {
    kind: u32,
    text: Units,
    first_entry: u32,
    entries: usize,
}

/// What a probe found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probe {
    /// Kinds of which a span matched, in the order of the spans that matched first.
    pub kinds: Vec<u32>,
    /// Whether, in place of a live span, a tile from before a resume matched.
    pub resumed: bool,
}

/// Tracked text of one run. See the module's header.
#[derive(Debug)]
pub struct Ledger {
    min: usize,
    budget: usize,
    total: usize,
    spans: VecDeque<Span>,
    index: Index,
    tiles: Tiles,
    encodings: Encodings,
}

/// For each kind, the lowest position of a span known to match.
struct Found {
    first: Vec<usize>,
}

impl Found {
    /// Whether a match of the span at `position` would change nothing.
    fn settles(&self, kind: u32, position: usize) -> bool {
        self.first.get(kind as usize).is_some_and(|&known| known <= position)
    }

    fn note(&mut self, kind: u32, position: usize) {
        let kind = kind as usize;
        if self.first.len() <= kind {
            self.first.resize(kind + 1, usize::MAX);
        }
        self.first[kind] = self.first[kind].min(position);
    }

    fn into_kinds(self) -> Vec<u32> {
        let mut kinds: Vec<(usize, u32)> =
            self.first.into_iter().zip(0..).filter(|&(first, _)| first != usize::MAX).collect();
        kinds.sort_unstable();
        kinds.into_iter().map(|(_, kind)| kind).collect()
    }
}

impl Ledger {
    /// A ledger that finds runs of `min` units (at least [`FLOOR`]) and tracks `budget` units of text
    /// (at least `min`).
    #[must_use]
    pub fn new(min: usize, budget: usize, tiles: Tiles, encodings: Encodings) -> Self {
        let min = min.clamp(FLOOR, CEILING);
        let budget = budget.max(min);
        Self {
            min,
            budget,
            total: 0,
            spans: VecDeque::new(),
            index: Index::new(min, budget),
            tiles,
            encodings,
        }
    }

    /// The effective minimum, in folded UTF-16 units.
    #[must_use]
    pub fn min(&self) -> usize {
        self.min
    }

    /// How many folded units are tracked.
    #[must_use]
    pub fn tracked(&self) -> usize {
        self.total
    }

    /// About how much memory tracked text and index hold, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.total + self.index.bytes()
    }

    /// Tracks `text` under `kind`, unless it is shorter than the minimum; evicts the oldest spans
    /// while there is more than the budget.
    pub fn record(&mut self, kind: u32, text: &[u16]) {
        let folded = fold(text);
        if folded.len() < self.min {
            return;
        }
        let text = if folded.len() > self.budget { folded.cut(self.budget) } else { folded };
        if self.index.is_worn_out(text.len()) {
            self.renumber();
        }
        let first_entry = self.index.next();
        let entries = with_units!(&text, units => self.index.add(units));
        self.total += text.len();
        self.spans.push_back(Span { kind, text, first_entry, entries });
        while self.total > self.budget && self.spans.len() > 1 {
            if let Some(oldest) = self.spans.pop_front() {
                self.total -= oldest.text.len();
                self.index.evict(oldest.entries);
            }
        }
    }

    fn renumber(&mut self) {
        self.index.clear();
        for span in &mut self.spans {
            span.first_entry = self.index.next();
            span.entries = with_units!(&span.text, units => self.index.add(units));
        }
    }

    /// Looks for tracked text in the arguments of a call, given as text (usually JSON).
    #[must_use]
    pub fn inspect(&self, text: &[u16]) -> Probe {
        if self.spans.is_empty() && self.tiles.is_empty() {
            return Probe::default();
        }
        let given = fold(text);
        let mut found = Found { first: Vec::new() };
        self.probe(&given, &mut found);
        // Other readings have to carry a whole run: a short value alone is no evidence.
        let readings: Vec<Units> = views(text, self.encodings)
            .iter()
            .map(|view| fold(view))
            .filter(|view| view.len() >= self.min)
            .collect();
        for reading in &readings {
            self.probe(reading, &mut found);
        }
        let kinds = found.into_kinds();
        let resumed = kinds.is_empty()
            && std::iter::once(&given).chain(&readings).any(|text| self.tiles.match_any(text));
        Probe { kinds, resumed }
    }

    /// Hashes of the tracked text's tiles.
    #[must_use]
    pub fn tile_hashes(&self) -> Vec<u32> {
        tile_hashes(self.spans.iter().map(|span| &span.text), self.min)
    }

    fn probe(&self, args: &Units, found: &mut Found) {
        if args.len() < FLOOR {
            return;
        }
        if args.len() < self.min {
            for (position, span) in self.spans.iter().enumerate() {
                if !found.settles(span.kind, position) && span.text.contains(args) {
                    found.note(span.kind, position);
                }
            }
            return;
        }
        with_units!(args, units => if !self.probe_index(units, found) {
            self.probe_all(units, found);
        });
    }

    /// False when there are more candidates than a probe may look at.
    fn probe_index<U: Unit>(&self, args: &[U], found: &mut Found) -> bool {
        let mut left = CANDIDATES + CANDIDATES_PER_UNIT * args.len();
        for at in 0..=args.len() - self.index.gram() {
            for entry in self.index.candidates(&args[at..]) {
                let Some(budget) = left.checked_sub(1) else { return false };
                left = budget;
                let position = self.spans.partition_point(|span| span.first_entry <= entry) - 1;
                let span = &self.spans[position];
                if found.settles(span.kind, position) {
                    continue;
                }
                let offset = (entry - span.first_entry) as usize * self.index.stride();
                let hit = with_units!(&span.text, text => {
                    let after = common_prefix(&args[at..], &text[offset..], self.min);
                    after >= self.index.gram()
                        && after + common_suffix(&args[..at], &text[..offset], self.min - after) >= self.min
                });
                if hit {
                    found.note(span.kind, position);
                }
            }
        }
        true
    }

    fn probe_all<U: Unit>(&self, args: &[U], found: &mut Found) {
        let grams = Grams::new(args, self.min);
        for (position, span) in self.spans.iter().enumerate() {
            if !found.settles(span.kind, position) && with_units!(&span.text, text => grams.occur_in(text)) {
                found.note(span.kind, position);
            }
        }
    }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
