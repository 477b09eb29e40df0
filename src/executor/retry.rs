//! Whether a failed attempt is made again, and the pause before it (spec 02 section 8).

use super::config::Config;
use super::facts::ToolFacts;
use super::host::{Host, Pacing};
use super::outcome::{Attempt, Stop};
use crate::audit::key;
use crate::tool::SideEffectClass;

/// What has been tried.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    /// Attempts made.
    pub attempts: u32,
    /// One of them began without the key that the tool declares.
    pub unkeyed: bool,
}

/// Decides after an attempt; when another one is due, waits out the pause first.
///
/// A retry can never double a side effect: only readers and calls with an idempotency key are tried
/// again. A pause cut short by an abort ends the retrying with the outcome there is.
pub(super) async fn again<H: Host>(
    host: &H,
    config: &Config,
    tool: &ToolFacts,
    call: H::Call,
    made: Made,
    result: &Attempt,
) -> bool {
    let Err(Stop::Failed(failure)) = result else { return false };
    // A NaN bound is no bound at all, so the comparison is written to fail for it.
    let more_allowed = f64::from(made.attempts) < config.retry.max_attempts;
    let reads = matches!(tool.class, SideEffectClass::Pure | SideEffectClass::ReadOnly);
    let safe = reads || (tool.has_idempotency_key && !made.unkeyed);
    if !more_allowed || !safe || !config.retry.kinds.contains(&failure.kind) || host.run_aborted(call) {
        return false;
    }
    let labels = [("kind", failure.kind.as_str()), ("toolName", tool.name.as_str())];
    host.metrics().increment(&key("tool.executor.retry.total", &labels), 1.0);
    let pause = match host.pacing(call) {
        Pacing::RateLimit(Some(ms)) => ms,
        _ => backoff(config.retry.backoff_ms, made.attempts),
    };
    host.pause(call, pause).await;
    !host.run_aborted(call)
}

/// 1, 2, 4, … times the first pause.
fn backoff(first_ms: f64, attempts_made: u32) -> f64 {
    first_ms * 2_f64.powi(i32::try_from(attempts_made.saturating_sub(1)).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::backoff;

    #[test]
    fn section_8_pauses_double() {
        let pauses: Vec<f64> = (1..=4).map(|made| backoff(250.0, made)).collect();
        assert_eq!(pauses, [250.0, 500.0, 1000.0, 2000.0]);
    }
}
