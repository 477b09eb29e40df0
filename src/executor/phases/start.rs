//! The start trio and the idempotency key (spec 02 section 7.10).

use crate::executor::cx::Cx;
use crate::executor::host::{Field, Host, Key};
use crate::executor::outcome::Stop;
use crate::executor::tier::Tier;

/// Returns whether the call has an idempotency key.
pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>, tier: &Tier) -> Result<bool, Stop> {
    let metadata = [
        ("sandboxKind", Field::Str(tier.kind.as_str())),
        ("sideEffectClass", Field::Str(cx.tool.class.as_str())),
        ("memoryGuardTier", Field::Str(cx.tool.tier_word())),
    ];
    cx.row("tool:execute:start", "success", &metadata)?;
    cx.host.started(cx.call)?;
    if !cx.tool.idempotency_callback {
        return Ok(false);
    }
    let key = cx.host.idempotency_key(cx.call).await;
    let keyed = key != Key::None;
    // From here on the tool may run, and a second run would not be known as the same.
    cx.unkeyed.set(key != Key::Given);
    if !keyed && cx.interrupted() {
        return Err(Stop::Escaped);
    }
    if keyed {
        let labels = [("sideEffectClass", cx.tool.class.as_str()), ("toolName", cx.tool.name.as_str())];
        cx.count("tool.classification.idempotency-key-evaluated.total", &labels, 1.0);
    }
    Ok(keyed)
}
