//! The story of one call (spec 02 section 7), from the lookup to its ending.

use super::config::{BatchOptions, Config};
use super::cx::{Cx, Report, error_row, report_callback};
use super::facts::ToolFacts;
use super::host::{Host, Lookup, Text};
use super::message::{presentable, shown_name};
use super::outcome::{Attempt, Failure, Stop};
use super::phases;
use super::retry::{self, Made};
use crate::tool::ToolErrorKind;
use std::cell::Cell;
use std::rc::Rc;

/// How a call ended. The values are with the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// A result was assembled.
    Succeeded,
    /// A failure was kept as the outcome.
    Failed(Failure),
    /// A callback threw where nothing contains it; the thrown value is kept.
    Escaped,
    /// A defect of ours; the call is lost, nothing else is.
    Panicked,
}

/// Runs a call to its end: three gates, then attempts inside spans until retry has had enough.
/// `queued` calls had to wait for their turn.
pub async fn run_call<H: Host>(
    host: H,
    config: Rc<Config>,
    batch: BatchOptions,
    call: H::Call,
    queued: bool,
) -> Ending {
    let tool = match host.lookup(call, queued) {
        Ok(Lookup::Tool(tool)) => tool,
        Ok(Lookup::Unknown) => return unknown_tool(&host, call),
        Ok(Lookup::RunAborted) => return never_started(&host, call),
        Err(_) => return Ending::Escaped,
    };
    let unkeyed = Rc::new(Cell::new(false));
    let attempt_cx = || {
        let (host, tool, config) = (host.clone(), Rc::clone(&tool), Rc::clone(&config));
        Cx { host, call, tool, config, batch, ran: Cell::new(false), unkeyed: Rc::clone(&unkeyed) }
    };

    if let Err(stop) = phases::gates::run(&attempt_cx()) {
        return ending(&host, call, &tool, Err(stop));
    }
    let mut attempts_made = 0_u32;
    loop {
        let Ok((result, tracer_failed)) = host.in_span(call, &tool, attempt(attempt_cx())).await else {
            return ending(&host, call, &tool, Err(left(&attempt_cx())));
        };
        if tracer_failed {
            report_callback(&host, call, &tool.name);
        }
        attempts_made += 1;
        let made = Made { attempts: attempts_made, unkeyed: unkeyed.get() };
        if !retry::again(&host, &config, &tool, call, made, &result).await {
            return ending(&host, call, &tool, result);
        }
    }
}

/// One attempt. A wait that the cancellation of the run has ended ends the call as aborted.
async fn attempt<H: Host>(cx: Cx<H>) -> Attempt {
    let result = phases_in_order(&cx).await;
    if result == Err(Stop::Escaped) { Err(left(&cx)) } else { result }
}

/// What it means that a callback left the attempt: an abort, where the wait for it was cut short.
fn left<H: Host>(cx: &Cx<H>) -> Stop {
    if !cx.interrupted() {
        return Stop::Escaped;
    }
    let failure = Failure::new(ToolErrorKind::Aborted, "Tool execution cancelled");
    cx.fail_with(failure, Report::RowAndEvent, Some("cancelled"))
}

/// The phases, in the order of section 7.0.
async fn phases_in_order<H: Host>(cx: &Cx<H>) -> Attempt {
    phases::invoked(cx);
    phases::validation::run(cx).await?;
    phases::permission::run(cx).await?;
    phases::approval::run(cx).await?;
    phases::argument_policy::run(cx)?;
    phases::data_flow::inspect(cx)?;

    let tier = phases::context::resolve(cx)?;
    let guarded = phases::memory::snapshot(cx).await?;
    let keyed = phases::start::run(cx, &tier).await?;
    if phases::idempotency::replayed(cx, keyed).await? {
        return Ok(());
    }

    let dispatch = phases::dispatch::run(cx, &tier).await?;
    phases::memory::verify(cx, guarded, &dispatch).await;
    let dispatched = phases::failure::settle(cx, dispatch)?;

    let unpacked = phases::envelope::run(cx, &dispatched).await?;
    let owned = phases::bound::run(cx, &unpacked).await?;
    phases::sanitise::run(cx, owned).await?;
    phases::assemble::run(cx, &dispatched, owned, keyed)
}

fn unknown_tool<H: Host>(host: &H, call: H::Call) -> Ending {
    let name = host.text(call, Text::CalledName).unwrap_or_default();
    let failure = Failure::new(ToolErrorKind::UnknownTool, format!("Unknown tool: {}", shown_name(&name)));
    if error_row(host, call, &name, failure.kind, None).is_err() {
        return Ending::Escaped;
    }
    // Without an event there is nobody that could throw.
    let _ = host.failed(call, &failure, false);
    Ending::Failed(failure)
}

fn ending<H: Host>(host: &H, call: H::Call, tool: &ToolFacts, result: Attempt) -> Ending {
    match result {
        Ok(()) => Ending::Succeeded,
        Err(Stop::Failed(failure)) => Ending::Failed(failure),
        Err(Stop::Escaped) => {
            let thrown = host.text(call, Text::Thrown).unwrap_or_default();
            let message = format!("tool execution rejected outside the executor pipeline: {thrown}");
            host.escaped(call, &presentable(message, ToolErrorKind::ExecutionFailed, tool));
            report_callback(host, call, &tool.name);
            Ending::Escaped
        }
    }
}

/// The failure of a queued call whose run was cancelled before its turn (section 9.8).
fn never_started<H: Host>(host: &H, call: H::Call) -> Ending {
    let name = host.text(call, Text::CalledName).unwrap_or_default();
    // The message is that of any cancelled call (section 7.12); the hint tells the two apart.
    let failure = Failure::new(ToolErrorKind::Aborted, "Tool execution cancelled")
        .hint("the run was aborted before this call started");
    if error_row(host, call, &name, failure.kind, Some("cancelled")).is_err() {
        report_callback(host, call, &name);
    }
    let _ = host.failed(call, &failure, false);
    Ending::Failed(failure)
}
