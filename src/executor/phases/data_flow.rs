//! The data-flow gate before a sink (spec 02 section 7.9). Readers are never asked about.

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Field, FlowVerdict, Held, Host, Text};
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) fn inspect<H: Host>(cx: &Cx<H>) -> Result<(), Stop> {
    if !cx.config.wiring.data_flow_guard || !cx.tool.class.is_writer() {
        return Ok(());
    }
    let verdict = cx.host.inspect_flow(cx.call)?;
    let (action, decision, audit) = match verdict {
        FlowVerdict::Allow => return Ok(()),
        FlowVerdict::Flag => ("tool:dataflow:flagged", "flag", "success"),
        FlowVerdict::Declassify => ("tool:dataflow:declassified", "declassify", "success"),
        FlowVerdict::Block => ("tool:dataflow:blocked", "block", "denied"),
    };
    let (flow, reason) = (cx.text(Text::Flow), cx.reason().unwrap_or_default());
    cx.row(
        action,
        audit,
        &[
            ("flow", Field::Str(&flow)),
            ("reason", Field::Str(&reason)),
            ("sourceKinds", Field::Held(Held::SourceKinds)),
            ("sideEffectClass", Field::Str(cx.tool.class.as_str())),
            ("decision", Field::Str(decision)),
        ],
    )?;
    let labels = [("decision", decision), ("flow", &flow), ("toolName", &cx.tool.name)];
    cx.count("tool.dataflow.decision.total", &labels, 1.0);
    if verdict == FlowVerdict::Block {
        let failure = Failure::new(ToolErrorKind::DataflowPolicyBlocked, reason);
        return Err(cx.fail(failure, Report::RowAndEvent));
    }
    Ok(())
}
