//! De-duplication by idempotency key, only with an `idempotencyStore`: the same key and arguments
//! give the stored result, or join the call in flight; the same key with other arguments is refused.

use crate::executor::cx::{Cx, Report};
use crate::executor::host::{Field, Held, Host, Idempotent, Text};
use crate::executor::message::shown_name;
use crate::executor::outcome::{Failure, Stop};
use crate::tool::ToolErrorKind;

/// `true` when a stored result has become this call's outcome.
pub(in crate::executor) async fn replayed<H: Host>(cx: &Cx<H>, keyed: bool) -> Result<bool, Stop> {
    if !keyed || !cx.config.wiring.idempotency_store {
        return Ok(false);
    }
    match cx.host.idempotent(cx.call).await? {
        Idempotent::Fresh => Ok(false),
        Idempotent::Conflict => {
            let message = format!(
                "Tool '{}' was called before with this idempotency key and other arguments; use a new key \
                 for a new request.",
                shown_name(&cx.tool.name)
            );
            Err(cx.fail(Failure::new(ToolErrorKind::InvalidInput, message), Report::RowAndEvent))
        }
        Idempotent::Failed(with_cause) => {
            let kind = ToolErrorKind::parse(&cx.text(Text::JoinedKind));
            let mut failure =
                Failure::new(kind.unwrap_or(ToolErrorKind::ExecutionFailed), cx.text(Text::JoinedMessage));
            failure.hint = cx.host.text(cx.call, Text::JoinedHint);
            failure.with_cause = with_cause;
            Err(cx.fail(failure, Report::RowAndEvent))
        }
        Idempotent::Replayed => {
            cx.ran.set(true);
            cx.count_tool("tool.executor.idempotent-replay.total");
            let metadata = [
                ("durationMs", Field::Num(0.0)),
                ("idempotencyKey", Field::Held(Held::IdempotencyKey)),
                ("replayed", Field::Bool(true)),
            ];
            cx.row("tool:execute:end", "success", &metadata)?;
            cx.contain(cx.host.ended(cx.call))?;
            Ok(true)
        }
    }
}
