//! What of TypeScript is a statement or a class member of its own, or means code: overloads, `declare`,
//! `abstract`, index signatures, parameter properties, types in the holes of a template.
//!
//! Part of [`super::strip`], with the same rule: a wrong guess must end as a syntax error.

use super::strip::{MODIFIERS, Stripper};
use super::strip_lexer::{Kind, holes, tokens};
use std::fmt::Write as _;

/// Names of types that are no names of values.
pub const TYPE_NAMES: [&str; 14] = [
    "string", "number", "boolean", "any", "unknown", "never", "object", "bigint", "symbol", "Record",
    "Partial", "Readonly", "Pick", "Omit",
];

/// Names with a capital letter that a script may find as values.
const VALUE_NAMES: &str = "\
    AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array \
    Boolean DOMException DataCloneError DataView Date DisposableStack Error EvalError \
    FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array \
    Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError \
    Reflect RegExp Set ShadowRealm SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal \
    TextDecoder TextEncoder TypeError TypedArray URIError URL URLSearchParams Uint16Array Uint32Array \
    Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet WebAssembly";

/// Whether a script may find a value of this name.
pub(super) fn names_a_value(name: &str) -> bool {
    VALUE_NAMES.split(' ').any(|known| known == name)
}

/// Whether a source that parses as JavaScript holds calls with type arguments: `new Set<string>([])` is
/// two comparisons to a parser. It does when the brackets follow `new Name`, or when between them stands,
/// and nowhere else, a type nobody could have as a value, or a name with a capital letter: what nothing
/// declares cannot be compared either, so the comparison would only throw.
pub fn has_type_arguments(source: &str) -> bool {
    if !source.contains(">(") {
        return false;
    }
    let stripper = Stripper::new(source);
    let count = stripper.tokens.len();
    let mut inside = vec![false; count];
    let mut sure = false;
    let mut names = Vec::new();
    for at in 1..count {
        let adjacent = stripper.tokens[at - 1].end == stripper.tokens[at].start;
        let callee = stripper.word(at - 1) || stripper.is(at - 1, "]");
        if !stripper.is(at, "<") || !callee || !adjacent {
            continue;
        }
        let Some(end) = stripper.behind_angles(at).filter(|&end| stripper.is(end, "(")) else { continue };
        sure |= at > 1 && stripper.is(at - 2, "new");
        inside[at..end].fill(true);
        names.extend((at..end).filter(|&at| !stripper.is_property(at)).map(|at| &stripper.tokens[at].text));
    }
    let elsewhere = |name: &str, also_properties: bool| {
        (0..count)
            .any(|at| stripper.is(at, name) && !inside[at] && (also_properties || !stripper.is_property(at)))
    };
    // A global may be made by way of the global object, under a name that is put together.
    let no_globals = !["global", "this["].iter().any(|way| source.contains(way));
    let own_type =
        |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase()) && !names_a_value(name);
    sure || names.iter().any(|name| {
        (TYPE_NAMES.contains(&name.as_str()) && !elsewhere(name, false))
            || (no_globals && own_type(name) && !elsewhere(name, true))
    })
}

impl Stripper {
    /// Whether the word at `at` is the name of a property, in an access or a literal.
    fn is_property(&self, at: usize) -> bool {
        (at > 0 && self.any(at - 1, &[".", "?."])) || self.is(at + 1, ":")
    }

    /// Takes the types out of the expressions in templates.
    pub(super) fn strip_holes(&mut self) {
        for at in 0..self.tokens.len() {
            let (start, end) = (self.tokens[at].start, self.tokens[at].end);
            if self.tokens[at].kind != Kind::Literal || self.text[start] != '`' {
                continue;
            }
            for (from, to) in holes(&self.text, start, end) {
                let text = self.text[from..to].to_vec();
                let mut hole = Self { tokens: tokens(&text), text, blanked: false, added: Vec::new() };
                hole.walk();
                if hole.blanked {
                    self.text.splice(from..to, hole.text);
                    self.added.extend(hole.added.into_iter().map(|(at, code)| (from + at, code)));
                    self.blanked = true;
                }
            }
        }
    }

    /// Blanks the annotations of the bindings that a `const`, `let` or `var` in front of `at` declares.
    pub(super) fn declarators(&mut self, at: usize) {
        let mut next = Some(at);
        while let Some(end) = next.and_then(|binding| self.binding_end(binding)) {
            let rest = self.annotation(end);
            next = self.next_declarator(rest);
        }
    }

    /// Behind the comma after the declarator whose name and type end before `at`. What stands behind the
    /// end of a statement without a semicolon does no harm: a comma, a name and a colon follow each other
    /// in declarations only.
    fn next_declarator(&self, mut at: usize) -> Option<usize> {
        loop {
            if self.any(at, &["(", "[", "{"]) {
                at = self.behind(at)?;
            } else if self.is(at, ",") {
                return Some(at + 1);
            } else if at >= self.tokens.len() || self.any(at, &[";", ")", "]", "}"]) {
                return None;
            } else {
                at += 1;
            }
        }
    }

    /// Whether the types `at..end`, in angle brackets, are those of an assertion `<T>value`.
    pub(super) fn asserts(&self, at: usize, end: usize) -> bool {
        let value = self.tokens.get(end).is_some_and(|token| token.kind != Kind::Mark || token.text == "[");
        value && (at == 0 || !self.ends_expression(at - 1))
    }

    /// A type that may be conditional (`A extends B ? C : D`).
    pub(super) fn whole_type_end(&self, at: usize) -> Option<usize> {
        let end = self.type_end(at)?;
        if !self.is(end, "extends") {
            return Some(end);
        }
        let test = self.type_end(end + 1)?;
        let yes = self.is(test, "?").then(|| self.whole_type_end(test + 1))??;
        if self.is(yes, ":") { self.whole_type_end(yes + 1) } else { None }
    }

    /// Behind the head `name<T>(…): type` at `name`, without its body.
    fn head_end(&self, mut at: usize) -> Option<usize> {
        if self.is(at, "<") {
            at = self.behind_angles(at)?;
        }
        let end = if self.is(at, "(") { self.behind(at)? } else { return None };
        if self.is(end, ":") { self.type_end(end + 1) } else { Some(end) }
    }

    /// Behind the end of a statement at `at`: a semicolon, or a line break or brace that stands for one.
    fn statement_end(&self, at: usize) -> Option<usize> {
        match self.tokens.get(at) {
            None => Some(at),
            Some(token) if token.text == ";" => Some(at + 1),
            Some(token) if token.text != "{" && (token.after_newline || token.text == "}") => Some(at),
            Some(_) => None,
        }
    }

    /// Behind a statement that is nothing but types, when one starts at `at`.
    pub(super) fn typed_statement(&self, at: usize) -> Option<usize> {
        match self.tokens[at].text.as_str() {
            "declare" if self.any(at + 1, &["const", "let", "var"]) => {
                let end = self.binding_end(at + 2)?;
                let end = if self.is(end, ":") { self.type_end(end + 1)? } else { end };
                self.statement_end(end)
            }
            "declare" | "async" if self.is(at + 1, "function") => self.statement_end(self.head_end(at + 3)?),
            "declare" if self.any(at + 1, &["global", "module", "namespace", "class"]) => {
                let open = (at..self.tokens.len()).find(|&open| self.is(open, "{"))?;
                self.behind(open)
            }
            "function" => self.statement_end(self.head_end(at + 2)?),
            "import" if self.is(at + 1, "type") && !self.is(at + 2, "from") => {
                let from = (at..self.tokens.len()).find(|&from| self.is(from, "from"))?;
                self.statement_end(from + 2)
            }
            _ => None,
        }
    }

    /// Behind a class member that is nothing but types, when one starts at `at`.
    pub(super) fn typed_member(&self, at: usize) -> Option<usize> {
        if !(at > 0 && self.any(at - 1, &[";", "{", "}"]) || self.any(at, &["declare", "abstract"])) {
            return None;
        }
        let mut name = at;
        while (self.any(name, &MODIFIERS) || self.any(name, &["static", "async", "declare"]))
            && (self.word(name + 1) || self.is(name + 1, "["))
        {
            name += 1;
        }
        if self.is(name, "[") {
            let signature = self.word(name + 1) && self.is(name + 2, ":");
            let end = self.behind(name).filter(|&end| signature && self.is(end, ":"))?;
            return self.statement_end(self.type_end(end + 1)?);
        }
        if !self.word(name) {
            return None;
        }
        if let Some(end) = self.head_end(name + 1) {
            return self.statement_end(end);
        }
        let bodiless = (at..name).any(|at| self.any(at, &["declare", "abstract"]));
        let colon = if self.any(name + 1, &["?", "!"]) { name + 2 } else { name + 1 };
        let end = if bodiless && self.is(colon, ":") { self.type_end(colon + 1)? } else { return None };
        self.statement_end(end)
    }

    /// Says in the constructor whose body opens at `open` what its parameter properties mean.
    pub(super) fn assign(&mut self, open: usize, names: &[String]) {
        let Some(end) = self.behind(open).filter(|_| !names.is_empty()) else { return };
        let mut place = self.tokens[open].end;
        let call = (open..end).find(|&at| self.is(at, "super") && self.is(at + 1, "("));
        if let Some(behind) = call.and_then(|at| self.behind(at + 1)) {
            let last = if self.is(behind, ";") { behind } else { behind - 1 };
            place = self.tokens[last].end;
        }
        let mut code = String::from(if call.is_some() { ";" } else { "" });
        for name in names {
            let _ = write!(code, "this.{name}={name};");
        }
        self.added.push((place, code));
    }
}
