//! The phases of an attempt, a file each, in the order `pipeline` calls them.

pub(super) mod approval;
pub(super) mod argument_policy;
pub(super) mod assemble;
pub(super) mod bound;
pub(super) mod context;
pub(super) mod data_flow;
pub(super) mod dispatch;
pub(super) mod envelope;
pub(super) mod failure;
pub(super) mod gates;
pub(super) mod idempotency;
pub(super) mod memory;
pub(super) mod permission;
pub(super) mod sanitise;
pub(super) mod start;
pub(super) mod validation;

use super::cx::Cx;
use super::host::Host;

/// The first act inside the span: the invocation counters (section 7.4).
pub(super) fn invoked<H: Host>(cx: &Cx<H>) {
    cx.host.metrics().increment_known(&cx.tool.keys().invocations, 1.0);
    if cx.tool.streaming {
        cx.count_tool("tool.streaming.tools.invoked.total");
    }
}
