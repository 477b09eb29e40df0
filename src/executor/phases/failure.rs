//! What a failed dispatch becomes (spec 02 section 7.12). The only phase that touches the status of
//! the span.

use super::dispatch::{Dispatch, DispatchError};
use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Dispatched, Host, Pacing, SandboxFault, Text};
use crate::executor::outcome::{Failure, RecoveryHint, Stop};
use crate::tool::ToolErrorKind;

pub(in crate::executor) fn settle<H: Host>(cx: &Cx<H>, dispatch: Dispatch) -> Result<Dispatched, Stop> {
    let error = match dispatch.error {
        Some(error) => error,
        // A result that arrives within the grace of a cancellation is dropped.
        None if dispatch.dispatched.aborted => {
            cx.host.give_up(cx.call, None);
            DispatchError::GaveUp
        }
        None => return Ok(dispatch.dispatched),
    };
    let run_aborted = cx.host.run_aborted(cx.call);
    let timed_out = error == DispatchError::LimitExpired && !run_aborted;
    let cancelled = !timed_out && (run_aborted || dispatch.dispatched.aborted);
    let pacing = cx.host.pacing(cx.call);
    let kind = if cancelled { ToolErrorKind::Aborted } else { kind_of(error, pacing) };
    let message = if cancelled { "Tool execution cancelled".to_owned() } else { cx.text(Text::Thrown) };
    let unsafe_timeout =
        kind == ToolErrorKind::Timeout && cx.tool.class.is_writer() && !cx.tool.has_idempotency_key;
    let failure = Failure {
        kind,
        message,
        hint: hint(&dispatch.dispatched, pacing, unsafe_timeout),
        with_cause: true,
        recovery: unsafe_timeout.then_some((false, RecoveryHint::ReportToUser)),
    };

    if cancelled {
        let labels = [("reason", "cancelled"), ("toolName", cx.tool.name.as_str())];
        cx.count("tool.streaming.events.dropped.total", &labels, 1.0);
    }
    let message = failure.message.clone();
    let stop = cx.fail_with(failure, Report::RowAndEvent, cancelled.then_some("cancelled"));
    cx.contain(cx.host.span_failed(cx.call, cancelled, &message))?;
    Err(stop)
}

fn kind_of(error: DispatchError, pacing: Pacing) -> ToolErrorKind {
    match error {
        DispatchError::LimitExpired | DispatchError::Sandbox(SandboxFault::Timeout) => ToolErrorKind::Timeout,
        DispatchError::Sandbox(SandboxFault::Violation) => ToolErrorKind::SandboxViolation,
        DispatchError::Sandbox(SandboxFault::Aborted) => ToolErrorKind::Aborted,
        _ if pacing != Pacing::None => ToolErrorKind::RateLimited,
        _ => ToolErrorKind::ExecutionFailed,
    }
}

fn hint(dispatched: &Dispatched, pacing: Pacing, unsafe_timeout: bool) -> Option<String> {
    let base = match pacing {
        Pacing::RateLimit(Some(ms)) => Some(format!("retry after {}ms", js_number(ms))),
        _ => dispatched.partial_output.then(|| "partial output captured in stream buffer".to_owned()),
    };
    let extra = unsafe_timeout
        .then(|| "the first invocation may still have completed; do not retry blindly".to_owned());
    match (base, extra) {
        (Some(base), Some(extra)) => Some(format!("{base}; {extra}")),
        (base, extra) => base.or(extra),
    }
}

/// A number as JavaScript prints it, for the ordinary range of a wait.
fn js_number(value: f64) -> String {
    format!("{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Dispatched = Dispatched {
        duration_ms: 1.0,
        chunks: 0,
        progress_events: 0,
        total_bytes: 0.0,
        partial_output: false,
        aborted: false,
    };

    #[test]
    fn hints_of_section_7_12() {
        let streamed = Dispatched { chunks: 1, partial_output: true, ..QUIET };
        let paced = Pacing::RateLimit(Some(1500.0));
        let table = [
            (QUIET, Pacing::None, false, None),
            (QUIET, paced, false, Some("retry after 1500ms")),
            (QUIET, Pacing::RateLimit(Some(0.5)), false, Some("retry after 0.5ms")),
            (streamed, paced, false, Some("retry after 1500ms")),
            (streamed, Pacing::RateLimit(None), false, Some("partial output captured in stream buffer")),
            (
                QUIET,
                Pacing::None,
                true,
                Some("the first invocation may still have completed; do not retry blindly"),
            ),
        ];
        for (dispatched, pacing, unsafe_timeout, expected) in table {
            assert_eq!(hint(&dispatched, pacing, unsafe_timeout).as_deref(), expected);
        }
    }

    #[test]
    fn kinds_of_section_7_12() {
        use DispatchError::{GaveUp, LimitExpired, Sandbox, Threw};
        let table = [
            (LimitExpired, Pacing::None, ToolErrorKind::Timeout),
            (Sandbox(SandboxFault::Timeout), Pacing::None, ToolErrorKind::Timeout),
            (Sandbox(SandboxFault::Violation), Pacing::None, ToolErrorKind::SandboxViolation),
            (Sandbox(SandboxFault::Aborted), Pacing::None, ToolErrorKind::Aborted),
            (Sandbox(SandboxFault::Failed), Pacing::None, ToolErrorKind::ExecutionFailed),
            (Threw, Pacing::RateLimit(None), ToolErrorKind::RateLimited),
            (Threw, Pacing::None, ToolErrorKind::ExecutionFailed),
            (GaveUp, Pacing::None, ToolErrorKind::ExecutionFailed),
        ];
        for (error, pacing, kind) in table {
            assert_eq!(kind_of(error, pacing), kind, "{error:?}");
        }
    }
}
