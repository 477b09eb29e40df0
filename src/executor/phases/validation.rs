//! Validation with one optional repair (spec 02 section 7.5).

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Host, Repair, Text};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if cx.host.validate(cx.call).await? {
        return Ok(());
    }
    if !cx.config.wiring.repair || cx.batch.disable_repair {
        return Err(invalid(cx, Text::SchemaError));
    }
    match cx.host.repair(cx.call).await {
        Ok(Repair::Fits) => Ok(()),
        Ok(Repair::Nothing | Repair::StillInvalid) => Err(invalid(cx, Text::SchemaError)),
        Err(_) if cx.interrupted() => Err(Stop::Escaped),
        // The call's own error row and message tell of it; section 7.5 knows no second row.
        Err(_) => Err(invalid(cx, Text::Thrown)),
    }
}

fn invalid<H: Host>(cx: &Cx<H>, message: Text) -> Stop {
    cx.fail(Failure::new(ToolErrorKind::InvalidInput, cx.text(message)), Report::RowAndEvent)
}
