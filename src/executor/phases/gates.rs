//! Name denial and the read-only capability (spec 02 sections 7.2 and 7.3): before the span, never
//! retried, reported without an event.

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Host, Text};
use crate::executor::message::shown_name;
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) fn run<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    let name = shown_name(&cx.tool.name);
    if cx.config.wiring.denies_name && cx.host.denies_name(cx.call)? {
        cx.count_tool("tool.executor.name-denied.total");
        let called = cx.text(Text::CalledName);
        let reason = cx.reason().unwrap_or_default();
        let message = format!("Tool '{}' is denied by name: {reason}", shown_name(&called));
        let failure = Failure::new(ToolErrorKind::CapabilityBlocked, message).hint(reason);
        return Err(cx.fail(failure, Report::Row));
    }
    if cx.batch.read_only && cx.tool.class.is_writer() {
        cx.count_tool("tool.executor.capability-blocked.total");
        let class = cx.tool.class;
        let message = format!(
            "Tool '{name}' is {class}, but this run holds read-only capability (single-writer constraint)."
        );
        return Err(cx.fail(Failure::new(ToolErrorKind::CapabilityBlocked, message), Report::Row));
    }
    Ok(())
}
