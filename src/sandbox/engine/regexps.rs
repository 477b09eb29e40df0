//! `exec` and `split` of regular expressions.
//!
//! What matches reads wide texts only, so the engine widens a narrow one at every single match; and it
//! has no sticky search, so that `split`, which the standard words with one, searches the rest of the text
//! anew at every place. Everything else (`match`, `matchAll`, `replace`, `test`) goes through `exec`.

use super::overlay::{self, Call};
use boa_engine::object::JsObject;
use boa_engine::object::builtins::{JsArray, JsRegExp};
use boa_engine::string::JsStrVariant;
use boa_engine::{Context, JsResult, JsString, JsSymbol, JsValue, js_string};
use std::cell::RefCell;

/// Shorter texts are widened as fast as they are looked up.
const WORTH_KEEPING: usize = 128;

/// The narrow text that was searched last, and the same wide.
#[derive(Default)]
struct Widened(RefCell<Option<(JsString, JsString)>>);

/// What a regular expression nobody has tampered with is made of.
struct Pristine {
    prototype: JsObject,
    constructor: JsObject,
    /// Ours.
    exec: JsObject,
    /// The engine's.
    theirs: JsObject,
    flags: JsObject,
    species: JsObject,
    /// One without properties of its own, for its shape.
    sample: JsObject,
}

/// Puts the methods in place.
pub fn install(context: &mut Context) -> JsResult<()> {
    let standard = context.intrinsics().constructors().regexp();
    let (prototype, constructor) = (standard.prototype(), standard.constructor());
    context.insert_data(Widened::default());
    let theirs = overlay::own_value(&prototype, js_string!("exec")).and_then(|exec| exec.as_object());
    overlay::put(&prototype, js_string!("exec"), exec, context)?;
    overlay::put(&prototype, JsSymbol::split(), split, context)?;
    let exec = overlay::own_value(&prototype, js_string!("exec")).and_then(|exec| exec.as_object());
    let flags = overlay::own_getter(&prototype, js_string!("flags"));
    let species = overlay::own_getter(&constructor, JsSymbol::species());
    let sample = JsRegExp::new(js_string!(""), js_string!(""), context)?.into();
    if let (Some(exec), Some(theirs), Some(flags), Some(species)) = (exec, theirs, flags, species) {
        context.insert_data(Pristine { prototype, constructor, exec, theirs, flags, species, sample });
    }
    Ok(())
}

/// The same text wide. One that is searched again and again is widened once.
fn wide(text: &JsString, context: &Context) -> Option<JsString> {
    let JsStrVariant::Latin1(bytes) = text.variant() else { return None };
    if bytes.len() < WORTH_KEEPING {
        return None;
    }
    let mut kept = context.get_data::<Widened>()?.0.borrow_mut();
    if let Some((narrow, wide)) = kept.as_ref()
        && let JsStrVariant::Latin1(held) = narrow.variant()
        && std::ptr::eq(held, bytes)
    {
        return Some(wide.clone());
    }
    let units: Vec<u16> = bytes.iter().map(|&byte| u16::from(byte)).collect();
    let wide = JsString::from(units.as_slice());
    *kept = Some((text.clone(), wide.clone()));
    Some(wide)
}

fn exec(call: &Call<'_>, theirs: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(wide) = call.text(0).and_then(|text| wide(&text, context)) else { return Ok(None) };
    theirs.call(call.this, &[wide.into()], context).map(Some)
}

/// Whether `split` of this expression runs no code but the engine's.
fn is_pristine(expression: &JsObject, pristine: &Pristine) -> bool {
    let Pristine { prototype, constructor, exec, flags, species, sample, .. } = pristine;
    let same = |getter: Option<JsObject>, known: &JsObject| {
        getter.is_some_and(|getter| JsObject::equals(&getter, known))
    };
    expression.borrow().shape().to_addr_usize() == sample.borrow().shape().to_addr_usize()
        && overlay::is(overlay::own_value(prototype, js_string!("exec")).as_ref(), exec)
        && overlay::is(overlay::own_value(prototype, js_string!("constructor")).as_ref(), constructor)
        && same(overlay::own_getter(prototype, js_string!("flags")), flags)
        && same(overlay::own_getter(constructor, JsSymbol::species()), species)
}

/// Where a match begins and ends, and what it is.
fn next_match(
    splitter: &JsObject,
    text: &JsString,
    from: usize,
    theirs: &JsObject,
    context: &mut Context,
) -> JsResult<Option<(usize, usize, JsObject)>> {
    splitter.set(js_string!("lastIndex"), from, true, context)?;
    let found = theirs.call(&splitter.clone().into(), &[text.clone().into()], context)?;
    let Some(found) = found.as_object() else { return Ok(None) };
    let at = found.get(js_string!("index"), context)?.to_length(context)?;
    let end = splitter.get(js_string!("lastIndex"), context)?.to_length(context)?;
    let size = |place: u64| usize::try_from(place).unwrap_or(usize::MAX);
    Ok(Some((size(at), size(end), found)))
}

fn split(call: &Call<'_>, _: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let (Some(expression), Some(text)) = (call.this.as_object(), call.text(0)) else { return Ok(None) };
    let limit = call.argument(1);
    let plain = !text.is_empty() && (limit.is_undefined() || limit.is_number());
    let Some(pristine) = context.get_data::<Pristine>() else { return Ok(None) };
    if !plain || !is_pristine(&expression, pristine) {
        return Ok(None);
    }
    let (constructor, theirs) = (pristine.constructor.clone(), pristine.theirs.clone());
    // Instead of asking at each place, sticky, whether there is a match: where the next one is.
    let flags = expression.get(js_string!("flags"), context)?.to_string(context)?.to_std_string_lossy();
    let by_points = flags.contains(['u', 'v']);
    let flags = format!("{}g", flags.replace(['y', 'g'], ""));
    let arguments = [expression.into(), JsString::from(flags).into()];
    let splitter = constructor.construct(&arguments, Some(&constructor), context)?;
    let most = if limit.is_undefined() { u32::MAX } else { limit.to_u32(context)? } as usize;
    let mut parts: Vec<JsValue> = Vec::new();
    let searched = wide(&text, context).unwrap_or_else(|| text.clone());
    let (mut begin, mut from) = (0, 0);
    while from < text.len() && parts.len() < most {
        let found = next_match(&splitter, &searched, from, &theirs, context)?;
        // A match behind the last unit is none: a sticky search would not be made there.
        let Some((at, end, found)) = found.filter(|found| found.0 < text.len()) else { break };
        if end == begin {
            from = at + if by_points { text.code_point_at(at).code_unit_count() } else { 1 };
            continue;
        }
        parts.push(text.slice(begin, at).into());
        (begin, from) = (end, end);
        let captures = found.get(js_string!("length"), context)?.to_length(context)?;
        for capture in 1..captures {
            parts.push(found.get(capture, context)?);
        }
    }
    if parts.len() < most {
        parts.push(text.slice(begin, text.len()).into());
    }
    parts.truncate(most);
    Ok(Some(JsArray::from_iter(parts, context).into()))
}
