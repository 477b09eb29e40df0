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
