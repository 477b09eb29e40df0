//! From what a model wrote to something the engine can evaluate, keeping the model's own positions.
//!
//! The body of the function starts on its own line, so the engine's line numbers are the model's plus
//! one; everything that is taken away (fences, type annotations) leaves blanks behind, and what is added
//! (see [`gaps`], [`places`]) is told as [`Added`], so that [`Prepared::place`] can tell the model's columns.

use super::added::{self, Added, Place};
use super::{gaps, places, refused, rest, strip, syntax};
use crate::sandbox::wire::{Mode, Text};
use boa_engine::ast::function::AsyncFunctionExpression;
use boa_engine::ast::scope::Scope;
use boa_engine::ast::{Expression, Statement, StatementListItem};
use boa_engine::interner::Interner;
use boa_engine::parser::{Parser, Source};

/// Name of the script in stack traces.
pub const PATH: &str = "script.js";

/// Source ready for the engine.
#[derive(Debug)]
pub struct Prepared {
    /// What to evaluate.
    pub code: Vec<u16>,
    /// Whether `code` is an async function to call, or a script of its own.
    pub function: bool,
    /// What was added to the model's code when its types were taken out.
    stripped: Added,
    /// Lines the engine counts before the model's first one.
    offset: u32,
    /// The code before gaps of the engine were mended in it.
    unmended: Vec<u16>,
    /// What was added then, in the order it was.
    added: Vec<Added>,
    /// What is still to be added: see [`places::marks`].
    marks: Vec<(usize, String)>,
}

impl Prepared {
    /// Where a place of the code is in the model's source; `None` for what is not the model's.
    pub fn place(&self, place: Place) -> Option<Place> {
        let (line, column) = self.unmended(place);
        let line = line.checked_sub(self.offset).filter(|&line| line > 0)?;
        Some(self.stripped.before((line, column)))
    }

    /// The code between two places of it, without what was added.
    pub fn text(&self, from: Place, to: Place) -> Option<String> {
        let index = |place| added::index_of(&self.unmended, self.unmended(place));
        self.unmended.get(index(from)?..index(to)?).map(String::from_utf16_lossy)
    }

    /// Where a place of the code was before gaps were mended.
    fn unmended(&self, place: Place) -> Place {
        self.added.iter().rev().fold(place, |place, added| added.before(place))
    }
}

/// A source that does not parse: the engine's text in the model's positions, with a hint.
#[derive(Debug)]
pub struct SyntaxProblem(pub String);

/// Makes a source ready: as it is, else without prose around a fenced block, else without types.
pub fn prepare(source: &Text, mode: Mode) -> Result<Prepared, SyntaxProblem> {
    let mut prepared = readable(source, mode)?;
    for mended in [rest::mended, gaps::exits_mended, gaps::mended, gaps::growing_mended] {
        // Should an addition not fit where it stands, the engine's own reading is the better one.
        if let Some((code, added)) = mended(&prepared.code)
            && let Ok(marks) = parses(&code, prepared.function)
        {
            prepared.marks = marks;
            prepared.code = code;
            prepared.added.push(added);
        }
    }
    let marks = std::mem::take(&mut prepared.marks);
    if !marks.is_empty() {
        let (code, added) = added::insert(&prepared.code, marks);
        // Should a mark not fit where it stands, the script is better off without.
        if parses(&code, prepared.function).is_ok() {
            prepared.code = code;
            prepared.added.push(added);
        }
    }
    Ok(prepared)
}

fn readable(source: &Text, mode: Mode) -> Result<Prepared, SyntaxProblem> {
    let given = units(source);
    let plain = without_fences(&given);
    if let Some(code) = strip::type_arguments_gone(&plain)
        && let Ok(prepared) = ready(code, mode)
    {
        return Ok(prepared);
    }
    let problem = match ready((plain.clone(), Added::default()), mode) {
        Ok(prepared) => return Ok(prepared),
        Err(problem) => problem,
    };
    let whole = strip::types_gone(&plain);
    let typed = whole.as_ref().map(Option::is_some).map_err(Clone::clone);
    if let Ok(Some(stripped)) = whole {
        match ready(stripped, mode) {
            Ok(prepared) => return Ok(prepared),
            // The types are no longer what is wrong.
            Err(refusal) if refusal.starts_with(refused::USING) => {
                return Err(SyntaxProblem(format!("SyntaxError: {}", syntax::shift(&refusal))));
            }
            Err(_) => {}
        }
    }
    let text = String::from_utf16_lossy(&given);
    let mut in_fences = None;
    for inner in fenced_parts(&text) {
        let inner: Vec<u16> = inner.encode_utf16().collect();
        let whole = strip::types_gone(&inner);
        let typed = whole.as_ref().map(Option::is_some).map_err(Clone::clone);
        for candidate in whole.ok().flatten().into_iter().chain([(inner.clone(), Added::default())]) {
            match ready(candidate, mode) {
                Ok(prepared) => return Ok(prepared),
                Err(problem) => {
                    in_fences.get_or_insert((problem, inner.clone(), typed.clone()));
                }
            }
        }
    }
    // What does not parse before the first fence is prose, and the mistake is in the block.
    let before_fences = syntax::line(&problem)
        .is_some_and(|line| text.lines().take(line as usize).all(|line| fence(line).is_none()));
    if let Some((problem, inner, typed)) = in_fences.filter(|_| before_fences) {
        return Err(SyntaxProblem(syntax::explain(&problem, &inner, &typed)));
    }
    Err(SyntaxProblem(syntax::explain(&problem, &plain, &typed)))
}

/// A source that is JavaScript, as a script of its own when it is to be one and can, else as a body.
fn ready((code, stripped): (Vec<u16>, Added), mode: Mode) -> Result<Prepared, String> {
    if mode == Mode::Script && parses(&code, false).is_ok() {
        return Ok(Prepared {
            unmended: code.clone(),
            code,
            function: false,
            stripped,
            offset: 0,
            added: Vec::new(),
            marks: Vec::new(),
        });
    }
    let code = wrap(&code);
    let marks = parses(&code, true)?;
    Ok(Prepared {
        unmended: code.clone(),
        code,
        function: true,
        stripped,
        offset: 1,
        added: Vec::new(),
        marks,
    })
}

/// The units of a text. A lone carriage return ends a line, also inside of a template's text, where it
/// counts as a line feed; the engine counts lines by line feeds.
fn units(text: &Text) -> Vec<u16> {
    let mut units: Vec<u16> = match text {
        Text::Latin1(bytes) => bytes.iter().map(|&byte| u16::from(byte)).collect(),
        Text::Wide(wide) => wide.clone(),
    };
    let [return_, feed] = [b'\r', b'\n'].map(u16::from);
    for at in 0..units.len() {
        if units[at] == return_ && units.get(at + 1) != Some(&feed) {
            units[at] = feed;
        }
    }
    units
}

fn wrap(body: &[u16]) -> Vec<u16> {
    let mut code: Vec<u16> = "(async function(tools){\"use strict\";\n".encode_utf16().collect();
    code.extend_from_slice(body);
    code.extend("\n})".encode_utf16());
    code
}

/// Parses, and for a wrapped body makes sure that it stayed inside its function. Gives the marks for such a
/// body; a script of its own gets none, since they would change what it evaluates to.
fn parses(code: &[u16], wrapped: bool) -> Result<Vec<(usize, String)>, String> {
    let mut interner = Interner::default();
    let script = Parser::new(Source::from_utf16(code))
        .parse_script(&Scope::new_global(), &mut interner)
        .map_err(|error| error.to_string())?;
    if let Some(problem) = refused::problem(&script, code, &interner) {
        return Err(problem);
    }
    if !wrapped {
        return Ok(Vec::new());
    }
    if only_function(script.statements().statements()).is_none() {
        return Err("unexpected token '}'".to_owned());
    }
    Ok(places::marks(&script, code))
}

/// The function of a script that is `(async function …)` and nothing else, so that the body stayed inside.
fn only_function(items: &[StatementListItem]) -> Option<&AsyncFunctionExpression> {
    let [StatementListItem::Statement(statement)] = items else { return None };
    let Statement::Expression(Expression::Parenthesized(inner)) = statement.as_ref() else { return None };
    match inner.expression() {
        Expression::AsyncFunctionExpression(function) => Some(function),
        _ => None,
    }
}

/// The character and the length of the fence a line starts with: three or more backticks or tildes.
fn fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|&char| char == mark).count();
    (length >= 3).then_some((mark, length))
}

/// Whether a line closes the fence that was opened.
fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim();
    line.chars().count() >= length && line.chars().all(|char| char == mark)
}

/// A source that is one fenced block, without its fences (their lines stay, empty). The last line is what
/// closes it: a fence before that may stand in a comment.
fn without_fences(source: &[u16]) -> Vec<u16> {
    let text = String::from_utf16_lossy(source);
    let lines: Vec<&str> = text.split('\n').collect();
    let filled = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(filled) else { return source.to_vec() };
    let Some(opened) = fence(lines[first]) else { return source.to_vec() };
    let last = lines.iter().rposition(filled).filter(|&at| at > first && closes(lines[at], opened));
    let kept: Vec<&str> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| if at == first || Some(at) == last { "" } else { *line })
        .collect();
    kept.join("\n").encode_utf16().collect()
}

/// Fences that are tried as the end of a block.
const MAX_FENCES: usize = 16;

/// What may be the code of a text with prose around its first fenced block: up to each line that could
/// close it, the nearest first.
fn fenced_parts(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let Some(open) = lines.iter().position(|line| fence(line).is_some()) else { return Vec::new() };
    let Some(opened) = fence(lines[open]) else { return Vec::new() };
    let closing = (open + 1..lines.len()).filter(|&at| closes(lines[at], opened)).take(MAX_FENCES);
    let part = |close: usize| {
        let inside = |(at, line): (usize, &&str)| {
            if at > open && at < close { (*line).to_owned() } else { String::new() }
        };
        lines.iter().enumerate().map(inside).collect::<Vec<_>>().join("\n")
    };
    closing.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Text {
        Text::Wide(source.encode_utf16().collect())
    }

    fn body(source: &str) -> String {
        let prepared =
            readable(&text(source), Mode::Body).unwrap_or_else(|problem| panic!("{source}: {}", problem.0));
        let code = String::from_utf16(&prepared.code).unwrap();
        code.strip_prefix("(async function(tools){\"use strict\";\n")
            .unwrap()
            .strip_suffix("\n})")
            .unwrap()
            .to_owned()
    }

    #[test]
    fn fences_leave_their_lines_empty() {
        assert_eq!(body("```js\nreturn 1\n```"), "\nreturn 1\n");
        assert_eq!(body("\n```\nreturn 1\n```\n"), "\n\nreturn 1\n\n");
        assert_eq!(
            body("Here it is:\n```ts\nconst x: number = 1;\nreturn x\n```\nDone."),
            "\n\nconst x         = 1;\nreturn x\n\n"
        );
        assert_eq!(body("~~~js\nreturn 1\n~~~"), "\nreturn 1\n");
        // To the letter a label, and a template that is called with the block.
        assert_eq!(body("Sure:\n\n```ts\nreturn 1\n```"), "\n\n\nreturn 1\n");
        assert_eq!(
            body("Sure:\n```ts\nconst x: number = 1;\nreturn x\n```\n"),
            "\n\nconst x         = 1;\nreturn x\n\n"
        );
        for prose in ["Sure!", "Great!\n", "Sure", "Code", "Sure:", "Here you are."] {
            let lines = "\n".repeat(prose.matches('\n').count() + 2);
            assert_eq!(body(&format!("{prose}\n```js\nreturn 1\n```")), format!("{lines}return 1\n"));
        }
        let SyntaxProblem(mistake) =
            prepare(&text("Sure!\n```js\nconst a = ;\nreturn a\n```"), Mode::Body).unwrap_err();
        assert!(mistake.ends_with("at line 3, column 11"), "{mistake}");
        assert_eq!(body("````\nreturn 1 /*\n```\n*/\n````"), "\nreturn 1 /*\n```\n*/\n");
    }

    #[test]
    fn a_fence_inside_the_code_ends_nothing() {
        let code = "/* As in\n```\na()\n```\n*/\nconst t = 1;\nreturn t";
        assert_eq!(body(&format!("```js\n{code}\n```")), format!("\n{code}\n"));
        assert_eq!(body(&format!("So:\n```js\n{code}\n```\nDone.")), format!("\n\n{code}\n\n"));
        let typed = body(&format!("```ts\n{}\n```", code.replace("t =", "t: string =")));
        assert!(typed.contains("return t"), "{typed}");
    }

    #[test]
    fn commas_in_front_of_a_line_are_commas() {
        for (source, plain) in [
            ("const a = 1\n    , b = 2;\nreturn b", "const a = 1,\n      b = 2;\nreturn b"),
            ("let a // first\n  , b\n  , c = f(1,\n 2)", "let a, // first\n    b,\n    c = f(1,\n 2)"),
            ("for (let i = 0\n , j = 3; i < j; i++) {}", "for (let i = 0,\n   j = 3; i < j; i++) {}"),
            ("const a: number = 1\n , b: string = ''", "const a         = 1,\n   b         = ''"),
        ] {
            assert_eq!(body(source), plain);
        }
        let source = "const a = 1\n  , b = null; b.x";
        let prepared = prepare(&text(source), Mode::Body).unwrap();
        let code = String::from_utf16(&prepared.code).unwrap();
        let behind = code.lines().nth(2).unwrap().find("b.x").unwrap();
        assert_eq!(prepared.place((3, u32::try_from(behind).unwrap() + 1)), Some((2, 15)));
    }

    #[test]
    fn no_name_is_declared_twice() {
        for (source, place) in [
            ("const a = 1;\nconst { b: [a] } = o;", "line 2, column 13"),
            ("const f = () => {\n  let a;\n  class a {}\n};", "line 3, column 9"),
            ("class A { m() { const x = 1;\nlet x } }", "line 2, column 5"),
            ("let x = 1;\n{ var x = 2 }", "line 1, column 5"),
            ("() => {\nlet y; for (var y of z) {} }", "line 2, column 5"),
            ("function f() {}\nconst f = 1;", "line 2, column 7"),
        ] {
            let SyntaxProblem(message) = prepare(&text(source), Mode::Body).unwrap_err();
            assert!(message.contains("has already been declared"), "{source}: {message}");
            assert!(message.contains(place), "{source}: {message}");
        }
        for source in [
            "const a = 1; { const a = 2; } const f = (a) => a;",
            "var a; var a; function a() {}\nfunction a() {}",
            "const { a: b = (a) => a } = o; const c = function b() {}; let a;",
            "let n = 1; switch (true) { case x.some((n) => n): }",
            "for (let i of x) { let i } try { f() } catch { let e } { function g() {} }",
        ] {
            assert!(prepare(&text(source), Mode::Body).is_ok(), "{source}");
        }
    }

    #[test]
    fn what_would_not_dispose_is_refused() {
        for source in [
            "const a = 1;\nusing x = f();",
            "{ let b;\n using x = f() }",
            "g(() => {\nusing x = f() })",
            "let a: string;\nusing x: T = f()",
        ] {
            let SyntaxProblem(message) = prepare(&text(source), Mode::Body).unwrap_err();
            assert!(message.contains("'using' is not available here"), "{message}");
            assert!(message.contains("line 2, col"), "{message}");
        }
        assert_eq!(body("return { using: 1 }.using"), "return { using: 1 }.using");
    }

    #[test]
    fn calls_with_type_arguments_are_no_comparisons() {
        for (typed, plain) in [
            ("return new Set<string>(['a']).size", "return new Set        (['a']).size"),
            ("return new Set<Date>(a).size", "return new Set      (a).size"),
            ("return a.reduce<number>((x) => x, 0)", "return a.reduce        ((x) => x, 0)"),
            ("return f<Item>(x) + f<Map<string, Date>>(y)", "return f      (x) + f                   (y)"),
            ("return tag<Row>`a`", "return tag     `a`"),
            // What is TypeScript in one place is so in all.
            ("new Set<Date>(a); return f<Date>(b)", "new Set      (a); return f      (b)"),
            ("return await get<Item[]>('a')", "return await get        ('a')"),
            ("return tools['a.b']<Page<Item>>({})", "return tools['a.b']            ({})"),
            ("return f<{ items: Item[] }>(x)", "return f                   (x)"),
            ("return f<Array<Item>, string | null>(x)", "return f                            (x)"),
        ] {
            assert_eq!(body(typed), plain);
        }
        for plain in [
            "return a<b>(c)",
            "return f(a<b, c>(d))",
            "let number = 1; return a<number>(c)",
            "const Item = 1; return a<Item>(c)",
            "class Item {} return a<Item>(c)",
            "const { Item } = await tools.limits(); return a<Item>(c)",
            "return a<Infinity>(c)",
            "return a<MAX.Item>(c) || MAX",
            "return a<limits.Max>(c)",
            "globalThis[x] = 1; return a<Item>(c)",
            "Object.assign(o, { Item: 1 }); return a<Item>(c)",
            "return a<Item>(c) || Item",
            "function f(Item) { return a<Item>(c) }",
            "return a<Date>(b) || a<tools>(b) || a<typeof Item>(b)",
            "if (typeof Item !== 'undefined') return a<Item>(b)",
            "return a < Item > (b)",
        ] {
            assert_eq!(body(plain), plain);
        }
        assert!(!prepare(&text("new Set<string>([]).size"), Mode::Script).unwrap().function);
    }

    #[test]
    fn a_body_cannot_leave_its_function() {
        for source in ["}); foo(); (async function(){", "})(); (() => {", "return 1; }), (async function(){"]
        {
            assert!(prepare(&text(source), Mode::Body).is_err(), "{source}");
        }
    }

    #[test]
    fn halves_of_characters_stay() {
        let source: Vec<u16> = "const a: 'X' = 'X'; return a"
            .encode_utf16()
            .map(|unit| if unit == u16::from(b'X') { 0xd800 } else { unit })
            .collect();
        let prepared = prepare(&Text::Wide(source), Mode::Body).unwrap();
        assert_eq!(prepared.code.iter().filter(|&&unit| unit == 0xd800).count(), 1);
    }

    #[test]
    fn a_typed_script_is_one_too() {
        for source in ["const a: number = 1; a + 1", "new Set<string>([]).size"] {
            assert!(!prepare(&text(source), Mode::Script).unwrap().function, "{source}");
        }
        assert!(prepare(&text("const a: number = 1; return a"), Mode::Script).unwrap().function);
    }

    #[test]
    fn a_script_is_one_when_it_parses_as_one() {
        assert!(!prepare(&text("1 + 1"), Mode::Script).unwrap().function);
        assert!(prepare(&text("return 1 + 1"), Mode::Script).unwrap().function);
        assert!(prepare(&text("await 1"), Mode::Script).unwrap().function);
    }

    const PARTS: [&str; 22] = [
        "class A { x = f(); y = () => super.z; constructor() { g() } } ",
        "class B extends A { #x = this.y++; } ",
        "try { f(); } catch (e) { throw e; } finally { g(); } ",
        "for (const a of b) { ",
        "for (const k in o) { ",
        "l: { ",
        "l: for (const é of b) { ",
        "{ ",
        "} ",
        "break l; ",
        "const { c } = d; ",
        "const { a: { b }, ...rest } = o; ",
        "x = a + (a = 1); ",
        "switch (a) { case b.some((c) => c): break l; } ",
        "((p = 1) => { var p = 2; return p + p--; })(); ",
        "return u.v.w(); ",
        "f(`${a}\u{1F600}`); ",
        "if (a.b) ",
        "// note",
        "\n",
        "\r\n",
        "let m = 1\n, n = 2; ",
    ];

    proptest::proptest! {
        /// Whatever is put together: nothing fails, and what is not added is the source, where it was.
        #[test]
        fn what_is_added_is_all_that_is_added(
            parts in proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..12),
            closed in 0usize..6,
        ) {
            let source = format!("{}{}", parts.concat(), "} ".repeat(closed));
            let Ok(prepared) = prepare(&text(&source), Mode::Body) else { return Ok(()) };
            let places = |text: &str| {
                let mut at = (1, 1);
                let place = |char: char| {
                    let here = at;
                    at = if added::breaks(char) { (at.0 + 1, 1) } else { (at.0, at.1 + 1) };
                    (here, char)
                };
                text.chars().map(place).collect::<Vec<_>>()
            };
            let code = String::from_utf16(&prepared.code).unwrap();
            // Of the characters told to be at a place, the last is the source's: others were put in front.
            let mut found = std::collections::BTreeMap::new();
            for (place, char) in places(&code) {
                if let Some(place) = prepared.place(place) {
                    found.insert(place, char);
                }
            }
            let moved = source.contains("\n, n");
            for (place, char) in places(&source) {
                let found = found.get(&place).copied();
                // A comma that moved in front of a line break leaves a blank.
                let same = found == Some(char) || moved && char == ',' && found == Some(' ');
                proptest::prop_assert!(same, "{source:?} at {place:?}: {char:?}, not {found:?}, in {code:?}");
            }
        }
    }
}
