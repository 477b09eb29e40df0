//! Running the tool, in a sandbox or in process, in a race with its limit and with cancellation
//! (spec 02 sections 7.11 and 13).

use crate::executor::config::DEFAULT_INLINE_TIMEOUT_MS;
use crate::executor::cx::Cx;
use crate::executor::host::{Dispatched, Event, Field, Host, SandboxFault};
use crate::executor::outcome::Stop;
use crate::executor::tier::{Tier, TierKind};

/// Timers of the platform take a signed 32-bit count; anything longer means no limit.
const LONGEST_TIMER_MS: f64 = 2_147_483_647.0;

/// Why a dispatch produced no value. The thrown value is with the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::executor) enum DispatchError {
    /// The tool threw, or its sandbox rejected.
    Threw,
    /// The limit of the call ran out.
    LimitExpired,
    /// It ignored the cancellation for longer than the grace, or finished within it.
    GaveUp,
    /// The sandbox answered with a failure.
    Sandbox(SandboxFault),
}

/// The end of the race.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::executor) struct Dispatch {
    /// Time and stream counts.
    pub dispatched: Dispatched,
    /// `None` when the tool returned.
    pub error: Option<DispatchError>,
}

pub(in crate::executor) async fn run<H: Host>(cx: &Cx<H>, tier: &Tier) -> Result<Dispatch, Stop> {
    let (sandboxed, limit) = prepare(cx, tier)?;
    if cx.host.enter(cx.call, sandboxed, limit) {
        cx.host.start_grace(cx.call, cx.config.grace_ms);
    }
    let error = race(cx, limit).await;
    cx.ran.set(true);
    let dispatched = cx.host.close(cx.call);
    cx.host.metrics().observe_known(&cx.tool.keys().duration_ms, dispatched.duration_ms);
    let rounded = [("graphorin.tool.duration_ms", Field::Num(dispatched.duration_ms.round()))];
    cx.contain(cx.host.span_attributes(cx.call, &rounded))?;
    Ok(Dispatch { dispatched, error })
}

/// Finds the sandbox and the limit of an in-process run.
fn prepare<H: Host>(cx: &Cx<H>, tier: &Tier) -> Result<(bool, Option<f64>), Stop> {
    let wants_sandbox = tier.kind != TierKind::None && cx.config.wiring.sandbox_resolver;
    let sandboxed = wants_sandbox && cx.host.sandbox(cx.call, tier)?;
    let enforced = tier.kind == TierKind::None || sandboxed;
    cx.host.span_attributes(cx.call, &[("graphorin.tool.sandbox.enforced", Field::Bool(enforced))])?;
    if sandboxed {
        return Ok((true, None));
    }
    let chosen = cx.config.inline_timeout_ms.unwrap_or(if tier.timeout_ms > 0.0 {
        tier.timeout_ms
    } else {
        DEFAULT_INLINE_TIMEOUT_MS
    });
    cx.host.span_attributes(cx.call, &[("graphorin.tool.inline_timeout_ms", Field::Num(chosen))])?;
    Ok((false, (chosen > 0.0 && chosen <= LONGEST_TIMER_MS).then_some(chosen)))
}

async fn race<H: Host>(cx: &Cx<H>, limit: Option<f64>) -> Option<DispatchError> {
    loop {
        match cx.host.event(cx.call).await {
            Event::Returned => return None,
            Event::Threw => return Some(DispatchError::Threw),
            Event::SandboxFailed(fault) => return Some(DispatchError::Sandbox(fault)),
            Event::Aborted => cx.host.start_grace(cx.call, cx.config.grace_ms),
            Event::GraceExpired => {
                cx.host.give_up(cx.call, None);
                return Some(DispatchError::GaveUp);
            }
            Event::LimitExpired => {
                // The tool hears of it first; what it does then no longer matters.
                cx.host.abort(cx.call);
                cx.host.give_up(cx.call, limit);
                return Some(DispatchError::LimitExpired);
            }
        }
    }
}
