//! What `node -e` runs in the container.
//!
//! Our own client uses [`WRAPPER`], one constant text that reads its job from stdin. A client that the
//! caller brings has no stdin to offer: for it the job is part of the program.

/// The program of our own containers; the job comes over stdin.
pub const WRAPPER: &str = include_str!("wrapper.js");
/// What a code-mode run adds to it; sent over stdin as well.
pub const BRIDGE: &str = include_str!("bridge.js");

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Code {
    /// The body of an async function.
    Source(String),
    /// A module inside the image, and its export.
    Handler(String, String),
}

/// A program that holds its job. The answer goes to stdout as JSON; once the code has printed to stdout
/// itself, `marker` stands before the answer on a line of its own.
#[must_use]
pub fn peer_program(code: &Code, input_json: &str, marker: &str) -> String {
    let body = match code {
        Code::Source(source) => source.clone(),
        Code::Handler(module, export) => format!(
            "const handler = (await import({})) [{}];\n\
             if (typeof handler !== 'function') throw new TypeError({} + ' is not a function');\n\
             return await handler(__INPUT__);",
            literal(module),
            literal(export),
            literal(&format!("export '{export}' of '{module}'"))
        ),
    };
    format!(
        "const __INPUT__ = JSON.parse({input});\n\
         (async () => {{\n\
         const __write__ = process.stdout.write;\nlet __printed__ = false;\n\
         process.stdout.write = function (...all) {{ __printed__ = true; return __write__.apply(this, all); }};\n\
         const __value__ = await (async () => {{\n{body}\n}})();\n\
         const __text__ = JSON.stringify(__value__) ?? 'null';\n\
         __write__.call(process.stdout, __printed__ ? {marker} + __text__ : __text__);\n\
         }})().catch((error) => {{\n\
         process.exitCode = 1;\n\
         process.stderr.write(String((error && error.stack) || error) + '\\n', () => process.exit(1));\n\
         }});",
        input = single_quoted(input_json),
        marker = literal(&format!("\n{marker}\n")),
    )
}

/// The answer in what the container wrote: after the last marker, or everything when there is none.
#[must_use]
pub fn peer_answer<'a>(stdout: &'a str, marker: &str) -> &'a str {
    match stdout.rfind(&format!("\n{marker}\n")) {
        Some(at) => stdout[at + marker.len() + 2..].trim(),
        None => stdout.trim(),
    }
}

fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Single quotes leave the double quotes of JSON readable.
fn single_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_and_the_input_are_in_the_program() {
        let program = peer_program(
            &Code::Source("return __INPUT__.a // note".to_owned()),
            "{\"a\":\"it's \\\\\"}",
            "m",
        );
        assert!(program.contains("return __INPUT__.a // note\n"));
        assert!(program.contains(r#"JSON.parse('{"a":"it\'s \\\\"}')"#));
    }

    #[test]
    fn the_answer_is_behind_the_last_marker() {
        for (stdout, answer) in
            [("42\n", "42"), ("", ""), ("hello\n\nM\n{\"a\":1}", "{\"a\":1}"), ("\nM\n1\nM\n2", "2")]
        {
            assert_eq!(peer_answer(stdout, "M"), answer, "{stdout:?}");
        }
    }
}
