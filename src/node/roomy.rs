//! Memory for long texts on their way in.
//!
//! Fresh memory costs more than the text that is copied into it: the system hands it out in pages of
//! 4 KiB, each at its first touch, and for megabytes of text that happens on the JavaScript thread. On
//! Linux a long buffer is a mapping of its own that asks for large pages: three times as fast, and
//! given back at once when dropped. Elsewhere, and where large pages are turned off, it is plain
//! memory.

use std::ops::Deref;
#[cfg(target_os = "linux")]
use std::ptr::{self, NonNull};

/// A text of fixed capacity.
#[derive(Debug)]
pub struct Roomy<T>(Memory<T>);

#[derive(Debug)]
enum Memory<T> {
    Plain(Vec<T>),
    #[cfg(target_os = "linux")]
    Mapped(Mapping<T>),
}

impl<T: Copy> Roomy<T> {
    /// Room for so many units, to be filled by `fill`, which gets a pointer to it and returns how many
    /// units it wrote, or an error.
    ///
    /// # Safety
    /// What `fill` says it wrote, it must have written, within the capacity.
    pub unsafe fn filled<E>(
        capacity: usize,
        fill: impl FnOnce(*mut T) -> Result<usize, E>,
    ) -> Result<Self, E> {
        #[cfg(target_os = "linux")]
        if let Some(mut mapping) = Mapping::new(capacity) {
            mapping.len = fill(mapping.start.as_ptr())?.min(capacity);
            return Ok(Self(Memory::Mapped(mapping)));
        }
        let mut plain = Vec::with_capacity(capacity);
        let len = fill(plain.as_mut_ptr())?.min(capacity);
        // SAFETY: the caller promised that so many units were written.
        unsafe { plain.set_len(len) };
        Ok(Self(Memory::Plain(plain)))
    }

    /// Room for so many units, all of it to be filled by [`extend`](Self::extend).
    pub fn with_capacity(capacity: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(mapping) = Mapping::new(capacity) {
            return Self(Memory::Mapped(mapping));
        }
        Self(Memory::Plain(Vec::with_capacity(capacity)))
    }

    /// Adds units at the end, unless there is no room left for them.
    #[must_use]
    pub fn extend(&mut self, units: &[T]) -> bool {
        match &mut self.0 {
            Memory::Plain(plain) => {
                let fits = units.len() <= plain.capacity() - plain.len();
                if fits {
                    plain.extend_from_slice(units);
                }
                fits
            }
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => mapping.extend(units),
        }
    }
}

impl<T> Deref for Roomy<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Plain(plain) => plain,
            #[cfg(target_os = "linux")]
            // SAFETY: the mapping lives as long as `self`, and so many units were written to it.
            Memory::Mapped(mapping) => unsafe {
                std::slice::from_raw_parts(mapping.start.as_ptr(), mapping.len)
            },
        }
    }
}

/// Private memory from the system, with large pages if it has some.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Mapping<T> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
    base: NonNull<libc::c_void>,
    size: usize,
}

// SAFETY: the mapping is owned like the memory of a vector; nothing about it belongs to a thread.
#[cfg(target_os = "linux")]
unsafe impl<T: Send> Send for Mapping<T> {}
// SAFETY: as above; shared references only read.
#[cfg(target_os = "linux")]
unsafe impl<T: Sync> Sync for Mapping<T> {}

#[cfg(target_os = "linux")]
impl<T: Copy> Mapping<T> {
    /// The size of a large page on the machines that matter; on others the mapping is only larger.
    const LARGE_PAGE: usize = 2 << 20;

    /// `None` when the text is too short to profit, or the system refuses.
    fn new(capacity: usize) -> Option<Self> {
        let bytes = capacity.checked_mul(size_of::<T>())?;
        if bytes < Self::LARGE_PAGE / 2 {
            return None;
        }
        // Rounded up to whole large pages, and one more to align the start.
        let usable = bytes.checked_next_multiple_of(Self::LARGE_PAGE)?;
        let size = usable.checked_add(Self::LARGE_PAGE)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new private mapping at an address the system chooses touches nothing of ours.
        let base = unsafe { libc::mmap(ptr::null_mut(), size, protection, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = NonNull::new(base)?;
        let offset = base.as_ptr().align_offset(Self::LARGE_PAGE);
        // SAFETY: the offset is below the large page that was added to the size.
        let start = unsafe { base.byte_add(offset) };
        // SAFETY: the range lies within the mapping. A refusal leaves small pages, which is fine.
        unsafe { libc::madvise(start.as_ptr(), usable, libc::MADV_HUGEPAGE) };
        Some(Self { start: start.cast(), len: 0, capacity, base, size })
    }

    fn extend(&mut self, units: &[T]) -> bool {
        if units.len() > self.capacity - self.len {
            return false;
        }
        // SAFETY: the capacity was mapped, and so many units of it are free; what is borrowed from elsewhere
        // does not overlap with what this owns.
        unsafe {
            self.start.add(self.len).copy_from_nonoverlapping(NonNull::from(units).cast(), units.len())
        };
        self.len += units.len();
        true
    }
}

#[cfg(target_os = "linux")]
impl<T> Drop for Mapping<T> {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; nothing borrows from it any more.
        unsafe { libc::munmap(self.base.as_ptr(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_texts_come_back() {
        for len in [0, 1, 5000, 3 << 20] {
            let unit = |at: usize| u16::try_from(at % 60_000).expect("small");
            // SAFETY: writes exactly `len` units, the capacity.
            let filled = unsafe {
                Roomy::filled(len, |to: *mut u16| {
                    (0..len).for_each(|at| to.add(at).write(unit(at)));
                    Ok::<_, ()>(len)
                })
            };
            let text = filled.expect("filled");
            assert_eq!(text.len(), len);
            let moved = std::thread::spawn(move || text.iter().enumerate().all(|(at, u)| *u == unit(at)));
            assert!(moved.join().expect("no panic"), "{len}");
        }
    }

    #[test]
    fn grows_within_its_capacity() {
        for len in [0, 5, 3 << 20] {
            let mut text = Roomy::with_capacity(len + 2);
            assert!(text.extend(&[1_u8]) && text.extend(&vec![7; len]));
            assert!(len == 0 || !text.extend(&vec![9; len + 2]));
            assert!(text.extend(&[2]) && text.extend(&[]));
            assert!(text.len() == len + 2 && text[0] == 1 && text[len + 1] == 2);
            assert!(text[1..=len].iter().all(|unit| *unit == 7));
        }
    }

    #[test]
    fn a_failure_leaves_nothing() {
        // SAFETY: nothing is said to be written.
        assert_eq!(unsafe { Roomy::<u8>::filled(4 << 20, |_| Err("no")) }.err(), Some("no"));
    }
}
