//! One script from start to its final frame.

use super::problem::{self, Problem, Script};
use super::source::{self, Prepared};
use super::value::{self, Codec};
use super::{Engine, natives};
use crate::sandbox::wire::json;
use crate::sandbox::wire::{Format, Mode, Received, Start, frame};
use boa_engine::builtins::promise::PromiseState;
use boa_engine::job::JobExecutor;
use boa_engine::object::JsObject;
use boa_engine::object::builtins::JsPromise;
use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsError, JsNativeError, JsResult, JsString, JsValue, Source, js_string};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

/// How a run ends.
enum End {
    Output(Format, Vec<u8>),
    Failed(Problem),
    /// The host is gone; nobody is left to tell.
    Abandoned,
}

/// Runs and sends the final frame. A panic of the engine becomes a failure like any other.
pub fn run(engine: &mut Engine, start: &Start) {
    let end = catch_unwind(AssertUnwindSafe(|| evaluate(engine, start))).unwrap_or_else(|_| {
        End::Failed(Problem::failed(
            "the script made the engine fail (an internal error): write that part differently",
        ))
    });
    engine.state.flush();
    match end {
        End::Output(format, bytes) => {
            let mut payload = Vec::with_capacity(bytes.len() + 1);
            payload.push(format as u8);
            payload.extend_from_slice(&bytes);
            engine.state.port(|port| port.send(frame::RESULT, &payload));
        }
        End::Failed(problem) => {
            let mut payload = b"{\"kind\":".to_vec();
            json::push_units(&mut payload, problem.kind.encode_utf16());
            payload.extend_from_slice(b",\"message\":");
            json::push_units(&mut payload, problem.message.encode_utf16());
            payload.push(b'}');
            engine.state.port(|port| port.send(frame::FAILURE, &payload));
        }
        End::Abandoned => {}
    }
}

fn evaluate(engine: &mut Engine, start: &Start) -> End {
    let prepared = match source::prepare(&start.source, start.mode) {
        Ok(prepared) => prepared,
        Err(problem) => return End::Failed(Problem::failed(problem.0)),
    };
    let tools: Vec<String> = start.tools.iter().map(super::super::wire::Text::to_utf8).collect();
    let text = start.source.to_utf8();
    let script = Script { source: &text, tools: &tools, prepared: &prepared };
    let failed = |error: JsError, engine: &mut Engine| {
        End::Failed(problem::of_error(error, &engine.state, &script, &mut engine.context))
    };
    let main = match begin(engine, start, &prepared) {
        Ok(main) => main,
        Err(error) => return failed(error, engine),
    };
    if let Some(end) = drive(engine, &main, &script) {
        return end;
    }
    match main.state() {
        PromiseState::Fulfilled(output) => {
            match value::encode(&output, start.max_output, start.max_parts, &mut engine.context) {
                Ok((format, bytes)) => End::Output(format, bytes),
                Err(message) => {
                    End::Failed(Problem::failed(format!("the script's result cannot be returned: {message}")))
                }
            }
        }
        PromiseState::Rejected(reason) => {
            End::Failed(problem::of_value(&reason, &engine.state, &script, &mut engine.context))
        }
        PromiseState::Pending => End::Abandoned,
    }
}

/// Evaluates the script; its promise stands for the whole run.
fn begin(engine: &mut Engine, start: &Start, prepared: &Prepared) -> JsResult<JsPromise> {
    let context = &mut engine.context;
    if let Some(input) = &start.input {
        natives::define_global("__GRAPHORIN_INPUT__", value::js_text(input), context)?;
    }
    let code = Source::from_utf16(&prepared.code).with_path(Path::new(source::PATH));
    let value = context.eval(code)?;
    let value = if prepared.function {
        let function =
            value.as_callable().ok_or_else(|| JsNativeError::syntax().with_message("no function"))?;
        let arguments = if start.mode == Mode::Body {
            let names: Vec<JsString> = start.tools.iter().map(value::js_text).collect();
            vec![natives::tools(&names, context)?.into()]
        } else {
            Vec::new()
        };
        function.call(&JsValue::undefined(), &arguments, context)?
    } else {
        value
    };
    JsPromise::resolve(value, context)
}

/// Turns until the script's promise is settled: jobs, then whatever comes first of answers and timers.
/// Gives an end when there is one other than that promise.
fn drive(engine: &mut Engine, main: &JsPromise, script: &Script<'_>) -> Option<End> {
    let state = Rc::clone(&engine.state);
    let whole: JsObject = main.clone().into();
    let mut idle_told = false;
    loop {
        if let Err(error) = Rc::clone(&engine.queue).run_jobs(&mut engine.context) {
            return Some(End::Failed(problem::of_error(error, &state, script, &mut engine.context)));
        }
        if !matches!(main.state(), PromiseState::Pending) {
            return None;
        }
        let unhandled = state.unhandled.take();
        if let Some((_, reason)) = unhandled.iter().find(|(promise, _)| !JsObject::equals(promise, &whole)) {
            return Some(End::Failed(problem::of_value(reason, &state, script, &mut engine.context)));
        }
        let now = Instant::now();
        if let Some(timer) = state.take_due(now) {
            if let Err(error) =
                timer.callback.call(&JsValue::undefined(), &timer.arguments, &mut engine.context)
            {
                return Some(End::Failed(problem::of_error(error, &state, script, &mut engine.context)));
            }
            continue;
        }
        state.flush();
        let due = state.next_due();
        if due.is_none() && state.open.borrow().is_empty() && !idle_told {
            idle_told = true;
            state.port(|port| port.send(frame::IDLE, &[]));
        }
        let wait = due.map(|due| due.saturating_duration_since(now));
        match state.port(|port| port.receive(wait)) {
            Some(Received::Frame(frame::ANSWERS, payload)) => answer(engine, &payload),
            Some(Received::Timeout) => {}
            Some(Received::Frame(..) | Received::Closed) | None => return Some(End::Abandoned),
        }
    }
}

fn answer(engine: &mut Engine, payload: &[u8]) {
    let state = Rc::clone(&engine.state);
    let context = &mut engine.context;
    for answer in frame::Answers::new(payload) {
        let outcome = |error: &JsObject, context: &mut Context| {
            if !answer.ok {
                return Err(told(error, &String::from_utf8_lossy(answer.bytes), context));
            }
            value::decode(answer.format, answer.bytes, context).map_err(|problem| {
                let message = problem::message_of(&problem, context);
                told(error, &format!("tool result is not serialisable: {message}"), context)
            })
        };
        state.settle(answer.id, outcome, context);
    }
}

/// An error with its message, which is a property like that of any other error.
fn told(error: &JsObject, message: &str, context: &mut Context) -> JsValue {
    let property = PropertyDescriptor::builder()
        .value(JsString::from(message))
        .writable(true)
        .configurable(true)
        .enumerable(false);
    // Nobody has seen the error yet, so nothing keeps it from being given one.
    let _ = error.define_property_or_throw(js_string!("message"), property, context);
    error.clone().into()
}

/// Keeps the prelude's codec where the values room finds it.
pub fn keep_codec(context: &mut Context, shared: &JsObject) -> JsResult<()> {
    let mut function = |name: &str| -> JsResult<JsObject> {
        let value = shared.get(JsString::from(name), context)?;
        value
            .as_callable()
            .ok_or_else(|| JsNativeError::typ().with_message("the prelude has no codec").into())
    };
    let codec = Codec { encode: function("encode")?, decode: function("decode")? };
    context.insert_data(codec);
    Ok(())
}
