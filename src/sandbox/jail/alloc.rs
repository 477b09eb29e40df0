//! The global allocator of the sandbox binary: counts, and ends the process at the limit.
//!
//! The engine aborts on a failed allocation and cannot be told about a limit, so the process leaves
//! with an exit code the host understands instead. The counters are process-wide on purpose: a sandbox
//! process runs one script.
#![allow(unsafe_code, reason = "a global allocator is unsafe by its trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// See the module.
pub struct Counting;

/// From now on at most `bytes` more than what is in use may be allocated.
pub fn limit(bytes: usize) {
    LIMIT.store(USED.load(Ordering::Relaxed).saturating_add(bytes), Ordering::Relaxed);
}

/// Bytes that may still be allocated.
pub fn room() -> usize {
    LIMIT.load(Ordering::Relaxed).saturating_sub(USED.load(Ordering::Relaxed))
}

/// Uses up the gaps between what is allocated, for good, so that what a forked child allocates lies
/// together at the end of the heap. A child that filled gaps would write to, and so copy, nearly every
/// page it shares with its parent.
#[cfg(target_os = "linux")]
pub fn fill_gaps() {
    /// This much in a row is no gap any more, or one that a child may as well use.
    const ROW: usize = 4096;
    /// What all of it may cost at most, should an allocator behave otherwise than thought.
    const MOST: usize = 4 << 20;
    // The system allocator looks for a gap of just the right size first, so each size has its turn. The
    // largest makes it join neighbours that are free.
    let sizes = [32 << 10, 8 << 10, 4 << 10, 2 << 10].into_iter().chain((1..=64).rev().map(|n| n * 16 - 8));
    let mut left = MOST;
    for size in sizes {
        let (mut row, mut end) = (0, 0);
        while row < ROW.max(size * 2) && left > 0 {
            let start = Vec::<u8>::with_capacity(size).leak().as_ptr().addr();
            // The allocator's own header lies between two neighbours.
            row = if (end..end + 32).contains(&start) { row + size } else { 0 };
            end = start + size;
            left = left.saturating_sub(size);
        }
    }
}

fn charge(bytes: usize) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
    if used > LIMIT.load(Ordering::Relaxed) {
        leave();
    }
}

#[cfg(unix)]
fn leave() -> ! {
    super::sys::leave(super::EXIT_MEMORY)
}

#[cfg(not(unix))]
fn leave() -> ! {
    std::process::exit(super::EXIT_MEMORY)
}

// SAFETY: every call is forwarded to the system allocator with the very arguments given; counting
// touches nothing but two atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        charge(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { leave() } else { memory }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        charge(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if memory.is_null() { leave() } else { memory }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) };
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size > layout.size() {
            charge(size - layout.size());
        } else {
            USED.fetch_sub(layout.size() - size, Ordering::Relaxed);
        }
        // SAFETY: the caller keeps the contract of `realloc`.
        let memory = unsafe { System.realloc(memory, layout, size) };
        if memory.is_null() { leave() } else { memory }
    }
}
