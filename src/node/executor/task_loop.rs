//! The local task loop: Rust futures polled on the JavaScript thread.
//!
//! A task is polled when it is spawned and whenever it is woken. Wakes come from the same thread
//! (a settled promise calls into the door, which pushes the event and drains the loop) and, for work
//! that finished elsewhere, from another thread through one weak `ThreadsafeFunction`.
//!
//! Invariants: a task is never polled while it is being polled (a wake in the middle asks for one
//! more poll); no borrow is held across a poll, so a callback may enter the door again; only the
//! outermost entry drains, so tasks are not run in the middle of somebody else's callback; after
//! `shutdown` nothing is polled any more.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};

/// A future of this thread.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// Asks the JavaScript thread to drain the loop; called from other threads.
pub type Ping = Box<dyn Fn() + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TaskId {
    index: usize,
    generation: u32,
}

struct Slot {
    generation: u32,
    /// `None` while the task is being polled.
    task: Option<Task>,
    waker: Waker,
    /// Woken while it was being polled.
    again: bool,
}

struct Shared {
    home: ThreadId,
    woken: Mutex<VecDeque<TaskId>>,
    ping: Mutex<Option<Ping>>,
}

impl Shared {
    fn push(&self, id: TaskId) {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner).push_back(id);
        if thread::current().id() != self.home
            && let Some(ping) = &*self.ping.lock().unwrap_or_else(PoisonError::into_inner)
        {
            ping();
        }
    }

    fn pop(&self) -> Option<TaskId> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

struct TaskWaker {
    id: TaskId,
    shared: Arc<Shared>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.shared.push(self.id);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.shared.push(self.id);
    }
}

/// The loop of one realm.
pub struct TaskLoop {
    slots: RefCell<Vec<Option<Slot>>>,
    free: RefCell<Vec<usize>>,
    next_generation: Cell<u32>,
    depth: Cell<u32>,
    live: Cell<u32>,
    closed: Cell<bool>,
    shared: Arc<Shared>,
}

impl TaskLoop {
    pub fn new() -> Rc<Self> {
        let shared = Shared { home: thread::current().id(), woken: Mutex::default(), ping: Mutex::default() };
        Rc::new(Self {
            slots: RefCell::default(),
            free: RefCell::default(),
            next_generation: Cell::new(0),
            depth: Cell::new(0),
            live: Cell::new(0),
            closed: Cell::new(false),
            shared: Arc::new(shared),
        })
    }

    /// Sets what other threads call after they have woken a task.
    pub fn set_ping(&self, ping: Ping) {
        *self.shared.ping.lock().unwrap_or_else(PoisonError::into_inner) = Some(ping);
    }

    /// Tasks that have not ended.
    pub fn live(&self) -> u32 {
        self.live.get()
    }

    /// Adds a task and polls it at once.
    pub fn spawn(&self, task: Task) {
        if self.closed.get() {
            return;
        }
        let generation = self.next_generation.get().wrapping_add(1);
        self.next_generation.set(generation);
        let index = self.free.borrow_mut().pop().unwrap_or_else(|| {
            self.slots.borrow_mut().push(None);
            self.slots.borrow().len() - 1
        });
        let id = TaskId { index, generation };
        let waker = Waker::from(Arc::new(TaskWaker { id, shared: Arc::clone(&self.shared) }));
        self.slots.borrow_mut()[index] = Some(Slot { generation, task: Some(task), waker, again: false });
        self.live.set(self.live.get() + 1);
        self.poll(id);
    }

    /// Runs `entry`, then everything that was woken, unless this is a call from within a poll.
    pub fn enter<R>(&self, entry: impl FnOnce() -> R) -> R {
        self.depth.set(self.depth.get() + 1);
        let result = entry();
        if self.depth.get() == 1 {
            while let Some(id) = self.shared.pop() {
                self.poll(id);
            }
        }
        self.depth.set(self.depth.get() - 1);
        result
    }

    /// Drops every task. Their destructors run here, in no poll.
    pub fn shutdown(&self) {
        self.closed.set(true);
        *self.shared.ping.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let slots = std::mem::take(&mut *self.slots.borrow_mut());
        drop(slots);
    }

    fn poll(&self, id: TaskId) {
        let taken = {
            let mut slots = self.slots.borrow_mut();
            let Some(Some(slot)) = slots.get_mut(id.index) else { return };
            if slot.generation != id.generation {
                return;
            }
            let Some(task) = slot.task.take() else {
                slot.again = true;
                return;
            };
            (task, slot.waker.clone())
        };
        let (mut task, waker) = taken;
        let polled = task.as_mut().poll(&mut Context::from_waker(&waker));
        if polled == Poll::Ready(()) || self.closed.get() {
            // The future goes first: its destructor may enter the loop again.
            drop(task);
            self.retire(id);
            return;
        }
        let mut slots = self.slots.borrow_mut();
        if let Some(Some(slot)) = slots.get_mut(id.index) {
            slot.task = Some(task);
            if std::mem::take(&mut slot.again) {
                drop(slots);
                self.shared.push(id);
            }
        }
    }

    fn retire(&self, id: TaskId) {
        let mut slots = self.slots.borrow_mut();
        if let Some(slot) = slots.get_mut(id.index) {
            *slot = None;
            drop(slots);
            self.free.borrow_mut().push(id.index);
            self.live.set(self.live.get().saturating_sub(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::sync::mpsc;

    /// A future that is ready when the flag is set, and keeps its waker.
    fn gate() -> (Rc<Cell<bool>>, Rc<RefCell<Option<Waker>>>) {
        (Rc::default(), Rc::default())
    }

    async fn wait(open: Rc<Cell<bool>>, waker: Rc<RefCell<Option<Waker>>>) {
        poll_fn(|context| {
            if open.get() {
                return Poll::Ready(());
            }
            *waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    #[test]
    fn a_task_is_polled_at_once_and_again_when_woken() {
        let tasks = TaskLoop::new();
        let (open, waker) = gate();
        let done = Rc::new(Cell::new(false));
        let flag = Rc::clone(&done);
        let future = wait(Rc::clone(&open), Rc::clone(&waker));
        tasks.spawn(Box::pin(async move {
            future.await;
            flag.set(true);
        }));
        assert_eq!((tasks.live(), done.get()), (1, false));
        open.set(true);
        let woken = waker.borrow_mut().take().expect("the task waits");
        tasks.enter(|| woken.wake());
        assert_eq!((tasks.live(), done.get()), (0, true));
    }

    #[test]
    fn a_wake_in_the_middle_of_a_poll_asks_for_one_more() {
        let tasks = TaskLoop::new();
        let polls = Rc::new(Cell::new(0));
        let count = Rc::clone(&polls);
        tasks.enter(|| {
            tasks.spawn(Box::pin(poll_fn(move |context| {
                count.set(count.get() + 1);
                if count.get() == 1 {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(())
            })));
        });
        assert_eq!((polls.get(), tasks.live()), (2, 0));
    }

    #[test]
    fn a_stale_waker_does_not_poll_the_next_tenant_of_its_slot() {
        let tasks = TaskLoop::new();
        let (open, waker) = gate();
        open.set(false);
        tasks.spawn(Box::pin(wait(Rc::clone(&open), Rc::clone(&waker))));
        let stale = waker.borrow().clone().expect("the task waits");
        open.set(true);
        tasks.enter(|| stale.wake_by_ref());
        let (second, second_waker) = gate();
        tasks.spawn(Box::pin(wait(Rc::clone(&second), second_waker)));
        second.set(true);
        tasks.enter(|| stale.wake());
        assert_eq!(tasks.live(), 1, "only its own waker may poll the second task");
    }

    #[test]
    fn a_wake_from_another_thread_pings_home() {
        let tasks = TaskLoop::new();
        let (send, receive) = mpsc::channel();
        tasks.set_ping(Box::new(move || send.send(()).expect("the test listens")));
        let (open, waker) = gate();
        tasks.spawn(Box::pin(wait(Rc::clone(&open), Rc::clone(&waker))));
        let woken = waker.borrow_mut().take().expect("the task waits");
        open.set(true);
        thread::spawn(move || woken.wake()).join().expect("waking does not panic");
        receive.recv().expect("pinged");
        tasks.enter(|| ());
        assert_eq!(tasks.live(), 0);
    }

    #[test]
    fn shutdown_drops_what_still_waits() {
        let tasks = TaskLoop::new();
        let (open, waker) = gate();
        let held = Rc::clone(&open);
        tasks.spawn(Box::pin(wait(open, waker)));
        tasks.shutdown();
        assert_eq!(Rc::strong_count(&held), 1);
        tasks.spawn(Box::pin(async { unreachable!("nothing runs after shutdown") }));
    }
}
