//! Memory for long texts on their way in and out.
//!
//! Fresh memory costs more than the text that is copied into it: the system hands it out in pages of
//! 4 KiB, each at its first touch, and for megabytes of text that happens on the JavaScript thread. On
//! Linux a long buffer is a mapping of its own that is fetched ahead and kept (see [`mapped`](super::mapped)).
//! Elsewhere, and where the system refuses, it is plain memory.

#[cfg(target_os = "linux")]
use super::mapped::Span;
use crate::inbound::body::Body;
use crate::inbound::fold::Unit;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

/// A text of fixed capacity, unless it is made to grow.
#[derive(Debug)]
pub struct Roomy<T>(Memory<T>);

/// What another thread is to do.
pub type Job = Box<dyn FnOnce() + Send>;

#[derive(Debug)]
enum Memory<T> {
    Plain(Vec<T>),
    #[cfg(target_os = "linux")]
    Mapped(Mapping<T>),
    /// Finished: has no more room.
    Shared(Arc<Roomy<T>>),
}

impl<T: Copy> Roomy<T> {
    /// Room for so many units, all of it still free.
    pub fn with_capacity(capacity: usize) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(mapping) = Mapping::new(capacity) {
            return Self(Memory::Mapped(mapping));
        }
        Self(Memory::Plain(Vec::with_capacity(capacity)))
    }

    /// Room for so many units, filled by `fill`: see [`extend_with`](Self::extend_with).
    ///
    /// # Safety
    /// What `fill` says it wrote, it must have written, within the capacity.
    pub unsafe fn filled<E>(
        capacity: usize,
        fill: impl FnOnce(*mut T) -> Result<usize, E>,
    ) -> Result<Self, E> {
        let mut text = Self::with_capacity(capacity);
        // SAFETY: the caller's promise.
        unsafe { text.extend_with(|to, _| fill(to)) }?;
        Ok(text)
    }

    /// Adds what `fill` writes: it gets a pointer to the free room and how many units that has, and returns
    /// how many units it wrote, or an error.
    ///
    /// # Safety
    /// What `fill` says it wrote, it must have written, within the room.
    pub unsafe fn extend_with<E>(
        &mut self,
        fill: impl FnOnce(*mut T, usize) -> Result<usize, E>,
    ) -> Result<(), E> {
        match &mut self.0 {
            Memory::Plain(plain) => {
                let room = plain.spare_capacity_mut();
                let (len, start) = (room.len(), room.as_mut_ptr().cast());
                let written = fill(start, len)?.min(len);
                // SAFETY: the caller promised that so many units were written.
                unsafe { plain.set_len(plain.len() + written) };
            }
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => {
                let room = mapping.capacity - mapping.len;
                // SAFETY: the length is within the mapping.
                let start = unsafe { mapping.start.add(mapping.len) };
                mapping.len += fill(start.as_ptr(), room)?.min(room);
            }
            Memory::Shared(_) => {
                fill(NonNull::dangling().as_ptr(), 0)?;
            }
        }
        Ok(())
    }

    /// Adds units at the end, unless there is no room left for them.
    #[must_use]
    pub fn extend(&mut self, units: &[T]) -> bool {
        // SAFETY: writes as many units as it says, and only if they fit.
        let added = unsafe {
            self.extend_with(|to, room| {
                if units.len() > room {
                    return Err(());
                }
                std::ptr::copy_nonoverlapping(units.as_ptr(), to, units.len());
                Ok(units.len())
            })
        };
        added.is_ok()
    }

    /// How many units more there is room for.
    fn room(&self) -> usize {
        match &self.0 {
            Memory::Plain(plain) => plain.capacity() - plain.len(),
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => mapping.capacity - mapping.len,
            Memory::Shared(_) => 0,
        }
    }

    /// Makes room for so many units more, and for as many again as there are then: a text that grows bit by bit
    /// is seldom moved.
    pub fn grow(&mut self, units: usize) {
        if units <= self.room() {
            return;
        }
        let capacity = (self.len() + units) * 2;
        #[cfg(target_os = "linux")]
        if let Memory::Mapped(mapping) = &mut self.0
            && mapping.grow(capacity)
        {
            return;
        }
        let mut larger = Self::with_capacity(capacity);
        let _ = larger.extend(self);
        *self = larger;
    }

    /// Forgets the text; the memory stays.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Memory::Plain(plain) => plain.clear(),
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => mapping.len = 0,
            Memory::Shared(_) => self.0 = Memory::Plain(Vec::new()),
        }
    }

    /// The text twice, in one memory. Nothing can be added to it any more.
    pub fn shared(self) -> (Self, Self) {
        let text = match self.0 {
            Memory::Shared(text) => text,
            memory => Arc::new(Self(memory)),
        };
        (Self(Memory::Shared(Arc::clone(&text))), Self(Memory::Shared(text)))
    }

    /// The text without room, and a job for another thread: it gives the memory back that was room, where that is
    /// much for such a text.
    pub fn fitted(self) -> (Self, Option<Job>) {
        let (text, _) = self.shared();
        let job = text.giving_back();
        (text, job)
    }

    /// See [`fitted`](Self::fitted). Only what nothing can be added to any more has a job.
    fn giving_back(&self) -> Option<Job> {
        let Memory::Shared(text) = &self.0 else { return None };
        match &text.0 {
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => {
                // SAFETY: nobody can write behind the text, and nobody reads there.
                let give = unsafe { mapping.span.giving_back(mapping.len * size_of::<T>()) };
                give.map(|give| -> Job { Box::new(give) })
            }
            _ => None,
        }
    }

    /// A job for another thread: it makes the system hand out the memory for so many units, from so many on. `None`
    /// where that cannot be done.
    #[cfg_attr(not(target_os = "linux"), allow(unused_variables, clippy::unused_self))]
    pub fn fetching(&self, from: usize, units: usize) -> Option<Job> {
        match &self.0 {
            #[cfg(target_os = "linux")]
            Memory::Mapped(mapping) => {
                let fetch = mapping.span.fetching(from * size_of::<T>()..(from + units) * size_of::<T>());
                Some(Box::new(move || {
                    fetch();
                }))
            }
            _ => None,
        }
    }

    /// Whether giving the memory back takes the system a while.
    pub fn is_mapped(&self) -> bool {
        match &self.0 {
            Memory::Plain(_) => false,
            #[cfg(target_os = "linux")]
            Memory::Mapped(_) => true,
            Memory::Shared(text) => text.is_mapped(),
        }
    }

    /// Makes the system hand out the memory for so many units more, so that whoever fills it need not
    /// wait.
    pub fn touch(&mut self, units: usize) {
        const PAGE: usize = 4096;
        let bytes = units.min(self.room()) * size_of::<T>();
        #[cfg(target_os = "linux")]
        if let Memory::Mapped(mapping) = &self.0 {
            let start = mapping.len * size_of::<T>();
            if mapping.span.fetch(start..start + bytes) {
                return;
            }
        }
        // SAFETY: writes within the room, and says that nothing was added.
        let _ = unsafe {
            self.extend_with(|to, _| {
                let to: *mut u8 = to.cast();
                for at in (0..bytes).step_by(PAGE) {
                    to.add(at).write_volatile(0);
                }
                Ok::<_, ()>(0)
            })
        };
    }
}

impl<T> From<Vec<T>> for Roomy<T> {
    fn from(plain: Vec<T>) -> Self {
        Self(Memory::Plain(plain))
    }
}

impl<U: Unit> Body<U> for Roomy<U> {
    fn with_capacity(units: usize) -> Self {
        Roomy::with_capacity(units)
    }

    fn add(&mut self, units: &[U]) {
        // The text may become longer than was thought.
        self.grow(units.len());
        let _ = self.extend(units);
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
            Memory::Shared(text) => text,
        }
    }
}

/// A text in memory of its own.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Mapping<T> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
    span: Span,
}

// SAFETY: the span is owned like the memory of a vector; nothing about it belongs to a thread.
#[cfg(target_os = "linux")]
unsafe impl<T: Send> Send for Mapping<T> {}
// SAFETY: as above; shared references only read.
#[cfg(target_os = "linux")]
unsafe impl<T: Sync> Sync for Mapping<T> {}

#[cfg(target_os = "linux")]
impl<T: Copy> Mapping<T> {
    /// `None` when the text is too short to profit, or the system refuses.
    fn new(capacity: usize) -> Option<Self> {
        let span = Span::new(capacity.checked_mul(size_of::<T>())?)?;
        // Large pages are aligned for any unit of text.
        Some(Self { start: span.start().cast(), len: 0, capacity, span })
    }

    /// False when the system refuses.
    fn grow(&mut self, capacity: usize) -> bool {
        let grown = capacity.checked_mul(size_of::<T>()).is_some_and(|bytes| self.span.grow(bytes));
        if grown {
            self.start = self.span.start().cast();
            self.capacity = capacity;
        }
        grown
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
            text.touch(1);
            assert!(text.extend(&[1_u8]));
            text.touch(len);
            assert!(text.len() == 1 && text.extend(&vec![7; len]));
            text.touch(usize::MAX / 2);
            assert!(!text.extend(&vec![9; len + 8]));
            assert!(text.extend(&[2]) && text.extend(&[]));
            assert!(text.len() == len + 2 && text[0] == 1 && text[len + 1] == 2);
            assert!(text[1..=len].iter().all(|unit| *unit == 7));
        }
    }

    #[test]
    fn grows_beyond_its_capacity_and_is_shared() {
        let mut text = Roomy::with_capacity(3);
        let mut all = Vec::new();
        for round in 0..60_u8 {
            let some = vec![round; usize::from(round) * 7000];
            text.add(&some);
            all.extend(some);
        }
        assert!(text.room() > 0 && *text == *all);
        let (mut one, other) = text.shared();
        assert_eq!(one.as_ptr(), other.as_ptr());
        one.touch(9);
        assert!(!one.extend(&[1]) && one.extend(&[]));
        drop(other);
        let (one, mut other) = one.shared();
        other.add(&[60]);
        all.push(60);
        assert!(*one == all[..one.len()] && *other == *all);
    }

    #[test]
    fn what_a_text_does_not_fill_is_given_back_and_what_it_fills_stays() {
        for len in [5, 1 << 20, 5_000_001] {
            let mut text = Roomy::with_capacity(8 << 20);
            assert!(text.extend(&vec![7_u16; len]));
            let ahead = text.fetching(len, 3 << 20);
            let (text, job) = text.fitted();
            // Whoever is asked to fetch comes too late, or in between.
            let threads = [job, ahead].into_iter().flatten().map(std::thread::spawn);
            threads.for_each(|thread| thread.join().expect("no panic"));
            assert!(text.len() == len && text.iter().all(|unit| *unit == 7));
            let (again, job) = text.fitted();
            drop(again);
            // There is nothing to give back of a text that is gone.
            if let Some(job) = job {
                job();
            }
        }
    }

    #[test]
    fn a_failure_leaves_nothing() {
        // SAFETY: nothing is said to be written.
        assert_eq!(unsafe { Roomy::<u8>::filled(4 << 20, |_| Err("no")) }.err(), Some("no"));
    }
}
