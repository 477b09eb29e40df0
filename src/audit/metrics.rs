//! The store behind counters, gauges and histograms (spec 01 section 5.1).
//!
//! Invariants: counters and gauges share one map in first-write order, the last writer decides the
//! kind; histograms keep raw observations in a map of their own, the newest [`KEPT`] of each, so that a
//! process that runs for months does not grow by every call it has made. A name outside
//! `/^[a-z][a-z0-9._-]*$/i` is dropped on write and simply absent on read.

use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// Observations of one histogram that are kept.
pub const KEPT: usize = 10_000;

/// Keys with words of strangers in them that are counted each by itself; see [`Metrics::increment_bounded`].
pub const STRANGE_KEYS: usize = 500;

/// What last wrote a key of the shared counter map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Written by an increment.
    Counter,
    /// Written by a gauge.
    Gauge,
}

#[derive(Debug)]
struct Scalar {
    key: Arc<str>,
    value: f64,
    kind: Kind,
}

#[derive(Debug, Default)]
struct Store {
    scalars: Vec<Scalar>,
    scalar_at: FxHashMap<Arc<str>, usize>,
    histograms: Vec<(String, Vec<f64>)>,
    histogram_at: FxHashMap<String, usize>,
    /// Keys that [`Metrics::increment_bounded`] made.
    strange: usize,
}

/// Counters, gauges and histograms of one realm.
#[derive(Debug, Default)]
pub struct Metrics {
    store: RefCell<Store>,
}

/// Renders a metric key: the name alone, or `name{a=1,b=2}` with the labels in the order given.
///
/// Callers pass labels sorted by name in UTF-16 code-unit order; for the ASCII names used here that
/// is byte order.
#[must_use]
pub fn key(name: &str, labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return name.to_owned();
    }
    let size = name.len() + 2 + labels.iter().map(|(k, v)| k.len() + v.len() + 2).sum::<usize>();
    let mut out = String::with_capacity(size);
    out.push_str(name);
    for (index, (label, value)) in labels.iter().enumerate() {
        out.push(if index == 0 { '{' } else { ',' });
        out.push_str(label);
        out.push('=');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// Appends to a histogram.
fn keep(observations: &mut Vec<f64>, value: f64) {
    // Twice as many before the older half goes, so that dropping costs nothing to speak of.
    if observations.len() == 2 * KEPT {
        observations.drain(..KEPT);
    }
    observations.push(value);
}

fn newest(observations: &[f64]) -> Vec<f64> {
    observations[observations.len().saturating_sub(KEPT)..].to_vec()
}

fn is_metric_name(key: &str) -> bool {
    let name = key.split('{').next().unwrap_or_default();
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic())
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

impl Metrics {
    /// Adds `by` to the counter under `key`, starting from 0.
    pub fn increment(&self, key: &str, by: f64) {
        self.write(key, Kind::Counter, |value| value + by);
    }

    /// Adds 1 under a key that a stranger has a say in, such as a tool name that a model made up. Once
    /// [`STRANGE_KEYS`] such keys exist, what would need another is counted under `others`.
    pub fn increment_bounded(&self, key: &str, others: impl FnOnce() -> String) {
        let counted_by_itself = {
            let mut store = self.store.borrow_mut();
            let known = store.scalar_at.contains_key(key);
            let room = store.strange < STRANGE_KEYS;
            if !known && room {
                store.strange += 1;
            }
            known || room
        };
        if counted_by_itself { self.increment(key, 1.0) } else { self.increment(&others(), 1.0) }
    }

    /// Adds one to each of the `count` keys of a text with a key a line. Does nothing and returns false
    /// when the lines are not so many.
    pub fn increment_each(&self, keys: &str, count: usize) -> bool {
        let whole = keys.split('\n').count() == count;
        if whole {
            keys.split('\n').for_each(|key| self.increment(key, 1.0));
        }
        whole
    }

    /// Sets the gauge under `key`.
    pub fn set_gauge(&self, key: &str, value: f64) {
        self.write(key, Kind::Gauge, |_| value);
    }

    fn write(&self, key: &str, kind: Kind, next: impl FnOnce(f64) -> f64) {
        let mut store = self.store.borrow_mut();
        if let Some(&at) = store.scalar_at.get(key) {
            let scalar = &mut store.scalars[at];
            scalar.value = next(scalar.value);
            scalar.kind = kind;
        } else if is_metric_name(key) {
            let at = store.scalars.len();
            let key: Arc<str> = Arc::from(key);
            store.scalars.push(Scalar { key: Arc::clone(&key), value: next(0.0), kind });
            store.scalar_at.insert(key, at);
        }
    }

    /// Appends an observation to the histogram under `key`.
    pub fn observe(&self, key: &str, value: f64) {
        let mut store = self.store.borrow_mut();
        if let Some(&at) = store.histogram_at.get(key) {
            keep(&mut store.histograms[at].1, value);
        } else if is_metric_name(key) {
            let at = store.histograms.len();
            store.histograms.push((key.to_owned(), vec![value]));
            store.histogram_at.insert(key.to_owned(), at);
        }
    }

    /// Adds `by` when the counter at this place is that of `key`.
    pub(super) fn increment_at(&self, at: usize, key: &str, by: f64) -> bool {
        let mut store = self.store.borrow_mut();
        let Some(scalar) = store.scalars.get_mut(at).filter(|scalar| &*scalar.key == key) else {
            return false;
        };
        scalar.value += by;
        scalar.kind = Kind::Counter;
        true
    }

    /// Appends an observation when the histogram at this place is that of `key`.
    pub(super) fn observe_at(&self, at: usize, key: &str, value: f64) -> bool {
        let mut store = self.store.borrow_mut();
        let Some((_, observations)) = store.histograms.get_mut(at).filter(|(there, _)| there == key) else {
            return false;
        };
        keep(observations, value);
        true
    }

    /// The place of a counter; one that does not exist when it is absent.
    pub(super) fn scalar_at(&self, key: &str) -> usize {
        self.store.borrow().scalar_at.get(key).copied().unwrap_or(usize::MAX)
    }

    /// The place of a histogram; one that does not exist when it is absent.
    pub(super) fn histogram_at(&self, key: &str) -> usize {
        self.store.borrow().histogram_at.get(key).copied().unwrap_or(usize::MAX)
    }

    /// The counter or gauge under `key`, 0 when absent.
    #[must_use]
    pub fn counter(&self, key: &str) -> f64 {
        let store = self.store.borrow();
        store.scalar_at.get(key).map_or(0.0, |&at| store.scalars[at].value)
    }

    /// The observations under `key`, empty when absent.
    #[must_use]
    pub fn histogram(&self, key: &str) -> Vec<f64> {
        let store = self.store.borrow();
        store.histogram_at.get(key).map_or_else(Vec::new, |&at| newest(&store.histograms[at].1))
    }

    /// Every counter and gauge, in first-write order.
    #[must_use]
    pub fn scalars(&self) -> Vec<(String, f64, Kind)> {
        self.store.borrow().scalars.iter().map(|s| (s.key.to_string(), s.value, s.kind)).collect()
    }

    /// Every histogram, in first-write order.
    #[must_use]
    pub fn histograms(&self) -> Vec<(String, Vec<f64>)> {
        let store = self.store.borrow();
        store.histograms.iter().map(|(key, observations)| (key.clone(), newest(observations))).collect()
    }

    /// Forgets everything.
    pub fn reset(&self) {
        *self.store.borrow_mut() = Store::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_the_spec() {
        assert_eq!(key("a.b", &[]), "a.b");
        assert_eq!(key("a.b", &[("a", "x"), ("b", "1"), ("c", "true")]), "a.b{a=x,b=1,c=true}");
    }

    #[test]
    fn several_keys_at_once_are_counted_all_or_none() {
        let metrics = Metrics::default();
        assert!(metrics.increment_each("b\na\nb", 3));
        assert!(!metrics.increment_each("b\na", 3) && !metrics.increment_each("b\na\nb\nc", 3));
        let keys: Vec<_> = metrics.scalars().into_iter().map(|(key, value, _)| (key, value)).collect();
        assert_eq!(keys, [("b".to_owned(), 2.0), ("a".to_owned(), 1.0)]);
    }

    #[test]
    fn names_outside_the_grammar_are_dropped() {
        let metrics = Metrics::default();
        for name in ["1bad", "bad name", "", "é"] {
            metrics.increment(name, 1.0);
            metrics.observe(name, 1.0);
        }
        metrics.increment("A-B_c.9", 2.0);
        assert_eq!(metrics.scalars(), vec![("A-B_c.9".to_owned(), 2.0, Kind::Counter)]);
        assert!(metrics.histograms().is_empty());
    }

    #[test]
    fn a_histogram_keeps_the_newest_observations_in_order() {
        let metrics = Metrics::default();
        let count = 3 * KEPT + KEPT / 2;
        let value = |at: usize| f64::from(u32::try_from(at).expect("small"));
        for at in 0..count {
            metrics.observe("h", value(at));
            let kept = metrics.store.borrow().histograms[0].1.len();
            assert!(kept <= 2 * KEPT, "{kept} kept after {at}");
        }
        let newest: Vec<_> = (count - KEPT..count).map(value).collect();
        assert_eq!(metrics.histogram("h"), newest);
        assert_eq!(metrics.histograms(), vec![("h".to_owned(), newest)]);
    }

    #[test]
    fn keys_of_strangers_are_counted_together_beyond_the_first_hundreds() {
        let metrics = Metrics::default();
        let others = || "e{toolName=(other)}".to_owned();
        for round in 1..=2_u32 {
            for at in 0..STRANGE_KEYS + 100 {
                metrics.increment_bounded(&format!("e{{toolName={at}}}"), others);
            }
            assert_eq!(metrics.scalars().len(), STRANGE_KEYS + 1);
            assert!((metrics.counter("e{toolName=7}") - f64::from(round)).abs() < f64::EPSILON);
        }
        assert!((metrics.counter(&others()) - 200.0).abs() < f64::EPSILON);
        metrics.reset();
        metrics.increment_bounded("e{toolName=new}", others);
        assert!((metrics.counter("e{toolName=new}") - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_last_writer_decides_the_kind() {
        let metrics = Metrics::default();
        metrics.set_gauge("g{z=1}", 3.0);
        metrics.increment("g{z=1}", 1.0);
        assert_eq!(metrics.scalars(), vec![("g{z=1}".to_owned(), 4.0, Kind::Counter)]);
        metrics.reset();
        assert!(metrics.counter("g{z=1}").abs() < f64::EPSILON);
    }
}
