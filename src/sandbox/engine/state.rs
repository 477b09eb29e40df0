//! What one script has going: open calls, timers, console lines, unanswered rejections.

use crate::sandbox::wire::{Format, Port, Start, frame};
use boa_engine::builtins::promise::ResolvingFunctions;
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsFunction;
use boa_engine::{Context, JsValue};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

/// Calls are sent when this many bytes wait, even in the middle of a turn.
const FLUSH_AT: usize = 256 * 1024;
/// How long a console line waits for the end of its turn.
const STALE: Duration = Duration::from_millis(50);
/// Timers a script may have open at once.
const MAX_TIMERS: usize = 10_000;

/// A `setTimeout` or `setInterval`.
#[derive(Clone)]
pub struct Timer {
    /// What `clearTimeout` knows it by.
    pub id: u32,
    /// When it is due.
    pub due: Instant,
    /// The interval, for one that repeats.
    pub every: Option<Duration>,
    /// What to call.
    pub callback: JsFunction,
    /// With what.
    pub arguments: Vec<JsValue>,
}

/// A call the host has not settled.
pub struct Open {
    /// What settles the promise the script holds.
    pub settle: ResolvingFunctions,
    /// The error the promise is rejected with if the call fails. Made where the call is, because it knows its
    /// place from then; only its message comes later.
    pub error: JsObject,
}

/// See the module.
#[derive(Default)]
pub struct State {
    port: RefCell<Option<Box<dyn Port>>>,
    calls: RefCell<Vec<u8>>,
    console: RefCell<Vec<u8>>,
    console_left: Cell<usize>,
    next_call: Cell<u32>,
    /// Calls the host has not settled, by id.
    pub open: RefCell<FxHashMap<u32, Open>>,
    timers: RefCell<Vec<Timer>>,
    next_timer: Cell<u32>,
    /// Errors of our own making that mean a policy was hit.
    pub denied: RefCell<Vec<JsObject>>,
    /// Rejected promises nobody has a handler for.
    pub unhandled: RefCell<Vec<(JsObject, JsValue)>>,
    /// Set while a tool call is being rejected: such a promise is never an unhandled rejection.
    pub rejecting_call: Cell<bool>,
    /// Largest encoded arguments.
    pub max_args: Cell<usize>,
    /// Most parts of them.
    pub max_parts: Cell<usize>,
    /// Largest buffer the engine may hand out.
    pub memory: Cell<usize>,
    /// With less room than this, see [`State::relieve`].
    tight: Cell<usize>,
    seed: Cell<[u8; 32]>,
    drawn: Cell<u64>,
    started: Cell<Option<Instant>>,
    flushed: Cell<Option<Instant>>,
}

impl State {
    /// Takes over the limits of a run.
    pub fn begin(&self, start: &Start, port: Box<dyn Port>, seed: [u8; 32]) {
        *self.port.borrow_mut() = Some(port);
        self.console_left.set(start.max_console);
        self.max_args.set(start.max_args);
        self.max_parts.set(start.max_parts);
        self.memory.set(start.memory);
        self.tight.set(start.memory - start.memory / 4);
        self.seed.set(seed);
        self.started.set(Some(Instant::now()));
        self.flushed.set(Some(Instant::now()));
    }

    /// Has what nobody holds any more collected, when much was allocated since that was done last. The engine
    /// collects by what its objects take themselves, which leaves out their texts, lists and buffers; the limit
    /// of memory counts those. To be called where an object could be made as well.
    pub fn relieve(&self) {
        let room = || self.port(|port| port.room()).unwrap_or(usize::MAX);
        if room() >= self.tight.get() {
            return;
        }
        boa_engine::gc::force_collect();
        // The less there is the sooner, but not at every step.
        let (room, memory) = (room(), self.memory.get());
        self.tight.set(room.saturating_sub((room / 2).clamp(memory / 32, memory / 4)));
    }

    /// Milliseconds since the run began.
    pub fn elapsed_ms(&self) -> f64 {
        self.started.get().map_or(0.0, |started| started.elapsed().as_secs_f64() * 1000.0)
    }

    /// With the line to the host. Does nothing before [`State::begin`].
    pub fn port<T>(&self, with: impl FnOnce(&mut dyn Port) -> T) -> Option<T> {
        self.port.borrow_mut().as_mut().map(|port| with(port.as_mut()))
    }

    /// Queues a call and gives its id.
    pub fn call(&self, tool: u32, format: Format, bytes: &[u8], open: Open) {
        let id = self.next_call.get();
        self.next_call.set(id.wrapping_add(1));
        self.open.borrow_mut().insert(id, open);
        let mut calls = self.calls.borrow_mut();
        frame::push_call(&mut calls, id, tool, format, bytes);
        let full = calls.len() >= FLUSH_AT;
        drop(calls);
        if full {
            self.flush();
        }
    }

    /// Keeps a console line, as far as there is room.
    pub fn log(&self, level: u8, text: &str) {
        let left = self.console_left.get();
        if left == 0 {
            return;
        }
        let cut = super::problem::boundary(text, left);
        self.console_left.set(left.saturating_sub(text.len() + 1));
        let mut console = self.console.borrow_mut();
        frame::push_line(&mut console, level, &text[..cut]);
        // A script that logs and then hangs should not take its lines along.
        let stale = self.flushed.get().is_none_or(|at| at.elapsed() > STALE);
        let full = console.len() >= 16 * 1024 || stale;
        drop(console);
        if full {
            self.flush();
        }
    }

    /// Sends what waits.
    pub fn flush(&self) {
        self.flushed.set(Some(Instant::now()));
        for (kind, buffer) in [(frame::CONSOLE, &self.console), (frame::CALLS, &self.calls)] {
            let bytes = buffer.take();
            if !bytes.is_empty() {
                self.port(|port| port.send(kind, &bytes));
            }
        }
    }

    /// Adds a timer; `None` when there are too many.
    pub fn add_timer(
        &self,
        callback: JsFunction,
        ms: f64,
        repeat: bool,
        arguments: Vec<JsValue>,
    ) -> Option<u32> {
        let mut timers = self.timers.borrow_mut();
        if timers.len() >= MAX_TIMERS {
            return None;
        }
        let id = self.next_timer.get() + 1;
        self.next_timer.set(id);
        // Node clamps the same way: at least one millisecond, nonsense means one.
        let ms = if (1.0..=2_147_483_647.0).contains(&ms) { ms.trunc() } else { 1.0 };
        let delay = Duration::from_secs_f64(ms / 1000.0);
        let every = repeat.then_some(delay);
        timers.push(Timer { id, due: Instant::now() + delay, every, callback, arguments });
        Some(id)
    }

    /// Forgets a timer.
    pub fn clear_timer(&self, id: u32) {
        self.timers.borrow_mut().retain(|timer| timer.id != id);
    }

    /// When the next timer is due.
    pub fn next_due(&self) -> Option<Instant> {
        self.timers.borrow().iter().map(|timer| timer.due).min()
    }

    /// Takes the first timer that is due, re-arming it when it repeats.
    pub fn take_due(&self, now: Instant) -> Option<Timer> {
        let mut timers = self.timers.borrow_mut();
        let at = timers
            .iter()
            .enumerate()
            .filter(|(_, timer)| timer.due <= now)
            .min_by_key(|(_, timer)| (timer.due, timer.id))
            .map(|(at, _)| at)?;
        let timer = timers[at].clone();
        match timer.every {
            Some(every) => timers[at].due = now + every,
            None => {
                timers.remove(at);
            }
        }
        Some(timer)
    }

    /// Random bytes: SHA-256 of the seed and a counter.
    pub fn random(&self) -> [u8; 32] {
        let counter = self.drawn.get();
        self.drawn.set(counter + 1);
        Sha256::new().chain_update(self.seed.get()).chain_update(counter.to_le_bytes()).finalize().into()
    }

    /// Drops a promise from the unhandled ones.
    pub fn handled(&self, promise: &JsObject) {
        self.unhandled.borrow_mut().retain(|(other, _)| !JsObject::equals(other, promise));
    }

    /// Settles an open call, with what `outcome` makes of its error. Unknown ids are ignored: the host is
    /// trusted, a lost one is not.
    pub fn settle(
        &self,
        id: u32,
        outcome: impl FnOnce(&JsObject, &mut Context) -> Result<JsValue, JsValue>,
        context: &mut Context,
    ) {
        let Some(open) = self.open.borrow_mut().remove(&id) else { return };
        let this = JsValue::undefined();
        // A resolving function cannot fail; it runs no code of the script.
        let _ = match outcome(&open.error, context) {
            Ok(value) => open.settle.resolve.call(&this, &[value], context),
            Err(reason) => {
                self.rejecting_call.set(true);
                let result = open.settle.reject.call(&this, &[reason], context);
                self.rejecting_call.set(false);
                result
            }
        };
    }
}
