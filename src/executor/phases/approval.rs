//! Approval (spec 02 section 7.7). A denial leaves its own row and neither the error row nor the
//! error event.

use crate::executor::cx::{Cx, Report};
use crate::executor::facts::ApprovalForm;
use crate::executor::host::{Field, Host};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

const NO_GATE: &str = "no-approval-gate-configured";

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if cx.batch.pre_approved {
        return Ok(());
    }
    let needed = match cx.tool.approval {
        ApprovalForm::Never => false,
        ApprovalForm::Always => true,
        ApprovalForm::Predicate => cx.host.needs_approval(cx.call).await?,
    };
    if !needed {
        return Ok(());
    }
    cx.row("tool:approval:requested", "success", &[])?;
    let denial = if !cx.config.wiring.approval_gate {
        Some(NO_GATE.to_owned())
    } else if cx.host.approved(cx.call).await? {
        return cx.row("tool:approval:granted", "success", &[]);
    } else {
        cx.reason()
    };
    let metadata = denial.as_deref().map(|reason| ("reason", Field::Str(reason)));
    cx.row("tool:approval:denied", "denied", metadata.as_slice())?;
    let message = match denial.as_deref().unwrap_or_default() {
        "" => "Tool execution denied.".to_owned(),
        reason => format!("Tool execution denied: {reason}."),
    };
    let mut failure = Failure::new(ToolErrorKind::ApprovalDenied, message);
    failure.hint = denial;
    Err(cx.fail(failure, Report::Silent))
}
