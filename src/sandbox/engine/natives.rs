//! The functions the prelude is built on. Scripts never see this object itself.

use super::collate::{self, Sensitivity};
use super::state::{Open, State};
use super::value;
use crate::sandbox::wire::Format;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use boa_engine::builtins::error::Error as ErrorData;
use boa_engine::object::builtins::{
    AlignedVec, JsArrayBuffer, JsDataView, JsDate, JsMap, JsPromise, JsRegExp, JsSet, JsTypedArray,
    JsUint8Array,
};
use boa_engine::object::{FunctionObjectBuilder, JsObject, ObjectInitializer};
use boa_engine::property::{Attribute, PropertyDescriptor};
use boa_engine::string::JsStr;
use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue, NativeFunction, js_string};
use std::rc::Rc;

/// What `atob` of the platform accepts: padding or none, and whatever stands in the bits that are left over.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

type Native = fn(&State, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// How natives find the state: the context's own data, so that plain function pointers do.
struct Handle(Rc<State>);

fn state_of(context: &Context) -> Rc<State> {
    let state = Rc::clone(&context.get_data::<Handle>().expect("stored when the context was built").0);
    state.relieve();
    state
}

/// See [`State::relieve`].
pub fn relieve(context: &Context) {
    drop(state_of(context));
}

fn argument(arguments: &[JsValue], index: usize) -> JsValue {
    arguments.get(index).cloned().unwrap_or_default()
}

/// Builds the object of natives.
pub fn build(context: &mut Context, state: &Rc<State>) -> JsObject {
    context.insert_data(Handle(Rc::clone(state)));
    let all: [(&str, Native); 16] = [
        ("log", log),
        ("timer", timer),
        ("clear", clear),
        ("deny", deny),
        ("exit", exit),
        ("brand", brand),
        ("random", random),
        ("elapsed", |state, _, _| Ok(state.elapsed_ms().into())),
        ("encode", utf8_encode),
        ("decode", utf8_decode),
        ("toBase64", to_base64),
        ("fromBase64", from_base64),
        ("latin1", latin1),
        ("narrow", narrow),
        ("collate", collate),
        ("rest", |_, _, context| super::prelude::rest(context).map(|()| JsValue::undefined())),
    ];
    let mut object = ObjectInitializer::new(context);
    for (name, native) in all {
        let function = NativeFunction::from_copy_closure(move |_, arguments, context| {
            native(&state_of(context), arguments, context)
        });
        object.function(function, js_string!(name), 0);
    }
    object.build()
}

/// The frozen object of tool functions a script is given.
pub fn tools(names: &[JsString], context: &mut Context) -> JsResult<JsObject> {
    let object = JsObject::with_null_proto();
    for (index, name) in names.iter().enumerate() {
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        let native = NativeFunction::from_copy_closure(move |_, arguments, context| {
            call(index, &argument(arguments, 0), context)
        });
        let function = FunctionObjectBuilder::new(context.realm(), native)
            .name(name.clone())
            .length(1)
            .constructor(false)
            .build();
        let property = PropertyDescriptor::builder()
            .value(function)
            .enumerable(true)
            .writable(false)
            .configurable(false);
        object.define_property_or_throw(name.clone(), property, context)?;
    }
    object.set_integrity_level(boa_engine::object::IntegrityLevel::Frozen, context)?;
    Ok(object)
}

/// Queues a call; the promise is settled when the host answers. Arguments that cannot travel still go
/// out as a call, because they count against the budget and the host words the refusal.
fn call(tool: u32, arguments: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    let state = state_of(context);
    let error = context.intrinsics().constructors().error().constructor();
    let error = error.construct(&[], None, context)?;
    let (promise, settle) = JsPromise::new_pending(context);
    let open = Open { settle, error };
    match value::encode(arguments, state.max_args.get(), state.max_parts.get(), context) {
        Ok((format, bytes)) => state.call(tool, format, &bytes, open),
        Err(message) => state.call(tool, Format::Refused, message.as_bytes(), open),
    }
    Ok(promise.into())
}

/// The error for a module the script may not have, remembered so that it is told from a look-alike.
pub fn denied(state: &State, specifier: &JsString, context: &mut Context) -> JsResult<JsObject> {
    let shown = specifier.to_std_string_lossy();
    let bare = shown.strip_prefix("node:").unwrap_or(&shown);
    let (name, category) = match bare {
        "fs" | "fs/promises" => ("SandboxFsAccessDenied", "filesystem"),
        "http" | "https" | "net" | "dgram" | "tls" | "http2" | "dns" | "dns/promises" => {
            ("SandboxNetworkAccessDenied", "network")
        }
        _ => ("SandboxModuleAccessDenied", "module"),
    };
    denial(state, name, &format!("{category} access denied by sandbox policy: {shown}"), context)
}

fn denial(state: &State, name: &str, message: &str, context: &mut Context) -> JsResult<JsObject> {
    let error = JsNativeError::error().with_message(message.to_owned()).into_opaque(context);
    let property = PropertyDescriptor::builder()
        .value(js_string!(name))
        .writable(true)
        .configurable(true)
        .enumerable(false);
    error.define_property_or_throw(js_string!("name"), property, context)?;
    state.denied.borrow_mut().push(error.clone());
    Ok(error)
}

/// `deny(specifier)`: the error for a module; `deny()`: the one for `fetch`.
fn deny(state: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let specifier = argument(arguments, 0);
    let error = if specifier.is_undefined() {
        denial(
            state,
            "SandboxNetworkAccessDenied",
            "network access denied by sandbox policy: fetch",
            context,
        )?
    } else {
        let specifier = specifier.to_string(context)?;
        denied(state, &specifier, context)?
    };
    Ok(error.into())
}

/// `log(level, text)`.
fn log(state: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let level = argument(arguments, 0).to_i32(context)?;
    let text = argument(arguments, 1).to_string(context)?;
    state.log(u8::try_from(level).unwrap_or(0), &text.to_std_string_lossy());
    Ok(JsValue::undefined())
}

/// `timer(callback, ms, repeat, arguments)` gives an id.
fn timer(state: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(callback) = argument(arguments, 0).as_function() else {
        return Err(JsNativeError::typ().with_message("the timer's callback must be a function").into());
    };
    let ms = argument(arguments, 1).to_number(context)?;
    let repeat = argument(arguments, 2).to_boolean();
    let rest = arguments.get(3..).unwrap_or_default().to_vec();
    state
        .add_timer(callback, ms, repeat, rest)
        .map(JsValue::from)
        .ok_or_else(|| JsNativeError::range().with_message("too many timers are open").into())
}

/// `clear(id)`.
fn clear(state: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = argument(arguments, 0).to_number(context)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a wrong id clears nothing")]
    state.clear_timer(id as u32);
    Ok(JsValue::undefined())
}

/// `exit(code)` ends the process.
fn exit(state: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let code = argument(arguments, 0).to_i32(context)?;
    state.flush();
    state.port(|port| {
        port.send(crate::sandbox::wire::frame::EXIT, &code.to_le_bytes());
        port.exit(0);
    });
    Err(JsNativeError::error().with_message("exited").into())
}

/// `brand(value)`: what an object really is, whatever its prototype says.
#[allow(clippy::unnecessary_wraps, reason = "the shape of every native")]
fn brand(_: &State, arguments: &[JsValue], _context: &mut Context) -> JsResult<JsValue> {
    let value = argument(arguments, 0);
    let Some(object) = value.as_object() else { return Ok(js_string!("primitive").into()) };
    let brand = if object.is_callable() {
        "function"
    } else if object.is_array() {
        "array"
    } else if object.is_ordinary() {
        "ordinary"
    } else if object.is::<ErrorData>() {
        "error"
    } else if JsDate::from_object(object.clone()).is_ok() {
        "date"
    } else if JsMap::from_object(object.clone()).is_ok() {
        "map"
    } else if JsSet::from_object(object.clone()).is_ok() {
        "set"
    } else if JsRegExp::from_object(object.clone()).is_ok() {
        "regexp"
    } else if JsArrayBuffer::from_object(object.clone()).is_ok() {
        "buffer"
    } else if JsTypedArray::from_object(object.clone()).is_ok() {
        "typed"
    } else if JsDataView::from_object(object.clone()).is_ok() {
        "view"
    } else if object.is::<f64>()
        || object.is::<bool>()
        || object.is::<JsString>()
        || object.is::<boa_engine::JsBigInt>()
    {
        "boxed"
    } else {
        "other"
    };
    Ok(js_string!(brand).into())
}

/// `random()`: a number in [0, 1) with 53 random bits.
#[allow(clippy::unnecessary_wraps, reason = "the shape of every native")]
fn random(state: &State, _: &[JsValue], _context: &mut Context) -> JsResult<JsValue> {
    let bytes = state.random();
    let bits = u64::from_le_bytes(bytes[..8].try_into().unwrap_or_default()) >> 11;
    #[allow(clippy::cast_precision_loss, reason = "53 bits fit a double exactly")]
    let number = bits as f64 / (1_u64 << 53) as f64;
    Ok(number.into())
}

/// `encode(text)`: UTF-8 bytes, lone surrogates replaced.
fn utf8_encode(_: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = argument(arguments, 0).to_string(context)?.to_std_string_lossy();
    bytes_of(&text.into_bytes(), context)
}

/// A `Uint8Array` with these bytes. Set one by one they would take the engine a thousand times as long.
fn bytes_of(bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    let block = AlignedVec::from_slice(64, bytes);
    let buffer = JsArrayBuffer::from_byte_block(block, context)?;
    Ok(JsUint8Array::from_array_buffer(buffer, context)?.into())
}

/// The bytes of the `Uint8Array` that is the first argument.
fn bytes_from(arguments: &[JsValue], context: &mut Context) -> JsResult<Vec<u8>> {
    let array = argument(arguments, 0).as_object().map(JsUint8Array::from_object);
    match array {
        Some(array) => array?.to_vec(context),
        None => Err(JsNativeError::typ().with_message("a Uint8Array is needed").into()),
    }
}

/// `toBase64(bytes)`: in the engine itself each digit would copy all before it.
fn to_base64(_: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = BASE64.encode(bytes_from(arguments, context)?);
    Ok(JsString::from(JsStr::latin1(text.as_bytes())).into())
}

/// `fromBase64(text)`, with or without padding.
fn from_base64(_: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = argument(arguments, 0).to_string(context)?.to_std_string_lossy();
    match BASE64.decode(text) {
        Ok(bytes) => bytes_of(&bytes, context),
        Err(_) => Err(JsNativeError::syntax().with_message("the text is not base64").into()),
    }
}

/// `latin1(bytes)`: a text of one character a byte.
fn latin1(_: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Ok(JsString::from(JsStr::latin1(&bytes_from(arguments, context)?)).into())
}

/// `narrow(text)`: the bytes `latin1` makes the text of; undefined when there are none.
fn narrow(_: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = argument(arguments, 0).to_string(context)?;
    let bytes: Option<Vec<u8>> = text.iter().map(|unit| u8::try_from(unit).ok()).collect();
    bytes.map_or(Ok(JsValue::undefined()), |bytes| bytes_of(&bytes, context))
}

/// `collate(a, b, numeric, sensitivity, upperFirst)`: -1, 0 or 1; undefined for what is left to the prelude.
#[allow(clippy::unnecessary_wraps, reason = "the shape of every native")]
fn collate(_: &State, arguments: &[JsValue], _context: &mut Context) -> JsResult<JsValue> {
    let text = |index: usize| arguments.get(index).and_then(JsValue::as_string);
    let flag = |index: usize| arguments.get(index).is_some_and(JsValue::to_boolean);
    let order = || {
        let by = Sensitivity::named(&text(3)?.to_std_string().ok()?)?;
        collate::compare(text(0)?.as_str(), text(1)?.as_str(), flag(2), by, flag(4))
    };
    Ok(order().map_or(JsValue::undefined(), |order| JsValue::from(order as i8)))
}

/// `decode(bytes, fatal)`: text from UTF-8.
fn utf8_decode(_: &State, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let bytes = argument(arguments, 0);
    let array = bytes.as_object().and_then(|object| JsUint8Array::from_object(object.clone()).ok());
    let Some(array) = array else {
        return Err(JsNativeError::typ().with_message("TextDecoder needs a buffer or a typed array").into());
    };
    let bytes = array.to_vec(context)?;
    if argument(arguments, 1).to_boolean() && std::str::from_utf8(&bytes).is_err() {
        return Err(JsNativeError::typ()
            .with_message("The encoded data was not valid for encoding utf-8")
            .into());
    }
    Ok(JsString::from(String::from_utf8_lossy(&bytes).as_ref()).into())
}

/// Sets a global that scripts may overwrite but do not list.
pub fn define_global(name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    context.register_global_property(
        js_string!(name),
        value.into(),
        Attribute::WRITABLE | Attribute::CONFIGURABLE,
    )
}
