//! The ledger: what untrusted text a run has seen, and whether a call's arguments carry a piece of it
//! (spec 04, section 2.3).
//!
//! The verdict is that of comparing every run of `min` folded units of the arguments with every run
//! of every tracked span. Three ways lead to it:
//!
//! - arguments of at least `min` units: sampled fingerprints name candidates, each verified in place;
//! - more candidates than a probe may look at (text that repeats itself): a rolling hash over the
//!   spans, linear whatever the text;
//! - shorter arguments: they have to be contained whole, a plain substring search.
//!
//! Kinds are small numbers here; their names belong to the caller.
//!
//! Invariants: `total` is the sum of the spans' lengths; at most `budget` unless there is one span,
//! which is cut to it; `fingerprints` is the sum of the spans' lists.

use super::decode::Encodings;
use super::fold::fold;
use super::index::{Place, Sampling, Wanted};
use super::scan::Grams;
use super::tiles::{MAX_TILES, Tiles, tile_hashes};
use super::units::{Unit, Units, common_prefix, common_suffix, with_units};
use super::views::views;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// The shortest run that may ever match.
pub const FLOOR: usize = 8;
/// More units than any text has; keeps the arithmetic of positions far from overflow.
pub const CEILING: usize = 1 << 31;
/// `minSpanLength` when none is given.
pub const DEFAULT_MIN: usize = 20;
/// `maxTrackedChars` when none is given.
const DEFAULT_BUDGET: usize = 262_144;

/// Steps a probe takes through its candidates before it scans instead: a constant, some for each unit
/// probed, and some for each fingerprint that looked wanted, which most often is a false alarm.
const STEPS: usize = 8192;
const STEPS_PER_UNIT: usize = 4;
const STEPS_PER_ALARM: usize = 2;
/// Fingerprints looked at together.
const BLOCK: usize = 64;

/// How short a run may be, and how much text is tracked, in folded units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The shortest run that counts.
    pub min: usize,
    /// How much is tracked; never less than one such run.
    pub budget: usize,
}

impl Limits {
    /// Limits as an app gives them: a fraction is dropped, what is no number means the default, and what
    /// is out of range the nearest that is in it.
    #[must_use]
    pub fn new(min: Option<f64>, budget: Option<f64>) -> Self {
        let whole = |given: Option<f64>, default: usize, lowest: usize| match given {
            Some(number) if !number.is_nan() => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
                let whole = number as usize;
                whole.clamp(lowest, CEILING)
            }
            _ => default.max(lowest),
        };
        let min = whole(min, DEFAULT_MIN, FLOOR);
        Self { min, budget: whole(budget, DEFAULT_BUDGET, min) }
    }
}

#[derive(Debug)]
struct Span {
    kind: u32,
    text: Units,
    fingerprints: Box<[u32]>,
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
    sampling: Sampling,
    fingerprints: usize,
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
            sampling: Sampling::new(min),
            fingerprints: 0,
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

    /// About how much memory tracked text and fingerprints hold, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.total + self.fingerprints * size_of::<u32>() + self.spans.len() * size_of::<Span>()
    }

    /// Tracks `text` under `kind`, unless it is shorter than the minimum; evicts the oldest spans
    /// while there is more than the budget.
    pub fn record(&mut self, kind: u32, text: &[u16]) {
        let folded = fold(text);
        if folded.len() < self.min {
            return;
        }
        let text = if folded.len() > self.budget { folded.cut(self.budget) } else { folded };
        let fingerprints = with_units!(&text, units => self.sampling.sample(units));
        self.total += text.len();
        self.fingerprints += fingerprints.len();
        self.spans.push_back(Span { kind, text, fingerprints });
        while self.total > self.budget && self.spans.len() > 1 {
            if let Some(oldest) = self.spans.pop_front() {
                self.total -= oldest.text.len();
                self.fingerprints -= oldest.fingerprints.len();
            }
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
        // Other readings have to carry a whole run: a short value alone is no evidence.
        let readings: Vec<Units> = views(text, self.encodings)
            .iter()
            .map(|view| fold(view))
            .filter(|view| view.len() >= self.min)
            .collect();
        let long = given.len() >= self.min;
        if !long && given.len() >= FLOOR {
            self.probe_whole(&given, &mut found);
        }
        let runs: Vec<&Units> = Some(&given).filter(|_| long).into_iter().chain(&readings).collect();
        if !self.probe_samples(&runs, &mut found) {
            for args in &runs {
                with_units!(args, units => self.probe_all(units, &mut found));
            }
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

    /// What a snapshot holds of the tracked text: hashes of its tiles, then those that were brought back,
    /// each once and at most [`MAX_TILES`]; and the lengths such tiles may have, unless that is the
    /// default alone.
    #[must_use]
    pub fn snapshot(&self) -> (Vec<u32>, Vec<usize>) {
        let mut hashes = self.tile_hashes();
        let is_live = !hashes.is_empty();
        let mut seen: FxHashSet<u32> = hashes.iter().copied().collect();
        let left = MAX_TILES.saturating_sub(hashes.len());
        hashes.extend(self.tiles.hashes().iter().filter(|&&hash| seen.insert(hash)).take(left));
        let own = is_live.then_some(self.min);
        let resumed = self.tiles.widths().iter().copied().filter(|&width| Some(width) != own);
        let widths: Vec<usize> = own.into_iter().chain(resumed).collect();
        (hashes, if widths == [DEFAULT_MIN] { Vec::new() } else { widths })
    }

    /// Looks for the whole of `args`.
    fn probe_whole(&self, args: &Units, found: &mut Found) {
        for (position, span) in self.spans.iter().enumerate() {
            if !found.settles(span.kind, position) && span.text.contains(args) {
                found.note(span.kind, position);
            }
        }
    }

    /// Looks for any run of the minimum length of any of the readings, each of which is at least that
    /// long. False when there are more candidates than a probe may look at.
    fn probe_samples(&self, readings: &[&Units], found: &mut Found) -> bool {
        if readings.is_empty() {
            return true;
        }
        let wanted = Wanted::new(readings, self.sampling);
        let units: usize = readings.iter().map(|reading| reading.len()).sum();
        let mut steps = STEPS + STEPS_PER_UNIT * units;
        for (position, span) in self.spans.iter().enumerate() {
            if found.settles(span.kind, position) {
                continue;
            }
            match self.meet(readings, &wanted, span, &mut steps) {
                Some(true) => found.note(span.kind, position),
                Some(false) => {}
                None => return false,
            }
        }
        true
    }

    /// Whether a run of one of the readings is in `span`; `None` when the steps are used up.
    fn meet(&self, readings: &[&Units], wanted: &Wanted, span: &Span, steps: &mut usize) -> Option<bool> {
        for (block, fingerprints) in span.fingerprints.chunks(BLOCK).enumerate() {
            let mut alarms = wanted.alarms(fingerprints);
            while alarms != 0 {
                let place = alarms.trailing_zeros() as usize;
                alarms &= alarms - 1;
                *steps += STEPS_PER_ALARM;
                let offset = (block * BLOCK + place) * self.sampling.stride();
                for met in wanted.chain(fingerprints[place]) {
                    *steps = steps.checked_sub(1)?;
                    let Some(Place { reading, at }) = met else { continue };
                    let args = readings[reading as usize];
                    if with_units!(args, args => self.is_copy(args, at as usize, &span.text, offset)) {
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    }

    /// Whether the gram that both texts have at these places is part of a common run of `min` units.
    fn is_copy<U: Unit>(&self, args: &[U], at: usize, text: &Units, offset: usize) -> bool {
        with_units!(text, text => {
            let after = common_prefix(&args[at..], &text[offset..], self.min);
            after >= self.sampling.gram()
                && after + common_suffix(&args[..at], &text[..offset], self.min - after) >= self.min
        })
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
