//! Takes the types out of a script that is TypeScript, by blanking them in place.
//!
//! The script is parsed as TypeScript; what is nothing but types becomes spaces, so that every token that
//! stays keeps its line and column. Whatever comes out must still parse as JavaScript. Enums and
//! namespaces are left alone: they mean code. What a model writes is as hostile here as in the engine
//! itself, and contained by the same walls: deep nesting ends in the process's guard of its stack, long
//! work in its limit of CPU time.

mod arguments;
pub mod early;
mod eraser;
mod members;
mod sheet;

use super::added::{Added, Place, breaks};
use super::problem::boundary;
use eraser::Eraser;
use oxc_allocator::Allocator;
use oxc_ast::ast::Program;
use oxc_ast_visit::Visit;
use oxc_parser::{ParseOptions, Parser, ParserReturn};
use oxc_span::SourceType;
use sheet::Sheet;

#[cfg(test)]
pub use arguments::GLOBALS;
pub use arguments::TYPE_NAMES;

/// Where a source stops being TypeScript, and why.
#[derive(Debug, Clone)]
pub struct Fault {
    /// See [`Place`].
    pub at: Place,
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
    read(source, |text, parsed| {
        if !parsed.panicked {
            return Ok(then(text, &parsed.program));
        }
        Err(first_fault(text, parsed).unwrap_or_else(|| Fault { at: (1, 1), message: String::new() }))
    })
}

/// Where a source stops being TypeScript, also where the parser could go on behind that.
pub fn fault(source: &[u16]) -> Option<Fault> {
    read(source, first_fault)
}

/// What a source is to the parser of TypeScript, and its text.
pub fn read<T>(source: &[u16], then: impl FnOnce(&str, &ParserReturn<'_>) -> T) -> T {
    let text = String::from_utf16_lossy(source);
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    then(&text, &Parser::new(&allocator, &text, SourceType::ts()).with_options(options).parse())
}

fn first_fault(text: &str, parsed: &ParserReturn<'_>) -> Option<Fault> {
    let error = parsed.errors.first()?;
    let label = error.labels.as_ref().and_then(|labels| labels.first());
    let at = place_of(text, label.map_or(0, |label| label.offset().min(text.len())));
    Some(Fault { at, message: error.message.to_string() })
}

/// The place of what begins at a byte.
fn place_of(text: &str, byte: usize) -> Place {
    let before = &text[..boundary(text, byte)];
    let line = before.rsplit(breaks).next().unwrap_or_default();
    let at = (before.matches(breaks).count() + 1, line.chars().count() + 1);
    (u32::try_from(at.0).unwrap_or(u32::MAX), u32::try_from(at.1).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
