//! Started containers that wait for their payload. Each serves one run and is then removed.

use super::engine::Inner;
use super::session::Ready;
use futures_util::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

/// The waiting ones.
#[derive(Default)]
pub(crate) struct Pool {
    idle: VecDeque<Ready>,
    starting: usize,
    last_used: Option<Instant>,
    closed: bool,
}

/// A container that is still alive, if there is one; starts its successor in the background.
pub(crate) fn take(engine: &Arc<Inner>) -> Option<Ready> {
    let found = loop {
        let mut pool = engine.pool();
        pool.last_used = Some(Instant::now());
        let Some(mut ready) = pool.idle.pop_front() else { break None };
        drop(pool);
        // Whatever a waiting container has to say before its payload means that it is no good.
        if ready.output.next().now_or_never().is_none() {
            break Some(ready);
        }
    };
    refill(engine);
    found
}

/// Brings the pool to its size.
fn refill(engine: &Arc<Inner>) {
    let size = engine.config().pool_size;
    let missing = {
        let mut pool = engine.pool();
        if pool.closed {
            return;
        }
        let missing = size.saturating_sub(pool.idle.len() + pool.starting);
        pool.starting += missing;
        missing
    };
    for _ in 0..missing {
        let engine = Arc::clone(engine);
        tokio::spawn(async move {
            let made = engine.prepare(engine.base_spec()).await;
            let mut pool = engine.pool();
            pool.starting -= 1;
            if let Ok(ready) = made
                && !pool.closed
            {
                pool.idle.push_back(ready);
                drop(pool);
                expire(&engine);
            }
        });
    }
}

/// Empties the pool once nobody has used it for its idle time.
fn expire(engine: &Arc<Inner>) {
    let idle_time = engine.config().pool_idle;
    let engine = Arc::downgrade(engine);
    tokio::spawn(async move {
        tokio::time::sleep(idle_time).await;
        let Some(engine) = engine.upgrade() else { return };
        let idle = {
            let mut pool = engine.pool();
            let unused = pool.last_used.is_none_or(|used| used.elapsed() >= idle_time);
            if unused { std::mem::take(&mut pool.idle) } else { VecDeque::new() }
        };
        drop(idle);
    });
}

/// Gives up the waiting ones for good. The caller drops them, which removes them.
pub(crate) fn close(engine: &Inner) -> impl Sized + use<> {
    let mut pool = engine.pool();
    pool.closed = true;
    std::mem::take(&mut pool.idle)
}
