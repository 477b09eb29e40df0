//! `unshift` and `splice` of ordinary arrays.
//!
//! The engine moves every item behind the place by itself, as the standard words it, through all that a
//! property can be. An array that is nothing but its items is made anew instead and takes the new one's
//! place.

use super::overlay::{self, Call};
use boa_engine::object::builtins::JsArray;
use boa_engine::object::{IndexPropertyValues, JsObject};
use boa_engine::{Context, JsResult, JsSymbol, JsValue, js_string};

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

/// The items of an array that has them in a row and no property else, and whose prototypes have nothing
/// that a missing index could find.
fn items(array: &JsObject, context: &mut Context) -> JsResult<Option<Vec<JsValue>>> {
    if !array.is_array() || !array.is_extensible(context)? {
        return Ok(None);
    }
    let Some(Pristine { prototype, root, sample, .. }) = context.get_data::<Pristine>() else {
        return Ok(None);
    };
    // The shape knows the prototype and whether the length may be written as well.
    if array.borrow().shape().to_addr_usize() != sample.borrow().shape().to_addr_usize()
        || [prototype, root].iter().any(|one| one.borrow().properties().index_property_keys().next().is_some())
        || prototype.prototype().is_none_or(|next| !JsObject::equals(&next, root))
    {
        return Ok(None);
    }
    let length = overlay::own_value(array, js_string!("length")).and_then(|length| length.as_number());
    let borrowed = array.borrow();
    let values: Vec<JsValue> = match borrowed.properties().index_property_values() {
        IndexPropertyValues::DenseI32(all) => all.copied().map(JsValue::from).collect(),
        IndexPropertyValues::DenseF64(all) => all.copied().map(JsValue::from).collect(),
        IndexPropertyValues::DenseElement(all) => all.cloned().collect(),
        IndexPropertyValues::SparseProperty(_) | IndexPropertyValues::SparseElement(_) => return Ok(None),
    };
    #[allow(clippy::cast_precision_loss, reason = "lengths fit a double")]
    let whole = length == Some(values.len() as f64) && (FEW..MANY).contains(&values.len());
    Ok(whole.then_some(values))
}

/// Makes these the items of an array that [`items`] were read from.
fn replace(array: &JsObject, items: Vec<JsValue>, context: &mut Context) {
    let fresh: JsObject = JsArray::from_iter(items, context).into();
    std::mem::swap(&mut *array.borrow_mut(), &mut *fresh.borrow_mut());
}

fn unshift(call: &Call<'_>, _: &JsObject, context: &mut Context) -> JsResult<Option<JsValue>> {
    let Some(array) = call.this.as_object() else { return Ok(None) };
    let Some(old) = items(&array, context)? else { return Ok(None) };
    let mut new = Vec::with_capacity(old.len() + call.arguments.len());
    new.extend_from_slice(call.arguments);
    new.extend(old);
    let length = new.len();
    replace(&array, new, context);
    Ok(Some(JsValue::from(length)))
}

/// Whether an array made by `splice` is an ordinary one.
fn makes_arrays(context: &Context) -> bool {
    context.get_data::<Pristine>().is_some_and(|Pristine { prototype, constructor, species, .. }| {
        let getter = overlay::own_getter(constructor, JsSymbol::species());
        overlay::is(overlay::own_value(prototype, js_string!("constructor")).as_ref(), constructor)
            && getter.is_some_and(|getter| species.as_ref().is_some_and(|known| JsObject::equals(&getter, known)))
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
    let Some(mut new) = items(&array, context)? else { return Ok(None) };
    #[allow(clippy::cast_precision_loss, reason = "lengths fit a double")]
    let length = new.len() as f64;
    let start = if start < 0.0 { (length + start).max(0.0) } else { start.min(length) };
    let count = count.clamp(0.0, length - start);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the length")]
    let (start, count) = (start as usize, count as usize);
    let added = call.arguments.get(2..).unwrap_or_default();
    let removed: Vec<JsValue> = new.splice(start..start + count, added.iter().cloned()).collect();
    replace(&array, new, context);
    Ok(Some(JsArray::from_iter(removed, context).into()))
}
