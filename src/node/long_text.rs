//! A long text that comes over in pieces.
//!
//! Taking megabytes out of the engine holds up the event loop for a millisecond per two of them. So a long
//! text crosses piece by piece, with a turn of the loop before each; what takes a [`TextIn`] then takes
//! the collected text as well. All that is done on the JavaScript thread is copying the engine's units: the
//! memory for them is made ready elsewhere, meanwhile.
//!
//! Invariant: what was collected is what the pieces, joined, would have been in one crossing.

use super::roomy::Roomy;
use super::text::{SLACK, TextIn, extend_widened, extend_with_ascii, read_units, units_of};
use napi::bindgen_prelude::{FromNapiValue, Unknown, spawn_blocking};
use napi::{Env, Error, JsValue, Result, Status};
use napi_derive::napi;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Collects a text of known length, for one use.
#[napi]
pub struct LongText(Arc<Mutex<Collected>>);

#[derive(Debug)]
struct Collected {
    text: TextIn,
    capacity: usize,
    /// A piece beyond ASCII behind a text that is ASCII so far: what there is has to become UTF-16, which
    /// takes too long for the JavaScript thread.
    waiting: Option<TextIn>,
}

#[napi]
impl LongText {
    /// For a text of so many UTF-16 units.
    #[napi(constructor, catch_unwind)]
    pub fn new(units: u32) -> Self {
        Self(Arc::new(Mutex::new(Collected::new(units as usize))))
    }

    /// Makes room for pieces of so many units; settles in a later turn of the event loop. To be called
    /// before the first piece, behind the last, and when a piece says so.
    #[napi(catch_unwind)]
    pub async fn ready(&self, units: u32) -> Result<()> {
        let collected = Arc::clone(&self.0);
        spawn_blocking(move || lock(&collected).ready(units as usize))
            .await
            .map_err(|error| Error::from_reason(error.to_string()))
    }

    /// The next piece. False when [`ready`](Self::ready) has to be called before the one behind it.
    #[napi(catch_unwind, ts_args_type = "piece: string")]
    pub fn push(&self, env: &Env, piece: Unknown<'_>) -> Result<bool> {
        let mut collected = lock(&self.0);
        // SAFETY: `env` is that of this call, and `piece` is its argument, here and below.
        let units = unsafe { units_of(env.raw(), piece.raw()) }
            .ok_or_else(|| Error::new(Status::StringExpected, "expected a string"))?;
        if collected.waiting.is_some() || collected.room() < units {
            return Err(Error::from_reason("no room was made for this piece"));
        }
        // SAFETY: as above; the functions write into the room they are given, and say how much.
        unsafe {
            match &mut collected.text {
                TextIn::Ascii(text) => {
                    if !extend_with_ascii(env.raw(), piece.raw(), units, text)? {
                        collected.waiting = Some(TextIn::from_napi_value(env.raw(), piece.raw())?);
                        return Ok(false);
                    }
                }
                TextIn::Utf16(text) => {
                    text.extend_with(|to, room| read_units(env.raw(), piece.raw(), to, room))?;
                }
            }
        }
        Ok(true)
    }
}

impl LongText {
    /// One that has all there is to collect.
    pub(super) fn complete(text: TextIn) -> Self {
        Self(Arc::new(Mutex::new(Collected { text, capacity: 0, waiting: None })))
    }

    /// What was collected; leaves nothing.
    pub(super) fn take(&self) -> TextIn {
        let mut collected = std::mem::replace(&mut *lock(&self.0), Collected::new(0));
        collected.ready(0);
        collected.text
    }
}

fn lock(collected: &Mutex<Collected>) -> MutexGuard<'_, Collected> {
    collected.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collected {
    fn new(capacity: usize) -> Self {
        Self { text: TextIn::Ascii(Roomy::with_capacity(capacity + SLACK)), capacity, waiting: None }
    }

    /// Units that are still expected.
    fn room(&self) -> usize {
        let len = match &self.text {
            TextIn::Ascii(text) => text.len(),
            TextIn::Utf16(text) => text.len(),
        };
        self.capacity.saturating_sub(len)
    }

    fn ready(&mut self, units: usize) {
        if let Some(TextIn::Utf16(piece)) = self.waiting.take() {
            // One more for the zero that the engine writes behind what it copies.
            let mut all = Roomy::with_capacity(self.capacity + 1);
            if let TextIn::Ascii(text) = &self.text {
                extend_widened(&mut all, text);
            }
            // It was let wait because there is room for it.
            let _ = all.extend(&piece);
            self.text = TextIn::Utf16(all);
        }
        match &mut self.text {
            TextIn::Ascii(text) => text.touch(units + SLACK),
            TextIn::Utf16(text) => text.touch(units + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_that_waits_makes_the_text_utf16() {
        let mut collected = Collected::new(20_000);
        collected.ready(10_000);
        let TextIn::Ascii(text) = &mut collected.text else { panic!("ASCII at first") };
        assert!(text.extend(&[b'a'; 10_000]));
        let mut piece = Roomy::with_capacity(1);
        assert!(piece.extend(&[0xE9_u16]));
        collected.waiting = Some(TextIn::Utf16(piece));
        assert_eq!(collected.room(), 10_000);
        let long = LongText(Arc::new(Mutex::new(collected)));
        let TextIn::Utf16(units) = long.take() else { panic!("UTF-16 now") };
        assert!(
            units.len() == 10_001 && units[..10_000].iter().all(|unit| *unit == 97) && units[10_000] == 0xE9
        );
        assert!(matches!(long.take(), TextIn::Ascii(text) if text.is_empty()));
        assert_eq!(lock(&long.0).room(), 0);
    }
}
