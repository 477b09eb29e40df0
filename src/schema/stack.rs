//! Enough stack for what a schema may need.
//!
//! Compiling and checking recurse, and the stack they are called on belongs to somebody else: in a
//! worker thread JavaScript may have used all but the last 200 KB of four megabytes. So whatever could
//! need much runs on a thread of its own, whose stack is only touched as far as it is used. Starting
//! one takes a few dozen microseconds; everyday checks need none.

use super::fuel::GivenUp;

/// What may be used of the caller's stack, in bytes.
pub(super) const INLINE: usize = 64 << 10;
/// Stack of a thread of our own.
const OWN: usize = 16 << 20;
/// What a check may use of it before it is given up. The rest is for what runs between two looks.
pub(super) const OWN_LIMIT: usize = 8 << 20;

/// Bytes for one level of a value, and for each step from one schema to another at that level; taken
/// from measurements, times two.
const LEVEL: usize = 1_024;
const LINK: usize = 512;

/// The most stack a check may need: at each level of the value every link may be followed.
pub(super) fn estimate(depth: usize, links: usize) -> usize {
    (depth + 1).saturating_mul(links.saturating_mul(LINK).saturating_add(LEVEL))
}

/// Runs on a stack of our own and waits for the end.
pub(super) fn on_own<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T, GivenUp> {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("ferrule-schema".to_owned()).stack_size(OWN);
        let thread = builder.spawn_scoped(scope, run).map_err(|_| GivenUp)?;
        thread.join().map_err(|_| GivenUp)
    })
}
