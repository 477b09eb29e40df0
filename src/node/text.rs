//! Text across the border.
//!
//! JavaScript strings are UTF-16 and may hold lone surrogates. Take them as `Utf16String` (a
//! `Vec<u16>`) wherever a lossy copy would change a result; `String` replaces lone surrogates with
//! U+FFFD and is right only for keys and names. Hand long text back as [`JsText`].

use napi::bindgen_prelude::{FromNapiValue, ToNapiValue, TypeName, Utf16String, ValidateNapiValue};
use napi::{Error, Result, Status, ValueType, sys};
use std::ptr;

/// Text for JavaScript: becomes a one-byte string when it can, which takes half the memory and makes
/// every later use of it faster. Make it where the text is made, off the JavaScript thread if that is
/// where; handing it over then is one copy.
#[derive(Debug)]
pub struct JsText(Units);

#[derive(Debug)]
enum Units {
    OneByte(Vec<u8>),
    TwoByte(Vec<u16>),
}

impl From<Vec<u16>> for JsText {
    fn from(units: Vec<u16>) -> Self {
        if units.iter().fold(0, |all, unit| all | unit) >= 0x100 {
            return Self(Units::TwoByte(units));
        }
        #[allow(clippy::cast_possible_truncation, reason = "every unit is below 256")]
        Self(Units::OneByte(units.iter().map(|unit| *unit as u8).collect()))
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
        let status = match &text.0 {
            // SAFETY: `env` is the caller's; pointer and length describe the vector, which the engine
            // copies.
            Units::OneByte(bytes) => unsafe {
                sys::napi_create_string_latin1(env, bytes.as_ptr().cast(), len(bytes), &raw mut value)
            },
            // SAFETY: as above.
            Units::TwoByte(units) => unsafe {
                sys::napi_create_string_utf16(env, units.as_ptr(), len(units), &raw mut value)
            },
        };
        if status == sys::Status::napi_ok {
            Ok(value)
        } else {
            // Longer than the engine's longest string.
            Err(Error::new(Status::from(status), "text too long for a JavaScript string"))
        }
    }
}

/// Long text from JavaScript: ASCII, by far the most common, crosses as bytes, which takes half the
/// memory and needs no conversion before it is scanned and written.
#[derive(Debug)]
pub enum TextIn {
    /// ASCII throughout: also its own UTF-8.
    Ascii(Vec<u8>),
    /// Any other text.
    Utf16(Vec<u16>),
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
        let (mut units, mut bytes) = (0, 0);
        // SAFETY: `env` and `value` are the caller's; without a buffer only the lengths are written.
        let known = unsafe {
            sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut units)
                == sys::Status::napi_ok
                && sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut bytes)
                    == sys::Status::napi_ok
        };
        // Every unit beyond ASCII takes more than one byte: equal lengths mean ASCII.
        if !known || units != bytes {
            // SAFETY: as for this function.
            let text = unsafe { Utf16String::from_napi_value(env, value)? };
            return Ok(Self::Utf16(text.to_vec()));
        }
        let mut text: Vec<u8> = Vec::with_capacity(units + 1);
        let mut written = 0;
        // SAFETY: the buffer has room for the text and the zero behind it.
        let status = unsafe {
            sys::napi_get_value_string_latin1(
                env,
                value,
                text.as_mut_ptr().cast(),
                units + 1,
                &raw mut written,
            )
        };
        if status != sys::Status::napi_ok {
            return Err(Error::new(Status::from(status), "expected a string"));
        }
        // SAFETY: so many bytes were written, and no more than the capacity.
        unsafe { text.set_len(written.min(units)) };
        Ok(Self::Ascii(text))
    }
}

fn len<T>(units: &[T]) -> isize {
    isize::try_from(units.len()).unwrap_or(isize::MAX)
}
