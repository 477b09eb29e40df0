//! Takes the types out of a script that is TypeScript, by blanking them in place.
//!
//! The script is parsed as TypeScript; what is nothing but types becomes spaces, so that every token that
//! stays keeps its line and column. Whatever comes out must still parse as JavaScript. Enums and
//! namespaces are left alone: they mean code. What a model writes is as hostile here as in the engine
//! itself, and contained by the same walls: deep nesting ends in the process's guard of its stack, long
//! work in its limit of CPU time.

mod arguments;
mod eraser;
mod members;
mod sheet;

use super::added::Added;
use eraser::Eraser;
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_ast_visit::Visit;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;
use sheet::Sheet;

#[cfg(test)]
pub use arguments::GLOBALS;
pub use arguments::TYPE_NAMES;

/// Where a source stops being TypeScript, and why.
#[derive(Debug, Clone)]
pub struct Fault {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
    /// The parser's words.
    pub message: String,
}

/// The source with its types blanked; `None` when there are none. Parameter properties become assignments
/// on the line their constructor's body starts on.
pub fn types_gone(source: &[u16]) -> Result<Option<(Vec<u16>, Added)>, Fault> {
    parsed(source, |text, program| erased(source, text, program))
}

/// The same for a source that also parses as JavaScript, when it only seems to be that: `new Set<string>()`
/// is two comparisons to a JavaScript parser. See [`arguments::certain`].
pub fn type_arguments_gone(source: &[u16]) -> Option<(Vec<u16>, Added)> {
    // What a call with type arguments has, and arrow functions do not.
    let likely = |at: &[u16]| {
        at[1] == u16::from(b'>') && at[0] != u16::from(b'=') && [b'(', b'`'].map(u16::from).contains(&at[2])
    };
    if !source.windows(3).any(likely) {
        return None;
    }
    let gone = |text: &str, program: &Program<'_>| {
        if arguments::certain(program) { erased(source, text, program) } else { None }
    };
    parsed(source, gone).ok().flatten()
}

/// Whether a source that failed, and in which no types were found, looks like TypeScript.
pub fn looks_typed(source: &str) -> bool {
    let words = ["enum", "interface", "namespace", "declare", "implements", "abstract"];
    source.lines().any(|line| words.contains(&line.split_whitespace().next().unwrap_or_default()))
}

fn erased(source: &[u16], text: &str, program: &Program<'_>) -> Option<(Vec<u16>, Added)> {
    let mut eraser = Eraser::new(Sheet::new(text, &program.comments));
    eraser.visit_program(program);
    eraser.sheet.finish(source)
}

/// Parses the body of an async function in strict mode. Errors that leave a tree are left to the engine,
/// which is asked about whatever comes out.
fn parsed<T>(source: &[u16], then: impl FnOnce(&str, &Program<'_>) -> T) -> Result<T, Fault> {
    let text = String::from_utf16_lossy(source);
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let parsed = Parser::new(&allocator, &text, SourceType::ts()).with_options(options).parse();
    if !parsed.panicked {
        return Ok(then(&text, &parsed.program));
    }
    let error = parsed.errors.first();
    let label = error.and_then(|error| error.labels.as_ref()).and_then(|labels| labels.first());
    let before = &text[..label.map_or(0, |label| label.offset().min(text.len()))];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Err(Fault {
        line: u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX),
        column: u32::try_from(line.chars().count() + 1).unwrap_or(u32::MAX),
        message: error.map(|error| error.message.to_string()).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
