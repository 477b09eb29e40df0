//! Started containers that wait for their payload. Each serves one run and is then removed.
//!
//! There is a shelf for each kind of container that runs ask for, up to a bound: an app uses few kinds,
//! and a caller who varies the memory of every run must not fill the machine.

use super::engine::Inner;
use super::request::ContainerSpec;
use super::session::Ready;
use futures_util::{FutureExt, StreamExt};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::time::Instant;

/// Kinds of container that are kept waiting.
const MAX_SHELVES: usize = 4;

/// The waiting ones.
#[derive(Default)]
pub(crate) struct Pool {
    shelves: Vec<Shelf>,
    last_used: Option<Instant>,
    closed: bool,
}

struct Shelf {
    spec: ContainerSpec,
    idle: VecDeque<Ready>,
    starting: usize,
}

impl Pool {
    /// The shelf of a kind; none when there are too many others.
    fn shelf(&mut self, kind: &ContainerSpec) -> Option<&mut Shelf> {
        if let Some(found) = self.shelves.iter().position(|shelf| shelf.spec == *kind) {
            return self.shelves.get_mut(found);
        }
        self.shelves.retain(|shelf| !shelf.idle.is_empty() || shelf.starting > 0);
        if self.shelves.len() >= MAX_SHELVES {
            return None;
        }
        self.shelves.push(Shelf { spec: kind.clone(), idle: VecDeque::new(), starting: 0 });
        self.shelves.last_mut()
    }

    /// How many more of a kind should be started; counts them as starting.
    fn order(&mut self, kind: &ContainerSpec, size: usize) -> usize {
        if self.closed {
            return 0;
        }
        let Some(stock) = self.shelf(kind) else { return 0 };
        let missing = size.saturating_sub(stock.idle.len() + stock.starting);
        stock.starting += missing;
        missing
    }

    /// Takes in a container that was ordered; hands it back when it is not wanted any more.
    fn deliver(&mut self, kind: &ContainerSpec, made: Option<Ready>) -> Option<Ready> {
        let closed = self.closed;
        let Some(stock) = self.shelves.iter_mut().find(|shelf| shelf.spec == *kind) else { return made };
        stock.starting = stock.starting.saturating_sub(1);
        if closed {
            return made;
        }
        stock.idle.extend(made);
        None
    }
}

/// A container of that kind that is still alive, if there is one; starts its successor in the background.
pub(crate) fn take(engine: &Arc<Inner>, kind: &ContainerSpec) -> Option<Ready> {
    let found = loop {
        let waiting = {
            let mut pool = engine.pool();
            pool.last_used = Some(Instant::now());
            pool.shelf(kind).and_then(|shelf| shelf.idle.pop_front())
        };
        let Some(mut ready) = waiting else { break None };
        // Whatever a waiting container has to say before its payload means that it is no good.
        if ready.output.next().now_or_never().is_none() {
            break Some(ready);
        }
    };
    refill(engine, kind);
    found
}

fn refill(engine: &Arc<Inner>, kind: &ContainerSpec) {
    let missing = engine.pool().order(kind, engine.config().pool_size);
    for _ in 0..missing {
        let (engine, kind) = (Arc::clone(engine), kind.clone());
        tokio::spawn(async move {
            let made = engine.prepare(kind.clone()).await;
            let delivered = made.is_ok();
            let unwanted = engine.pool().deliver(&kind, made.ok());
            if delivered && unwanted.is_none() {
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
        let unused = engine.pool().last_used.is_none_or(|used| used.elapsed() >= idle_time);
        if unused {
            drop(empty(&mut engine.pool()));
        }
    });
}

/// Gives up the waiting ones for good. The caller drops them, which removes them.
pub(crate) fn close(engine: &Inner) -> Vec<Ready> {
    let mut pool = engine.pool();
    pool.closed = true;
    empty(&mut pool)
}

fn empty(pool: &mut Pool) -> Vec<Ready> {
    pool.shelves.iter_mut().flat_map(|shelf| shelf.idle.drain(..)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::docker::request::tests::spec;

    fn sized(memory_mb: f64) -> ContainerSpec {
        ContainerSpec { memory_mb, ..spec() }
    }

    #[test]
    fn kinds_are_bounded_and_an_empty_shelf_makes_room() {
        let mut pool = Pool::default();
        for memory in [1.0, 2.0, 3.0, 4.0] {
            assert_eq!(pool.order(&sized(memory), 2), 2);
        }
        assert_eq!(pool.order(&sized(5.0), 2), 0, "no fifth kind while four are starting");
        assert_eq!(pool.order(&sized(1.0), 2), 0, "those two are on their way");
        for _ in 0..2 {
            assert!(pool.deliver(&sized(1.0), None).is_none());
        }
        assert_eq!(pool.order(&sized(5.0), 1), 1, "the kind whose starts failed made room");
    }

    #[test]
    fn a_closed_pool_orders_nothing() {
        let mut pool = Pool { closed: true, ..Pool::default() };
        assert_eq!(pool.order(&spec(), 3), 0);
    }
}
