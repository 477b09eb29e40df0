//! Door of `executor`: the runtime of a realm, and the executors that run calls on it.

mod host;
mod ops;
mod runtime;
mod task_loop;

use crate::executor::tier::TrustLevel;
use crate::executor::{
    ApprovalForm, BatchOptions, Config, Learned, RetryConfig, ToolFacts, Wiring, run_batch, run_single,
};
use crate::node::audit::Realm;
use crate::node::text;
use crate::tool::{
    InboundPolicy, MemoryGuardTier, SandboxPolicy, Sensitivity, SideEffectClass, ToolErrorKind,
    TruncationStrategy, TrustClass,
};
use host::JsHost;
use napi::Env;
use napi::bindgen_prelude::{Float64Array, Function, FunctionRef, Result, Unknown};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi_derive::napi;
use ops::{HostOps, Registers};
use runtime::Runtime;
use std::rc::Rc;
use std::time::Duration;

/// What all executors of a realm run on.
#[napi]
pub struct CallRuntime {
    inner: Rc<Runtime>,
}

#[napi]
impl CallRuntime {
    /// `registers` are the five numbers that cross beside a call. `drain` is called when another thread
    /// has woken a task; it has to call `poke`.
    #[napi(constructor)]
    pub fn new(
        env: Env,
        realm: &Realm,
        ops: HostOps,
        registers: Float64Array,
        drain: Function<(), ()>,
    ) -> Result<Self> {
        let inner = Runtime::new(env, ops, Registers::new(registers)?, realm);
        // Weak: a waiting task does not keep the process alive, what it waits for does.
        let ping = drain.build_threadsafe_function::<()>().weak::<true>().build()?;
        inner.tasks.set_ping(Box::new(move || {
            ping.call((), ThreadsafeFunctionCallMode::NonBlocking);
        }));
        // The tasks hold the runtime that holds them; the end of the environment cuts the knot.
        env.add_env_cleanup_hook(Rc::clone(&inner.tasks), |tasks| tasks.shutdown())?;
        Ok(Self { inner })
    }

    /// The function that delivers an event to a call. In the registers: the slot, the mailbox (1 for the
    /// span), the epoch, the code, how the race closed or NaN, the unpacked result or NaN, the length of
    /// its body; the body itself as the argument when it is short. No method, because it is called twice
    /// in each call and finding the object behind a method costs more than what it does.
    #[napi(catch_unwind)]
    pub fn settler<'env>(&self, env: &'env Env) -> Result<Function<'env, (), ()>> {
        let inner = Rc::clone(&self.inner);
        env.create_function_from_closure("settle", move |context| {
            let body = if context.length() > 0 { context.get::<Unknown>(0).ok() } else { None };
            let env = *context.env;
            inner.tasks.enter(|| {
                inner
                    .settle(|length, into| body.is_some_and(|body| text::read_into(env, body, length, into)));
            });
            Ok(())
        })
    }

    /// Runs the attempt that waits for the tracer, from within the tracer's function.
    #[napi(catch_unwind)]
    pub fn run_attempt(&self, slot: u32) -> bool {
        self.inner.tasks.enter(|| self.inner.run_waiting(slot))
    }

    /// Describes the tool of one call.
    #[napi(catch_unwind)]
    pub fn describe(&self, slot: u32, bits: u32, max_result_tokens: f64, name: String) {
        let facts = Rc::new(unpack_facts(bits, max_result_tokens, name));
        self.inner.with(slot, |call| call.facts = Some(facts));
    }

    /// Keeps the description of a tool under a number.
    #[napi(catch_unwind)]
    pub fn intern(&self, bits: u32, max_result_tokens: f64, name: String) -> u32 {
        self.inner.intern(unpack_facts(bits, max_result_tokens, name))
    }

    /// Gives a number of `intern` free.
    #[napi(catch_unwind)]
    pub fn forget(&self, id: u32) {
        self.inner.forget(id);
    }

    /// Polls what was woken from another thread.
    #[napi(catch_unwind)]
    pub fn poke(&self) {
        self.inner.tasks.enter(|| ());
    }

    /// Tasks that have not ended.
    #[napi(catch_unwind)]
    pub fn live_tasks(&self) -> u32 {
        self.inner.tasks.live()
    }

    /// Calls `done` from a task that was woken by another thread after `ms`: the proof that foreign
    /// wakes reach this realm.
    #[napi(catch_unwind)]
    pub fn probe_foreign_wake(&self, ms: u32, done: FunctionRef<(), ()>) {
        let runtime = Rc::clone(&self.inner);
        let (send, receive) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(u64::from(ms)));
            let _ = send.send(());
        });
        let tasks = Rc::clone(&runtime.tasks);
        tasks.enter(|| {
            runtime.tasks.spawn(Box::pin({
                let runtime = Rc::clone(&runtime);
                async move {
                    let _ = receive.await;
                    let _ = done.borrow_back(&runtime.env).and_then(|done| done.call(()));
                }
            }));
        });
    }
}

/// The options of an executor, as numbers and flags.
#[napi(object)]
#[allow(clippy::struct_excessive_bools, reason = "one flag a collaborator")]
pub struct ExecutorSettings {
    pub max_parallel: u32,
    pub grace_ms: f64,
    pub inline_timeout_ms: Option<f64>,
    pub retry_max_attempts: f64,
    pub retry_backoff_ms: f64,
    pub retry_kinds: Vec<String>,
    pub own_auditor: bool,
    pub has_sink: bool,
    pub own_counter: bool,
    pub permission_hook: bool,
    pub approval_gate: bool,
    pub argument_policy: bool,
    pub denies_name: bool,
    pub repair: bool,
    pub data_flow_guard: bool,
    pub memory_guard: bool,
    pub sandbox_resolver: bool,
    pub idempotency_store: bool,
}

/// One executor.
#[napi]
pub struct NativeExecutor {
    host: JsHost,
    config: Rc<Config>,
}

#[napi]
impl NativeExecutor {
    #[napi(constructor)]
    pub fn new(runtime: &CallRuntime, settings: ExecutorSettings) -> Self {
        let wiring = Wiring {
            permission_hook: settings.permission_hook,
            approval_gate: settings.approval_gate,
            argument_policy: settings.argument_policy,
            denies_name: settings.denies_name,
            repair: settings.repair,
            data_flow_guard: settings.data_flow_guard,
            memory_guard: settings.memory_guard,
            sandbox_resolver: settings.sandbox_resolver,
            idempotency_store: settings.idempotency_store,
        };
        let kinds = settings.retry_kinds.iter().filter_map(|kind| ToolErrorKind::parse(kind)).collect();
        let config = Config {
            max_parallel: settings.max_parallel.max(1) as usize,
            grace_ms: settings.grace_ms,
            inline_timeout_ms: settings.inline_timeout_ms,
            retry: RetryConfig {
                max_attempts: settings.retry_max_attempts,
                backoff_ms: settings.retry_backoff_ms,
                kinds,
            },
            wiring,
        };
        let host = JsHost {
            runtime: Rc::clone(&runtime.inner),
            own_auditor: settings.own_auditor,
            has_sink: settings.has_sink,
            own_counter: settings.own_counter,
        };
        Self { host, config: Rc::new(config) }
    }

    /// Runs one call.
    #[napi(catch_unwind)]
    pub fn run_one(&self, slot: u32, options: u32) {
        self.host.runtime.tasks.enter(|| run_single(&self.host, &self.config, batch_options(options), slot));
    }

    /// Runs a batch: slots in batch order, apart by execution mode.
    #[napi(catch_unwind)]
    pub fn run_batch(&self, sequential: Vec<u32>, parallel: Vec<u32>, options: u32) {
        self.host.runtime.tasks.enter(|| {
            run_batch(&self.host, &self.config, batch_options(options), sequential, parallel.into());
        });
    }
}

/// Bits 0–1 the trust level, then one flag each.
fn batch_options(bits: u32) -> BatchOptions {
    let trust_level = match bits & 3 {
        0 => TrustLevel::UserDefined,
        1 => TrustLevel::BuiltIn,
        2 => TrustLevel::Trusted,
        _ => TrustLevel::Untrusted,
    };
    BatchOptions {
        trust_level,
        disable_repair: bits & 4 != 0,
        pre_approved: bits & 8 != 0,
        read_only: bits & 16 != 0,
    }
}

/// The layout is that of `packFacts` in `js/executor/facts.ts`.
fn unpack_facts(bits: u32, max_result_tokens: f64, name: String) -> ToolFacts {
    let mut rest = bits;
    let mut take = |width: u32| {
        let field = rest & ((1 << width) - 1);
        rest >>= width;
        field as usize
    };
    let class = SideEffectClass::ALL[take(2)];
    let trust = TrustClass::ALL.get(take(3)).copied().unwrap_or(TrustClass::ChannelInbound);
    let sensitivity = optional(Sensitivity::ALL, take(2));
    let memory_tier = optional(MemoryGuardTier::ALL, take(3));
    let inbound = optional(InboundPolicy::ALL, take(3)).unwrap_or(InboundPolicy::PassThrough);
    let truncation = optional(TruncationStrategy::ALL, take(3)).unwrap_or(TruncationStrategy::Middle);
    let sandbox = optional(SandboxPolicy::ALL, take(3));
    let approval = match take(2) {
        0 => ApprovalForm::Never,
        1 => ApprovalForm::Always,
        _ => ApprovalForm::Predicate,
    };
    let mut flag = || take(1) == 1;
    ToolFacts {
        name,
        class,
        trust,
        sensitivity,
        memory_tier,
        inbound,
        truncation,
        max_result_tokens,
        sandbox,
        approval,
        fail_closed: flag(),
        has_idempotency_key: flag(),
        idempotency_callback: flag(),
        streaming: flag(),
        output_schema: flag(),
        learned: Learned::default(),
    }
}

/// 0 is absent, the members count from 1.
fn optional<T: Copy>(all: &[T], field: usize) -> Option<T> {
    field.checked_sub(1).and_then(|at| all.get(at)).copied()
}
