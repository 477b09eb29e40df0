//! `Function.prototype.toString`, without the marks that were put into the script (see [`places`]).

use super::overlay::{self, Call};
use super::places::MARK;
use boa_engine::object::JsObject;
use boa_engine::{Context, JsResult, JsString, JsValue, js_string};

/// Puts the method in place.
pub fn install(context: &mut Context) -> JsResult<()> {
    let prototype = context.intrinsics().constructors().function().prototype();
    overlay::put(&prototype, js_string!("toString"), to_string, context)
}

fn to_string(call: &Call<'_>, theirs: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let shown = theirs.call(call.this, call.arguments, context)?;
    let Some(text) = shown.as_string() else { return Ok(Some(shown)) };
    let units: Vec<u16> = text.iter().collect();
    let mark: Vec<u16> = MARK.encode_utf16().collect();
    let mut out = Vec::with_capacity(units.len());
    let mut rest = units.as_slice();
    while let Some((first, behind)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(mark.as_slice()) {
            rest = behind;
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    let shown = if out.len() == units.len() { text } else { JsString::from(out.as_slice()) };
    Ok(Some(shown.into()))
}
