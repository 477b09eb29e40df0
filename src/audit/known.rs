//! Keys that are used in every call: rendered once, and found where they were found before.

use super::metrics::Metrics;
use std::cell::Cell;

/// The key of a counter or a histogram with the place it was last found at. The place is only a guess:
/// another store, or the same after a reset, has another key there, and the search is made anew.
#[derive(Debug, Clone)]
pub struct KnownKey {
    text: String,
    at: Cell<usize>,
}

impl KnownKey {
    /// For a key as [`key`](super::key) renders it.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self { text, at: Cell::new(usize::MAX) }
    }
}

impl Metrics {
    /// [`increment`](Self::increment) under a known key.
    pub fn increment_known(&self, key: &KnownKey, by: f64) {
        if !self.increment_at(key.at.get(), &key.text, by) {
            self.increment(&key.text, by);
            key.at.set(self.scalar_at(&key.text));
        }
    }

    /// [`observe`](Self::observe) under a known key.
    pub fn observe_known(&self, key: &KnownKey, value: f64) {
        if !self.observe_at(key.at.get(), &key.text, value) {
            self.observe(&key.text, value);
            key.at.set(self.histogram_at(&key.text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> KnownKey {
        KnownKey::new(text.to_owned())
    }

    #[test]
    fn a_known_key_counts_like_any_other() {
        let metrics = Metrics::default();
        let (a, b) = (known("a{x=1}"), known("b"));
        for _ in 0..3 {
            metrics.increment_known(&b, 1.0);
            metrics.increment_known(&a, 2.0);
            metrics.observe_known(&a, 5.0);
        }
        metrics.increment("b", 10.0);
        assert_eq!((metrics.counter("a{x=1}"), metrics.counter("b")), (6.0, 13.0));
        assert_eq!(metrics.histogram("a{x=1}"), [5.0; 3]);
    }

    #[test]
    fn a_place_remembered_from_before_a_reset_or_of_another_store_is_not_trusted() {
        let (first, second) = (Metrics::default(), Metrics::default());
        let (a, b) = (known("a"), known("b"));
        first.increment_known(&a, 1.0);
        first.increment_known(&b, 1.0);
        first.observe_known(&b, 1.0);
        second.increment_known(&b, 4.0);
        assert_eq!((second.counter("a"), second.counter("b")), (0.0, 4.0));
        first.reset();
        first.increment_known(&b, 2.0);
        first.increment_known(&a, 3.0);
        first.observe_known(&b, 7.0);
        assert_eq!((first.counter("a"), first.counter("b")), (3.0, 2.0));
        assert_eq!(first.histogram("b"), [7.0]);
    }

    #[test]
    fn a_name_outside_the_grammar_stays_dropped() {
        let metrics = Metrics::default();
        let bad = known("1bad");
        for _ in 0..2 {
            metrics.increment_known(&bad, 1.0);
            metrics.observe_known(&bad, 1.0);
        }
        assert!(metrics.scalars().is_empty() && metrics.histograms().is_empty());
    }
}
