//! Text across the border.
//!
//! JavaScript strings are UTF-16 and may hold lone surrogates. Take them as `Utf16String` (a
//! `Vec<u16>`) wherever a lossy copy would change a result; `String` replaces lone surrogates with
//! U+FFFD and is right only for keys and names. Hand long text back as [`JsText`].

use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Error, Result, Status, ValueType, sys};
use std::ptr;

/// Text for JavaScript: becomes a one-byte string when it can, which takes half the memory and makes
/// every later use of it faster.
#[derive(Debug)]
pub struct JsText(Vec<u16>);

impl From<Vec<u16>> for JsText {
    fn from(units: Vec<u16>) -> Self {
        Self(units)
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
        let units = text.0;
        let len = isize::try_from(units.len()).unwrap_or(isize::MAX);
        let mut value = ptr::null_mut();
        let status = if units.iter().fold(0, |all, unit| all | unit) < 0x100 {
            #[allow(clippy::cast_possible_truncation, reason = "every unit is below 256")]
            let bytes: Vec<u8> = units.iter().map(|unit| *unit as u8).collect();
            // SAFETY: `env` is the caller's; the pointer and the length describe `bytes`, which the
            // engine copies.
            unsafe { sys::napi_create_string_latin1(env, bytes.as_ptr().cast(), len, &raw mut value) }
        } else {
            // SAFETY: as above, with `units`.
            unsafe { sys::napi_create_string_utf16(env, units.as_ptr(), len, &raw mut value) }
        };
        if status == sys::Status::napi_ok {
            Ok(value)
        } else {
            // Longer than the engine's longest string.
            Err(Error::new(Status::from(status), "text too long for a JavaScript string"))
        }
    }
}
