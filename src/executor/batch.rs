//! The order of a batch (spec 02 section 9): the sequential calls one after another, then the rest
//! in a rolling window, first in first out.
//!
//! The window is a number of lanes. A lane takes the next call when its own has ended, so it stays
//! in the async context the batch was started in, and a slot is released exactly once.

use super::config::{BatchOptions, Config};
use super::host::Host;
use super::pipeline::{Ending, run_call};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::task::Poll;

/// What a batch needs of its host beside the calls themselves.
pub trait BatchHost: Host {
    /// Polls a future at once and then whenever it is woken.
    fn spawn(&self, task: impl Future<Output = ()> + 'static);
    /// Takes over a call's ending: the record is made and the caller hears of it.
    fn complete(&self, call: Self::Call, ending: &Ending);
}

/// Runs a batch. `sequential` and `parallel` hold the calls in batch order.
///
/// Without sequential calls the first window is entered before this returns.
pub fn run_batch<H: BatchHost>(
    host: &H,
    config: &Rc<Config>,
    options: BatchOptions,
    sequential: Vec<H::Call>,
    parallel: VecDeque<H::Call>,
) {
    let queue = Rc::new(RefCell::new(parallel));
    if sequential.is_empty() {
        open_lanes(host, config, options, &queue, false);
        return;
    }
    let (lane_host, config) = (host.clone(), Rc::clone(config));
    host.spawn(async move {
        let mut queued = false;
        for call in sequential {
            run_one(&lane_host, &config, options, call, queued).await;
            queued = true;
        }
        open_lanes(&lane_host, &config, options, &queue, true);
    });
}

/// `waited`: the sequential calls came first, so that even the first call of a lane was queued.
fn open_lanes<H: BatchHost>(
    host: &H,
    config: &Rc<Config>,
    options: BatchOptions,
    queue: &Rc<RefCell<VecDeque<H::Call>>>,
    waited: bool,
) {
    let lanes = queue.borrow().len().min(config.max_parallel);
    for _ in 0..lanes {
        let (lane_host, config, queue) = (host.clone(), Rc::clone(config), Rc::clone(queue));
        host.spawn(async move {
            let mut queued = waited;
            loop {
                let Some(call) = queue.borrow_mut().pop_front() else { return };
                run_one(&lane_host, &config, options, call, queued).await;
                queued = true;
            }
        });
    }
}

async fn run_one<H: BatchHost>(
    host: &H,
    config: &Rc<Config>,
    options: BatchOptions,
    call: H::Call,
    queued: bool,
) {
    let ending = contained(run_call(host.clone(), Rc::clone(config), options, call, queued)).await;
    host.complete(call, &ending);
}

/// Runs a single call, outside every bound.
pub fn run_single<H: BatchHost>(host: &H, config: &Rc<Config>, options: BatchOptions, call: H::Call) {
    let (task_host, config) = (host.clone(), Rc::clone(config));
    host.spawn(async move { run_one(&task_host, &config, options, call, false).await });
}

/// A panic in a call is that call's ending: its lane goes on and its caller hears of it.
async fn contained(call: impl Future<Output = Ending>) -> Ending {
    let mut call = std::pin::pin!(call);
    std::future::poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context)));
        polled.unwrap_or(Poll::Ready(Ending::Panicked))
    })
    .await
}
