//! What parses and yet is no script.
//!
//! The engine lets the body of a function declare a name twice, and the second time wins. It reads `using` and never disposes of anything, which is worse than not to have it. And prose
//! of one word before a fenced block is JavaScript to the letter: a label or a tag, and an empty template
//! that is called with the block.

use boa_engine::ast::declaration::{Binding, LexicalDeclaration, VarDeclaration};
use boa_engine::ast::expression::{Expression, Identifier, TaggedTemplate};
use boa_engine::ast::function::FunctionBody;
use boa_engine::ast::property::PropertyName;
use boa_engine::ast::statement::iteration::IterableLoopInitializer;
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Declaration, Position, Script, Spanned, StatementList, StatementListItem};
use boa_engine::interner::{Interner, Sym};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// How the refusal of a `using` declaration begins.
pub const USING: &str = "'using' is not available here";

/// Why a script that parses is refused.
pub fn problem(script: &Script, code: &[u16], interner: &Interner) -> Option<String> {
    let holds = |word: &str| {
        let word: Vec<u16> = word.encode_utf16().collect();
        code.windows(word.len()).any(|part| part == word)
    };
    let mut finder = Finder { interner, using: holds("using"), fences: holds("```") };
    match script.visit_with(&mut finder) {
        ControlFlow::Break(problem) => Some(problem),
        ControlFlow::Continue(()) => None,
    }
}

struct Finder<'a> {
    interner: &'a Interner,
    using: bool,
    fences: bool,
}

impl Finder<'_> {
    /// The first name that the body of a function declares although it has it already: with `let`, `const` or
    /// `class` twice, or once like that and once with `var` or as a function.
    fn twice(&self, statements: &StatementList) -> ControlFlow<String> {
        let mut names = Names::default();
        let mut hoisted = Vec::new();
        for item in statements.statements() {
            let StatementListItem::Declaration(declaration) = item else { continue };
            match declaration.as_ref() {
                Declaration::Lexical(lexical) => {
                    let _ = lexical.visit_with(&mut names);
                }
                Declaration::ClassDeclaration(class) => names.0.push(class.name()),
                Declaration::FunctionDeclaration(it) => hoisted.push(it.name().sym()),
                Declaration::AsyncFunctionDeclaration(it) => hoisted.push(it.name().sym()),
                Declaration::GeneratorDeclaration(it) => hoisted.push(it.name().sym()),
                Declaration::AsyncGeneratorDeclaration(it) => hoisted.push(it.name().sym()),
            }
        }
        if names.0.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut vars = Vars::default();
        let _ = statements.visit_with(&mut vars);
        let mut whole: FxHashSet<Sym> = vars.0.0.iter().map(|name| name.sym()).collect();
        whole.extend(hoisted);
        let mut seen = FxHashSet::default();
        for name in names.0 {
            if !seen.insert(name.sym()) || whole.contains(&name.sym()) {
                return ControlFlow::Break(format!(
                    "identifier '{}' has already been declared{}",
                    self.interner.resolve_expect(name.sym()),
                    at(Some(name.span().start()))
                ));
            }
        }
        ControlFlow::Continue(())
    }
}

/// The names that declarations bind.
#[derive(Default)]
struct Names(Vec<Identifier>);

impl<'ast> Visitor<'ast> for Names {
    type BreakTy = ();

    fn visit_identifier(&mut self, name: &'ast Identifier) -> ControlFlow<()> {
        self.0.push(*name);
        ControlFlow::Continue(())
    }

    // Sources, defaults and keys bind nothing.
    fn visit_expression(&mut self, _: &'ast Expression) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn visit_property_name(&mut self, _: &'ast PropertyName) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

fn at(position: Option<Position>) -> String {
    position
        .map_or_else(String::new, |at| format!(" at line {}, col {}", at.line_number(), at.column_number()))
}

/// The names that `var` declares for the whole function.
#[derive(Default)]
struct Vars(Names);

impl<'ast> Visitor<'ast> for Vars {
    type BreakTy = ();

    fn visit_var_declaration(&mut self, declaration: &'ast VarDeclaration) -> ControlFlow<()> {
        declaration.visit_with(&mut self.0)
    }

    fn visit_iterable_loop_initializer(&mut self, first: &'ast IterableLoopInitializer) -> ControlFlow<()> {
        match first {
            IterableLoopInitializer::Var(variable) => variable.visit_with(&mut self.0),
            _ => ControlFlow::Continue(()),
        }
    }

    // Functions have their own, and expressions have none.
    fn visit_expression(&mut self, _: &'ast Expression) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn visit_declaration(&mut self, _: &'ast Declaration) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<'ast> Visitor<'ast> for Finder<'_> {
    type BreakTy = String;

    fn visit_function_body(&mut self, body: &'ast FunctionBody) -> ControlFlow<String> {
        self.twice(body.statement_list())?;
        body.visit_with(self)
    }

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
        let fence = matches!(template.tag(), Expression::TemplateLiteral(_) | Expression::TaggedTemplate(_));
        if self.fences && fence {
            return ControlFlow::Break(format!(
                "a template cannot be called{}: is this a fenced block with text around it?",
                at(Some(template.span().start()))
            ));
        }
        template.visit_with(self)
    }
}
