//! What becomes of a long text, said by what changes of it.
//!
//! A few masks and an envelope around megabytes leave most of a text as it was. Whoever has the text can put the
//! new one together from its pieces, which costs a JavaScript engine nothing: no copy, and no memory, which would
//! have to be fetched from the system page by page.
//!
//! Invariant, tested: before, the text with its masks, and after are what the whole pass makes.

use super::catalogue::MASK;
use super::envelope::{self, Attributes};
use super::fold::Unit;
use std::ops::Range;

/// Shorter texts are made: there is little to save.
const LEAST: usize = 1024 * 1024;
/// With more masks than this a text of pieces would be slow to use.
const MOST_MASKS: usize = 256;

/// The changes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits<U = u16> {
    /// What comes before the text.
    pub before: Vec<U>,
    /// The ranges of the text that [`MASK`] stands for, ascending and apart.
    pub masked: Vec<Range<usize>>,
    /// What comes behind the text.
    pub after: Vec<U>,
}

impl<U: Unit> Edits<U> {
    /// The changes that these masks and the envelope make, if there are any and they are worth telling.
    pub(super) fn of(text: &[U], masked: &[Range<usize>], wrap: Option<&Attributes<U>>) -> Option<Self> {
        let gone: usize = masked.iter().map(ExactSizeIterator::len).sum();
        // Pieces keep the whole old text alive.
        let worth = text.len() >= LEAST && masked.len() <= MOST_MASKS && gone <= text.len() / 2;
        if !worth || (masked.is_empty() && wrap.is_none()) {
            return None;
        }
        let (before, after) = match wrap {
            None => (Vec::new(), Vec::new()),
            // Markers in the text are changed as well, and too rare to be told.
            Some(_) if kept(text, masked).any(envelope::has_marker) => return None,
            Some(attributes) => envelope::lines(attributes),
        };
        Some(Self { before, masked: masked.to_vec(), after })
    }

    /// How long a text of this length is with its masks.
    pub(super) fn masked_len(&self, len: usize) -> usize {
        let gone: usize = self.masked.iter().map(ExactSizeIterator::len).sum();
        len - gone + self.masked.len() * MASK.len()
    }
}

/// The pieces of a text that are not masked. A mask in between holds nothing of a marker.
fn kept<'a, U>(text: &'a [U], masked: &'a [Range<usize>]) -> impl Iterator<Item = &'a [U]> {
    let starts = std::iter::once(0).chain(masked.iter().map(|range| range.end));
    let ends = masked.iter().map(|range| range.start).chain(std::iter::once(text.len()));
    starts.zip(ends).map(|(start, end)| &text[start..end])
}
