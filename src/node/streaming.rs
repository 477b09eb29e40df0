//! Door of `streaming`: one object a streaming call.

use crate::node::audit::Realm;
use crate::streaming::{Channel, ChunkKind};
use napi_derive::napi;
use std::cell::RefCell;
use std::rc::Rc;

/// The bookkeeping of one channel.
#[napi]
pub struct StreamState {
    channel: RefCell<Channel>,
}

/// The counts of a channel.
#[napi(object)]
pub struct StreamCounts {
    pub chunk_count: u32,
    pub progress_event_count: u32,
    pub total_bytes: f64,
    pub buffer_truncated: bool,
}

#[napi]
impl StreamState {
    #[napi(constructor)]
    pub fn new(realm: &Realm, tool_name: String, depth: f64, max_bytes: f64, created: f64) -> Self {
        let channel = Channel::new(Rc::clone(&realm.metrics), tool_name, depth, max_bytes, created);
        Self { channel: RefCell::new(channel) }
    }

    #[napi(catch_unwind)]
    pub fn untouched(&self) -> bool {
        self.channel.borrow().untouched()
    }

    #[napi(catch_unwind)]
    pub fn too_deep(&self) -> bool {
        self.channel.borrow().too_deep()
    }

    #[napi(catch_unwind)]
    pub fn progress(&self, now: f64) -> bool {
        self.channel.borrow_mut().progress(now)
    }

    /// The index of the event or -1, doubled, plus 1 when the chunk is buffered.
    #[napi(catch_unwind)]
    pub fn content(&self, kind: u32, size: f64, now: f64) -> i64 {
        let kind = match kind {
            0 => ChunkKind::Text,
            1 => ChunkKind::JsonDelta,
            _ => ChunkKind::Image,
        };
        let offer = self.channel.borrow_mut().content(kind, size, now);
        offer.index.map_or(-1, i64::from) * 2 + i64::from(offer.buffered)
    }

    #[napi(catch_unwind)]
    pub fn delivered(&self, heard: bool) {
        self.channel.borrow_mut().delivered(heard);
    }

    #[napi(catch_unwind)]
    pub fn close(&self, cancelled: bool, now: f64) {
        self.channel.borrow_mut().close(cancelled, now);
    }

    #[napi(catch_unwind)]
    pub fn counts(&self) -> StreamCounts {
        let channel = self.channel.borrow();
        StreamCounts {
            chunk_count: channel.chunk_count(),
            progress_event_count: channel.progress_count(),
            total_bytes: channel.total_bytes(),
            buffer_truncated: channel.buffer_truncated(),
        }
    }
}
