//! Where the engine asks its embedder: string compilation, rejections, modules, jobs.

use super::state::State;
use boa_engine::builtins::promise::{OperationType, Promise};
use boa_engine::context::HostHooks;
use boa_engine::job::{GenericJob, Job, JobExecutor, NativeAsyncJob, PromiseJob};
use boa_engine::module::{Module, ModuleLoader, ModuleRequest, Referrer};
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsPromise;
use boa_engine::realm::Realm;
use boa_engine::{Context, JsError, JsNativeError, JsResult, JsString};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Refuses string compilation, watches rejections, keeps local time at UTC.
pub struct Hooks {
    state: Rc<State>,
}

impl Hooks {
    /// For a context with this state.
    pub fn new(state: Rc<State>) -> Self {
        Self { state }
    }
}

impl HostHooks for Hooks {
    fn ensure_can_compile_strings(
        &self,
        _realm: Realm,
        _parameters: &[JsString],
        _body: &JsString,
        _direct: bool,
        _context: &mut Context,
    ) -> JsResult<()> {
        Err(JsNativeError::eval()
            .with_message(
                "code cannot be made from strings here (eval, Function): write the code out in the script",
            )
            .into())
    }

    fn promise_rejection_tracker(
        &self,
        promise: &JsObject<Promise>,
        operation: OperationType,
        _context: &mut Context,
    ) {
        let promise = promise.clone().upcast();
        match operation {
            OperationType::Reject if self.state.rejecting_call.get() => {}
            OperationType::Reject => {
                let reason = JsPromise::from_object(promise.clone())
                    .ok()
                    .and_then(|promise| promise.state().as_rejected().cloned())
                    .unwrap_or_default();
                self.state.unhandled.borrow_mut().push((promise, reason));
            }
            OperationType::Handle => self.state.handled(&promise),
        }
    }

    fn local_timezone_offset_seconds(&self, _: i64) -> i32 {
        0
    }

    fn max_buffer_size(&self, _context: &mut Context) -> u64 {
        self.state.relieve();
        match self.state.memory.get() {
            0 => 1 << 30,
            memory => memory as u64,
        }
    }
}

/// Answers every `import()` with a refusal.
pub struct NoModules {
    state: Rc<State>,
}

impl NoModules {
    /// For a context with this state.
    pub fn new(state: Rc<State>) -> Self {
        Self { state }
    }
}

impl ModuleLoader for NoModules {
    async fn load_imported_module(
        self: Rc<Self>,
        _referrer: Referrer,
        request: ModuleRequest,
        context: &RefCell<&mut Context>,
    ) -> JsResult<Module> {
        let error = super::natives::denied(&self.state, request.specifier(), &mut context.borrow_mut())?;
        Err(JsError::from_opaque(error.into()))
    }
}

enum Waiting {
    Promise(PromiseJob),
    Generic(GenericJob),
    Async(NativeAsyncJob),
}

/// Runs jobs in the order they came, one turn at a time. Never waits: what the script waits for comes
/// from the host or from a timer, and `super::run` waits for those.
pub struct Queue {
    state: Rc<State>,
    jobs: RefCell<VecDeque<Waiting>>,
}

impl Queue {
    /// For a context with this state.
    pub fn new(state: Rc<State>) -> Self {
        Self { state, jobs: RefCell::default() }
    }
}

impl JobExecutor for Queue {
    fn enqueue_job(self: Rc<Self>, job: Job, _context: &mut Context) {
        let job = match job {
            Job::PromiseJob(job) => Waiting::Promise(job),
            Job::GenericJob(job) => Waiting::Generic(job),
            Job::AsyncJob(job) => Waiting::Async(job),
            // Timers are ours (see `natives`), and finalizers may be called never.
            _ => return,
        };
        self.jobs.borrow_mut().push_back(job);
    }

    fn run_jobs(self: Rc<Self>, context: &mut Context) -> JsResult<()> {
        loop {
            let job = self.jobs.borrow_mut().pop_front();
            self.state.relieve();
            match job {
                None => return Ok(()),
                Some(Waiting::Promise(job)) => drop(job.call(context)?),
                Some(Waiting::Generic(job)) => drop(job.call(context)?),
                Some(Waiting::Async(job)) => {
                    // Only `import()` makes these, and our loader is ready at once.
                    let shared = RefCell::new(&mut *context);
                    let mut future = job.call(&shared);
                    let mut task = std::task::Context::from_waker(Waker::noop());
                    if let Poll::Ready(Err(error)) = std::pin::Pin::new(&mut future).poll(&mut task) {
                        return Err(error);
                    }
                }
            }
        }
    }
}
