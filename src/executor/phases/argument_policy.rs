//! The argument policy (spec 02 section 7.8), consulted on every call after approval.

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Host, PolicyVerdict};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) fn run<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if !cx.config.wiring.argument_policy {
        return Ok(());
    }
    let verdict = cx.host.argument_policy(cx.call)?;
    let reason = cx.reason().unwrap_or_default();
    let effect = match verdict {
        PolicyVerdict::Allow => return Ok(()),
        PolicyVerdict::Ask | PolicyVerdict::Defer if cx.batch.pre_approved => return Ok(()),
        PolicyVerdict::Deny => {
            let message = format!("Blocked by tool-argument policy: {reason}");
            return Err(blocked(cx, ToolErrorKind::CapabilityBlocked, message, reason));
        }
        PolicyVerdict::Ask => "ask",
        PolicyVerdict::Defer => "defer",
    };
    let message = format!(
        "Tool-argument policy returned '{effect}' ({reason}), but this execution surface cannot suspend for \
         approval - the call is refused (fail-closed). Re-issue the call; an approval-capable harness will \
         request the decision."
    );
    Err(blocked(cx, ToolErrorKind::ApprovalDenied, message, reason))
}

fn blocked<H: Host>(cx: &Cx<H>, kind: ToolErrorKind, message: String, reason: String) -> Stop {
    cx.count_tool("tool.executor.policy-blocked.total");
    cx.fail(Failure::new(kind, message).hint(reason), Report::Row)
}
