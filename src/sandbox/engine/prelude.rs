//! What a script finds besides the language itself, written in JavaScript (`prelude/`).
//!
//! Reading it is most of what starting an engine costs, so it comes in two steps: the [`CORE`] before
//! anything else, the [`REST`] when there is time. A script that comes in between gets what it may touch
//! first, told by its text: a global has no name but its own, and the few ways around that are words as
//! well ([`AROUND`]). So no script ever finds a part missing, and none can have one made: that is done
//! before it begins. Only a `toLocale…` method called by a name put together at run time makes its parts
//! while the script runs; and only the class of a date that a tool gave, got by such a name, reads no
//! more date texts than the engine does.

use boa_engine::object::JsObject;
use boa_engine::{Context, JsResult, JsValue, Source};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

const CORE: [(&str, &str); 3] = [
    ("values", include_str!("prelude/values.js")),
    ("world", include_str!("prelude/world.js")),
    ("locale", include_str!("prelude/locale.js")),
];

/// A part that can wait.
struct Part {
    name: &'static str,
    text: &'static str,
    /// A script that has none of these in its text does not touch it.
    words: &'static [&'static str],
}

/// These four are of use only together.
const INTL: &[&str] = &["Intl", "toLocale", "localeCompare"];

/// In the order they are made; each may need those before it that have the same words.
const REST: [Part; 9] = [
    Part { name: "json", text: include_str!("prelude/json.js"), words: &["JSON"] },
    // A tool may give a date, which knows its class.
    Part { name: "parse", text: include_str!("prelude/parse.js"), words: &["Date", "constructor"] },
    Part { name: "console", text: include_str!("prelude/console.js"), words: &["console"] },
    Part {
        name: "text",
        text: include_str!("prelude/text.js"),
        words: &["TextEncoder", "TextDecoder", "atob", "btoa", "crypto"],
    },
    Part { name: "url", text: include_str!("prelude/url.js"), words: &["URL"] },
    Part { name: "numbers", text: include_str!("prelude/numbers.js"), words: INTL },
    Part { name: "dates", text: include_str!("prelude/dates.js"), words: INTL },
    Part { name: "words", text: include_str!("prelude/words.js"), words: INTL },
    Part { name: "intl", text: include_str!("prelude/intl.js"), words: INTL },
];

/// How a text may speak of a global without naming it: by the global object (`globalThis`, `global`, and
/// `this` of sloppy functions) or by a name with escapes. Code made from strings is refused.
const AROUND: [&str; 3] = ["global", "this", "\\u"];

/// What the parts are made with, kept by the context.
struct Making {
    native: JsObject,
    shared: JsObject,
    made: [Cell<bool>; REST.len()],
}

impl Making {
    /// Evaluates a part: a function of the natives and of the object the parts share.
    fn evaluate(&self, name: &str, text: &str, context: &mut Context) -> JsResult<()> {
        let path = format!("prelude:{name}");
        let part = context.eval(Source::from_bytes(text.as_bytes()).with_path(Path::new(&path)))?;
        let part = part.as_callable().unwrap_or_else(|| panic!("prelude {name} is no function"));
        let arguments = [self.native.clone().into(), self.shared.clone().into()];
        part.call(&JsValue::undefined(), &arguments, context).map(drop)
    }

    fn make(&self, at: usize, context: &mut Context) -> JsResult<()> {
        self.evaluate(REST[at].name, REST[at].text, context)?;
        self.made[at].set(true);
        Ok(())
    }

    fn missing(&self) -> impl Iterator<Item = usize> {
        (0..REST.len()).filter(|&at| !self.made[at].get())
    }
}

fn making(context: &Context) -> Rc<Making> {
    Rc::clone(context.get_data::<Rc<Making>>().expect("stored when the context was built"))
}

/// Evaluates what no script goes without, and gives the object the parts share.
pub fn core(native: JsObject, context: &mut Context) -> JsResult<JsObject> {
    let making = Making { native, shared: JsObject::with_null_proto(), made: Default::default() };
    for (name, text) in CORE {
        making.evaluate(name, text, context)?;
    }
    let shared = making.shared.clone();
    context.insert_data(Rc::new(making));
    Ok(shared)
}

/// Makes one more part; false when none is missing.
pub fn step(context: &mut Context) -> JsResult<bool> {
    let making = making(context);
    let next = making.missing().next();
    next.map_or(Ok(false), |at| making.make(at, context).map(|()| true))
}

/// Makes every part that is missing.
pub fn rest(context: &mut Context) -> JsResult<()> {
    while step(context)? {}
    Ok(())
}

/// Makes the parts that a script of this text may touch.
pub fn for_source(source: &str, context: &mut Context) -> JsResult<()> {
    let making = making(context);
    let has = |words: &[&str]| words.iter().any(|word| source.contains(word));
    let around = making.missing().next().is_some() && has(&AROUND);
    let wanted: Vec<usize> = making.missing().filter(|&at| around || has(REST[at].words)).collect();
    wanted.into_iter().try_for_each(|at| making.make(at, context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::engine::Engine;

    fn missing(context: &Context) -> Vec<&'static str> {
        making(context).missing().map(|at| REST[at].name).collect()
    }

    fn globals(context: &mut Context) -> Vec<String> {
        let names = context.global_object().own_property_keys(context).unwrap();
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_part_gives_no_global_that_is_not_among_its_words() {
        let mut context = Engine::warm().context;
        let mut before = globals(&mut context);
        for part in &REST {
            assert!(step(&mut context).unwrap());
            for name in globals(&mut context) {
                let told = part.words.iter().any(|word| name.contains(word));
                assert!(before.contains(&name) || told, "{} gives {name}", part.name);
            }
            before = globals(&mut context);
        }
        assert!(!step(&mut context).unwrap());
    }

    #[test]
    fn only_what_a_text_speaks_of_is_made() {
        let intl = ["numbers", "dates", "words", "intl"];
        let others = ["json", "parse", "console", "text", "url"];
        for (source, left) in [
            ("return 1", [&others[..], &intl].concat()),
            ("return (5).toLocaleString()", others.to_vec()),
            ("console.log(new URL('http://a'))", [&["json", "parse", "text"][..], &intl].concat()),
            ("return new Date('Nov 5, 2024')", [&["json", "console", "text", "url"][..], &intl].concat()),
            ("return JSON.stringify(tools)", [&others[1..], &intl].concat()),
            ("return globalThis", vec![]),
            ("return th\\u0069s", vec![]),
        ] {
            let mut context = Engine::warm().context;
            for_source(source, &mut context).unwrap();
            assert_eq!(missing(&context), left, "{source}");
        }
    }
}
