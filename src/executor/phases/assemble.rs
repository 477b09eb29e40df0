//! The result, its provenance, and the rows and the event that end a call (spec 02 section 7.16).

use super::bound::Owned;
use crate::executor::cx::Cx;
use crate::executor::host::{Dispatched, Field, Held, Host};
use crate::executor::outcome::Attempt;

pub(in crate::executor) fn run<H: Host>(
    cx: &Cx<H>,
    dispatched: &Dispatched,
    owned: Owned,
    keyed: bool,
) -> Attempt {
    cx.host.assemble(cx.call, dispatched, owned.trust);
    if cx.config.wiring.data_flow_guard {
        cx.contain(cx.host.record_flow(cx.call, owned.trust))?;
    }
    let chunks = f64::from(dispatched.chunks);
    let duration = ("durationMs", Field::Num(dispatched.duration_ms));
    let mut metadata = vec![duration.clone()];
    if keyed {
        metadata.push(("idempotencyKey", Field::Held(Held::IdempotencyKey)));
    }
    if cx.tool.streaming {
        metadata.push(("streamingHint", Field::Bool(true)));
        metadata.push(("chunkCount", Field::Num(chunks)));
    }
    cx.row("tool:execute:end", "success", &metadata)?;
    if cx.tool.streaming {
        let metadata = [
            ("chunkCount", Field::Num(chunks)),
            ("progressEventCount", Field::Num(f64::from(dispatched.progress_events))),
            ("totalBytes", Field::Num(dispatched.total_bytes)),
            duration,
            ("streamingHint", Field::Bool(true)),
            ("resumed", Field::Bool(false)),
        ];
        cx.row("tool:execute:streamed", "success", &metadata)?;
    }
    cx.contain(cx.host.ended(cx.call))
}
