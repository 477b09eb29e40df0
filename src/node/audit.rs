//! Door of `audit`: the realm object that holds one load's metrics.

use crate::audit::{Kind, Metrics};
use napi_derive::napi;
use std::cell::Cell;
use std::rc::Rc;

/// One load of the package in one JavaScript thread.
#[napi]
pub struct Realm {
    pub(crate) metrics: Rc<Metrics>,
    /// How many functions listen to the audit bus, which lives in JavaScript.
    pub(crate) audit_listeners: Rc<Cell<u32>>,
}

/// Counters, gauges and histograms as parallel lists, in first-write order.
#[napi(object)]
pub struct MetricsDump {
    pub keys: Vec<String>,
    pub values: Vec<f64>,
    pub gauges: Vec<bool>,
    pub histogram_keys: Vec<String>,
    pub histogram_values: Vec<Vec<f64>>,
}

#[napi]
impl Realm {
    #[napi(constructor)]
    #[allow(clippy::new_without_default, reason = "constructed from JavaScript")]
    pub fn new() -> Self {
        Self { metrics: Rc::default(), audit_listeners: Rc::default() }
    }

    #[napi(catch_unwind)]
    pub fn set_audit_listeners(&self, count: u32) {
        self.audit_listeners.set(count);
    }

    #[napi(catch_unwind)]
    pub fn increment(&self, key: String, by: f64) {
        self.metrics.increment(&key, by);
    }

    /// Adds one to each of so many keys, which are separated by line feeds: one crossing for several.
    /// Does nothing and returns false when there are not so many.
    #[napi(catch_unwind)]
    pub fn increment_each(&self, keys: String, count: u32) -> bool {
        self.metrics.increment_each(&keys, count as usize)
    }

    #[napi(catch_unwind)]
    pub fn set_gauge(&self, key: String, value: f64) {
        self.metrics.set_gauge(&key, value);
    }

    #[napi(catch_unwind)]
    pub fn observe(&self, key: String, value: f64) {
        self.metrics.observe(&key, value);
    }

    #[napi(catch_unwind)]
    pub fn counter(&self, key: String) -> f64 {
        self.metrics.counter(&key)
    }

    #[napi(catch_unwind)]
    pub fn histogram(&self, key: String) -> Vec<f64> {
        self.metrics.histogram(&key)
    }

    #[napi(catch_unwind)]
    pub fn dump(&self) -> MetricsDump {
        let scalars = self.metrics.scalars();
        let (histogram_keys, histogram_values) = self.metrics.histograms().into_iter().unzip();
        MetricsDump {
            gauges: scalars.iter().map(|(_, _, kind)| *kind == Kind::Gauge).collect(),
            values: scalars.iter().map(|(_, value, _)| *value).collect(),
            keys: scalars.into_iter().map(|(key, _, _)| key).collect(),
            histogram_keys,
            histogram_values,
        }
    }

    #[napi(catch_unwind)]
    pub fn reset(&self) {
        self.metrics.reset();
    }
}
