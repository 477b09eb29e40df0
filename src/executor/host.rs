//! The seam between the pipeline and the world it drives.
//!
//! The pipeline decides; a [`Host`] holds the values and calls the callbacks. Every JavaScript value
//! of a call (arguments, context, output, thrown value) stays with the host under the call's handle;
//! what crosses is an answer: a small enum, a number, a piece of text for a message.
//! `src/node/host` implements the trait with JavaScript, the tests with scripted Rust.
//!
//! Contract of every method that calls user code: what it throws is kept under the call, readable
//! through [`Host::text`], and reported as [`Thrown`]; the method itself never panics.
#![allow(clippy::missing_errors_doc, reason = "every error is `Thrown`, explained once above")]

use super::facts::ToolFacts;
use super::outcome::{Attempt, Failure};
use super::tier::Tier;
use crate::audit::Metrics;
use crate::tool::{InboundPolicy, Sensitivity, TruncationStrategy, TrustClass};
use std::rc::Rc;

/// A callback threw or rejected; the value stays with the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thrown;

/// Text of a call that the host keeps and a message needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// The name the model called.
    CalledName,
    /// The thrown value, rendered (section 6.3).
    Thrown,
    /// The message of the last failed validation.
    SchemaError,
    /// The reason a hook, gate, policy or guard gave; absent when it gave none.
    Reason,
    /// The flow a data-flow verdict named.
    Flow,
    /// The callback that threw last.
    Callback,
    /// Names of the patterns that hit, joined by a comma and a blank.
    Patterns,
    /// The model named by the summariser that was used.
    SummarizerModel,
    /// Path of the spilled artifact.
    ArtifactPath,
    /// The kind of the failure taken over from a joined call.
    JoinedKind,
    /// Its message.
    JoinedMessage,
    /// Its hint.
    JoinedHint,
}

/// What a look-up came to.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// The tool, as it is registered now.
    Tool(Rc<ToolFacts>),
    /// No tool has that name.
    Unknown,
    /// The call was queued and its run was cancelled before its turn (section 9.8).
    RunAborted,
}

/// The answer of the repair hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// It cannot.
    Nothing,
    /// The repaired arguments fit.
    Fits,
    /// They do not; the new schema error is kept.
    StillInvalid,
}

/// The decision of the permission hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Go on.
    Allow,
    /// Refuse.
    Deny,
    /// A human should decide now.
    Ask,
    /// A human should decide later.
    Defer,
    /// A word nobody knows, or nothing at all.
    Unknown,
}

/// The whole answer of the permission hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PermissionAnswer {
    /// The decision.
    pub decision: Permission,
    /// Whether it came with `updatedInput`.
    pub rewrites: bool,
}

/// The verdict of the argument policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicyVerdict {
    /// Go on.
    Allow,
    /// Refuse.
    Deny,
    /// A human should decide now.
    Ask,
    /// A human should decide later.
    Defer,
}

/// The verdict of the data-flow guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowVerdict {
    /// Nothing found.
    Allow,
    /// Found and let through.
    Flag,
    /// Found and waved through for this tool.
    Declassify,
    /// Found and refused.
    Block,
}

/// How a race of the dispatch moved on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The tool returned; the value is kept.
    Returned,
    /// The tool threw; the value is kept.
    Threw,
    /// The sandbox answered with a failure, kept.
    SandboxFailed(SandboxFault),
    /// The limit of the call ran out.
    LimitExpired,
    /// The run was cancelled.
    Aborted,
    /// The grace after a cancellation ran out.
    GraceExpired,
}

/// What a sandbox says went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxFault {
    /// Wall clock.
    Timeout,
    /// A forbidden access, or memory.
    Violation,
    /// Cancelled.
    Aborted,
    /// Anything else.
    Failed,
}

/// The pacing of a `ToolRateLimitError` among thrown values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pacing {
    /// Another error.
    None,
    /// A rate limit, with the wait it asks for.
    RateLimit(Option<f64>),
}

/// What is left when the race is over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dispatched {
    /// Monotonic milliseconds since the dispatch began.
    pub duration_ms: f64,
    /// Chunks in the stream buffer; this and the next three are 0 for tools that do not stream.
    pub chunks: u32,
    /// Progress events so far.
    pub progress_events: u32,
    /// Size of the stream buffer.
    pub total_bytes: f64,
    /// The buffered chunks assemble to a defined output.
    pub partial_output: bool,
    /// The call's own signal is aborted.
    pub aborted: bool,
}

/// What came out of the envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unpacked {
    /// The tool returned something, `null` included.
    pub explicit: bool,
    /// The output is `undefined`.
    pub undefined: bool,
    /// The output is a string.
    pub text: bool,
    /// Whose stored output this is, when untrusted.
    pub producer: Option<Producer>,
}

/// Whose output a stored result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Producer {
    /// The class of the tool that produced it.
    pub trust: TrustClass,
    /// Its sensitivity, when known.
    pub sensitivity: Option<Sensitivity>,
    /// Injection patterns were found in the whole body when it was stored.
    pub flagged: bool,
}

/// How the body is to be bounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundPlan {
    /// The strategy after the rule for structured outputs.
    pub strategy: TruncationStrategy,
    /// Cap in tokens; 0 means none.
    pub max_tokens: f64,
    /// Sensitivity of the data.
    pub sensitivity: Option<Sensitivity>,
    /// Class of the producer.
    pub trust: TrustClass,
}

/// What bounding did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    /// Something was cut.
    pub truncated: bool,
    /// The strategy actually used.
    pub strategy: TruncationStrategy,
    /// Tokens before.
    pub original_tokens: f64,
    /// Tokens after.
    pub kept_tokens: f64,
    /// The difference.
    pub dropped_tokens: f64,
    /// UTF-16 units lost.
    pub units_dropped: f64,
    /// A summary was made.
    pub summarized: bool,
    /// Bytes of the artifact, when one was written.
    pub artifact_bytes: Option<f64>,
    /// A collaborator failed and another strategy stepped in.
    pub degraded: bool,
}

/// What sanitising found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sanitised {
    /// Patterns that hit.
    pub hits: u32,
    /// The envelope was put around it.
    pub wrapped: bool,
    /// Something was cut out.
    pub stripped: bool,
    /// The result must not reach the model.
    pub blocked: bool,
    /// Time of the scan in microseconds.
    pub scan_us: f64,
}

/// A value of an audit row or a span attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Field<'a> {
    /// Text.
    Str(&'a str),
    /// Number.
    Num(f64),
    /// Flag.
    Bool(bool),
    /// A value the host keeps.
    Held(Held),
}

/// Values for audit rows that never leave the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The source kinds of a data-flow verdict, copied.
    SourceKinds,
    /// The memory regions that changed.
    Regions,
    /// The names of the patterns that hit.
    Patterns,
    /// The idempotency key.
    IdempotencyKey,
}

/// One audit row, without what is the same for all rows of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditRow<'a> {
    /// The action.
    pub action: &'static str,
    /// `success`, `denied` or `error`.
    pub decision: &'static str,
    /// The metadata, absent when empty.
    pub metadata: &'a [(&'static str, Field<'a>)],
}

/// The idempotency key of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// There is none.
    None,
    /// An empty one: it is shown, and tells no two calls apart.
    Empty,
    /// One.
    Given,
}

/// What the idempotency store knows of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idempotent {
    /// Nothing, or the tool has no key: run it.
    Fresh,
    /// A result of the same call, taken over as this call's.
    Replayed,
    /// The key was used with other arguments.
    Conflict,
    /// The failure of the same call, joined in flight; the flag says whether it has a cause.
    Failed(bool),
}

/// The world the pipeline drives. See the module documentation for the contract.
#[allow(async_fn_in_trait, reason = "one thread; the futures are never sent")]
pub trait Host: Clone + 'static {
    /// Names a call; copies are free.
    type Call: Copy + 'static;

    // ---- what is known before anything runs

    /// Asks the registry for the called tool. A call that was queued asks first whether its run has
    /// been cancelled meanwhile; the others run even on a run that is aborted already (section 7.0).
    fn lookup(&self, call: Self::Call, queued: bool) -> Result<Lookup, Thrown>;
    /// Whether the run's signal is aborted, read afresh.
    fn run_aborted(&self, call: Self::Call) -> bool;
    /// Where counters and histograms go.
    fn metrics(&self) -> &Metrics;
    /// A kept text; `None` when there is none.
    fn text(&self, call: Self::Call, which: Text) -> Option<String>;
    /// Asks `argumentPolicy.deniesName`; the reason is kept.
    fn denies_name(&self, call: Self::Call) -> Result<bool, Thrown>;

    // ---- reporting

    /// Whether audit rows reach anybody; rows are built only then.
    fn audited(&self, call: Self::Call) -> bool;
    /// Emits a row.
    fn audit(&self, call: Self::Call, row: &AuditRow<'_>) -> Result<(), Thrown>;
    /// Keeps a failure as the call's outcome; with `event`, tells the sink.
    fn failed(&self, call: Self::Call, failure: &Failure, event: bool) -> Result<(), Thrown>;
    /// Keeps what the model is told of a call that a thrown value has left.
    fn escaped(&self, call: Self::Call, message: &str);
    /// Emits the start event to the sink, then to the span.
    fn started(&self, call: Self::Call) -> Result<(), Thrown>;
    /// Emits the end event to the sink.
    fn ended(&self, call: Self::Call) -> Result<(), Thrown>;
    /// Sets attributes on the span of this attempt.
    fn span_attributes(&self, call: Self::Call, attributes: &[(&str, Field<'_>)]) -> Result<(), Thrown>;
    /// Sets the span's status with the failure's message and records the thrown value.
    fn span_failed(&self, call: Self::Call, cancelled: bool, message: &str) -> Result<(), Thrown>;

    // ---- the span around an attempt

    /// Runs an attempt inside a span of the run's tracer, in the context the tracer opens, and
    /// releases what the attempt opened when it ends, however it ends. Without a tracer there is no
    /// span, just the attempt.
    ///
    /// `Err` when the tracer itself failed before the attempt ran; the flag says that it failed
    /// after, which costs the attempt nothing.
    async fn in_span<F>(
        &self,
        call: Self::Call,
        tool: &Rc<ToolFacts>,
        attempt: F,
    ) -> Result<(Attempt, bool), Thrown>
    where
        F: Future<Output = Attempt> + 'static;
    /// Waits `ms` or until the run is aborted.
    async fn pause(&self, call: Self::Call, ms: f64);

    // ---- phases before the tool runs

    /// Validates the model's arguments there and then; `false` keeps the schema error. Answers one
    /// microtask later, so that the caller has its promise before the tool is entered.
    async fn validate(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// Asks the repair hook, and validates what it gives.
    async fn repair(&self, call: Self::Call) -> Result<Repair, Thrown>;
    /// Asks the permission hook.
    async fn permission(&self, call: Self::Call) -> Result<PermissionAnswer, Thrown>;
    /// Whether `updatedInput` serialises to the very effective arguments.
    fn rewrite_is_echo(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// Validates `updatedInput` and makes it the effective arguments.
    async fn rewrite(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// Evaluates the `needsApproval` predicate in a context of its own.
    async fn needs_approval(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// Asks the gate; `false` keeps the reason.
    async fn approved(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// Asks the argument policy.
    fn argument_policy(&self, call: Self::Call) -> Result<PolicyVerdict, Thrown>;
    /// Asks the data-flow guard.
    fn inspect_flow(&self, call: Self::Call) -> Result<FlowVerdict, Thrown>;
    /// Takes the memory snapshot; `false` when there is no guard or no reader.
    async fn snapshot(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// Evaluates the idempotency key in the context the tool will run in; what it throws leaves no key.
    async fn idempotency_key(&self, call: Self::Call) -> Key;
    /// Asks the idempotency store.
    async fn idempotent(&self, call: Self::Call) -> Result<Idempotent, Thrown>;

    // ---- dispatch

    /// Asks the sandbox resolver; `false` means in process.
    fn sandbox(&self, call: Self::Call, tier: &Tier) -> Result<bool, Thrown>;
    /// Opens what the tool runs in (linked signal, streaming channel, context) unless the idempotency
    /// key needed it already, enters the tool in the sandbox found, or in process within its secrets
    /// scope, and starts the limit of the call. Tells whether the call's own signal is aborted by then.
    fn enter(&self, call: Self::Call, sandboxed: bool, limit: Option<f64>) -> bool;
    /// Starts the grace after a cancellation.
    fn start_grace(&self, call: Self::Call, ms: f64);
    /// Aborts the call's own signal.
    fn abort(&self, call: Self::Call);
    /// Keeps a synthetic error as the thrown value: the limit's, or a plain `aborted`.
    fn give_up(&self, call: Self::Call, limit: Option<f64>);
    /// The next event of the race.
    async fn event(&self, call: Self::Call) -> Event;
    /// Ends the race: timers, listener and channel are closed, late events are dropped.
    fn close(&self, call: Self::Call) -> Dispatched;
    /// Whether the thrown value is a `ToolRateLimitError`.
    fn pacing(&self, call: Self::Call) -> Pacing;
    /// Verifies memory; `None` when the guard itself failed, else whether it held, and the time in µs.
    async fn verify(&self, call: Self::Call) -> Option<(bool, bool, f64)>;

    // ---- results

    /// Unpacks the envelope or assembles the streamed output, renders the body, and finds out whose
    /// output it is. Counts envelopes that are none by their brand.
    fn unpack(&self, call: Self::Call) -> Result<Unpacked, Thrown>;
    /// Checks the output; `false` keeps the schema error.
    async fn output_fits(&self, call: Self::Call) -> Result<bool, Thrown>;
    /// The kinds of the content parts that are no text, each once.
    fn part_kinds(&self, call: Self::Call) -> Vec<String>;
    /// Bounds the body.
    async fn bound(&self, call: Self::Call, plan: &BoundPlan) -> Result<Bounded, Thrown>;
    /// Sanitises the bounded body.
    async fn sanitise(
        &self,
        call: Self::Call,
        policy: InboundPolicy,
        shown: TrustClass,
        fail_closed: bool,
    ) -> Result<Sanitised, Thrown>;
    /// Builds the outcome and remembers the handle of an artifact.
    fn assemble(&self, call: Self::Call, dispatched: &Dispatched, shown: TrustClass);
    /// Hands the result to the data-flow guard.
    fn record_flow(&self, call: Self::Call, trust: TrustClass) -> Result<(), Thrown>;
}
