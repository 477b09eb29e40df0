//! Values out of and into the engine.
//!
//! Plain data goes natively as JSON text. What JSON cannot say (cycles, shared objects, `Map`,
//! `undefined`, `-0`, …) goes through the table codec of the prelude, which turns it into plain data
//! first; `__test__/sandbox` holds the two ends of that codec against each other.

use crate::sandbox::wire::Format;
use crate::sandbox::wire::json::{self, Json, MAX_DEPTH, Text};
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsArray;
use boa_engine::property::PropertyKey;
use boa_engine::string::JsStrVariant;
use boa_engine::value::JsVariant;
use boa_engine::{Context, JsError, JsResult, JsString, JsValue, js_string};
use rustc_hash::FxHashSet;

/// The prelude's codec functions, kept by the context.
pub struct Codec {
    /// Value to table.
    pub encode: JsObject,
    /// Table to value.
    pub decode: JsObject,
}

/// Why plain JSON does not do.
enum Stop {
    /// The value holds something JSON cannot say.
    Special,
    /// Over the cap.
    TooLarge,
    /// Over the cap of parts.
    TooMany,
    /// Over [`MAX_DEPTH`].
    TooDeep,
    /// A getter threw.
    Threw(JsError),
}

impl From<JsError> for Stop {
    fn from(error: JsError) -> Self {
        Self::Threw(error)
    }
}

/// A JavaScript string of a text.
pub fn js_text(text: &Text) -> JsString {
    match text {
        Text::Latin1(bytes) => JsString::from(boa_engine::string::JsStr::latin1(bytes)),
        Text::Wide(units) => JsString::from(units.as_slice()),
    }
}

/// Writes a value, or says why it cannot leave: `max` bytes and `parts` are the most it may have. A key
/// weighs four parts.
pub fn encode(
    value: &JsValue,
    max: usize,
    parts: usize,
    context: &mut Context,
) -> Result<(Format, Vec<u8>), String> {
    if value.is_undefined() {
        return Ok((Format::Undefined, Vec::new()));
    }
    match Writer::new(max, parts).finish(value, context) {
        Ok(bytes) => return Ok((Format::Json, bytes)),
        Err(Stop::Special) => {}
        Err(stop) => return Err(explain(stop, max, context)),
    }
    let codec = context.get_data::<Codec>().expect("stored when the context was built").encode.clone();
    // Each object takes two parts at the very least.
    let most = JsValue::from(u32::try_from(parts / 2).unwrap_or(u32::MAX));
    let table = codec.call(&JsValue::undefined(), &[value.clone(), most], context);
    let table = table.map_err(|error| explain(error.into(), max, context))?;
    let bytes =
        Writer::new(max, parts).finish(&table, context).map_err(|stop| explain(stop, max, context))?;
    Ok((Format::Table, bytes))
}

fn explain(stop: Stop, max: usize, context: &mut Context) -> String {
    match stop {
        Stop::Special => "the value could not be cloned".to_owned(),
        Stop::TooLarge => format!("the value is larger than {max} bytes: return or pass less"),
        Stop::TooMany => "the value has too many parts: return or pass less".to_owned(),
        Stop::TooDeep => format!("the value is nested deeper than {MAX_DEPTH} levels"),
        Stop::Threw(error) => super::problem::message_of(&error, context),
    }
}

struct Writer {
    out: Vec<u8>,
    max: usize,
    parts: usize,
    seen: FxHashSet<JsObject>,
}

impl Writer {
    fn new(max: usize, parts: usize) -> Self {
        Self { out: Vec::new(), max, parts, seen: FxHashSet::default() }
    }

    fn count(&mut self, parts: usize) -> Result<(), Stop> {
        self.parts = self.parts.checked_sub(parts).ok_or(Stop::TooMany)?;
        Ok(())
    }

    fn finish(mut self, value: &JsValue, context: &mut Context) -> Result<Vec<u8>, Stop> {
        self.value(value, 0, context)?;
        Ok(self.out)
    }

    fn value(&mut self, value: &JsValue, depth: usize, context: &mut Context) -> Result<(), Stop> {
        self.count(1)?;
        match value.variant() {
            JsVariant::Null => self.out.extend_from_slice(b"null"),
            JsVariant::Boolean(true) => self.out.extend_from_slice(b"true"),
            JsVariant::Boolean(false) => self.out.extend_from_slice(b"false"),
            JsVariant::Integer32(number) => self.out.extend_from_slice(number.to_string().as_bytes()),
            JsVariant::Float64(number)
                if number.is_finite() && (number != 0.0 || number.is_sign_positive()) =>
            {
                json::push_number(&mut self.out, number);
            }
            JsVariant::String(text) => self.text(&text)?,
            JsVariant::Object(object) => return self.object(&object, depth, context),
            _ => return Err(Stop::Special),
        }
        if self.out.len() > self.max { Err(Stop::TooLarge) } else { Ok(()) }
    }

    fn text(&mut self, text: &JsString) -> Result<(), Stop> {
        if self.out.len() + text.len() > self.max {
            return Err(Stop::TooLarge);
        }
        match text.variant() {
            JsStrVariant::Latin1(bytes) => json::push_latin1(&mut self.out, bytes),
            JsStrVariant::Utf16(units) => json::push_units(&mut self.out, units.iter().copied()),
        }
        Ok(())
    }

    fn object(&mut self, object: &JsObject, depth: usize, context: &mut Context) -> Result<(), Stop> {
        let array = object.is_array();
        // A shared object is special too: its identity is part of the value.
        if !(array || object.is_ordinary()) || object.is_callable() || !self.seen.insert(object.clone()) {
            return Err(Stop::Special);
        }
        if depth >= MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        let keys = object.own_property_keys(context)?;
        if array {
            self.array(object, &keys, depth, context)
        } else {
            self.record(object, &keys, depth, context)
        }
    }

    fn array(
        &mut self,
        object: &JsObject,
        keys: &[PropertyKey],
        depth: usize,
        context: &mut Context,
    ) -> Result<(), Stop> {
        // A dense array without further properties has its indices and `length`, nothing else.
        let length = object.get(js_string!("length"), context)?.to_length(context)?;
        if keys.len() as u64 != length + 1 {
            return Err(Stop::Special);
        }
        self.out.push(b'[');
        for index in 0..length {
            if index > 0 {
                self.out.push(b',');
            }
            let item = object.get(index, context)?;
            self.value(&item, depth + 1, context)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn record(
        &mut self,
        object: &JsObject,
        keys: &[PropertyKey],
        depth: usize,
        context: &mut Context,
    ) -> Result<(), Stop> {
        self.out.push(b'{');
        let mut first = true;
        for key in keys {
            let Some(property) = object.borrow().properties().get(key) else { continue };
            if property.enumerable() != Some(true) {
                continue;
            }
            let name = match key {
                PropertyKey::String(name) => name.clone(),
                PropertyKey::Index(index) => JsString::from(index.get().to_string()),
                PropertyKey::Symbol(_) => continue,
            };
            let item = match property.value() {
                Some(item) => item.clone(),
                None => object.get(key.clone(), context)?,
            };
            if !first {
                self.out.push(b',');
            }
            first = false;
            self.count(3)?;
            self.text(&name)?;
            self.out.push(b':');
            self.value(&item, depth + 1, context)?;
        }
        // An instance without keys may have its data elsewhere, as a `URL` has: for the codec to tell.
        if first && may_hide_data(object, context) {
            return Err(Stop::Special);
        }
        self.out.push(b'}');
        Ok(())
    }
}

/// Whether an object is more than a literal: an instance of a class, or the global object.
fn may_hide_data(object: &JsObject, context: &Context) -> bool {
    let plain = context.intrinsics().constructors().object().prototype();
    object.prototype().is_some_and(|prototype| prototype != plain) || *object == context.global_object()
}

/// Builds the value a frame carries.
pub fn decode(format: Format, bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    if format == Format::Undefined {
        return Ok(JsValue::undefined());
    }
    let tree = Json::parse(bytes).map_err(JsError::from_rust)?;
    let value = from_json(&tree, context)?;
    if format == Format::Table {
        let codec = context.get_data::<Codec>().expect("stored when the context was built").decode.clone();
        return codec.call(&JsValue::undefined(), &[value], context);
    }
    Ok(value)
}

/// A tree as engine values; the parser has limited its depth.
fn from_json(tree: &Json, context: &mut Context) -> JsResult<JsValue> {
    Ok(match tree {
        Json::Null => JsValue::null(),
        Json::Bool(flag) => JsValue::from(*flag),
        Json::Num(number) => JsValue::from(*number),
        Json::Str(text) => js_text(text).into(),
        Json::Arr(items) => {
            let items = items.iter().map(|item| from_json(item, context)).collect::<JsResult<Vec<_>>>()?;
            JsArray::from_iter(items, context).into()
        }
        Json::Obj(entries) => {
            let object = JsObject::with_object_proto(context.intrinsics());
            for (key, item) in entries {
                let item = from_json(item, context)?;
                object.create_data_property_or_throw(js_text(key), item, context)?;
            }
            object.into()
        }
    })
}
