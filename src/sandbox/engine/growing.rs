//! Text that a variable gathers piece by piece, as models write it: `out += line`.
//!
//! The engine copies the whole text for each piece, so that a script which puts a list of ten thousand lines
//! together moves gigabytes. [`super::gaps`] finds such variables and has them hold a [`Grown`] in place of a long
//! text, by three functions that are here:
//!
//! - `ferrule$add(held, piece)`: what the variable holds next;
//! - `ferrule$flat(held)`: the text, wherever the script reads the variable;
//! - `ferrule$size(held)`: its `length`.
//!
//! Invariants: a script never sees a [`Grown`], since it can only be in such a variable, and every place that reads one is
//! known; a [`Grown`] never changes, so whoever read the variable before an `await` still has what was there.

use super::natives;
use boa_engine::object::JsObject;
use boa_engine::string::{JsStr, JsStrVariant};
use boa_engine::value::PreferredType;
use boa_engine::{
    Context, Finalize, JsData, JsNativeError, JsResult, JsString, JsValue, NativeFunction, Source, Trace,
    js_string,
};
use std::cell::RefCell;
use std::rc::Rc;

/// In units. Shorter texts are copied sooner than they are looked after.
const WORTH: usize = 1024;

/// In units. Of longer texts only the one that was read is kept, and taken apart again for the next piece.
const LONG: usize = 1 << 22;

/// A text, of which each [`Grown`] is a beginning: in pieces, or as it was last read, or both.
#[derive(Debug)]
struct Gathered {
    units: Option<Units>,
    /// All of it. Gone with the next piece: the collector does not count what texts take.
    read: Option<JsString>,
}

#[derive(Debug)]
enum Units {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

/// Adds units, with room for a quarter more: a limit of memory counts the room as well.
fn extend<T: Copy>(units: &mut Vec<T>, more: impl ExactSizeIterator<Item = T>) {
    if units.capacity() - units.len() < more.len() {
        units.reserve_exact(more.len().max(units.len() / 4));
    }
    units.extend(more);
}

impl Units {
    fn of(text: JsStr<'_>) -> Self {
        match text.variant() {
            JsStrVariant::Latin1(bytes) => Self::Narrow(bytes.to_vec()),
            JsStrVariant::Utf16(units) => Self::Wide(units.to_vec()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Narrow(bytes) => bytes.len(),
            Self::Wide(units) => units.len(),
        }
    }

    fn push(&mut self, piece: JsStr<'_>) {
        if let (Self::Narrow(bytes), JsStrVariant::Utf16(_)) = (&*self, piece.variant()) {
            *self = Self::Wide(bytes.iter().map(|&byte| u16::from(byte)).collect());
        }
        match (self, piece.variant()) {
            (Self::Narrow(bytes), JsStrVariant::Latin1(piece)) => extend(bytes, piece.iter().copied()),
            (Self::Wide(units), JsStrVariant::Latin1(piece)) => {
                extend(units, piece.iter().map(|&byte| u16::from(byte)));
            }
            (Self::Wide(units), JsStrVariant::Utf16(piece)) => extend(units, piece.iter().copied()),
            // Has just become wide.
            (Self::Narrow(_), JsStrVariant::Utf16(_)) => {}
        }
    }

    /// The first so many units.
    fn text(&self, length: usize) -> JsString {
        match self {
            Self::Narrow(bytes) => JsString::from(JsStr::latin1(&bytes[..length])),
            Self::Wide(units) => JsString::from(&units[..length]),
        }
    }
}

impl Gathered {
    fn len(&self) -> usize {
        let units = self.units.as_ref().map(Units::len);
        units.or_else(|| self.read.as_ref().map(JsString::len)).unwrap_or_default()
    }

    fn push(&mut self, piece: JsStr<'_>) {
        let read = self.read.take();
        let units = self.units.get_or_insert_with(|| Units::of(read.unwrap_or_default().as_str()));
        units.push(piece);
    }

    /// The first so many units.
    fn text(&mut self, length: usize) -> JsString {
        let whole = length == self.len();
        let text = match (&self.read, &self.units) {
            (Some(read), _) if whole => return read.clone(),
            (_, Some(units)) => units.text(length),
            (read, None) => read.clone().unwrap_or_default().slice(0, length),
        };
        if whole {
            self.read = Some(text.clone());
            if length >= LONG {
                self.units = None;
            }
        }
        text
    }
}

/// A long text: the first `length` units of what is gathered.
#[derive(Debug, Trace, Finalize, JsData)]
#[boa_gc(unsafe_empty_trace)]
struct Grown {
    gathered: Rc<RefCell<Gathered>>,
    length: usize,
}

impl Grown {
    fn begin(first: JsStr<'_>, piece: JsStr<'_>) -> Self {
        let mut units = Units::of(first);
        units.push(piece);
        let length = units.len();
        Self { gathered: Rc::new(RefCell::new(Gathered { units: Some(units), read: None })), length }
    }

    fn with(&self, piece: JsStr<'_>) -> Self {
        let mut gathered = self.gathered.borrow_mut();
        if gathered.len() == self.length {
            gathered.push(piece);
            return Self { gathered: Rc::clone(&self.gathered), length: gathered.len() };
        }
        // Somebody else went on from here.
        Self::begin(gathered.text(self.length).as_str(), piece)
    }

    fn text(&self) -> JsString {
        self.gathered.borrow_mut().text(self.length)
    }

    fn into_value(self) -> JsValue {
        JsObject::from_proto_and_data(None, self).into()
    }
}

/// Gives scripts the three functions. They are no properties of the global object, so nobody finds them there.
pub fn install(context: &mut Context) -> JsResult<()> {
    const DECLARED: &[u8] = b"let ferrule$add, ferrule$flat, ferrule$size;
        (add, flat, size) => { ferrule$add = add; ferrule$flat = flat; ferrule$size = size; }";
    let take = context.eval(Source::from_bytes(DECLARED))?;
    let take = take.as_callable().ok_or_else(|| JsNativeError::typ().with_message("no function"))?;
    let functions = [add, flat, size].map(|body: Body| {
        let native = NativeFunction::from_fn_ptr(body);
        native.to_js_function(context.realm()).into()
    });
    take.call(&JsValue::undefined(), &functions, context).map(drop)
}

type Body = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// Does something with a value that may be a grown text.
fn grown<T>(held: &JsValue, with: impl FnOnce(&Grown) -> T) -> Option<T> {
    let object = held.as_object()?;
    let grown = object.downcast_ref::<Grown>()?;
    Some(with(&grown))
}

/// `held + piece`, as the operator has it.
fn add(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let [held, piece] = arguments else { return Ok(JsValue::undefined()) };
    let text = held.as_string();
    if text.is_none() && grown(held, |_| ()).is_none() {
        return held.add(piece, context);
    }
    let piece = match piece.as_string() {
        Some(piece) => piece,
        None => piece.to_primitive(context, PreferredType::Default)?.to_string(context)?,
    };
    if let Some(text) = &text
        && text.len() + piece.len() < WORTH
    {
        return Ok(js_string!(text, &piece).into());
    }
    natives::relieve(context);
    let next = match text {
        Some(text) => Some(Grown::begin(text.as_str(), piece.as_str())),
        None => grown(held, |grown| grown.with(piece.as_str())),
    };
    Ok(next.map_or_else(JsValue::undefined, Grown::into_value))
}

/// What the variable holds to whoever reads it.
#[allow(clippy::unnecessary_wraps, reason = "the shape of every native")]
fn flat(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(held) = arguments.first() else { return Ok(JsValue::undefined()) };
    let Some(text) = grown(held, Grown::text) else { return Ok(held.clone()) };
    natives::relieve(context);
    Ok(text.into())
}

/// The property `length` of what the variable holds.
fn size(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(held) = arguments.first() else { return Ok(JsValue::undefined()) };
    let length = grown(held, |grown| grown.length).or_else(|| held.as_string().map(|text| text.len()));
    match length {
        Some(length) => Ok(JsValue::from(length)),
        None => held.to_object(context)?.get(js_string!("length"), context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &Grown) -> String {
        value.text().to_std_string_lossy()
    }

    #[test]
    fn a_grown_text_keeps_what_it_is() {
        let one = Grown::begin(js_string!("a").as_str(), js_string!("b").as_str());
        let two = one.with(js_string!("c").as_str());
        let other = one.with(js_string!("\u{3b1}").as_str());
        let three = two.with(js_string!("\u{3b2}\u{e9}").as_str());
        for (value, expected) in
            [(&one, "ab"), (&two, "abc"), (&other, "ab\u{3b1}"), (&three, "abc\u{3b2}\u{e9}"), (&two, "abc")]
        {
            assert_eq!(text(value), expected);
        }
        assert!(Rc::ptr_eq(&one.gathered, &three.gathered) && !Rc::ptr_eq(&one.gathered, &other.gathered));
        assert_eq!(text(&other.with(js_string!("d").as_str())), "ab\u{3b1}d");
    }

    #[test]
    fn of_a_long_text_there_is_one_copy() {
        let long = JsString::from("x".repeat(LONG));
        let one = Grown::begin(long.as_str(), js_string!("1").as_str());
        let two = one.with(js_string!("2").as_str());
        assert_eq!(two.text().len(), LONG + 2);
        assert!(two.gathered.borrow().units.is_none());
        assert_eq!(one.text().len(), LONG + 1);
        let three = two.with(js_string!("\u{3b1}").as_str());
        assert!(three.gathered.borrow().read.is_none());
        assert!(text(&three).ends_with("x12\u{3b1}") && text(&one).ends_with("x1"));
    }
}
