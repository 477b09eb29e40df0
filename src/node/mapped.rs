//! Private memory from the system, fetched ahead and kept for the next text.
//!
//! Memory is handed out in pages, each at its first touch, and that costs more than copying a text into it. So a
//! few spans are kept when they are dropped, for the next long text. The system is told that it may take their
//! pages back when it needs memory; until then they count as resident. What has to be new is fetched many pages at
//! a time, on a thread that has nothing to do with JavaScript.
//!
//! Large pages are not asked for. They are cheaper where the machine has them at hand, but a system that has to
//! put one together first, or a virtual machine that gave its free ones back to its host, takes 5 to 20 ms for each.
//!
//! Invariants: a span belongs to one owner or lies among the kept ones, never both; at most [`MOST_KEPT`]
//! bytes are kept; what a span held before is never read, for its next owner reads only what it wrote.

use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Spans are multiples of this, so that the kept ones fit; a system that hands out large pages by itself finds
/// room for them.
const LARGE_PAGE: usize = 2 << 20;
/// Pages are at least this large everywhere.
const PAGE: usize = 4096;
/// Nor larger than this.
const PAGE_AT_MOST: usize = 64 << 10;
/// Bytes that are fetched at once: less than a millisecond, in which nobody else can change what is mapped.
const STEP: usize = 256 << 10;
/// Bytes that are kept at most: the text of one large result on its way in, and one on its way out.
pub const MOST_KEPT: usize = 32 << 20;

/// A mapping, whoever owns it.
#[derive(Debug, Clone, Copy)]
struct Mapping {
    base: NonNull<libc::c_void>,
    size: usize,
    /// The part that begins at a large page.
    start: NonNull<libc::c_void>,
    usable: usize,
}

// SAFETY: an address and two sizes; what may be done with them is the owner's matter.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

/// Memory of its owner.
#[derive(Debug)]
pub struct Span {
    mapping: Mapping,
    /// The same for whoever fetches it meanwhile, as far as it may be fetched; `None` when it has no owner any more.
    /// Whoever maps it elsewhere or gives it away holds the lock.
    fetched: Arc<Mutex<Option<Mapping>>>,
}

/// The kept spans, the one that was dropped first in front.
static KEPT: Mutex<Vec<Mapping>> = Mutex::new(Vec::new());

fn kept() -> MutexGuard<'static, Vec<Mapping>> {
    lock(&KEPT)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Mapping {
    fn new(usable: usize) -> Option<Self> {
        // One large page more, to align the start.
        let size = usable.checked_add(LARGE_PAGE)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new private mapping at an address the system chooses touches nothing of ours.
        let base = unsafe { libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base)?;
        let offset = base.as_ptr().align_offset(LARGE_PAGE);
        // SAFETY: the offset is below the large page that was added to the size.
        let start = unsafe { base.byte_add(offset) };
        Some(Self { base, size, start, usable })
    }

    /// The smallest kept one that fits and is not far too large.
    fn reused(usable: usize) -> Option<Self> {
        let mut kept = kept();
        let fits = |mapping: &Self| (usable..=usable.saturating_mul(2)).contains(&mapping.usable);
        let fitting = kept.iter().enumerate().filter(|(_, mapping)| fits(mapping));
        let at = fitting.min_by_key(|(_, mapping)| mapping.usable)?.0;
        Some(kept.remove(at))
    }
}

impl Span {
    /// Memory of at least so many bytes, whatever they are. `None` when these are too few to profit, or the
    /// system refuses.
    pub fn new(bytes: usize) -> Option<Self> {
        if bytes < LARGE_PAGE / 2 {
            return None;
        }
        let usable = bytes.checked_next_multiple_of(LARGE_PAGE)?;
        let mapping = Mapping::reused(usable).or_else(|| Mapping::new(usable))?;
        Some(Self { mapping, fetched: Arc::new(Mutex::new(Some(mapping))) })
    }

    /// Has a range of it handed out, whatever it holds. False when the system knows no such thing.
    pub fn fetch(&self, bytes: Range<usize>) -> bool {
        self.fetching(bytes)()
    }

    /// The same as a job for another thread, while the owner uses it.
    pub fn fetching(&self, bytes: Range<usize>) -> impl FnOnce() -> bool + Send + 'static {
        let fetched = Arc::clone(&self.fetched);
        move || {
            let first = bytes.start & !(PAGE - 1);
            (first..bytes.end).step_by(STEP).all(|at| {
                let fetched = lock(&fetched);
                let Some(mapping) = *fetched else { return false };
                if at >= mapping.usable {
                    return true;
                }
                // SAFETY: the range lies within the mapping, which stays where it is while the lock is held; what it
                // holds stays as it is.
                let done = unsafe {
                    let start = mapping.start.as_ptr().byte_add(at);
                    let end = bytes.end.min(mapping.usable);
                    libc::madvise(start, STEP.min(end - at), libc::MADV_POPULATE_WRITE)
                };
                done == 0
            })
        }
    }

    /// A job for another thread: only so many bytes are used from now on, and the pages behind them go back to the
    /// system. `None` when these are few beside the others: the next owner would have to fetch them again.
    ///
    /// # Safety
    /// The owner never uses more than these bytes again, before the job and after it.
    pub unsafe fn giving_back(&self, bytes: usize) -> Option<impl FnOnce() + Send + 'static> {
        let used = bytes
            .checked_next_multiple_of(PAGE_AT_MOST)
            .filter(|used| self.mapping.usable.saturating_sub(*used) > used / 2)?;
        let fetched = Arc::clone(&self.fetched);
        Some(move || {
            let mut fetched = lock(&fetched);
            let Some(mapping) = &mut *fetched else { return };
            // SAFETY: the range lies within the mapping, which has its owner while the lock is held, and which that
            // does not use beyond these bytes.
            unsafe {
                libc::madvise(
                    mapping.start.as_ptr().byte_add(used),
                    mapping.usable.saturating_sub(used),
                    libc::MADV_DONTNEED,
                )
            };
            // What waits to be fetched is not fetched any more.
            mapping.usable = used;
        })
    }

    /// Makes it larger, wherever that has to move it; what it holds stays. False when the system refuses.
    pub fn grow(&mut self, bytes: usize) -> bool {
        let Some(usable) = bytes.checked_next_multiple_of(LARGE_PAGE) else { return false };
        let Some(size) = usable.checked_add(LARGE_PAGE) else { return false };
        let old = self.mapping;
        if usable <= old.usable {
            return true;
        }
        let mut fetched = lock(&self.fetched);
        // SAFETY: exactly what `new` mapped, or this function; nobody else refers to it, for `self` is borrowed alone
        // and the lock is held.
        let base = unsafe { libc::mremap(old.base.as_ptr(), old.size, size, libc::MREMAP_MAYMOVE) };
        let Some(base) = NonNull::new(base).filter(|base| base.as_ptr() != libc::MAP_FAILED) else {
            return false;
        };
        // SAFETY: the start lies where it did, seen from the base. It may no longer begin a large page; nobody relies on that.
        let start = unsafe { base.byte_add(old.start.as_ptr().addr() - old.base.as_ptr().addr()) };
        self.mapping = Mapping { base, size, start, usable };
        *fetched = Some(self.mapping);
        true
    }

    /// Where it begins: aligned to a large page, unless it has grown.
    pub fn start(&self) -> NonNull<libc::c_void> {
        self.mapping.start
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        *lock(&self.fetched) = None;
        // SAFETY: the range lies within the mapping, and whoever gets it next writes before reading.
        unsafe { libc::madvise(self.mapping.start.as_ptr(), self.mapping.usable, libc::MADV_FREE) };
        let mut kept = kept();
        kept.push(self.mapping);
        let mut bytes: usize = kept.iter().map(|mapping| mapping.usable).sum();
        let mut excess = 0;
        while bytes > MOST_KEPT {
            bytes -= kept[excess].usable;
            excess += 1;
        }
        let dropped: Vec<Mapping> = kept.drain(..excess).collect();
        drop(kept);
        for mapping in dropped {
            // SAFETY: exactly what `new` mapped; it has no owner, and is no longer among the kept ones.
            unsafe { libc::munmap(mapping.base.as_ptr(), mapping.size) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_that_grows_keeps_what_it_holds() {
        let mut span = Span::new(2 << 20).expect("mapped");
        // SAFETY: so many bytes belong to the span.
        unsafe { ptr::write_bytes(span.start().as_ptr().cast::<u8>(), 7, 1 << 20) };
        // Something in its way, at times.
        let _other = Span::new(2 << 20);
        for bytes in [1 << 20, 5 << 20, 40 << 20] {
            assert!(span.grow(bytes) && span.mapping.usable >= bytes);
            // SAFETY: all of it belongs to the span, and what is read was written.
            unsafe {
                let bytes = std::slice::from_raw_parts(span.start().as_ptr().cast::<u8>(), 1 << 20);
                assert!(bytes.iter().all(|byte| *byte == 7));
                span.start().as_ptr().cast::<u8>().add(span.mapping.usable - 1).write(1);
            }
        }
        assert!(!span.grow(usize::MAX / 2) && !span.grow(usize::MAX));
    }

    #[test]
    fn a_span_is_fetched_while_it_grows_and_goes_away() {
        for round in 0..30 {
            let mut span = Span::new(4 << 20).expect("mapped");
            let jobs = [span.fetching(0..4 << 20), span.fetching((6 << 20) + 5..9 << 20)];
            let threads = jobs.map(std::thread::spawn);
            for megabytes in 5..9 {
                // SAFETY: the first byte belongs to the span.
                unsafe { span.start().as_ptr().cast::<u8>().write(round) };
                assert!(span.grow(megabytes << 20));
                // SAFETY: as above, and it was written.
                assert_eq!(unsafe { span.start().as_ptr().cast::<u8>().read() }, round);
            }
            let late = span.fetching(0..1);
            drop(span);
            assert!(!late());
            for thread in threads {
                let _ = thread.join().expect("no panic");
            }
        }
    }

    /// Pages of the span that are in memory.
    fn resident(span: &Span) -> usize {
        let mut pages = vec![0; span.mapping.usable / PAGE];
        // SAFETY: asks about the span's own pages; there is a byte for each, or more than that.
        let asked = unsafe { libc::mincore(span.start().as_ptr(), span.mapping.usable, pages.as_mut_ptr()) };
        assert_eq!(asked, 0);
        pages.iter().filter(|page| **page & 1 == 1).count()
    }

    #[test]
    fn what_is_given_back_is_not_in_memory_and_is_not_fetched_again() {
        let span = Span::new(12 << 20).expect("mapped");
        if !span.fetch(0..span.mapping.usable) {
            return;
        }
        assert_eq!(resident(&span), span.mapping.usable / PAGE);
        let late = span.fetching(1 << 20..5 << 20);
        // SAFETY: nothing is done with the bytes any more.
        let (few, many) =
            unsafe { (span.giving_back(span.mapping.usable - 1), span.giving_back((2 << 20) - 5)) };
        assert!(few.is_none());
        many.expect("much")();
        assert!(late());
        assert_eq!(resident(&span), (2 << 20) / PAGE);
    }

    #[test]
    fn spans_are_kept_within_the_limit_and_given_to_one_owner_each() {
        assert!(Span::new(1000).is_none());
        let fill = |span: &Span, byte: u8| {
            // SAFETY: so many bytes belong to the span.
            unsafe { ptr::write_bytes(span.start().as_ptr().cast::<u8>(), byte, span.mapping.usable) };
        };
        let mut live = Vec::new();
        for round in 0..40_usize {
            let span = Span::new((round % 6 + 1) * (3 << 20)).expect("mapped");
            assert!(span.mapping.usable >= (round % 6 + 1) * (3 << 20));
            assert_eq!(span.start().as_ptr().align_offset(LARGE_PAGE), 0);
            fill(&span, u8::try_from(round).expect("small"));
            live.push((round, span));
            if round % 3 == 2 {
                live.swap_remove(0);
                live.swap_remove(0);
            }
            for (round, span) in &live {
                // SAFETY: all of it was written.
                let bytes = unsafe {
                    std::slice::from_raw_parts(span.start().as_ptr().cast::<u8>(), span.mapping.usable)
                };
                assert!(bytes.iter().step_by(4096).all(|byte| usize::from(*byte) == *round));
            }
        }
        drop(live);
        // Other tests drop spans of their own meanwhile; the limit holds for all of them together.
        assert!(super::kept().iter().map(|span| span.usable).sum::<usize>() <= MOST_KEPT);
    }
}
