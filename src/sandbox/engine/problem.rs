//! From what was thrown to what the model reads.

use super::added::Place;
use super::places::{self, Deed, Found};
use super::source::Prepared;
use super::state::State;
use super::strip::TYPE_NAMES;
use boa_engine::builtins::error::Error as ErrorData;
use boa_engine::object::JsObject;
use boa_engine::{Context, JsError, JsString, JsValue};
use regex::Regex;
use std::fmt::{Debug, Write as _};
use std::sync::LazyLock;

/// Characters of a message that leave the sandbox.
const MAX_MESSAGE: usize = 8 * 1024;

/// Bytes of a name that are shown.
const MAX_NAME: usize = 200;

/// Places worth naming when one of them must be it.
const MAX_PLACES: usize = 3;

/// Globals worth naming to a model that reached for one that is not there.
const GLOBALS: &str = "tools, console, setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, \
     queueMicrotask, performance, process, structuredClone, URL, URLSearchParams, \
     TextEncoder, TextDecoder, atob, btoa, crypto.randomUUID, Intl, JSON, Math, Date, Promise";

/// Why a script ended badly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `execution-failed` or `sandbox-violation`.
    pub kind: &'static str,
    /// For the model.
    pub message: String,
}

impl Problem {
    /// An ordinary failure.
    pub fn failed(message: impl Into<String>) -> Self {
        Self { kind: "execution-failed", message: message.into() }
    }
}

/// What an error says, without position or hints.
pub fn message_of(error: &JsError, context: &mut Context) -> String {
    match error.clone().into_opaque(context) {
        Ok(value) => text_of(&value, context),
        Err(engine) => engine_text(&engine),
    }
}

fn engine_text(error: &JsError) -> String {
    let text = error.to_string();
    if text.contains("recursive calls") || text.contains("call stack") || text.contains("stack size") {
        "RangeError: Maximum call stack size exceeded".to_owned()
    } else if text.starts_with("EnginePanic") {
        // Seen when an async function calls itself without end: its steps use up the stack.
        "the engine gave up on the script; endless recursion of an async function does that".to_owned()
    } else {
        text.lines().next().unwrap_or_default().to_owned()
    }
}

fn text_of(value: &JsValue, context: &mut Context) -> String {
    if let Some(object) = value.as_object()
        && object.is::<ErrorData>()
    {
        for key in ["message", "name"] {
            let text = read(&object, key, context).unwrap_or_default();
            if !text.is_empty() {
                return cut(text);
            }
        }
        return "Error".to_owned();
    }
    let text = value
        .to_string(context)
        .map_or_else(|_| "a value that has no text was thrown".to_owned(), |text| text.to_std_string_lossy());
    if text == "[object Object]"
        && let Ok(Some(json)) = value.to_json(context)
    {
        return cut(json.to_string());
    }
    cut(text)
}

/// The last character boundary at or before `at`.
pub fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_MESSAGE {
        text.truncate(boundary(&text, MAX_MESSAGE));
        text.push('…');
    }
    text
}

/// As much of a name of the script's as a message needs.
fn shown(name: &str) -> &str {
    &name[..boundary(name, MAX_NAME)]
}

fn read(object: &JsObject, key: &str, context: &mut Context) -> Option<String> {
    let value = object.get(JsString::from(key), context).ok()?;
    if value.is_undefined() { None } else { Some(value.to_string(context).ok()?.to_std_string_lossy()) }
}

/// How the engine says that there is no object.
const NOTHING: &str = "cannot convert 'null' or 'undefined' to object";

/// Explains a thrown value: the kind, its message, where it came from, what to do about it.
pub fn of_value(value: &JsValue, state: &State, script: &Script<'_>, context: &mut Context) -> Problem {
    let mut message = text_of(value, context);
    let Some(object) = value.as_object() else { return script.thrown(message) };
    if state.denied.borrow().iter().any(|own| JsObject::equals(own, &object)) {
        return Problem { kind: "sandbox-violation", message };
    }
    let Some(found) = object.downcast_ref::<ErrorData>().map(|error| script.find(&error, &message)) else {
        return script.thrown(message);
    };
    let name = read(&object, "name", context).unwrap_or_default();
    let deed = found.first().filter(|_| found.len() == 1).and_then(|found| found.deed.as_ref());
    if let Some(text) = script.reworded(&message, deed) {
        message = text;
    }
    if let Some(hint) = script.hint(&name, &message, deed) {
        message.push_str(&hint);
    }
    script.push_found(&mut message, &found);
    Problem::failed(message)
}

/// Adds where it was, or could have been.
fn push_places(message: &mut String, places: &[Place]) {
    let places: Vec<String> =
        places.iter().map(|(line, column)| format!("line {line}, column {column}")).collect();
    if !places.is_empty() && places.len() <= MAX_PLACES {
        let _ = write!(message, " ({})", places.join(" or "));
    }
}

/// Explains an error of the engine's API.
pub fn of_error(error: JsError, state: &State, script: &Script<'_>, context: &mut Context) -> Problem {
    match error.into_opaque(context) {
        Ok(value) => of_value(&value, state, script, context),
        Err(engine) => {
            let mut message = engine_text(&engine);
            let found = script.find(&engine, &message);
            script.push_found(&mut message, &found);
            Problem::failed(message)
        }
    }
}

/// What places and hints need to know about the script.
pub struct Script<'a> {
    /// Its source.
    pub source: &'a str,
    /// Its tools.
    pub tools: &'a [String],
    /// What the engine was given of it.
    pub prepared: &'a Prepared,
}

static TOOL_USE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\btools\s*(?:\.\s*([A-Za-z_$][\w$]*)|\[\s*["'`]([^"'`]+)["'`]\s*\])"#)
        .expect("a valid pattern")
});
/// What is worth to be named as what was called. Not what takes functions itself, and says the same of them.
static CALLEE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^[a-z_$][\w$]*(?:\??\.[\w$]+|\[[\w$"']{1,40}\]|\(\))*$"#).expect("a valid pattern")
});
static UNDEFINED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^([A-Za-z_$][\w$]*) is not defined$").expect("a valid pattern"));

impl Script<'_> {
    fn find(&self, note: &impl Debug, message: &str) -> Vec<Found> {
        places::of_error(note, message, &self.prepared.code)
    }

    fn push_found(&self, message: &mut String, found: &[Found]) {
        let places: Vec<Place> = found.iter().filter_map(|found| self.prepared.place(found.at)).collect();
        push_places(message, &places);
    }

    /// The problem of a thrown value that is no error, and so knows of no place.
    fn thrown(&self, mut message: String) -> Problem {
        let places = places::of_throw(&message, &self.prepared.code);
        let places: Vec<Place> = places.into_iter().filter_map(|at| self.prepared.place(at)).collect();
        push_places(&mut message, &places);
        Problem::failed(message)
    }

    /// The engine's message with the names it leaves out.
    fn reworded(&self, message: &str, deed: Option<&Deed>) -> Option<String> {
        let name = |name: &Option<String>| {
            name.as_ref()
                .map_or_else(|| "a property".to_owned(), |name| format!("property '{}'", shown(name)))
        };
        match (message, deed) {
            (NOTHING, Some(Deed::Read { name: field, .. })) => {
                Some(format!("cannot read {} of null or undefined", name(field)))
            }
            (NOTHING, Some(Deed::Write(field))) => {
                Some(format!("cannot set {} of null or undefined", name(field)))
            }
            (NOTHING, Some(Deed::Iterate)) => Some("null or undefined is not iterable".to_owned()),
            (NOTHING, _) => Some("cannot convert null or undefined to an object".to_owned()),
            (_, Some(Deed::Early(name))) => {
                Some(format!("cannot access '{}' before it is declared", shown(name)))
            }
            ("not a callable function", Some(Deed::Call(from, to))) => {
                let callee = self.prepared.text(*from, *to).filter(|text| CALLEE.is_match(text))?;
                (callee.len() <= MAX_NAME).then(|| format!("{callee} is not a function"))
            }
            _ => None,
        }
    }

    /// The name of a tool there is none of, when it is one that was called or read from: as
    /// `tools.<name>`, or as a variable that holds that.
    fn unknown_tool(&self, deed: Option<&Deed>) -> Option<String> {
        let used = |text: &str| {
            let captures = TOOL_USE.captures(text)?;
            Some(captures.get(1).or(captures.get(2))?.as_str().to_owned())
        };
        let target = match deed? {
            Deed::Call(from, to) | Deed::Read { target: (from, to), .. } => self.prepared.text(*from, *to)?,
            _ => return None,
        };
        let name = used(&target).or_else(|| {
            let variable = regex::escape(&target);
            let held = Regex::new(&format!(r"\b{variable}\s*=\s*(tools\s*[.\[][^\n;,]*)")).ok()?;
            used(&held.captures(self.source)?[1])
        })?;
        (!self.tools.contains(&name)).then_some(name)
    }

    /// Advice for an error the model can mend.
    fn hint(&self, name: &str, message: &str, deed: Option<&Deed>) -> Option<String> {
        if name == "TypeError" {
            return self.unknown_tool(deed).map(|used| {
                let some: Vec<&str> = self.tools.iter().take(30).map(String::as_str).collect();
                let more = if self.tools.len() > 30 { ", …" } else { "" };
                let list = if some.is_empty() { "none".to_owned() } else { some.join(", ") };
                format!(". There is no tool named \"{}\"; the tools are: {list}{more}", shown(&used))
            });
        }
        if name == "ReferenceError" && UNDEFINED.is_match(message) {
            let hint = if self.tools.iter().any(|tool| message.starts_with(&format!("{tool} is"))) {
                ". Tools are called as tools.<name>(…)".to_owned()
            } else if TYPE_NAMES.iter().any(|name| message.starts_with(&format!("{name} is"))) {
                ". It is a TypeScript type that was not understood as one there: write that part as plain \
                 JavaScript, without types"
                    .to_owned()
            } else {
                format!(". Available globals: {GLOBALS}")
            };
            return Some(hint);
        }
        None
    }
}
