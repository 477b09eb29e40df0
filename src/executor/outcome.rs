//! How a call ends, and the recovery values every failure is stamped with (spec 02 section 6).
//!
//! A successful outcome stays with the host: its output is a JavaScript value. A failure is data of
//! ours, apart from the thrown value that caused it, which the host keeps under the call.

use crate::tool::ToolErrorKind;

/// What the model may do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecoveryHint {
    /// The same call may work later.
    RetryLater,
    /// The arguments are wrong.
    CheckInput,
    /// Another tool or another way.
    TryAlternative,
    /// Nothing the model can mend.
    ReportToUser,
}

impl RecoveryHint {
    /// The word JavaScript uses.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RetryLater => "retry_later",
            Self::CheckInput => "check_input",
            Self::TryAlternative => "try_alternative",
            Self::ReportToUser => "report_to_user",
        }
    }
}

/// A failed outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Which of the twelve kinds.
    pub kind: ToolErrorKind,
    /// What happened, for the model and the log.
    pub message: String,
    /// Further advice.
    pub hint: Option<String>,
    /// Whether the thrown value kept by the host is the `cause`.
    pub with_cause: bool,
    /// Set where the default of the kind would mislead.
    pub recovery: Option<(bool, RecoveryHint)>,
}

impl Failure {
    /// A failure with a message and nothing else.
    #[must_use]
    pub fn new(kind: ToolErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, with_cause: false, recovery: None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What the outcome says about recovery: the explicit values, else the kind's defaults.
    #[must_use]
    pub fn stamped(&self) -> (bool, Option<RecoveryHint>) {
        match self.recovery {
            Some((recoverable, hint)) => (recoverable, Some(hint)),
            None => default_recovery(self.kind),
        }
    }
}

/// The defaults of section 6.2.
#[must_use]
pub const fn default_recovery(kind: ToolErrorKind) -> (bool, Option<RecoveryHint>) {
    match kind {
        ToolErrorKind::RateLimited | ToolErrorKind::Timeout => (true, Some(RecoveryHint::RetryLater)),
        ToolErrorKind::InvalidInput => (false, Some(RecoveryHint::CheckInput)),
        ToolErrorKind::InvalidOutput | ToolErrorKind::UnknownTool | ToolErrorKind::ExecutionFailed => {
            (false, Some(RecoveryHint::TryAlternative))
        }
        ToolErrorKind::ApprovalDenied
        | ToolErrorKind::SandboxViolation
        | ToolErrorKind::InboundSanitizationBlocked
        | ToolErrorKind::DataflowPolicyBlocked
        | ToolErrorKind::CapabilityBlocked => (false, Some(RecoveryHint::ReportToUser)),
        ToolErrorKind::Aborted => (false, None),
    }
}

/// Why a phase did not go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The call failed in a way the pipeline knows; it has been reported where section 7.17 says so.
    Failed(Failure),
    /// A callback threw where nothing contains it (section 14). The value stays with the host.
    Escaped,
}

/// The end of one attempt: the assembled result (kept by the host) or why there is none.
pub type Attempt = Result<(), Stop>;
