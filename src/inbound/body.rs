//! Memory that a new text is written into.
//!
//! The rooms use vectors. The door has memory of its own for texts of megabytes, in which the new text is
//! then made, and handed to JavaScript without another copy.

use super::fold::Unit;
use std::ops::Deref;

/// A text that grows at its end.
pub trait Body<U>: Deref<Target = [U]> + Sized {
    /// An empty one, with room for so many units.
    fn with_capacity(units: usize) -> Self;

    /// Adds units at the end.
    fn add(&mut self, units: &[U]);

    /// A copy of a text.
    fn copy_of(text: &[U]) -> Self {
        let mut body = Self::with_capacity(text.len());
        body.add(text);
        body
    }
}

impl<U: Unit> Body<U> for Vec<U> {
    fn with_capacity(units: usize) -> Self {
        Vec::with_capacity(units)
    }

    fn add(&mut self, units: &[U]) {
        self.extend_from_slice(units);
    }
}
