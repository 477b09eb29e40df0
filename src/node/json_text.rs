//! The JSON text of a value that JavaScript walks; see [`tape`](crate::value::tape).
//!
//! The text lies in memory of its own, never in the engine's heap: JavaScript gets a string over it, and what is to
//! be done with the text off the JavaScript thread finds it there, without another copy.
//!
//! Invariant: what was written is either ASCII, or UTF-16 from the first text on that is not ASCII.

use super::external_string;
use super::long_text::LongText;
use super::roomy::Roomy;
use super::text::{JsText, SLACK, TextIn, extend_widened, extend_with_ascii, read_units, units_of};
use crate::inbound::body::Body as _;
use crate::inbound::fold;
use crate::value::tape::{Chunk, Damaged, Unit, Writer};
use napi::bindgen_prelude::{Float64ArraySlice, Uint32ArraySlice, Unknown, spawn_blocking};
use napi::{Env, Error, JsValue, Result, Status};
use napi_derive::napi;

/// Units that most texts need no more than.
const SHORT: usize = 64 << 10;
/// A text that needs more than [`SHORT`] gets room for all but the longest. It is only taken from the system when
/// it is written to.
const LONG: usize = 16 << 20;

/// Units that memory is fetched ahead for, on another thread.
const AHEAD: usize = 2 << 20;

/// Writes one text.
#[napi]
pub struct JsonText(Text);

enum Text {
    Ascii(Writing<u8>),
    Utf16(Writing<u16>),
}

struct Writing<U> {
    writer: Writer<U>,
    /// The texts of a chunk, and what is written for it: used again and again, so that they stay in the cache.
    texts: Roomy<U>,
    written: Vec<U>,
    text: Roomy<U>,
    /// Units that memory was fetched for.
    fetched: usize,
}

/// A chunk as it comes from JavaScript.
struct Pushed<'a> {
    tape: &'a [u32],
    doubles: &'a [f64],
    texts: Unknown<'a>,
    keys: Vec<Unknown<'a>>,
}

#[napi]
impl JsonText {
    #[napi(constructor, catch_unwind)]
    #[allow(clippy::new_without_default, reason = "made by JavaScript only")]
    pub fn new() -> Self {
        Self(Text::Ascii(Writing::new(Writer::default(), Roomy::with_capacity(SHORT))))
    }

    /// The next chunk: so many numbers of the tape, and the doubles, the texts and the new keys they speak of.
    /// Returns how many units were written by now.
    #[napi(
        catch_unwind,
        ts_args_type = "tape: Uint32Array, codes: number, doubles: Float64Array, texts: string, keys: string[]"
    )]
    pub fn push(
        &mut self,
        env: Env,
        tape: Uint32ArraySlice<'_>,
        codes: u32,
        doubles: Float64ArraySlice<'_>,
        texts: Unknown<'_>,
        keys: Vec<Unknown<'_>>,
    ) -> Result<u32> {
        let tape = tape.get(..codes as usize).unwrap_or(&tape);
        let pushed = Pushed { tape, doubles: &doubles, texts, keys };
        if let Text::Ascii(writing) = &mut self.0 {
            let keys = writing.writer.keys();
            if writing.push(env, &pushed, read_ascii)? {
                return Ok(length(writing));
            }
            writing.writer.forget_keys(keys);
            self.0 = Text::Utf16(writing.widened());
        }
        let Text::Utf16(writing) = &mut self.0 else { return Ok(0) };
        writing.push(env, &pushed, read_utf16)?;
        Ok(length(writing))
    }

    /// The text. There is none afterwards.
    #[napi(catch_unwind, ts_return_type = "string")]
    pub fn text(&mut self) -> JsText {
        match &mut self.0 {
            Text::Ascii(writing) if external_string::is_worth(writing.text.len()) => writing.fitted().into(),
            Text::Ascii(writing) => writing.take().into(),
            Text::Utf16(writing) if external_string::is_worth(writing.text.len()) => {
                JsText::as_it_is(writing.fitted())
            }
            Text::Utf16(writing) => writing.take().into(),
        }
    }

    /// Forgets everything: a text that is not asked for would lie around until this object is collected.
    #[napi(catch_unwind)]
    pub fn forget(&mut self) {
        let empty = Writing::new(Writer::default(), Roomy::with_capacity(0));
        match std::mem::replace(&mut self.0, Text::Ascii(empty)) {
            Text::Ascii(writing) => free(writing.text),
            Text::Utf16(writing) => free(writing.text),
        }
    }

    /// The same text for functions that take long ones; to be asked for before [`text`](Self::text).
    #[napi(catch_unwind)]
    pub fn long(&mut self) -> LongText {
        LongText::complete(match &mut self.0 {
            Text::Ascii(writing) => TextIn::Ascii(writing.share()),
            Text::Utf16(writing) => TextIn::Utf16(writing.share()),
        })
    }
}

fn length<U>(writing: &Writing<U>) -> u32 {
    u32::try_from(writing.text.len()).unwrap_or(u32::MAX)
}

/// Gives the memory of a text back, elsewhere when that takes a while.
fn free<U: Send + Sync + Copy + 'static>(text: Roomy<U>) {
    if text.is_mapped() {
        external_string::drop_elsewhere(text);
    }
}

/// Reads a string into a buffer that has room for so many units and [`SLACK`]. False when they are not enough to
/// say what it holds.
type Read<U> = fn(Env, Unknown<'_>, usize, &mut Roomy<U>) -> Result<bool>;

fn read_ascii(env: Env, text: Unknown<'_>, units: usize, into: &mut Roomy<u8>) -> Result<bool> {
    // SAFETY: `text` is an argument of the running call, and `env` that call's; there is room for so many units.
    unsafe { extend_with_ascii(env.raw(), text.raw(), units, into) }
}

fn read_utf16(env: Env, text: Unknown<'_>, _units: usize, into: &mut Roomy<u16>) -> Result<bool> {
    // SAFETY: as above; the function writes within the room, and says how much.
    unsafe { into.extend_with(|to, room| read_units(env.raw(), text.raw(), to, room)) }?;
    Ok(true)
}

impl Writing<u8> {
    fn widened(&self) -> Writing<u16> {
        let mut text = Roomy::with_capacity(if self.text.len() > SHORT { LONG } else { SHORT });
        text.grow(self.text.len());
        extend_widened(&mut text, &self.text);
        Writing::new(self.writer.widened(), text)
    }
}

impl<U: Unit + fold::Unit> Writing<U> {
    fn new(writer: Writer<U>, text: Roomy<U>) -> Self {
        Self { writer, texts: Roomy::with_capacity(0), written: Vec::new(), text, fetched: 0 }
    }

    /// False when there is a text that this cannot hold; then nothing of the chunk was written.
    fn push(&mut self, env: Env, pushed: &Pushed<'_>, read: Read<U>) -> Result<bool> {
        for key in &pushed.keys {
            if !self.read(env, *key, read)? {
                return Ok(false);
            }
            self.writer.add_key(&self.texts);
        }
        if !self.read(env, pushed.texts, read)? {
            return Ok(false);
        }
        self.written.clear();
        let chunk = Chunk { tape: pushed.tape, doubles: pushed.doubles, texts: &self.texts };
        self.writer
            .write(chunk, &mut self.written)
            .map_err(|damaged: Damaged| Error::from_reason(damaged.to_string()))?;
        let length = self.text.len() + self.written.len();
        if length > SHORT && self.text.len() <= SHORT {
            let mut text = Roomy::with_capacity(LONG.max(length));
            text.add(&self.text);
            self.text = text;
        }
        self.text.add(&self.written);
        self.fetch_ahead();
        Ok(true)
    }

    fn fetch_ahead(&mut self) {
        // Few texts become many times as long as they are.
        let ahead = AHEAD.min(self.text.len());
        if self.text.len() <= SHORT || self.fetched > self.text.len() + ahead {
            return;
        }
        let from = self.fetched.max(self.text.len());
        if let Some(job) = self.text.fetching(from, ahead) {
            drop(spawn_blocking(job));
        }
        self.fetched = from + ahead;
    }

    fn read(&mut self, env: Env, text: Unknown<'_>, read: Read<U>) -> Result<bool> {
        // SAFETY: `text` is an argument of the running call, and `env` that call's.
        let units = unsafe { units_of(env.raw(), text.raw()) }
            .ok_or_else(|| Error::new(Status::StringExpected, "expected a string"))?;
        self.texts.clear();
        self.texts.grow(units + SLACK);
        read(env, text, units, &mut self.texts)
    }

    fn take(&mut self) -> Roomy<U> {
        std::mem::replace(&mut self.text, Roomy::with_capacity(0))
    }

    /// The text, for a string that may live long: what it does not fill is given back.
    fn fitted(&mut self) -> Roomy<U> {
        let (text, job) = self.take().fitted();
        if let Some(job) = job {
            drop(spawn_blocking(job));
        }
        text
    }

    fn share(&mut self) -> Roomy<U> {
        let (text, other) = self.take().shared();
        self.text = text;
        other
    }
}
