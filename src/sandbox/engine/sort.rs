//! `sort` and `toSorted` of arrays and typed arrays, with a merge sort of our own.
//!
//! The engine's sort panics on a comparator that contradicts itself, and
//! `sort(() => Math.random() - 0.5)` is the shuffle every model writes.

use boa_engine::object::builtins::JsArray;
use boa_engine::object::{FunctionObjectBuilder, JsObject};
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue, NativeFunction, js_string};
use std::cmp::Ordering;

/// Puts the four methods in place.
pub fn install(context: &mut Context) -> JsResult<()> {
    let constructors = context.intrinsics().constructors();
    let array = constructors.array().prototype();
    let typed = constructors.typed_array().prototype();
    method(&array, "sort", sort, context)?;
    method(&array, "toSorted", to_sorted, context)?;
    method(&typed, "sort", sort_typed, context)
}

type Method = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

fn method(target: &JsObject, name: &str, body: Method, context: &mut Context) -> JsResult<()> {
    let function = FunctionObjectBuilder::new(context.realm(), NativeFunction::from_fn_ptr(body))
        .name(js_string!(name))
        .length(1)
        .constructor(false)
        .build();
    let property =
        PropertyDescriptor::builder().value(function).writable(true).configurable(true).enumerable(false);
    target.define_property_or_throw(js_string!(name), property, context)?;
    Ok(())
}

fn comparator(arguments: &[JsValue]) -> JsResult<Option<JsObject>> {
    match arguments.first() {
        None => Ok(None),
        Some(value) if value.is_undefined() => Ok(None),
        Some(value) => match value.as_callable() {
            Some(function) => Ok(Some(function)),
            None => Err(JsNativeError::typ()
                .with_message("The comparison function must be either a function or undefined")
                .into()),
        },
    }
}

fn length_of(object: &JsObject, context: &mut Context) -> JsResult<u64> {
    object.get(js_string!("length"), context)?.to_length(context)
}

/// `Array.prototype.sort`
fn sort(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let compare = comparator(arguments)?;
    let object = this.to_object(context)?;
    let length = length_of(&object, context)?;
    let mut items = Vec::new();
    for index in 0..length {
        if object.has_property(index, context)? {
            items.push(object.get(index, context)?);
        }
    }
    let sorted = sorted(items, compare.as_ref(), context)?;
    let count = sorted.len() as u64;
    for (index, item) in sorted.into_iter().enumerate() {
        object.set(index as u64, item, true, context)?;
    }
    for index in count..length {
        if object.has_own_property(index, context)? {
            object.delete_property_or_throw(index, context)?;
        }
    }
    Ok(object.into())
}

/// `Array.prototype.toSorted`
fn to_sorted(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let compare = comparator(arguments)?;
    let object = this.to_object(context)?;
    let length = length_of(&object, context)?;
    let items = (0..length).map(|index| object.get(index, context)).collect::<JsResult<Vec<_>>>()?;
    Ok(JsArray::from_iter(sorted(items, compare.as_ref(), context)?, context).into())
}

/// `%TypedArray%.prototype.sort`: numeric unless told otherwise.
fn sort_typed(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let compare = comparator(arguments)?;
    let object = this.to_object(context)?;
    let length = length_of(&object, context)?;
    let items = (0..length).map(|index| object.get(index, context)).collect::<JsResult<Vec<_>>>()?;
    let sorted = if let Some(compare) = compare {
        merge_sort(items, &mut |a, b| by_function(&compare, a, b, context))?
    } else {
        merge_sort(items, &mut |a, b| Ok(numeric(a, b)))?
    };
    for (index, item) in sorted.into_iter().enumerate() {
        object.set(index as u64, item, true, context)?;
    }
    Ok(object.into())
}

fn numeric(a: &JsValue, b: &JsValue) -> Ordering {
    if let (Some(a), Some(b)) = (a.as_bigint(), b.as_bigint()) {
        return a.cmp(&b);
    }
    let (a, b) = (a.as_number().unwrap_or(f64::NAN), b.as_number().unwrap_or(f64::NAN));
    // NaN last, and -0 before 0: the order of `total_cmp` once NaN has lost its sign.
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.total_cmp(&b),
    }
}

fn by_function(compare: &JsObject, a: &JsValue, b: &JsValue, context: &mut Context) -> JsResult<Ordering> {
    let verdict =
        compare.call(&JsValue::undefined(), &[a.clone(), b.clone()], context)?.to_number(context)?;
    Ok(verdict.partial_cmp(&0.0).unwrap_or(Ordering::Equal))
}

/// Sorts; `undefined` goes last whatever the comparator thinks.
fn sorted(items: Vec<JsValue>, compare: Option<&JsObject>, context: &mut Context) -> JsResult<Vec<JsValue>> {
    let (undefined, items): (Vec<_>, Vec<_>) = items.into_iter().partition(JsValue::is_undefined);
    let mut sorted = if let Some(compare) = compare {
        merge_sort(items, &mut |a, b| by_function(compare, a, b, context))?
    } else {
        let keyed = items
            .into_iter()
            .map(|item| Ok((item.to_string(context)?, item)))
            .collect::<JsResult<Vec<(JsString, JsValue)>>>()?;
        let sorted = merge_sort(keyed, &mut |a, b| Ok(a.0.iter().cmp(b.0.iter())))?;
        sorted.into_iter().map(|(_, item)| item).collect()
    };
    sorted.extend(undefined);
    Ok(sorted)
}

/// A stable merge sort that survives any comparator.
fn merge_sort<T: Clone>(
    mut items: Vec<T>,
    compare: &mut impl FnMut(&T, &T) -> JsResult<Ordering>,
) -> JsResult<Vec<T>> {
    let length = items.len();
    let mut width = 1;
    while width < length {
        let mut next = Vec::with_capacity(length);
        for run in items.chunks(width * 2) {
            let (left, right) = run.split_at(width.min(run.len()));
            let (mut l, mut r) = (0, 0);
            // Runs already in order need one comparison.
            if right.is_empty() || compare(&left[left.len() - 1], &right[0])? != Ordering::Greater {
                next.extend_from_slice(run);
                continue;
            }
            while l < left.len() && r < right.len() {
                if compare(&left[l], &right[r])? == Ordering::Greater {
                    next.push(right[r].clone());
                    r += 1;
                } else {
                    next.push(left[l].clone());
                    l += 1;
                }
            }
            next.extend_from_slice(&left[l..]);
            next.extend_from_slice(&right[r..]);
        }
        items = next;
        width *= 2;
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(items in proptest::collection::vec(0..50_u8, 0..200)) {
            let keyed: Vec<(u8, usize)> = items.iter().copied().zip(0..).collect();
            let mut expected = keyed.clone();
            expected.sort_by_key(|item| item.0);
            let sorted = merge_sort(keyed, &mut |a, b| Ok(a.0.cmp(&b.0))).unwrap();
            prop_assert_eq!(sorted, expected);
        }
    }
}
