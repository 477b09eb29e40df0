//! The permission hook (spec 02 section 7.6): its decisions, and the rewrite of arguments it may ask
//! for. Whatever the hook does wrong fails closed.

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Field, Host, Permission, Text};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind::{ApprovalDenied, CapabilityBlocked, InvalidInput};

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if !cx.config.wiring.permission_hook {
        return Ok(());
    }
    let Ok(answer) = cx.host.permission(cx.call).await else {
        if cx.interrupted() {
            return Err(Stop::Escaped);
        }
        cx.count_tool("tool.executor.permission-hook-failed.total");
        let message = format!("Permission hook failed (fail-closed): {}", cx.text(Text::Thrown));
        return Err(fail(cx, CapabilityBlocked, message));
    };
    let reason = cx.reason().filter(|reason| !reason.is_empty());
    match answer.decision {
        Permission::Deny => {
            cx.count_tool("tool.executor.permission-blocked.total");
            let detail = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Err(fail(cx, CapabilityBlocked, format!("Blocked by permission hook{detail}")))
        }
        Permission::Unknown => {
            cx.count_tool("tool.executor.permission-hook-failed.total");
            let message =
                "Permission hook failed (fail-closed): it answered none of 'allow', 'deny', 'ask', 'defer'";
            Err(fail(cx, CapabilityBlocked, message.to_owned()))
        }
        _ if cx.batch.pre_approved && answer.rewrites => echo_only(cx),
        Permission::Ask | Permission::Defer if cx.batch.pre_approved => Ok(()),
        Permission::Ask => Err(unresolvable(cx, "ask", reason)),
        Permission::Defer => Err(unresolvable(cx, "defer", reason)),
        Permission::Allow if answer.rewrites => rewrite(cx).await,
        Permission::Allow => Ok(()),
    }
}

fn fail<H: Host>(cx: &Cx<H>, kind: crate::tool::ToolErrorKind, message: String) -> Stop {
    cx.fail(Failure::new(kind, message), Report::RowAndEvent)
}

/// A grant covers the payload a human saw; on a replay only the very same payload may come back.
fn echo_only<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if cx.host.rewrite_is_echo(cx.call)? {
        return Ok(());
    }
    cx.count_tool("tool.executor.permission-replay-rewrite.total");
    let message = "Permission hook attempted to rewrite pre-approved args on a resume replay - the grant \
                   covered the original payload, so the rewrite is refused.";
    Err(fail(cx, InvalidInput, message.to_owned()))
}

fn unresolvable<H: Host>(cx: &Cx<H>, decision: &str, reason: Option<String>) -> Stop {
    cx.count_tool("tool.executor.permission-unresolvable.total");
    let detail = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let message = format!(
        "Permission hook returned '{decision}'{detail}, but this execution surface cannot suspend for \
         approval - the call is refused (fail-closed). Re-issue the call; an approval-capable harness will \
         request the decision."
    );
    fail(cx, ApprovalDenied, message)
}

async fn rewrite<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if !cx.host.rewrite(cx.call).await? {
        let message =
            format!("Permission hook rewrite failed schema re-validation: {}", cx.text(Text::SchemaError));
        return Err(fail(cx, InvalidInput, message));
    }
    cx.count_tool("tool.executor.permission-rewritten.total");
    let reason = cx.reason();
    let metadata = reason.as_deref().map(|reason| ("reason", Field::Str(reason)));
    cx.row("tool:permission:rewritten", "success", metadata.as_slice())
}
