//! What to tell about a source that does not parse.

use super::added::{Place, breaks};
use super::strip;
use regex::Regex;
use std::sync::LazyLock;

static POSITION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?: at )?line (\d+), col(?:umn)?:? (\d+)").expect("a valid pattern"));

/// What the engine says of a script that declares the name of its own parameter.
static TOOLS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"formal parameter `(\w+)` declared in lexically declared names").expect("a valid pattern")
});

/// Lines that stand in front of the model's when its source does not parse: it is a body then.
const LINES_BEFORE: u32 = 1;

/// Moves the positions in an engine text to the model's lines.
pub fn shift(message: &str) -> String {
    POSITION
        .replace_all(message, |captures: &regex::Captures<'_>| {
            match captures[1].parse::<u32>().ok().and_then(|line| line.checked_sub(LINES_BEFORE)) {
                Some(line) if line > 0 => format!(" at line {line}, column {}", &captures[2]),
                // Not the model's.
                _ => String::new(),
            }
        })
        .into_owned()
}

/// The line and column a text names.
fn position(message: &str) -> Option<Place> {
    let captures = POSITION.captures(message)?;
    Some((captures[1].parse().ok()?, captures[2].parse().ok()?))
}

/// The model's line that a problem of the engine names.
pub fn line(problem: &str) -> Option<u32> {
    position(&shift(problem)).map(|(line, _)| line)
}

/// Behind the last character that is no space.
fn end(text: &str) -> Place {
    text.trim_end().chars().fold(
        (1, 1),
        |(line, column), char| {
            if breaks(char) { (line + 1, 1) } else { (line, column + 1) }
        },
    )
}

/// By the engine's problem, and by what became of the source's types.
pub fn explain(problem: &str, source: &[u16], typed: &Result<bool, strip::Fault>) -> String {
    let text = String::from_utf16_lossy(source);
    let shifted = shift(problem);
    let shifted = if shifted.contains("SyntaxError") { shifted } else { format!("SyntaxError: {shifted}") };
    let mut message = inside(shifted, source, &text);
    let first_word = |word: &str| text.lines().any(|line| line.trim_start().starts_with(word));
    if first_word("import ") || first_word("export ") {
        message.push_str(". The source is the body of an async function: import and export are not available, call tools.<name>(…) instead");
    } else if matches!(typed, Ok(true)) || strip::looks_typed(&text) {
        message
            .push_str(". Write plain JavaScript: leave out type annotations, interfaces, enums and generics");
    } else if let Err(fault) = typed
        && position(&message).is_some_and(|at| at < fault.at && fault.at <= end(&text))
    {
        // What the engine could not read was TypeScript, the mistake comes later.
        return at(&format!("SyntaxError: {}", fault.message), fault.at);
    }
    message
}

/// The message with a position inside of the source. The engine also reads what is put behind a body, and of
/// a text without an end it does not say where it began.
fn inside(message: String, source: &[u16], text: &str) -> String {
    let end = end(text);
    let unterminated = message.contains("unterminated");
    match position(&message) {
        Some(place) if place <= end || (!unterminated && place.0 <= end.0) => message,
        None | Some(_) if unterminated => {
            let place = strip::fault(source).map_or(end, |fault| fault.at.min(end));
            at(&POSITION.replace(&message, ""), place)
        }
        Some(_) => at("SyntaxError: the script ends where something that was opened is not closed yet", end),
        None => {
            let mut places = strip::early::places(&message, source);
            places.extend(strip::fault(source).map(|fault| fault.at.min(end)).filter(|_| places.is_empty()));
            let message = TOOLS.replace(&message, "identifier '$1' has already been declared");
            places.first().map_or_else(|| message.to_string(), |place| at(&message, *place))
        }
    }
}

fn at(message: &str, (line, column): Place) -> String {
    format!("{message} at line {line}, column {column}")
}

#[cfg(test)]
mod tests {
    use crate::sandbox::engine::source::prepare;
    use crate::sandbox::wire::{Mode, Text};

    fn message(source: &str) -> String {
        prepare(&Text::Wide(source.encode_utf16().collect()), Mode::Body).unwrap_err().0
    }

    #[test]
    fn positions_are_the_models() {
        assert!(message("const a = 1;\nconst b = ;").contains("line 2"));
        assert!(message("import fs from 'fs'").contains("import and export are not available"));
        assert!(message("enum A { B = 'x' }\nreturn A.B").contains("plain JavaScript"));
    }

    #[test]
    fn what_is_not_closed_ends_where_the_source_does() {
        for (source, place) in [
            ("const a = 1;\nf(", "line 2, column 3"),
            ("if (a) {\n  b();\n\n", "line 2, column 7"),
            ("return {\n a: [1, 2", "line 2, column 10"),
            ("a +", "line 1, column 4"),
            ("{", "line 1, column 2"),
        ] {
            let message = message(source);
            let expected =
                "SyntaxError: the script ends where something that was opened is not closed yet at ";
            assert_eq!(message, format!("{expected}{place}"), "{source}");
        }
    }

    #[test]
    fn a_text_without_an_end_is_told_where_it_begins() {
        for (open, what) in [
            ("`abc", "template literal"),
            ("'abc", "string literal"),
            ("`${a", "template literal"),
            ("`a ${b} c", "template literal"),
            ("1; /* abc", "multiline comment"),
        ] {
            let message = message(&format!("const a = 1;\nconst b = {open}"));
            assert!(message.starts_with(&format!("SyntaxError: unterminated {what}")), "{message}");
            assert!(message.contains(" at line 2, column "), "{message}");
        }
    }

    #[test]
    fn a_mistake_against_the_rules_is_told_where_it_is() {
        for (source, expected) in [
            ("const a = 1;\nbreak;", "illegal break statement at line 2, column 1"),
            (
                "for (;;) { break }\nfor (;;) { () => { break } }",
                "illegal break statement at line 2, column 20",
            ),
            ("switch (1) {\ncase 1: continue }", "illegal continue statement at line 2, column 9"),
            ("for (;;) {\n break nope }", "undefined break target: nope at line 2, column 2"),
            ("for (;;) {\n continue nope }", "undefined continue target: nope at line 2, column 2"),
            ("a: {\n a: ; }", "duplicate label: a at line 2, column 2"),
            ("let a;\nconst tools = 1", "identifier 'tools' has already been declared at line 2, column 7"),
            ("const a = 1;\nsuper.x", "invalid super usage at line 2, column 1"),
            (
                "class A { #a; m() { this.#a } }\nclass B { m() { this.#a } }",
                "invalid private identifier usage at line 2, column 22",
            ),
        ] {
            assert_eq!(message(source), format!("SyntaxError: {expected}"), "{source}");
        }
    }

    #[test]
    fn a_mistake_behind_types_is_told_where_it_is() {
        let mistake = message("const a: number = 1;\nconst b: string[] = ];\nreturn a");
        assert!(
            mistake.starts_with("SyntaxError: ") && mistake.ends_with("at line 2, column 21"),
            "{mistake}"
        );
        assert!(message("const a = 1;\nconst b = [;").contains("line 2"));
        assert!(message("const a: number = 1;\nenum B { C }").contains("plain JavaScript"));
    }
}
