//! A long text that comes over in pieces.
//!
//! Taking megabytes out of the engine holds up the event loop for a millisecond per two of them. So a long
//! text crosses piece by piece, with a turn of the loop after each; what takes a [`TextIn`] then takes
//! the collected text as well. The pieces are put together off the JavaScript thread, where the large
//! buffer's pages are touched for the first time.
//!
//! Invariant: what was collected is what the pieces, joined, would have been in one crossing.

use super::roomy::Roomy;
use super::text::TextIn;
use napi::bindgen_prelude::spawn_blocking;
use napi::{Error, Result};
use napi_derive::napi;
use std::sync::{Arc, Mutex, PoisonError};

/// Collects a text of known length, for one use.
#[napi]
pub struct LongText(Arc<Mutex<Collected>>);

#[derive(Debug)]
struct Collected {
    text: TextIn,
    capacity: usize,
}

#[napi]
impl LongText {
    /// For a text of so many UTF-16 units.
    #[napi(constructor, catch_unwind)]
    pub fn new(units: u32) -> Self {
        let capacity = units as usize;
        let text = TextIn::Ascii(Roomy::with_capacity(capacity));
        Self(Arc::new(Mutex::new(Collected { text, capacity })))
    }

    /// The next piece; to be waited for before the one after it.
    #[napi(catch_unwind, ts_args_type = "piece: string", ts_return_type = "Promise<void>")]
    pub async fn push(&self, piece: TextIn) -> Result<()> {
        let collected = Arc::clone(&self.0);
        let fits = spawn_blocking(move || lock(&collected).push(&piece));
        if fits.await.map_err(|error| Error::from_reason(error.to_string()))? {
            Ok(())
        } else {
            Err(Error::from_reason("the pieces are longer than the text"))
        }
    }
}

impl LongText {
    /// What was collected; leaves nothing.
    pub(super) fn take(&self) -> TextIn {
        let mut collected = lock(&self.0);
        collected.capacity = 0;
        std::mem::replace(&mut collected.text, TextIn::Ascii(Roomy::with_capacity(0)))
    }
}

fn lock(collected: &Mutex<Collected>) -> std::sync::MutexGuard<'_, Collected> {
    collected.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collected {
    /// Whether there was room for it.
    fn push(&mut self, piece: &TextIn) -> bool {
        if let (TextIn::Ascii(text), TextIn::Utf16(_)) = (&self.text, piece) {
            // The first piece beyond ASCII: so is the whole from here on.
            let mut units = Roomy::with_capacity(self.capacity);
            extend_widened(&mut units, text);
            self.text = TextIn::Utf16(units);
        }
        match (&mut self.text, piece) {
            (TextIn::Ascii(text), TextIn::Ascii(piece)) => text.extend(piece),
            (TextIn::Utf16(text), TextIn::Utf16(piece)) => text.extend(piece),
            (TextIn::Utf16(text), TextIn::Ascii(piece)) => extend_widened(text, piece),
            (TextIn::Ascii(_), TextIn::Utf16(_)) => false,
        }
    }
}

fn extend_widened(text: &mut Roomy<u16>, bytes: &[u8]) -> bool {
    let mut some = [0; 4096];
    bytes.chunks(some.len()).all(|bytes| {
        for (unit, byte) in some.iter_mut().zip(bytes) {
            *unit = u16::from(*byte);
        }
        text.extend(&some[..bytes.len()])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str) -> TextIn {
        if text.is_ascii() {
            let mut bytes = Roomy::with_capacity(text.len());
            assert!(bytes.extend(text.as_bytes()));
            return TextIn::Ascii(bytes);
        }
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut roomy = Roomy::with_capacity(units.len());
        assert!(roomy.extend(&units));
        TextIn::Utf16(roomy)
    }

    #[test]
    fn pieces_join_to_the_text() {
        for pieces in [&["ab", "c", ""][..], &["ab", "\u{e9}\u{1F98A}", "c"], &["\u{2028}", "x"], &[]] {
            let whole: Vec<u16> = pieces.concat().encode_utf16().collect();
            let long = LongText::new(u32::try_from(whole.len()).expect("short"));
            for text in pieces {
                assert!(lock(&long.0).push(&piece(text)));
            }
            assert!(!lock(&long.0).push(&piece("more")), "no room is left");
            match long.take() {
                TextIn::Ascii(text) => assert_eq!(text[..], *pieces.concat().as_bytes()),
                TextIn::Utf16(units) => assert_eq!(units[..], whole),
            }
            assert!(matches!(long.take(), TextIn::Ascii(text) if text.is_empty()));
        }
    }
}
