//! The bookkeeping of a call's streaming channel (spec 02 section 10): which events are delivered,
//! which chunks are buffered, and what is counted.
//!
//! The chunks and events themselves are JavaScript values and stay there. Delivery is synchronous:
//! the sink runs between [`Channel::progress`] or [`Channel::content`] and [`Channel::delivered`].
//!
//! Invariants: `in_flight` equals the sink calls of this channel on the stack; chunk indexes are
//! gap-free over delivered events; nothing changes after [`Channel::close`] but the stack depth.

use crate::audit::{Metrics, key};
use std::rc::Rc;

/// Default size of the buffer: 8 MiB.
pub const DEFAULT_MAX_BUFFER_BYTES: u32 = 8_388_608;
/// Default nesting depth of a re-entrant sink.
pub const DEFAULT_QUEUE_DEPTH: u32 = 256;

/// The kinds of chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkKind {
    /// Text; its size is in UTF-16 units.
    Text,
    /// A patch of a JSON state; its size is that of the JSON text and the path.
    JsonDelta,
    /// A picture; its size is in bytes.
    Image,
}

impl ChunkKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::JsonDelta => "json-delta",
            Self::Image => "image",
        }
    }

    const fn event_word(self) -> &'static str {
        match self {
            Self::Text => "partial-text",
            Self::JsonDelta => "partial-json-delta",
            Self::Image => "partial-image",
        }
    }
}

/// What to do with a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The index of its event; `None` when the event is dropped.
    pub index: Option<u32>,
    /// Whether the chunk belongs into the buffer.
    pub buffered: bool,
}

/// One channel.
#[derive(Debug)]
pub struct Channel {
    metrics: Rc<Metrics>,
    tool_name: String,
    depth: f64,
    max_bytes: f64,
    created: f64,
    seen: bool,
    closed: bool,
    in_flight: u32,
    next_index: u32,
    chunks: u32,
    progress_events: u32,
    total_bytes: f64,
    truncated: bool,
}

impl Channel {
    /// A fresh channel; `created` is the clock now, in milliseconds.
    #[must_use]
    pub fn new(metrics: Rc<Metrics>, tool_name: String, depth: f64, max_bytes: f64, created: f64) -> Self {
        Self {
            metrics,
            tool_name,
            depth,
            max_bytes,
            created,
            seen: false,
            closed: false,
            in_flight: 0,
            next_index: 0,
            chunks: 0,
            progress_events: 0,
            total_bytes: 0.0,
            truncated: false,
        }
    }

    /// Chunks in the buffer.
    #[must_use]
    pub fn chunk_count(&self) -> u32 {
        self.chunks
    }

    /// Progress events so far.
    #[must_use]
    pub fn progress_count(&self) -> u32 {
        self.progress_events
    }

    /// Size of the buffered chunks.
    #[must_use]
    pub fn total_bytes(&self) -> f64 {
        self.total_bytes
    }

    /// A chunk did not fit the buffer.
    #[must_use]
    pub fn buffer_truncated(&self) -> bool {
        self.truncated
    }

    /// Whether nothing was recorded yet, so that the next event needs the clock.
    #[must_use]
    pub fn untouched(&self) -> bool {
        !self.seen
    }

    /// Whether an event that starts now would be nested too deep.
    #[must_use]
    pub fn too_deep(&self) -> bool {
        f64::from(self.in_flight) >= self.depth
    }

    fn count(&self, name: &str, label: (&str, &str), by: f64) {
        let labels = [label, ("toolName", self.tool_name.as_str())];
        self.metrics.increment(&key(name, &labels), by);
    }

    fn observe(&self, name: &str, value: f64) {
        self.metrics.observe(&key(name, &[("toolName", &self.tool_name)]), value);
    }

    fn mark(&mut self, now: f64) {
        if !self.seen {
            self.seen = true;
            self.observe("tool.streaming.first-chunk.duration_ms", now - self.created);
        }
    }

    fn drop_event(&self, reason: &str) {
        let labels = [("reason", reason), ("toolName", self.tool_name.as_str())];
        self.metrics.increment(&key("tool.streaming.events.dropped.total", &labels), 1.0);
    }

    /// A progress event: whether it is delivered. `now` is read for the first event only.
    pub fn progress(&mut self, now: f64) -> bool {
        if self.too_deep() {
            self.drop_event("backpressure");
            return false;
        }
        self.mark(now);
        self.progress_events += 1;
        self.count("tool.streaming.events.emitted.total", ("kind", "progress"), 1.0);
        self.in_flight += 1;
        true
    }

    /// A chunk of `size`: whether its event is delivered, and whether it is buffered.
    pub fn content(&mut self, kind: ChunkKind, size: f64, now: f64) -> Offer {
        self.mark(now);
        if self.too_deep() {
            self.drop_event("backpressure");
            return Offer { index: None, buffered: self.append(kind, size) };
        }
        let index = self.next_index;
        self.next_index += 1;
        let buffered = self.append(kind, size);
        self.count("tool.streaming.events.emitted.total", ("kind", kind.event_word()), 1.0);
        self.count("tool.streaming.chunks.bytes.total", ("kind", kind.word()), size);
        self.in_flight += 1;
        Offer { index: Some(index), buffered }
    }

    fn append(&mut self, kind: ChunkKind, size: f64) -> bool {
        if self.total_bytes + size > self.max_bytes {
            self.truncated = true;
            self.count("tool.streaming.buffer.dropped-bytes.total", ("kind", kind.word()), size);
            return false;
        }
        self.chunks += 1;
        self.total_bytes += size;
        true
    }

    /// The sink is done with an event. `heard` when there is a sink and it did not throw.
    pub fn delivered(&mut self, heard: bool) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if heard {
            self.observe("tool.streaming.event-deliver.duration_us", 0.0);
        }
    }

    /// Closes the channel; only the first call counts.
    pub fn close(&mut self, cancelled: bool, now: f64) {
        if self.closed {
            return;
        }
        self.closed = true;
        if cancelled {
            self.drop_event("cancelled");
        }
        if self.seen {
            self.observe("tool.streaming.duration_ms", now - self.created);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(depth: f64, max_bytes: f64) -> (Channel, Rc<Metrics>) {
        let metrics = Rc::<Metrics>::default();
        (Channel::new(Rc::clone(&metrics), "t".to_owned(), depth, max_bytes, 100.0), metrics)
    }

    /// Section 10.6: the test is per chunk, so a later small one may still fit.
    #[test]
    fn the_cap_leaves_holes_and_is_counted() {
        let (mut channel, metrics) = channel(256.0, 10.0);
        for (size, fits) in [(6.0, true), (5.0, false), (4.0, true)] {
            assert_eq!(channel.content(ChunkKind::Text, size, 100.0).buffered, fits, "{size}");
            channel.delivered(true);
        }
        assert_eq!(
            (channel.chunk_count(), channel.total_bytes(), channel.buffer_truncated()),
            (2, 10.0, true)
        );
        let dropped = metrics.counter("tool.streaming.buffer.dropped-bytes.total{kind=text,toolName=t}");
        assert!((dropped - 5.0).abs() < f64::EPSILON);
    }

    /// Section 10.5: depth 0 drops every event and still buffers; indexes are not consumed.
    #[test]
    fn depth_zero_drops_events_and_buffers_chunks() {
        let (mut channel, metrics) = channel(0.0, 10.0);
        assert!(!channel.progress(101.0));
        assert_eq!(channel.content(ChunkKind::Text, 3.0, 102.0), Offer { index: None, buffered: true });
        let dropped = metrics.counter("tool.streaming.events.dropped.total{reason=backpressure,toolName=t}");
        assert!((dropped - 2.0).abs() < f64::EPSILON);
        assert_eq!(metrics.histogram("tool.streaming.first-chunk.duration_ms{toolName=t}"), [2.0]);
    }

    /// Section 10.7: idempotent, the first reason wins, the duration needs something recorded.
    #[test]
    fn closing_twice_counts_once() {
        let (mut channel, metrics) = channel(1.0, 10.0);
        assert!(channel.progress(103.0));
        assert!(!channel.progress(103.0), "nested at depth 1");
        channel.delivered(true);
        channel.close(false, 110.0);
        channel.close(true, 120.0);
        assert_eq!(metrics.histogram("tool.streaming.duration_ms{toolName=t}"), [10.0]);
        assert!(
            metrics.counter("tool.streaming.events.dropped.total{reason=cancelled,toolName=t}").abs() < 0.5
        );
    }
}
