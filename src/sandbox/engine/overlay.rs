//! Puts a method of our own before one of the engine's.
//!
//! Ours takes the ordinary calls, whose answer it gives in time that grows with the work only; every other
//! call (another receiver, an object where a text is usual, a patched prototype) goes to the engine's
//! method as it came, so that the standard's every step, also those a script can watch, stay the engine's.

use boa_engine::object::{FunctionObjectBuilder, JsObject};
use boa_engine::property::{PropertyDescriptor, PropertyKey};
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue, NativeFunction};

/// What a call was made with.
pub struct Call<'a> {
    /// The receiver.
    pub this: &'a JsValue,
    /// The arguments.
    pub arguments: &'a [JsValue],
}

impl Call<'_> {
    /// The argument at `index`; undefined when there are fewer.
    pub fn argument(&self, index: usize) -> JsValue {
        self.arguments.get(index).cloned().unwrap_or_default()
    }

    /// The argument at `index` when it is a text.
    pub fn text(&self, index: usize) -> Option<JsString> {
        self.arguments.get(index)?.as_string()
    }

    /// A whole number from the argument at `index`, cut to `0..=most`; `absent` when there is none. None
    /// when to read it would run code of the script.
    pub fn number(&self, index: usize, absent: f64) -> Option<f64> {
        match self.arguments.get(index) {
            None => Some(absent),
            Some(value) if value.is_undefined() => Some(absent),
            Some(value) => value.as_number().map(|number| if number.is_nan() { 0.0 } else { number.trunc() }),
        }
    }
}

/// Gives the answer, or None when the call is one for the engine. Has changed nothing in that case.
pub type Body = fn(&Call<'_>, &JsObject, &mut Context) -> JsResult<Option<JsValue>>;

/// Replaces the method `key` of `target`. `body` is given the engine's method as well.
pub fn put(
    target: &JsObject,
    key: impl Into<PropertyKey>,
    body: Body,
    context: &mut Context,
) -> JsResult<()> {
    let key = key.into();
    let theirs = target.get(key.clone(), context)?.as_callable();
    let Some(theirs) = theirs else {
        return Err(JsNativeError::typ().with_message("the engine has no such method").into());
    };
    let name = theirs.get(boa_engine::js_string!("name"), context)?.to_string(context)?;
    let length = theirs.get(boa_engine::js_string!("length"), context)?.to_length(context)?;
    let native = NativeFunction::from_copy_closure_with_captures(
        move |this, arguments, theirs: &JsObject, context| {
            super::natives::relieve(context);
            match body(&Call { this, arguments }, theirs, context)? {
                Some(answer) => Ok(answer),
                None => theirs.call(this, arguments, context),
            }
        },
        theirs,
    );
    let ours = FunctionObjectBuilder::new(context.realm(), native)
        .name(name)
        .length(usize::try_from(length).unwrap_or_default())
        .constructor(false)
        .build();
    let property =
        PropertyDescriptor::builder().value(ours).writable(true).configurable(true).enumerable(false);
    target.define_property_or_throw(key, property, context).map(drop)
}

/// The value of an object's own data property, without running code of the script.
pub fn own_value(object: &JsObject, key: impl Into<PropertyKey>) -> Option<JsValue> {
    object.borrow().properties().get(&key.into())?.value().cloned()
}

/// The getter of an object's own accessor property.
pub fn own_getter(object: &JsObject, key: impl Into<PropertyKey>) -> Option<JsObject> {
    object.borrow().properties().get(&key.into())?.get()?.as_object()
}

/// Whether a value is this very object.
pub fn is(value: Option<&JsValue>, object: &JsObject) -> bool {
    value.and_then(JsValue::as_object).is_some_and(|value| JsObject::equals(&value, object))
}
