//! The memory guard around a call (spec 02 sections 7.10 and 7.11).
//!
//! A strict guard (tier `untrusted`) whose snapshot fails blocks the call: it was asked for so that
//! the tool does not run unobserved. A failing snapshot of any other tier only disables the verify. It is
//! counted, like a failing verify, and has no audit row: an error row would speak of a call that is well.

use super::dispatch::Dispatch;
use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Field, Held, Host, Text};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::{MemoryGuardTier, ToolErrorKind};

/// `true` when a snapshot was taken that a verify can compare with.
pub(in crate::executor) async fn snapshot<H: Host>(cx: &Cx<H>) -> Result<bool, Stop> {
    if !cx.config.wiring.memory_guard {
        return Ok(false);
    }
    // The factory's own exception comes through here as well, and stops the call.
    match cx.host.snapshot(cx.call).await {
        Ok(taken) => Ok(taken),
        Err(_) if cx.interrupted() || cx.text(Text::Callback) == "memoryGuardFactory" => Err(Stop::Escaped),
        Err(_) => {
            if cx.tool.memory_tier != Some(MemoryGuardTier::Untrusted) {
                cx.callback_swallowed();
                return Ok(false);
            }
            cx.callback_failed();
            let message =
                format!("Memory guard could not take its snapshot (fail-closed): {}", cx.text(Text::Thrown));
            Err(cx.fail(Failure::new(ToolErrorKind::CapabilityBlocked, message), Report::RowAndEvent))
        }
    }
}

/// Compares after a dispatch without error. A mismatch is reported, the call still succeeds.
pub(in crate::executor) async fn verify<H: Host>(cx: &Cx<H>, guarded: bool, dispatch: &Dispatch) {
    if !guarded || dispatch.error.is_some() {
        return;
    }
    // `held` is the guard's verdict, `drifted` whether it named regions: the audit-only tier says it
    // held and names them all the same.
    let Some((held, drifted, verify_us)) = cx.host.verify(cx.call).await else {
        cx.callback_swallowed();
        return;
    };
    let attributes = [
        ("graphorin.tool.memory_guard.verify.ok", Field::Bool(held)),
        ("graphorin.tool.memory_guard.verify.duration_us", Field::Num(verify_us)),
    ];
    if cx.host.span_attributes(cx.call, &attributes).is_err() {
        cx.callback_failed();
    }
    if held && !drifted {
        return;
    }
    let tier = cx.tool.tier_word();
    let labels = [("tier", tier), ("toolName", cx.tool.name.as_str())];
    if !held {
        let metadata = [
            ("kind", Field::Str("memory-guard-mismatch")),
            ("regions", Field::Held(Held::Regions)),
            ("tier", Field::Str(tier)),
        ];
        // The tool has run: `contain` reports a throwing auditor and goes on.
        let _ = cx.row("tool:execute:error", "error", &metadata);
    }
    cx.count("tool.executor.memory_guard.mismatch.total", &labels, 1.0);
}
