//! What the executors of a realm share: the effects, the task loop, and a slot for each call.
//!
//! A call is a slot: JavaScript keeps its values in a frame under that number, Rust its events and the
//! attempt that waits for the tracer. An operation that returns a promise gets an epoch; only an event
//! with the current epoch of its mailbox is taken, so whatever an abandoned operation still says falls
//! on deaf ears.

use super::ops::{HostOps, Registers};
use super::task_loop::{Task, TaskLoop};
use crate::audit::Metrics;
use crate::executor::ToolFacts;
use crate::node::audit::Realm;
use napi::bindgen_prelude::Env;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// Which of the two waiting places of a call an event is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mailbox {
    /// The phases of the attempt.
    Phase,
    /// The span around it.
    Span,
}

#[derive(Default)]
struct Waiting {
    epoch: u32,
    events: VecDeque<f64>,
    waker: Option<Waker>,
}

/// A result that has not been assembled yet, because nobody needs it before the call ends.
#[derive(Debug, Clone, Copy)]
pub struct Unassembled {
    pub duration_ms: f64,
    /// Index of the trust class shown.
    pub trust: f64,
}

#[derive(Default)]
pub struct CallSlot {
    /// Facts of an entry that could not be interned.
    pub facts: Option<Rc<ToolFacts>>,
    phase: Waiting,
    span: Waiting,
    /// The run has a tracer.
    pub traced: bool,
    /// The attempt, until the tracer runs it.
    pub waiting: Option<Task>,
    pub has_parts: bool,
    /// Length of the body in UTF-16 units.
    pub body_units: f64,
    /// The result unpacked ahead, as the host function would have told it.
    pub unpacked: Option<f64>,
    /// The output schema has been asked already, and the output fits.
    pub fits: bool,
    /// How the race closed, when its last event brought that along.
    pub closed: Option<f64>,
    pub unassembled: Option<Unassembled>,
}

/// What all executors of a realm share.
pub struct Runtime {
    pub env: Env,
    pub ops: HostOps,
    pub tasks: Rc<TaskLoop>,
    pub registers: Registers,
    pub metrics: Rc<Metrics>,
    pub audit_listeners: Rc<Cell<u32>>,
    slots: RefCell<Vec<CallSlot>>,
    /// Facts of the tools that JavaScript knows by number.
    interned: RefCell<Vec<Option<Rc<ToolFacts>>>>,
    free: RefCell<Vec<u32>>,
    carried: RefCell<Carried>,
}

/// The short body of the call whose tool returned last. One for all, since it is scanned in the same
/// turn; where it is not, JavaScript is asked as for any other body.
#[derive(Default)]
struct Carried {
    slot: Option<u32>,
    units: Vec<u16>,
}

impl Carried {
    /// A later event of the same call without a body takes the body back.
    fn take_over(&mut self, slot: u32, read: impl FnOnce(&mut Vec<u16>) -> bool) {
        if read(&mut self.units) {
            self.slot = Some(slot);
        } else if self.slot == Some(slot) {
            self.slot = None;
        }
    }
}

impl Runtime {
    pub fn new(env: Env, ops: HostOps, registers: Registers, realm: &Realm) -> Rc<Self> {
        Rc::new(Self {
            env,
            ops,
            tasks: TaskLoop::new(),
            registers,
            metrics: Rc::clone(&realm.metrics),
            audit_listeners: Rc::clone(&realm.audit_listeners),
            slots: RefCell::default(),
            interned: RefCell::default(),
            free: RefCell::default(),
            carried: RefCell::default(),
        })
    }

    /// Keeps facts under a number, until [`forget`](Self::forget).
    pub fn intern(&self, facts: ToolFacts) -> u32 {
        let mut interned = self.interned.borrow_mut();
        let id = self.free.borrow_mut().pop().unwrap_or_else(|| {
            interned.push(None);
            u32::try_from(interned.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(place) = interned.get_mut(id as usize) {
            *place = Some(Rc::new(facts));
        }
        id
    }

    /// The facts under a number.
    pub fn interned(&self, id: usize) -> Option<Rc<ToolFacts>> {
        self.interned.borrow().get(id).cloned().flatten()
    }

    /// Gives a number free. Calls that run keep the facts they have.
    pub fn forget(&self, id: u32) {
        let known = self.interned.borrow_mut().get_mut(id as usize).and_then(Option::take);
        if known.is_some() {
            self.free.borrow_mut().push(id);
        }
    }

    /// Acts on the slot of a call.
    pub fn with<R>(&self, slot: u32, act: impl FnOnce(&mut CallSlot) -> R) -> R {
        let mut slots = self.slots.borrow_mut();
        let index = slot as usize;
        if slots.len() <= index {
            slots.resize_with(index + 1, CallSlot::default);
        }
        act(&mut slots[index])
    }

    /// Delivers the event in the registers; a stale epoch is dropped. The fifth is how the race closed,
    /// or NaN for an event that does not say; the sixth the unpacked result, or NaN, and then the seventh
    /// the length of its body. `read` puts a body of that length into the vector, when it came along.
    pub fn settle(&self, read: impl FnOnce(usize, &mut Vec<u16>) -> bool) {
        let [slot, mailbox, epoch, code, closed, unpacked, units] = self.registers.read();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a slot and a length")]
        let (slot, length) = (slot as u32, units as usize);
        let mailbox = if mailbox == 0.0 { Mailbox::Phase } else { Mailbox::Span };
        let waker = self.with(slot, |call| {
            let place = if mailbox == Mailbox::Phase { &mut call.phase } else { &mut call.span };
            #[allow(clippy::float_cmp, reason = "both are whole numbers, and a late one has to differ")]
            let is_stale = f64::from(place.epoch) != epoch;
            if is_stale {
                return None;
            }
            place.events.push_back(code);
            let waker = place.waker.take();
            call.closed = (!closed.is_nan()).then_some(closed);
            call.unpacked = (!unpacked.is_nan()).then_some(unpacked);
            call.body_units = units;
            self.carried.borrow_mut().take_over(slot, |into| read(length, into));
            waker
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Acts on the body of a call, when it was carried along and nobody has asked for it yet.
    pub fn with_carried<R>(&self, slot: u32, act: impl FnOnce(&[u16]) -> R) -> Option<R> {
        let mut carried = self.carried.borrow_mut();
        (carried.slot == Some(slot)).then(|| {
            carried.slot = None;
            act(&carried.units)
        })
    }

    /// Runs the attempt that waits for the tracer. `false` when there is none (any more).
    pub fn run_waiting(&self, slot: u32) -> bool {
        let waiting = self.with(slot, |call| call.waiting.take());
        let found = waiting.is_some();
        if let Some(task) = waiting {
            self.tasks.spawn(task);
        }
        found
    }

    /// Begins an effect that may have to be waited for: what earlier ones still say is dropped.
    pub fn next_epoch(&self, slot: u32, mailbox: Mailbox) -> u32 {
        self.with(slot, |call| {
            let place = if mailbox == Mailbox::Phase { &mut call.phase } else { &mut call.span };
            place.epoch = place.epoch.wrapping_add(1);
            place.events.clear();
            place.waker = None;
            place.epoch
        })
    }

    /// The next event of the current epoch.
    pub async fn next_event(&self, slot: u32, mailbox: Mailbox) -> f64 {
        poll_fn(|context| {
            self.with(slot, |call| {
                let place = if mailbox == Mailbox::Phase { &mut call.phase } else { &mut call.span };
                if let Some(code) = place.events.pop_front() {
                    return Poll::Ready(code);
                }
                place.waker = Some(context.waker().clone());
                Poll::Pending
            })
        })
        .await
    }
}
