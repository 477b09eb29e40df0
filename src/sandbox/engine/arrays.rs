//! `unshift` and `splice` of ordinary arrays.
//!
//! The engine moves every item behind the place by itself, as the standard words it, through all that a
//! property can be. An array that is nothing but its items is made anew instead and takes the new one's
//! place.

use super::overlay::{self, Call};
use boa_engine::object::builtins::JsArray;
use boa_engine::object::{IndexPropertyValues, JsObject};
use boa_engine::{Context, JsResult, JsSymbol, JsValue, js_string};
use std::ops::Range;

/// Fewer items are moved by the engine.
const FEW: usize = 8;
/// Where an array ends for us: far below the limits of the standard, which so need no thought.
const MANY: usize = 1 << 30;

/// What an array nobody has tampered with is made of.
struct Pristine {
    prototype: JsObject,
    root: JsObject,
    constructor: JsObject,
    species: Option<JsObject>,
    /// One without properties of its own, for its shape.
    sample: JsObject,
}

/// Puts the methods in place.
pub fn install(context: &mut Context) -> JsResult<()> {
    let constructors = context.intrinsics().constructors();
    let root = constructors.object().prototype();
    let (prototype, constructor) = (constructors.array().prototype(), constructors.array().constructor());
    overlay::put(&prototype, js_string!("unshift"), unshift, context)?;
    overlay::put(&prototype, js_string!("splice"), splice, context)?;
    let species = overlay::own_getter(&constructor, JsSymbol::species());
    let sample = JsArray::from_iter([], context).into();
    context.insert_data(Pristine { prototype, root, constructor, species, sample });
    Ok(())
}

/// How many items an array has that has them in a row and no property else, and whose prototypes have
/// nothing that a missing index could find.
fn plain_length(array: &JsObject, context: &mut Context) -> JsResult<Option<usize>> {
    if !array.is_array() || !array.is_extensible(context)? {
        return Ok(None);
    }
    let Some(Pristine { prototype, root, sample, .. }) = context.get_data::<Pristine>() else {
        return Ok(None);
    };
    let indexed = |object: &JsObject| object.borrow().properties().index_property_keys().len() > 0;
    // The shape knows the prototype and whether the length may be written as well.
    if array.borrow().shape().to_addr_usize() != sample.borrow().shape().to_addr_usize()
        || indexed(prototype)
        || indexed(root)
        || prototype.prototype().is_none_or(|next| !JsObject::equals(&next, root))
    {
        return Ok(None);
    }
    let count = match array.borrow().properties().index_property_values() {
        IndexPropertyValues::DenseI32(all) => all.len(),
        IndexPropertyValues::DenseF64(all) => all.len(),
        IndexPropertyValues::DenseElement(all) => all.len(),
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => return Ok(None),
    };
    let length = overlay::own_value(array, js_string!("length")).and_then(|length| length.as_number());
    #[allow(clippy::cast_precision_loss, reason = "lengths fit a double")]
    let whole = length == Some(count as f64) && (FEW..MANY).contains(&count);
    Ok(whole.then_some(count))
}

/// An array of `items` with `added` instead of those in `range`, and one of those.
fn spliced<T>(items: &[T], range: Range<usize>, added: &[JsValue], context: &mut Context) -> [JsObject; 2]
where
    T: Clone + Into<JsValue>,
{
    let values = |part: &[T]| part.iter().cloned().map(Into::into).collect::<Vec<JsValue>>();
    let removed = values(&items[range.clone()]);
    let before = items[..range.start].iter().cloned().map(Into::into);
    let behind = items[range.end..].iter().cloned().map(Into::into);
    let fresh = JsArray::from_iter(before.chain(added.iter().cloned()).chain(behind), context);
    [fresh.into(), JsArray::from_iter(removed, context).into()]
}

/// Puts `added` in the place of a range of an array that has a [`plain_length`]; gives what was there.
fn replace(array: &JsObject, range: Range<usize>, added: &[JsValue], context: &mut Context) -> JsObject {
    let [fresh, removed] = {
        let borrowed = array.borrow();
        match borrowed.properties().index_property_values() {
            IndexPropertyValues::DenseI32(all) => spliced(all.as_slice(), range, added, context),
            IndexPropertyValues::DenseF64(all) => spliced(all.as_slice(), range, added, context),
            IndexPropertyValues::DenseElement(all) => spliced(all.as_slice(), range, added, context),
            IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => {
                unreachable!("an array with a plain length")
            }
        }
    };
    std::mem::swap(&mut *array.borrow_mut(), &mut *fresh.borrow_mut());
    removed
}

fn unshift(call: &Call<'_>, _: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(array) = call.this.as_object() else { return Ok(None) };
    let Some(length) = plain_length(&array, context)? else { return Ok(None) };
    replace(&array, 0..0, call.arguments, context);
    Ok(Some(JsValue::from(length + call.arguments.len())))
}

/// Whether an array made by `splice` is an ordinary one.
fn makes_arrays(context: &Context) -> bool {
    context.get_data::<Pristine>().is_some_and(|Pristine { prototype, constructor, species, .. }| {
        let getter = overlay::own_getter(constructor, JsSymbol::species());
        overlay::is(overlay::own_value(prototype, js_string!("constructor")).as_ref(), constructor)
            && getter
                .is_some_and(|getter| species.as_ref().is_some_and(|known| JsObject::equals(&getter, known)))
    })
}

fn splice(call: &Call<'_>, _: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(array) = call.this.as_object() else { return Ok(None) };
    // Without a count the rest goes; one that is undefined counts as 0.
    let count = if call.arguments.len() == 1 { Some(f64::INFINITY) } else { call.number(1, 0.0) };
    let (Some(start), Some(count), true) = (call.number(0, 0.0), count, makes_arrays(context)) else {
        return Ok(None);
    };
    if call.arguments.is_empty() {
        return Ok(None);
    }
    let Some(length) = plain_length(&array, context)? else { return Ok(None) };
    #[allow(clippy::cast_precision_loss, reason = "lengths fit a double")]
    let length = length as f64;
    let start = if start < 0.0 { (length + start).max(0.0) } else { start.min(length) };
    let end = start + count.clamp(0.0, length - start);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the length")]
    let range = start as usize..end as usize;
    let added = call.arguments.get(2..).unwrap_or_default();
    Ok(Some(replace(&array, range, added, context).into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use boa_engine::Source;

    /// Whether a change of what `code` gives is made here.
    fn ours(code: &str) -> [bool; 2] {
        let mut context = Context::default();
        install(&mut context).unwrap();
        let theirs = context.intrinsics().constructors().array().prototype();
        let arguments = [JsValue::from(2), JsValue::from(3)];
        [unshift, splice].map(|method| {
            let array = context.eval(Source::from_bytes(code)).unwrap();
            let call = Call { this: &array, arguments: &arguments };
            method(&call, &theirs, &mut context).unwrap().is_some()
        })
    }

    #[test]
    fn ordinary_arrays_are_changed_here_and_all_others_by_the_engine() {
        for code in
            ["Array.from({ length: 20 }, (_, i) => i)", "new Array(20).fill(0.5)", "[...'some letters']"]
        {
            assert_eq!(ours(code), [true, true], "{code}");
        }
        for code in [
            "[1, 2, 3]",
            "new Array(20)",
            "Object.freeze([...'some letters'])",
            "Object.assign([...'some letters'], { more: 1 })",
            "new Proxy([...'some letters'], {})",
            "new (class extends Array {})(...'some letters')",
            "Array.prototype[30] = 1; [...'some letters']",
            "({ length: 20 })",
        ] {
            assert_eq!(ours(code), [false, false], "{code}");
        }
        let code = "Array.prototype.constructor = Object; [...'some letters']";
        assert_eq!(ours(code), [true, false], "{code}");
    }
}
