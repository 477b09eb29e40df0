//! The return envelope and the output schema (spec 02 section 7.13).

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Dispatched, Host, Text, Unpacked};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>, dispatched: &Dispatched) -> Result<Unpacked, Stop> {
    // What a server sent may look like an envelope and be none; that is the tool's failure, nobody's escape.
    let Ok(unpacked) = cx.host.unpack(cx.call) else {
        cx.callback_failed();
        let message = format!("The tool's return value cannot be read: {}", cx.text(Text::Thrown));
        return Err(cx.fail(Failure::new(ToolErrorKind::InvalidOutput, message), Report::RowAndEvent));
    };
    if unpacked.explicit && dispatched.chunks > 0 {
        cx.count_tool("tool.streaming.return-and-stream-conflict.total");
    }
    // The schema checks; its transforms are not applied, and `undefined` is not checked.
    if !cx.tool.output_schema || unpacked.undefined {
        return Ok(unpacked);
    }
    let message = match cx.host.output_fits(cx.call).await {
        Ok(true) => return Ok(unpacked),
        Ok(false) => cx.text(Text::SchemaError),
        Err(_) if cx.interrupted() => return Err(Stop::Escaped),
        Err(_) => {
            cx.callback_failed();
            format!("The output schema threw: {}", cx.text(Text::Thrown))
        }
    };
    Err(cx.fail(Failure::new(ToolErrorKind::InvalidOutput, message), Report::RowAndEvent))
}
