//! A host whose calls follow a script. It logs every effect in order; time is tokio's paused clock.

use crate::audit::Metrics;
use crate::executor::tier::Tier;
use crate::executor::{
    Attempt, AuditRow, BatchHost, BoundPlan, Bounded, Dispatched, Ending, Event, Failure, Field, FlowVerdict,
    Host, Idempotent, Key, Lookup, Pacing, Permission, PermissionAnswer, PolicyVerdict, Producer, Repair,
    Sanitised, Text, Thrown, ToolFacts, Unpacked,
};
use crate::tool::{InboundPolicy, TrustClass};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

/// What one run of the tool's body does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Body {
    /// Returns after some milliseconds.
    Return(u64),
    /// Throws after some milliseconds.
    Throw(u64),
    /// Asks for a pause after some milliseconds.
    RateLimit(u64, Option<f64>),
    /// Never settles.
    Hang,
}

/// Longer than any limit of a test.
const HANG_MS: u64 = 10 * 365 * 86_400_000;

/// A callback that is told to throw.
pub type Trap = &'static str;

/// What a call does. `Default` is a reader that succeeds at once.
#[derive(Debug, Clone)]
pub struct Script {
    pub facts: Option<ToolFacts>,
    pub bodies: Vec<Body>,
    pub valid: bool,
    pub repair: Repair,
    pub permission: PermissionAnswer,
    pub echo: bool,
    pub needs_approval: bool,
    pub granted: bool,
    pub gate_ms: u64,
    pub reason: Option<String>,
    pub policy: PolicyVerdict,
    pub flow: FlowVerdict,
    pub output_fits: bool,
    pub output_text: bool,
    pub sanitised: Sanitised,
    pub producer: Option<Producer>,
    pub idempotent: Idempotent,
    pub traps: Vec<Trap>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            facts: Some(ToolFacts::reader("t")),
            bodies: vec![Body::Return(0)],
            valid: true,
            repair: Repair::Nothing,
            permission: PermissionAnswer { decision: Permission::Allow, rewrites: false },
            echo: true,
            needs_approval: true,
            granted: true,
            gate_ms: 0,
            reason: None,
            policy: PolicyVerdict::Allow,
            flow: FlowVerdict::Allow,
            output_fits: true,
            output_text: true,
            sanitised: Sanitised { hits: 0, wrapped: false, stripped: false, blocked: false, scan_us: 1.0 },
            producer: None,
            idempotent: Idempotent::Fresh,
            traps: Vec::new(),
        }
    }
}

struct CallState {
    script: Script,
    attempts: Cell<usize>,
    events: RefCell<Option<(UnboundedSender<Event>, UnboundedReceiver<Event>)>>,
    /// Counts dispatches, so that timers of an earlier one are told apart.
    epoch: Cell<u32>,
    entered: Cell<Option<Instant>>,
    aborted: Cell<bool>,
    thrown: RefCell<(Trap, String)>,
    pacing: Cell<Pacing>,
}

/// The world of a test.
pub struct World {
    calls: Vec<CallState>,
    pub log: RefCell<Vec<String>>,
    pub endings: RefCell<Vec<(u32, Ending)>>,
    /// What is told of calls that a thrown value has left.
    pub escapes: RefCell<Vec<(u32, String)>>,
    pub run_aborted: Cell<bool>,
    pub running: Cell<u32>,
    pub peak: Cell<u32>,
    metrics: Metrics,
}

/// The host.
#[derive(Clone)]
pub struct ScriptHost(pub Rc<World>);

impl ScriptHost {
    pub fn new(scripts: Vec<Script>) -> Self {
        let calls = scripts
            .into_iter()
            .map(|script| CallState {
                script,
                attempts: Cell::new(0),
                events: RefCell::new(None),
                epoch: Cell::new(0),
                entered: Cell::new(None),
                aborted: Cell::new(false),
                thrown: RefCell::new(("none", String::new())),
                pacing: Cell::new(Pacing::None),
            })
            .collect();
        Self(Rc::new(World {
            calls,
            log: RefCell::default(),
            endings: RefCell::default(),
            escapes: RefCell::default(),
            run_aborted: Cell::new(false),
            running: Cell::new(0),
            peak: Cell::new(0),
            metrics: Metrics::default(),
        }))
    }

    /// Cancels the run: every call in flight hears of it.
    pub fn abort_run(&self) {
        self.0.run_aborted.set(true);
        for call in &self.0.calls {
            if call.entered.get().is_some() {
                call.aborted.set(true);
                Self::send(call, Event::Aborted);
            }
        }
    }

    pub fn taken_log(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.log.borrow_mut())
    }

    pub fn counter(&self, key: &str) -> f64 {
        self.0.metrics.counter(key)
    }

    pub fn ending(&self, call: u32) -> Ending {
        let endings = self.0.endings.borrow();
        endings
            .iter()
            .find(|(at, _)| *at == call)
            .map(|(_, ending)| ending.clone())
            .expect("the call has ended")
    }

    fn call(&self, call: u32) -> &CallState {
        &self.0.calls[call as usize]
    }

    fn log(&self, call: u32, entry: &str) {
        self.0.log.borrow_mut().push(format!("{call}:{entry}"));
    }

    /// Throws when the script says so.
    fn trap(&self, call: u32, callback: Trap) -> Result<(), Thrown> {
        if self.call(call).script.traps.contains(&callback) {
            *self.call(call).thrown.borrow_mut() = (callback, format!("{callback} broke"));
            return Err(Thrown);
        }
        Ok(())
    }

    fn send(call: &CallState, event: Event) {
        if let Some((sender, _)) = &*call.events.borrow() {
            let _ = sender.send(event);
        }
    }

    fn later(&self, call: u32, ms: f64, event: Event) {
        let host = self.clone();
        let epoch = self.call(call).epoch.get();
        let wait = Duration::from_secs_f64(ms / 1000.0);
        spawn_local(async move {
            sleep(wait).await;
            let state = host.call(call);
            if state.epoch.get() == epoch {
                Self::send(state, event);
            }
        });
    }
}

fn describe(fields: &[(&'static str, Field<'_>)]) -> String {
    let mut parts = Vec::new();
    for (name, value) in fields {
        parts.push(match value {
            Field::Str(text) => format!("{name}={text}"),
            Field::Num(number) => format!("{name}={number}"),
            Field::Bool(flag) => format!("{name}={flag}"),
            Field::Held(held) => format!("{name}=<{held:?}>"),
        });
    }
    parts.join(",")
}

impl Host for ScriptHost {
    type Call = u32;

    fn lookup(&self, call: u32, queued: bool) -> Result<Lookup, Thrown> {
        if queued && self.0.run_aborted.get() {
            return Ok(Lookup::RunAborted);
        }
        self.trap(call, "registry.get")?;
        let facts = self.call(call).script.facts.clone();
        Ok(facts.map_or(Lookup::Unknown, |facts| Lookup::Tool(Rc::new(facts))))
    }

    fn run_aborted(&self, _call: u32) -> bool {
        self.0.run_aborted.get()
    }

    fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    fn text(&self, call: u32, which: Text) -> Option<String> {
        let state = self.call(call);
        match which {
            Text::CalledName => {
                Some(state.script.facts.as_ref().map_or("ghost", |facts| &facts.name).to_owned())
            }
            Text::Thrown => Some(state.thrown.borrow().1.clone()),
            Text::Callback => Some(state.thrown.borrow().0.to_owned()),
            Text::SchemaError => Some("does not fit".to_owned()),
            Text::Reason => state.script.reason.clone(),
            Text::Flow => Some("untrusted-to-sink".to_owned()),
            Text::Patterns => Some("one, two".to_owned()),
            Text::JoinedKind => Some("rate_limited".to_owned()),
            Text::JoinedMessage => Some("busy".to_owned()),
            Text::JoinedHint | Text::SummarizerModel | Text::ArtifactPath => None,
        }
    }

    fn denies_name(&self, call: u32) -> Result<bool, Thrown> {
        self.trap(call, "argumentPolicy.deniesName")?;
        Ok(self.call(call).script.traps.contains(&"denied"))
    }

    fn audited(&self, _call: u32) -> bool {
        true
    }

    fn audit(&self, call: u32, row: &AuditRow<'_>) -> Result<(), Thrown> {
        self.log(call, &format!("A {} {} {}", row.action, row.decision, describe(row.metadata)));
        self.trap(call, "emitAudit")
    }

    fn failed(&self, call: u32, failure: &Failure, event: bool) -> Result<(), Thrown> {
        if event {
            self.log(call, &format!("E error {}", failure.kind));
            self.trap(call, "streamingSink.error")?;
        }
        Ok(())
    }

    fn escaped(&self, call: u32, message: &str) {
        self.0.escapes.borrow_mut().push((call, message.to_owned()));
    }

    fn started(&self, call: u32) -> Result<(), Thrown> {
        self.log(call, "E start");
        self.trap(call, "streamingSink.start")
    }

    fn ended(&self, call: u32) -> Result<(), Thrown> {
        self.log(call, "E end");
        self.trap(call, "streamingSink.end")
    }

    fn span_attributes(&self, call: u32, attributes: &[(&str, Field<'_>)]) -> Result<(), Thrown> {
        let names: Vec<&str> =
            attributes.iter().map(|(name, _)| name.trim_start_matches("graphorin.tool.")).collect();
        self.log(call, &format!("S {}", names.join("+")));
        self.trap(call, "span.setAttributes")
    }

    fn span_failed(&self, call: u32, cancelled: bool, message: &str) -> Result<(), Thrown> {
        self.log(call, &format!("S status {} {message}", if cancelled { "cancelled" } else { "error" }));
        Ok(())
    }

    async fn in_span<F>(
        &self,
        call: u32,
        _tool: &Rc<ToolFacts>,
        attempt: F,
    ) -> Result<(Attempt, bool), Thrown>
    where
        F: Future<Output = Attempt> + 'static,
    {
        self.log(call, "S open");
        self.trap(call, "tracer.span")?;
        let result = attempt.await;
        self.log(call, "S close");
        Ok((result, self.trap(call, "tracer.span.after").is_err()))
    }

    async fn pause(&self, call: u32, ms: f64) {
        self.log(call, &format!("pause {ms}"));
        sleep(Duration::from_secs_f64(ms / 1000.0)).await;
    }

    async fn validate(&self, call: u32) -> Result<bool, Thrown> {
        assert!(!self.call(call).script.traps.contains(&"panic"), "a defect");
        self.trap(call, "inputSchema")?;
        Ok(self.call(call).script.valid)
    }

    async fn repair(&self, call: u32) -> Result<Repair, Thrown> {
        self.log(call, "repair");
        self.trap(call, "repair")?;
        Ok(self.call(call).script.repair)
    }

    async fn permission(&self, call: u32) -> Result<PermissionAnswer, Thrown> {
        self.log(call, "permission");
        self.trap(call, "permissionHook")?;
        Ok(self.call(call).script.permission)
    }

    fn rewrite_is_echo(&self, call: u32) -> Result<bool, Thrown> {
        Ok(self.call(call).script.echo)
    }

    async fn rewrite(&self, call: u32) -> Result<bool, Thrown> {
        self.log(call, "rewrite");
        Ok(self.call(call).script.echo)
    }

    async fn needs_approval(&self, call: u32) -> Result<bool, Thrown> {
        self.trap(call, "needsApproval")?;
        Ok(self.call(call).script.needs_approval)
    }

    async fn approved(&self, call: u32) -> Result<bool, Thrown> {
        self.log(call, "gate");
        sleep(Duration::from_millis(self.call(call).script.gate_ms)).await;
        self.trap(call, "approvalGate.request")?;
        Ok(self.call(call).script.granted)
    }

    fn argument_policy(&self, call: u32) -> Result<PolicyVerdict, Thrown> {
        self.log(call, "policy");
        self.trap(call, "argumentPolicy.decide")?;
        Ok(self.call(call).script.policy)
    }

    fn inspect_flow(&self, call: u32) -> Result<FlowVerdict, Thrown> {
        self.log(call, "inspect");
        self.trap(call, "dataFlowGuard.inspect")?;
        Ok(self.call(call).script.flow)
    }

    async fn snapshot(&self, call: u32) -> Result<bool, Thrown> {
        self.log(call, "snapshot");
        self.trap(call, "memoryGuardFactory")?;
        self.trap(call, "memoryGuard.snapshot")?;
        Ok(true)
    }

    async fn idempotency_key(&self, call: u32) -> Key {
        if self.trap(call, "idempotencyKey").is_ok() { Key::Given } else { Key::None }
    }

    async fn idempotent(&self, call: u32) -> Result<Idempotent, Thrown> {
        self.trap(call, "idempotencyStore.get")?;
        Ok(self.call(call).script.idempotent)
    }

    fn sandbox(&self, call: u32, _tier: &Tier) -> Result<bool, Thrown> {
        self.trap(call, "sandboxResolver")?;
        Ok(false)
    }

    fn enter(&self, call: u32, _sandboxed: bool, limit: Option<f64>) -> bool {
        let state = self.call(call);
        let attempt = state.attempts.get();
        state.attempts.set(attempt + 1);
        state.epoch.set(state.epoch.get() + 1);
        state.aborted.set(self.0.run_aborted.get());
        state.entered.set(Some(Instant::now()));
        state.pacing.set(Pacing::None);
        *state.events.borrow_mut() = Some(unbounded_channel());
        self.0.running.set(self.0.running.get() + 1);
        self.0.peak.set(self.0.peak.get().max(self.0.running.get()));
        self.log(call, "execute");
        let body = state.script.bodies.get(attempt).or(state.script.bodies.last()).copied();
        let (wait, event) = match body {
            Some(Body::Return(ms)) => (ms, Event::Returned),
            Some(Body::Throw(ms)) => (ms, Event::Threw),
            Some(Body::RateLimit(ms, pacing)) => {
                state.pacing.set(Pacing::RateLimit(pacing));
                (ms, Event::Threw)
            }
            Some(Body::Hang) | None => (HANG_MS, Event::Returned),
        };
        *state.thrown.borrow_mut() = ("execute", "boom".to_owned());
        #[allow(clippy::cast_precision_loss, reason = "small test delays")]
        self.later(call, wait as f64, event);
        if let Some(ms) = limit {
            self.later(call, ms, Event::LimitExpired);
        }
        state.aborted.get()
    }

    fn start_grace(&self, call: u32, ms: f64) {
        self.later(call, ms, Event::GraceExpired);
    }

    fn abort(&self, call: u32) {
        self.call(call).aborted.set(true);
    }

    fn give_up(&self, call: u32, limit: Option<f64>) {
        let text = limit.map_or_else(|| "aborted".to_owned(), |ms| format!("exceeded the {ms}ms limit"));
        *self.call(call).thrown.borrow_mut() = ("execute", text);
        self.call(call).pacing.set(Pacing::None);
    }

    #[allow(clippy::await_holding_refcell_ref, reason = "nothing else borrows the receiver while it waits")]
    async fn event(&self, call: u32) -> Event {
        let (sender, mut receiver) =
            self.call(call).events.borrow_mut().take().expect("the tool was entered");
        *self.call(call).events.borrow_mut() = Some((sender, unbounded_channel().1));
        let event = receiver.recv().await.expect("the sender is kept");
        let sender = self.call(call).events.borrow_mut().take().expect("kept above").0;
        *self.call(call).events.borrow_mut() = Some((sender, receiver));
        event
    }

    fn close(&self, call: u32) -> Dispatched {
        let state = self.call(call);
        state.epoch.set(state.epoch.get() + 1);
        self.0.running.set(self.0.running.get() - 1);
        let since = state.entered.take().map_or(Duration::ZERO, |at| at.elapsed());
        Dispatched {
            duration_ms: since.as_secs_f64() * 1000.0,
            chunks: 0,
            progress_events: 0,
            total_bytes: 0.0,
            partial_output: false,
            aborted: state.aborted.get(),
        }
    }

    fn pacing(&self, call: u32) -> Pacing {
        self.call(call).pacing.get()
    }

    async fn verify(&self, call: u32) -> Option<(bool, bool, f64)> {
        self.log(call, "verify");
        if self.trap(call, "memoryGuard.verify").is_err() {
            return None;
        }
        let drifted = self.call(call).script.traps.contains(&"drift");
        Some((!drifted, drifted, 1.0))
    }

    fn unpack(&self, call: u32) -> Result<Unpacked, Thrown> {
        let text = self.call(call).script.output_text;
        let producer = self.call(call).script.producer;
        Ok(Unpacked { explicit: true, undefined: false, text, producer })
    }

    async fn output_fits(&self, call: u32) -> Result<bool, Thrown> {
        self.trap(call, "outputSchema")?;
        Ok(self.call(call).script.output_fits)
    }

    fn part_kinds(&self, _call: u32) -> Vec<String> {
        Vec::new()
    }

    async fn bound(&self, call: u32, plan: &BoundPlan) -> Result<Bounded, Thrown> {
        Ok(Bounded {
            truncated: false,
            strategy: plan.strategy,
            original_tokens: 1.0,
            kept_tokens: 1.0,
            dropped_tokens: 0.0,
            units_dropped: 0.0,
            summarized: false,
            artifact_bytes: None,
            degraded: self.trap(call, "tokenCounter.count").is_err(),
        })
    }

    async fn sanitise(
        &self,
        call: u32,
        policy: InboundPolicy,
        shown: TrustClass,
        _fail_closed: bool,
    ) -> Result<Sanitised, Thrown> {
        self.log(call, &format!("sanitise {policy} {shown}"));
        Ok(self.call(call).script.sanitised)
    }

    fn assemble(&self, _call: u32, _dispatched: &Dispatched, _shown: TrustClass) {}

    fn record_flow(&self, call: u32, trust: TrustClass) -> Result<(), Thrown> {
        self.log(call, &format!("record {trust}"));
        self.trap(call, "dataFlowGuard.record")
    }
}

impl BatchHost for ScriptHost {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        spawn_local(task);
    }

    fn complete(&self, call: u32, ending: &Ending) {
        self.0.endings.borrow_mut().push((call, ending.clone()));
    }
}
