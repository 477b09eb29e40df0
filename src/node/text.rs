//! Text across the border.
//!
//! JavaScript strings are UTF-16 and may hold lone surrogates. Take them as `Utf16String` (a
//! `Vec<u16>`) wherever a lossy copy would change a result; `String` replaces lone surrogates with
//! U+FFFD and is right only for keys and names. Hand long text back as [`JsText`].

use super::external_string;
use super::long_text::LongText;
use super::roomy::Roomy;
use crate::inbound::body::Body as _;
use napi::bindgen_prelude::{
    Env, FromNapiRef, FromNapiValue, JsValue, ToNapiValue, TypeName, Unknown, ValidateNapiValue,
};
use napi::{Error, Result, Status, ValueType, sys};
use std::ptr;

/// Text for JavaScript: becomes a one-byte string when it can, which takes half the memory and makes
/// every later use of it faster. Make it where the text is made, off the JavaScript thread if that is
/// where; handing it over then is one copy.
#[derive(Debug)]
pub struct JsText(Units);

#[derive(Debug)]
enum Units {
    OneByte(Roomy<u8>),
    TwoByte(Roomy<u16>),
}

impl From<Vec<u16>> for JsText {
    fn from(units: Vec<u16>) -> Self {
        Roomy::from(units).into()
    }
}

impl From<Roomy<u16>> for JsText {
    fn from(units: Roomy<u16>) -> Self {
        if units.iter().fold(0, |all, unit| all | unit) >= 0x100 {
            return Self(Units::TwoByte(units));
        }
        let mut bytes = Roomy::with_capacity(units.len());
        for units in units.chunks(4096) {
            #[allow(clippy::cast_possible_truncation, reason = "every unit is below 256")]
            let some: Vec<u8> = units.iter().map(|unit| *unit as u8).collect();
            bytes.add(&some);
        }
        Self(Units::OneByte(bytes))
    }
}

impl TypeName for JsText {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ToNapiValue for JsText {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> Result<sys::napi_value> {
        let mut value = ptr::null_mut();
        let status = match text.0 {
            Units::OneByte(bytes) if external_string::is_worth(bytes.len()) => {
                // SAFETY: `env` is the caller's.
                match unsafe { external_string::create(env, bytes) } {
                    Ok(value) => return Ok(value),
                    // SAFETY: as below.
                    Err(bytes) => unsafe { create_one_byte(env, &bytes, &raw mut value) },
                }
            }
            // SAFETY: `env` is the caller's.
            Units::OneByte(bytes) => unsafe { create_one_byte(env, &bytes, &raw mut value) },
            Units::TwoByte(units) if external_string::is_worth(units.len()) => {
                // SAFETY: `env` is the caller's.
                match unsafe { external_string::create(env, units) } {
                    Ok(value) => return Ok(value),
                    // SAFETY: as below.
                    Err(units) => unsafe { create_two_byte(env, &units, &raw mut value) },
                }
            }
            // SAFETY: `env` is the caller's.
            Units::TwoByte(units) => unsafe { create_two_byte(env, &units, &raw mut value) },
        };
        if status == sys::Status::napi_ok {
            Ok(value)
        } else {
            // Longer than the engine's longest string.
            Err(Error::new(Status::from(status), "text too long for a JavaScript string"))
        }
    }
}

/// # Safety
/// `env` is that of the running call, `value` may be written.
unsafe fn create_one_byte(env: sys::napi_env, bytes: &[u8], value: *mut sys::napi_value) -> sys::napi_status {
    // SAFETY: pointer and length describe the slice, which the engine copies; the rest is the caller's.
    unsafe { sys::napi_create_string_latin1(env, bytes.as_ptr().cast(), len(bytes), value) }
}

/// # Safety
/// `env` is that of the running call, `value` may be written.
unsafe fn create_two_byte(
    env: sys::napi_env,
    units: &[u16],
    value: *mut sys::napi_value,
) -> sys::napi_status {
    // SAFETY: pointer and length describe the slice, which the engine copies; the rest is the caller's.
    unsafe { sys::napi_create_string_utf16(env, units.as_ptr(), len(units), value) }
}

impl JsText {
    /// A text that is not looked at for whether it could be a one-byte string: for one made on the JavaScript thread.
    pub(super) fn as_it_is(units: Roomy<u16>) -> Self {
        Self(Units::TwoByte(units))
    }
}

impl From<Vec<u8>> for JsText {
    /// One byte a unit.
    fn from(bytes: Vec<u8>) -> Self {
        Roomy::from(bytes).into()
    }
}

impl From<Roomy<u8>> for JsText {
    /// One byte a unit.
    fn from(bytes: Roomy<u8>) -> Self {
        Self(Units::OneByte(bytes))
    }
}

/// Text from JavaScript that may be long: ASCII, by far the most common, crosses as bytes, which takes
/// half the memory and needs no conversion before it is scanned and written. A [`LongText`] is taken for
/// the text that was collected in it.
#[derive(Debug)]
pub enum TextIn {
    /// ASCII throughout: also its own UTF-8.
    Ascii(Roomy<u8>),
    /// Any other text.
    Utf16(Roomy<u16>),
}

impl TypeName for TextIn {
    fn type_name() -> &'static str {
        "string"
    }

    fn value_type() -> ValueType {
        ValueType::String
    }
}

impl ValidateNapiValue for TextIn {}

impl FromNapiValue for TextIn {
    unsafe fn from_napi_value(env: sys::napi_env, value: sys::napi_value) -> Result<Self> {
        // SAFETY: `env` and `value` are the caller's, here and below.
        let Some(units) = (unsafe { units_of(env, value) }) else {
            if unsafe { <&LongText>::validate(env, value) }.is_ok() {
                // SAFETY: it is an instance of the class, as was just checked.
                return Ok(unsafe { LongText::from_napi_ref(env, value) }?.take());
            }
            return Err(Error::new(Status::StringExpected, "expected a string"));
        };
        let mut text = Roomy::with_capacity(units + SLACK);
        // SAFETY: the functions write into the room they are given, and say how much.
        unsafe {
            if extend_with_ascii(env, value, units, &mut text)? {
                return Ok(Self::Ascii(text));
            }
            let capacity = units + 1;
            Roomy::filled(capacity, |to| read_units(env, value, to, capacity)).map(Self::Utf16)
        }
    }
}

/// How many UTF-16 units a JavaScript string has. `None` for what is no string.
///
/// # Safety
/// `env` is that of the running call, `value` a value of it.
pub(super) unsafe fn units_of(env: sys::napi_env, value: sys::napi_value) -> Option<usize> {
    let mut units = 0;
    // SAFETY: the caller's promise; without a buffer only the length is written.
    let status = unsafe { sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut units) };
    (status == sys::Status::napi_ok).then_some(units)
}

/// Bytes that a buffer for UTF-8 has beyond the units of the text, so that it shows whether that is ASCII: the
/// longest character and the zero that the engine writes at the end, and some more.
pub(super) const SLACK: usize = 16;

/// Adds a string of so many units to a text that has room for them and [`SLACK`], if it is ASCII; says whether
/// it is. Every unit beyond ASCII takes more than one byte: as many bytes as units mean ASCII.
///
/// # Safety
/// `env` is that of the running call, `value` a string of it.
pub(super) unsafe fn extend_with_ascii(
    env: sys::napi_env,
    value: sys::napi_value,
    units: usize,
    text: &mut Roomy<u8>,
) -> Result<bool> {
    let mut written = 0;
    // SAFETY: the engine writes at most `room` bytes and says how many.
    unsafe {
        text.extend_with(|to, room| {
            let status = sys::napi_get_value_string_utf8(
                env,
                value,
                to.cast(),
                room.min(units + SLACK),
                &raw mut written,
            );
            checked(status, if written == units { written } else { 0 })
        })
    }?;
    Ok(written == units)
}

/// Adds ASCII to a text that has room for it.
pub(super) fn extend_widened(text: &mut Roomy<u16>, bytes: &[u8]) {
    let mut some = [0; 4096];
    for bytes in bytes.chunks(some.len()) {
        for (unit, byte) in some.iter_mut().zip(bytes) {
            *unit = u16::from(*byte);
        }
        let _ = text.extend(&some[..bytes.len()]);
    }
}

/// Writes a string's units; returns how many there were, without the zero behind them.
///
/// # Safety
/// `env` is that of the running call, `value` a value of it, and `to` has room for `capacity` units.
pub(super) unsafe fn read_units(
    env: sys::napi_env,
    value: sys::napi_value,
    to: *mut u16,
    capacity: usize,
) -> Result<usize> {
    let mut written = 0;
    // SAFETY: the engine writes at most `capacity` units and says how many; the rest is the caller's.
    let status = unsafe { sys::napi_get_value_string_utf16(env, value, to, capacity, &raw mut written) };
    checked(status, written)
}

/// Reads a string of exactly `length` units into a vector that is used again and again. `false` when it
/// is no such string.
pub(super) fn read_into(env: Env, value: Unknown<'_>, length: usize, into: &mut Vec<u16>) -> bool {
    // With room for the zero that is written behind the text, and to see that there is no more of it.
    let capacity = length + 2;
    into.clear();
    into.reserve(capacity);
    // SAFETY: the value is one of the running call, and the vector has that much room.
    let written = unsafe { read_units(env.raw(), value.raw(), into.as_mut_ptr(), capacity) };
    if !matches!(written, Ok(written) if written == length) {
        return false;
    }
    // SAFETY: so many units have just been written.
    unsafe { into.set_len(length) };
    true
}

fn checked(status: sys::napi_status, written: usize) -> Result<usize> {
    if status == sys::Status::napi_ok {
        Ok(written)
    } else {
        Err(Error::new(Status::from(status), "expected a string"))
    }
}

fn len<T>(units: &[T]) -> isize {
    isize::try_from(units.len()).unwrap_or(isize::MAX)
}
