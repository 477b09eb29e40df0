//! What every phase of one attempt has at hand, and the reporting rules they share.

use super::config::{BatchOptions, Config};
use super::facts::ToolFacts;
use super::host::{AuditRow, Field, Host, Text, Thrown};
use super::message::{presentable, shown_name};
use super::outcome::{Failure, Stop};
use crate::audit::key;
use crate::tool::ToolErrorKind;
use std::cell::Cell;
use std::rc::Rc;

/// What the host names as the thrower when a wait was ended by the cancellation of the run.
const INTERRUPTED: &str = "run.signal";

/// One attempt of one call.
pub(super) struct Cx<H: Host> {
    pub host: H,
    pub call: H::Call,
    pub tool: Rc<ToolFacts>,
    pub config: Rc<Config>,
    pub batch: BatchOptions,
    /// The tool has returned: from here on nothing may lose its result.
    pub ran: Cell<bool>,
    /// An attempt has begun without the key that the tool declares.
    pub unkeyed: Rc<Cell<bool>>,
}

/// What a failure leaves behind beside the outcome (section 7.17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// Nothing.
    Silent,
    /// The error row and the errors counter.
    Row,
    /// These and the error event.
    RowAndEvent,
}

impl From<Thrown> for Stop {
    fn from(_: Thrown) -> Self {
        Self::Escaped
    }
}

impl<H: Host> Cx<H> {
    /// Adds to a counter; labels in sorted order.
    pub fn count(&self, name: &str, labels: &[(&str, &str)], by: f64) {
        self.host.metrics().increment(&key(name, labels), by);
    }

    /// Adds 1 to a counter labelled with the tool's name.
    pub fn count_tool(&self, name: &str) {
        self.count(name, &[("toolName", &self.tool.name)], 1.0);
    }

    /// A kept text, empty when there is none.
    pub fn text(&self, which: Text) -> String {
        self.host.text(self.call, which).unwrap_or_default()
    }

    /// The kept reason, if the callback gave one.
    pub fn reason(&self) -> Option<String> {
        self.host.text(self.call, Text::Reason)
    }

    /// Emits an audit row. A throwing auditor stops a call that has not run, and is contained after.
    pub fn row(
        &self,
        action: &'static str,
        decision: &'static str,
        metadata: &[(&'static str, Field<'_>)],
    ) -> Result<(), Stop> {
        if !self.host.audited(self.call) {
            return Ok(());
        }
        self.contain(self.host.audit(self.call, &AuditRow { action, decision, metadata }))
    }

    /// Lets a thrown value through before the tool has run, and reports it instead afterwards.
    pub fn contain(&self, result: Result<(), Thrown>) -> Result<(), Stop> {
        match result {
            Err(thrown) if !self.ran.get() => Err(thrown.into()),
            Err(_) => {
                self.callback_failed();
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Whether the wait that just failed was ended by the cancellation of the run.
    pub fn interrupted(&self) -> bool {
        self.text(Text::Callback) == INTERRUPTED
    }

    /// Reports a callback that threw where the call goes on or ends regardless.
    pub fn callback_failed(&self) {
        report_callback(&self.host, self.call, &self.tool.name);
    }

    /// Counts a callback whose failure costs nothing but its own work; no row, as nothing of the call is lost.
    pub fn callback_swallowed(&self) {
        count_callback(&self.host, self.call, &self.tool.name);
    }

    /// Reports a failure the way its site does, keeps it as the outcome, and returns the stop.
    pub fn fail(&self, failure: Failure, report: Report) -> Stop {
        self.fail_with(failure, report, None)
    }

    /// [`fail`](Self::fail) with a `reason` in the row's metadata.
    pub fn fail_with(&self, mut failure: Failure, report: Report, reason: Option<&'static str>) -> Stop {
        failure.message = presentable(failure.message, failure.kind, &self.tool);
        if report != Report::Silent {
            let outcome = error_row(&self.host, self.call, &self.tool.name, failure.kind, reason);
            if let Err(thrown) = outcome.map_err(Stop::from) {
                if !self.ran.get() {
                    return thrown;
                }
                self.callback_failed();
            }
        }
        // A sink that throws on the error event does not replace the real error.
        if self.host.failed(self.call, &failure, report == Report::RowAndEvent).is_err() {
            self.callback_failed();
        }
        Stop::Failed(failure)
    }
}

/// The error audit of section 6.4: the row, then the counter.
pub(super) fn error_row<H: Host>(
    host: &H,
    call: H::Call,
    tool_name: &str,
    kind: ToolErrorKind,
    reason: Option<&'static str>,
) -> Result<(), Thrown> {
    let mut result = Ok(());
    if host.audited(call) {
        let with_reason = [("kind", Field::Str(kind.as_str())), ("reason", Field::Str(reason.unwrap_or("")))];
        let metadata = if reason.is_some() { &with_reason[..] } else { &with_reason[..1] };
        result = host.audit(call, &AuditRow { action: "tool:execute:error", decision: "error", metadata });
    }
    let key_of =
        |name: &str| key("tool.executor.errors.total", &[("kind", kind.as_str()), ("toolName", name)]);
    let counted = key_of(&shown_name(tool_name));
    if kind == ToolErrorKind::UnknownTool {
        host.metrics().increment_bounded(&counted, || key_of("(other)"));
    } else {
        host.metrics().increment(&counted, 1.0);
    }
    result
}

/// One counter and one row that say which callback threw. A throwing auditor is only counted.
pub(super) fn report_callback<H: Host>(host: &H, call: H::Call, tool_name: &str) {
    let callback = count_callback(host, call, tool_name);
    if !host.audited(call) || callback == "emitAudit" {
        return;
    }
    let message = host.text(call, Text::Thrown).unwrap_or_default();
    let metadata = [
        ("kind", Field::Str("callback-failed")),
        ("callback", Field::Str(&callback)),
        ("message", Field::Str(&message)),
    ];
    let row = AuditRow { action: "tool:execute:error", decision: "error", metadata: &metadata };
    // Nothing is left to tell that the auditor itself threw here.
    let _ = host.audit(call, &row);
}

/// Counts a callback that failed and returns its name.
fn count_callback<H: Host>(host: &H, call: H::Call, tool_name: &str) -> String {
    let callback = host.text(call, Text::Callback).unwrap_or_else(|| "unknown".to_owned());
    let shown = shown_name(tool_name);
    let labels = [("callback", callback.as_str()), ("toolName", &*shown)];
    host.metrics().increment(&key("tool.executor.callback-failed.total", &labels), 1.0);
    callback
}
