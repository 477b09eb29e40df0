//! What parses and yet is no script.
//!
//! The engine reads `using` and never disposes of anything, which is worse than not to have it. And prose
//! of one word before a fenced block is JavaScript to the letter: a label, and an empty template that is
//! called with the block.

use boa_engine::ast::Script;
use boa_engine::ast::declaration::{Binding, LexicalDeclaration};
use boa_engine::ast::expression::{Expression, TaggedTemplate};
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Position, Spanned};
use std::ops::ControlFlow;

/// How the refusal of a `using` declaration begins.
pub const USING: &str = "'using' is not available here";

/// Why a script that parses is refused.
pub fn problem(script: &Script, code: &[u16]) -> Option<String> {
    let holds = |word: &str| {
        let word: Vec<u16> = word.encode_utf16().collect();
        code.windows(word.len()).any(|part| part == word)
    };
    let mut finder = Finder { using: holds("using"), fences: holds("```") };
    if !finder.using && !finder.fences {
        return None;
    }
    match script.visit_with(&mut finder) {
        ControlFlow::Break(problem) => Some(problem),
        ControlFlow::Continue(()) => None,
    }
}

struct Finder {
    using: bool,
    fences: bool,
}

fn at(position: Option<Position>) -> String {
    position
        .map_or_else(String::new, |at| format!(" at line {}, col {}", at.line_number(), at.column_number()))
}

impl<'ast> Visitor<'ast> for Finder {
    type BreakTy = String;

    fn visit_lexical_declaration(&mut self, declaration: &'ast LexicalDeclaration) -> ControlFlow<String> {
        if let LexicalDeclaration::Using(list) | LexicalDeclaration::AwaitUsing(list) = declaration
            && self.using
        {
            let place = list.as_ref().first().and_then(|first| match first.binding() {
                Binding::Identifier(name) => Some(name.span().start()),
                Binding::Pattern(_) => None,
            });
            return ControlFlow::Break(format!(
                "{USING}: declare with const and dispose of it in a finally block{}",
                at(place)
            ));
        }
        declaration.visit_with(self)
    }

    fn visit_tagged_template(&mut self, template: &'ast TaggedTemplate) -> ControlFlow<String> {
        if self.fences && matches!(template.tag(), Expression::TemplateLiteral(_)) {
            return ControlFlow::Break(format!(
                "a template cannot be called{}: is this a fenced block with text around it?",
                at(Some(template.span().start()))
            ));
        }
        template.visit_with(self)
    }
}
