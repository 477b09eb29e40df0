//! The host of the pipeline, with JavaScript behind it.
//!
//! Every crossing costs about as much as all the deciding of a quiet call, so an effect is left out
//! where the answer is known on this side: a short body without a token counter of the app's is within
//! its bounds, a call that nobody watches is assembled as it ends, a run without a tracer has no span, and
//! the result of such a call has come along with the event that the tool returned.

use super::ops::{self, FailureRecord, HostOps, PENDING, THREW};
use super::runtime::{Mailbox, Runtime, Unassembled};
use super::task_loop::Task;
use crate::audit::Metrics;
use crate::executor::tier::Tier;
use crate::executor::{
    Attempt, AuditRow, BatchHost, BoundPlan, Bounded, Dispatched, Ending, Event, Failure, Field, FlowVerdict,
    Held, Host, Idempotent, Key, Lookup, Pacing, Permission, PermissionAnswer, PolicyVerdict, Producer,
    Repair, SandboxFault, Sanitised, Text, Thrown, ToolFacts, Unpacked,
};
use crate::inbound::sanitize::quiet_scan_us;
use crate::tool::{InboundPolicy, Sensitivity, TruncationStrategy, TrustClass};
use napi::bindgen_prelude::{JsObjectValue, Object};
use std::cell::RefCell;
use std::rc::Rc;

/// The host of one executor.
#[derive(Clone)]
pub struct JsHost {
    pub runtime: Rc<Runtime>,
    /// The executor has an audit emitter of its own.
    pub own_auditor: bool,
    /// Somebody hears the events.
    pub has_sink: bool,
    /// The app counts tokens itself.
    pub own_counter: bool,
}

const NONE: [f64; 4] = [0.0; 4];

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn yes(code: f64) -> Result<bool, Thrown> {
    if code < 0.0 { Err(Thrown) } else { Ok(code >= 1.0) }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes are small whole numbers")]
fn whole(code: f64) -> usize {
    code as usize
}

impl JsHost {
    fn number(&self, slot: u32, op: impl FnOnce(&HostOps) -> &ops::NumberOp, numbers: [f64; 4]) -> f64 {
        ops::call(self.runtime.env, op(&self.runtime.ops), &self.runtime.registers, slot, numbers)
    }

    /// Runs an effect that may return a promise; `first` is passed as its second number.
    async fn awaited(&self, slot: u32, op: impl FnOnce(&HostOps) -> &ops::NumberOp, rest: [f64; 3]) -> f64 {
        let epoch = self.runtime.next_epoch(slot, Mailbox::Phase);
        let code = self.number(slot, op, [f64::from(epoch), rest[0], rest[1], rest[2]]);
        if code == PENDING { self.runtime.next_event(slot, Mailbox::Phase).await } else { code }
    }

    fn detail(&self, slot: u32, which: u32) -> f64 {
        self.number(slot, |ops| &ops.number, [f64::from(which), 0.0, 0.0, 0.0])
    }

    /// The tokens of a body that fits, when nobody has to be asked (spec 03 section 2: a quarter of the
    /// units, rounded up).
    fn within_bounds(&self, slot: u32, max_tokens: f64) -> Option<f64> {
        let tokens = (self.runtime.with(slot, |call| call.body_units) / 4.0).ceil();
        (!self.own_counter && (max_tokens == 0.0 || tokens <= max_tokens)).then_some(tokens)
    }

    fn object(&self, slot: u32, fields: &[(&str, Field<'_>)]) -> napi::Result<Object<'static>> {
        let env = self.runtime.env;
        let mut object = Object::new(&env)?;
        for (name, value) in fields {
            match value {
                Field::Str(text) => object.set_named_property(name, *text)?,
                Field::Num(number) => object.set_named_property(name, *number)?,
                Field::Bool(flag) => object.set_named_property(name, *flag)?,
                Field::Held(held) => {
                    let value =
                        self.runtime.ops.held.borrow_back(&env)?.call((slot, held_index(*held)).into())?;
                    object.set_named_property(name, value)?;
                }
            }
        }
        Ok(object)
    }
}

const fn held_index(held: Held) -> u32 {
    match held {
        Held::SourceKinds => 0,
        Held::Regions => 1,
        Held::Patterns => 2,
        Held::IdempotencyKey => 3,
    }
}

const fn text_index(text: Text) -> u32 {
    match text {
        Text::CalledName => 0,
        Text::Thrown => 1,
        Text::SchemaError => 2,
        Text::Reason => 3,
        Text::Flow => 4,
        Text::Callback => 5,
        Text::Patterns => 6,
        Text::SummarizerModel => 7,
        Text::ArtifactPath => 8,
        Text::JoinedKind => 10,
        Text::JoinedMessage => 11,
        Text::JoinedHint => 12,
    }
}

/// The place of a word in its list, 0 for none: how JavaScript and Rust name enum members to each other.
fn index_of<T: PartialEq>(all: &[T], member: Option<T>) -> f64 {
    member
        .and_then(|member| all.iter().position(|other| *other == member))
        .map_or(0.0, |at| f64::from(u8::try_from(at + 1).unwrap_or(0)))
}

fn member_at<T: Copy>(all: &[T], index: f64) -> Option<T> {
    whole(index).checked_sub(1).and_then(|at| all.get(at)).copied()
}

impl Host for JsHost {
    type Call = u32;

    fn lookup(&self, call: u32, queued: bool) -> Result<Lookup, Thrown> {
        let code = whole(thrown(self.number(call, |ops| &ops.lookup, [flag(queued), 0.0, 0.0, 0.0]))?);
        let [_, traced, ..] = self.runtime.registers.read();
        let described = self.runtime.with(call, |slot| {
            slot.traced = traced != 0.0;
            slot.facts.take()
        });
        Ok(match code {
            0 => Lookup::Unknown,
            1 => Lookup::RunAborted,
            2 => described.map_or(Lookup::Unknown, Lookup::Tool),
            interned => self.runtime.interned(interned - 3).map_or(Lookup::Unknown, Lookup::Tool),
        })
    }

    fn run_aborted(&self, call: u32) -> bool {
        self.number(call, |ops| &ops.run_aborted, NONE) >= 1.0
    }

    fn metrics(&self) -> &Metrics {
        &self.runtime.metrics
    }

    fn text(&self, call: u32, which: Text) -> Option<String> {
        let function = self.runtime.ops.text.borrow_back(&self.runtime.env).ok()?;
        function.call((call, text_index(which)).into()).ok().flatten()
    }

    fn denies_name(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.number(call, |ops| &ops.denies_name, NONE))
    }

    fn audited(&self, _call: u32) -> bool {
        self.own_auditor || self.runtime.audit_listeners.get() > 0
    }

    fn audit(&self, call: u32, row: &AuditRow<'_>) -> Result<(), Thrown> {
        let metadata = if row.metadata.is_empty() {
            None
        } else {
            Some(self.object(call, row.metadata).map_err(|_| Thrown)?)
        };
        let function = self.runtime.ops.audit.borrow_back(&self.runtime.env).map_err(|_| Thrown)?;
        let code = function.call((call, row.action.to_owned(), row.decision.to_owned(), metadata).into());
        yes(code.unwrap_or(THREW)).map(|_| ())
    }

    fn failed(&self, call: u32, failure: &Failure, event: bool) -> Result<(), Thrown> {
        let (recoverable, recovery_hint) = failure.stamped();
        let record = FailureRecord {
            kind: failure.kind.as_str().to_owned(),
            message: failure.message.clone(),
            hint: failure.hint.clone(),
            with_cause: failure.with_cause,
            explicit_recovery: failure.recovery.is_some(),
            recoverable,
            recovery_hint: recovery_hint.map(|hint| hint.as_str().to_owned()),
        };
        let function = self.runtime.ops.failed.borrow_back(&self.runtime.env).map_err(|_| Thrown)?;
        yes(function.call((call, record, event).into()).unwrap_or(THREW)).map(|_| ())
    }

    fn escaped(&self, call: u32, message: &str) {
        // Without the message the record has one of its own.
        let _ = self
            .runtime
            .ops
            .escaped
            .borrow_back(&self.runtime.env)
            .and_then(|op| op.call((call, message.to_owned()).into()));
    }

    fn started(&self, call: u32) -> Result<(), Thrown> {
        if !self.has_sink && !self.runtime.with(call, |slot| slot.traced) {
            return Ok(());
        }
        yes(self.number(call, |ops| &ops.started, NONE)).map(|_| ())
    }

    fn ended(&self, call: u32) -> Result<(), Thrown> {
        if !self.has_sink {
            return Ok(());
        }
        yes(self.number(call, |ops| &ops.ended, NONE)).map(|_| ())
    }

    fn span_attributes(&self, call: u32, attributes: &[(&str, Field<'_>)]) -> Result<(), Thrown> {
        if !self.runtime.with(call, |slot| slot.traced) {
            return Ok(());
        }
        let object = self.object(call, attributes).map_err(|_| Thrown)?;
        let function = self.runtime.ops.span_attributes.borrow_back(&self.runtime.env).map_err(|_| Thrown)?;
        yes(function.call((call, object).into()).unwrap_or(THREW)).map(|_| ())
    }

    fn span_failed(&self, call: u32, cancelled: bool, message: &str) -> Result<(), Thrown> {
        let function = self.runtime.ops.span_failed.borrow_back(&self.runtime.env).map_err(|_| Thrown)?;
        yes(function.call((call, cancelled, message.to_owned()).into()).unwrap_or(THREW)).map(|_| ())
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
        if !self.runtime.with(call, |slot| slot.traced) {
            return Ok((attempt.await, false));
        }
        let result: Rc<RefCell<Option<Attempt>>> = Rc::default();
        let epoch = self.runtime.next_epoch(call, Mailbox::Span);
        let (host, kept) = (self.clone(), Rc::clone(&result));
        let task: Task = Box::pin(async move {
            let ended = attempt.await;
            let success = ended.is_ok();
            *kept.borrow_mut() = Some(ended);
            host.number(call, |ops| &ops.close_span, [f64::from(epoch), flag(success), 0.0, 0.0]);
        });
        self.runtime.with(call, |slot| slot.waiting = Some(task));
        let opened = self.number(call, |ops| &ops.open_span, [f64::from(epoch), 0.0, 0.0, 0.0]);
        if opened == THREW && result.borrow().is_none() {
            self.runtime.with(call, |slot| slot.waiting = None);
            return Err(Thrown);
        }
        // Two things have to happen, in either order: the tracer's promise settles, the attempt ends.
        // A tracer that fails after the attempt has ended loses nothing of it.
        loop {
            let code = self.runtime.next_event(call, Mailbox::Span).await;
            if let Some(attempt) = result.borrow_mut().take() {
                // After a failure the tracer hands that very failure on; that is no news.
                let tracer_failed = code == THREW && attempt.is_ok();
                return Ok((attempt, tracer_failed));
            }
            // The promise settled first. An attempt that never began never will; one that did is
            // waited for.
            if self.runtime.with(call, |slot| slot.waiting.take()).is_some() {
                return Err(Thrown);
            }
        }
    }

    async fn pause(&self, call: u32, ms: f64) {
        self.awaited(call, |ops| &ops.pause, [ms, 0.0, 0.0]).await;
    }

    async fn validate(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.awaited(call, |ops| &ops.validate, [0.0; 3]).await)
    }

    async fn repair(&self, call: u32) -> Result<Repair, Thrown> {
        Ok(match whole(thrown(self.awaited(call, |ops| &ops.repair, [0.0; 3]).await)?) {
            0 => Repair::Nothing,
            1 => Repair::Fits,
            _ => Repair::StillInvalid,
        })
    }

    async fn permission(&self, call: u32) -> Result<PermissionAnswer, Thrown> {
        let code = whole(thrown(self.awaited(call, |ops| &ops.permission, [0.0; 3]).await)?);
        let decision = match code & 7 {
            0 => Permission::Allow,
            1 => Permission::Deny,
            2 => Permission::Ask,
            3 => Permission::Defer,
            _ => Permission::Unknown,
        };
        Ok(PermissionAnswer { decision, rewrites: code & 8 != 0 })
    }

    fn rewrite_is_echo(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.number(call, |ops| &ops.rewrite_is_echo, NONE))
    }

    async fn rewrite(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.awaited(call, |ops| &ops.rewrite, [0.0; 3]).await)
    }

    async fn needs_approval(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.awaited(call, |ops| &ops.needs_approval, [0.0; 3]).await)
    }

    async fn approved(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.awaited(call, |ops| &ops.approved, [0.0; 3]).await)
    }

    fn argument_policy(&self, call: u32) -> Result<PolicyVerdict, Thrown> {
        Ok(match whole(thrown(self.number(call, |ops| &ops.argument_policy, NONE))?) {
            0 => PolicyVerdict::Allow,
            2 => PolicyVerdict::Ask,
            3 => PolicyVerdict::Defer,
            _ => PolicyVerdict::Deny,
        })
    }

    fn inspect_flow(&self, call: u32) -> Result<FlowVerdict, Thrown> {
        Ok(match whole(thrown(self.number(call, |ops| &ops.inspect_flow, NONE))?) {
            0 => FlowVerdict::Allow,
            1 => FlowVerdict::Flag,
            2 => FlowVerdict::Declassify,
            _ => FlowVerdict::Block,
        })
    }

    async fn snapshot(&self, call: u32) -> Result<bool, Thrown> {
        yes(self.awaited(call, |ops| &ops.snapshot, [0.0; 3]).await)
    }

    async fn idempotency_key(&self, call: u32) -> Key {
        match whole(self.awaited(call, |ops| &ops.idempotency_key, [0.0; 3]).await) {
            1 => Key::Given,
            2 => Key::Empty,
            _ => Key::None,
        }
    }

    async fn idempotent(&self, call: u32) -> Result<Idempotent, Thrown> {
        Ok(match whole(thrown(self.awaited(call, |ops| &ops.idempotent, [0.0; 3]).await)?) {
            0 => Idempotent::Fresh,
            1 => Idempotent::Replayed,
            code @ (3 | 4) => Idempotent::Failed(code == 4),
            _ => Idempotent::Conflict,
        })
    }

    fn sandbox(&self, call: u32, _tier: &Tier) -> Result<bool, Thrown> {
        yes(self.number(call, |ops| &ops.sandbox, NONE))
    }

    fn enter(&self, call: u32, sandboxed: bool, limit: Option<f64>) -> bool {
        let epoch = self.runtime.next_epoch(call, Mailbox::Phase);
        let numbers = [f64::from(epoch), flag(sandboxed), limit.unwrap_or(0.0), 0.0];
        self.number(call, |ops| &ops.enter, numbers) >= 1.0
    }

    fn start_grace(&self, call: u32, ms: f64) {
        self.number(call, |ops| &ops.start_grace, [ms, 0.0, 0.0, 0.0]);
    }

    fn abort(&self, call: u32) {
        self.number(call, |ops| &ops.abort, NONE);
    }

    fn give_up(&self, call: u32, limit: Option<f64>) {
        self.number(call, |ops| &ops.give_up, [limit.unwrap_or(-1.0), 0.0, 0.0, 0.0]);
    }

    async fn event(&self, call: u32) -> Event {
        match whole(self.runtime.next_event(call, Mailbox::Phase).await) {
            0 => Event::Returned,
            1 => Event::Threw,
            2 => Event::LimitExpired,
            3 => Event::Aborted,
            4 => Event::GraceExpired,
            5 => Event::SandboxFailed(SandboxFault::Timeout),
            6 => Event::SandboxFailed(SandboxFault::Violation),
            7 => Event::SandboxFailed(SandboxFault::Aborted),
            _ => Event::SandboxFailed(SandboxFault::Failed),
        }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    fn close(&self, call: u32) -> Dispatched {
        self.runtime.next_epoch(call, Mailbox::Phase);
        // A tool that settled has closed the race itself.
        let closed = self.runtime.with(call, |slot| slot.closed.take());
        let coded = closed.unwrap_or_else(|| self.number(call, |ops| &ops.close, NONE));
        let quiet = Dispatched {
            duration_ms: coded,
            chunks: 0,
            progress_events: 0,
            total_bytes: 0.0,
            partial_output: false,
            aborted: false,
        };
        // The usual case, a call that neither streams nor was cancelled, costs one crossing.
        if coded >= 0.0 {
            return quiet;
        }
        Dispatched {
            duration_ms: -1.0 - coded,
            chunks: self.detail(call, 0) as u32,
            progress_events: self.detail(call, 1) as u32,
            total_bytes: self.detail(call, 2),
            partial_output: self.detail(call, 3) >= 1.0,
            aborted: self.detail(call, 15) >= 1.0,
        }
    }

    fn pacing(&self, call: u32) -> Pacing {
        match self.number(call, |ops| &ops.pacing, NONE) {
            wait if wait >= 0.0 => Pacing::RateLimit(Some(wait)),
            -2.0 => Pacing::RateLimit(None),
            _ => Pacing::None,
        }
    }

    async fn verify(&self, call: u32) -> Option<(bool, bool, f64)> {
        let code = self.awaited(call, |ops| &ops.verify, [0.0; 3]).await;
        if code < 0.0 {
            return None;
        }
        Some((whole(code) & 1 != 0, whole(code) & 2 != 0, self.detail(call, 4)))
    }

    fn unpack(&self, call: u32) -> Result<Unpacked, Thrown> {
        let ahead = self.runtime.with(call, |slot| slot.unpacked.take());
        let code = ahead.unwrap_or_else(|| {
            let code = self.number(call, |ops| &ops.unpack, NONE);
            let [_, units, ..] = self.runtime.registers.read();
            self.runtime.with(call, |slot| slot.body_units = units);
            code
        });
        let bits = whole(thrown(code)?);
        self.runtime.with(call, |slot| {
            slot.has_parts = bits & 8 != 0;
            slot.fits = bits & 2048 != 0;
        });
        Ok(Unpacked {
            explicit: bits & 1 != 0,
            undefined: bits & 2 != 0,
            text: bits & 4 != 0,
            producer: producer(bits >> 4),
        })
    }

    async fn output_fits(&self, call: u32) -> Result<bool, Thrown> {
        if self.runtime.with(call, |slot| slot.fits) {
            return Ok(true);
        }
        yes(self.awaited(call, |ops| &ops.output_fits, [0.0; 3]).await)
    }

    fn part_kinds(&self, call: u32) -> Vec<String> {
        if !self.runtime.with(call, |slot| slot.has_parts) {
            return Vec::new();
        }
        let function = self.runtime.ops.text.borrow_back(&self.runtime.env);
        let joined = function.and_then(|function| function.call((call, 9).into())).ok().flatten();
        joined.map_or_else(Vec::new, |kinds| kinds.split('\n').map(str::to_owned).collect())
    }

    async fn bound(&self, call: u32, plan: &BoundPlan) -> Result<Bounded, Thrown> {
        if let Some(tokens) = self.within_bounds(call, plan.max_tokens) {
            return Ok(untouched(plan.strategy, tokens));
        }
        // What is scanned in the end may be another text.
        self.runtime.with_carried(call, |_| ());
        let strategy = index_of(TruncationStrategy::ALL, Some(plan.strategy));
        let owner =
            index_of(TrustClass::ALL, Some(plan.trust)) + 8.0 * index_of(Sensitivity::ALL, plan.sensitivity);
        let code = self.awaited(call, |ops| &ops.bound, [strategy, plan.max_tokens, owner]).await;
        if code >= 0.0 {
            return Ok(untouched(plan.strategy, code));
        }
        thrown(code)?;
        let bits = whole(self.detail(call, 5));
        let artifact = self.detail(call, 10);
        Ok(Bounded {
            truncated: bits & 1 != 0,
            strategy: member_at(TruncationStrategy::ALL, self.detail(call, 6)).unwrap_or(plan.strategy),
            original_tokens: self.detail(call, 7),
            kept_tokens: self.detail(call, 8),
            dropped_tokens: self.detail(call, 9),
            units_dropped: self.detail(call, 11),
            summarized: bits & 2 != 0,
            artifact_bytes: (artifact >= 0.0).then_some(artifact),
            degraded: bits & 4 != 0,
        })
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    async fn sanitise(
        &self,
        call: u32,
        policy: InboundPolicy,
        shown: TrustClass,
        fail_closed: bool,
    ) -> Result<Sanitised, Thrown> {
        let quiet = match policy {
            InboundPolicy::PassThrough => Some(0.0),
            InboundPolicy::DetectAndFlag => self.runtime.with_carried(call, quiet_scan_us).flatten(),
            _ => None,
        };
        if let Some(scan_us) = quiet {
            return Ok(Sanitised { hits: 0, wrapped: false, stripped: false, blocked: false, scan_us });
        }
        let numbers = [
            index_of(InboundPolicy::ALL, Some(policy)),
            index_of(TrustClass::ALL, Some(shown)),
            flag(fail_closed),
        ];
        let code = self.awaited(call, |ops| &ops.sanitise, numbers).await;
        if code >= 0.0 {
            return Ok(Sanitised { hits: 0, wrapped: false, stripped: false, blocked: false, scan_us: code });
        }
        thrown(code)?;
        let bits = whole(self.detail(call, 12));
        Ok(Sanitised {
            hits: self.detail(call, 13) as u32,
            wrapped: bits & 1 != 0,
            stripped: bits & 2 != 0,
            blocked: bits & 4 != 0,
            scan_us: self.detail(call, 14),
        })
    }

    fn assemble(&self, call: u32, dispatched: &Dispatched, shown: TrustClass) {
        let trust = index_of(TrustClass::ALL, Some(shown));
        let duration_ms = dispatched.duration_ms;
        if self.has_sink || self.runtime.with(call, |slot| slot.traced) {
            self.number(call, |ops| &ops.assemble, [duration_ms, trust, 0.0, 0.0]);
        } else {
            self.runtime.with(call, |slot| slot.unassembled = Some(Unassembled { duration_ms, trust }));
        }
    }

    fn record_flow(&self, call: u32, trust: TrustClass) -> Result<(), Thrown> {
        let trust = index_of(TrustClass::ALL, Some(trust));
        yes(self.number(call, |ops| &ops.record_flow, [trust, 0.0, 0.0, 0.0])).map(|_| ())
    }
}

/// The answer for a body that is left as it is.
const fn untouched(strategy: TruncationStrategy, tokens: f64) -> Bounded {
    Bounded {
        truncated: false,
        strategy,
        original_tokens: tokens,
        kept_tokens: tokens,
        dropped_tokens: 0.0,
        units_dropped: 0.0,
        summarized: false,
        artifact_bytes: None,
        degraded: false,
    }
}

/// Class, sensitivity and flag of an untrusted producer; 0 for none.
fn producer(bits: usize) -> Option<Producer> {
    let field = |shift: usize| u8::try_from((bits >> shift) & 7).map_or(0.0, f64::from);
    Some(Producer {
        trust: member_at(TrustClass::ALL, field(0))?,
        sensitivity: member_at(Sensitivity::ALL, field(3)),
        flagged: bits & 64 != 0,
    })
}

/// `THREW` as an error; other codes, the "see the details" one included, pass.
#[allow(clippy::float_cmp, reason = "codes are exact")]
fn thrown(code: f64) -> Result<f64, Thrown> {
    if code == THREW { Err(Thrown) } else { Ok(code) }
}

impl BatchHost for JsHost {
    fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.runtime.tasks.spawn(Box::pin(task));
    }

    fn complete(&self, call: u32, ending: &Ending) {
        let code = match ending {
            Ending::Succeeded => 0.0,
            Ending::Failed(_) => 1.0,
            Ending::Escaped => 2.0,
            Ending::Panicked => 3.0,
        };
        let unassembled = self.runtime.with(call, |slot| {
            slot.waiting = None;
            slot.facts = None;
            slot.unassembled.take()
        });
        let numbers = match unassembled {
            Some(Unassembled { duration_ms, trust }) => [code, trust, duration_ms, 0.0],
            None => [code, 0.0, 0.0, 0.0],
        };
        self.number(call, |ops| &ops.complete, numbers);
    }
}
