//! Marks: statements that get a place of the engine's own.
//!
//! The engine notes a place for `delete`, and `delete(0);` does nothing (of a bare literal
//! nothing at all would be left); in front of a statement it tells a
//! fault in it from one in the statement before. Only statements that can fail without a place get one, and
//! only where the text in front of them shows beyond doubt where they begin.

use crate::sandbox::engine::added::{Place, breaks, place};
use boa_engine::ast::declaration::{Binding, LexicalDeclaration, Variable};
use boa_engine::ast::expression::access::PropertyAccess;
use boa_engine::ast::expression::literal::TemplateLiteral;
use boa_engine::ast::expression::operator::binary::BinaryOp;
use boa_engine::ast::expression::operator::unary::UnaryOp;
use boa_engine::ast::expression::operator::{Binary, Unary};
use boa_engine::ast::expression::{Expression, Optional, Spread, Yield};
use boa_engine::ast::function::FormalParameterList;
use boa_engine::ast::statement::Statement;
use boa_engine::ast::statement::iteration::{ForOfLoop, IterableLoopInitializer};
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Declaration, Script, Spanned, StatementListItem};
use std::ops::ControlFlow;

/// What is put in front.
pub const MARK: &str = "delete(0);";

/// The pieces that mark the statements of a script, by index.
pub fn marks(script: &Script, code: &[u16]) -> Vec<(usize, String)> {
    let mut finder = Finder { item: None, found: Vec::new() };
    let _ = script.visit_with(&mut finder);
    finder.found.sort_unstable();
    let starts = finder.found.iter().zip(indices(code, finder.found.iter().map(|(place, _)| *place)));
    starts.filter_map(|((_, words), at)| before(code, at, words)).map(|at| (at, MARK.to_owned())).collect()
}

/// The words in front of what a statement begins with, the last one first.
type Words = &'static [&'static [&'static str]];

const DECLARED: Words = &[&["const", "let", "var"]];
const RETURNED: Words = &[&["return"]];
const LOOPED: Words = &[&["const", "let", "var"], &["("], &["for"]];
const BRACKETED: Words = &[&["("], &["if", "while", "switch"]];

struct Finder {
    /// Where the statement that is gone through begins, until it is marked.
    item: Option<(Place, Words)>,
    found: Vec<(Place, Words)>,
}

impl Finder {
    /// Something that can fail without a place.
    fn weak(&mut self) {
        self.found.extend(self.item.take());
    }

    fn inside<'ast>(&mut self, item: Option<(Place, Words)>, node: &'ast impl VisitWith) -> ControlFlow<()>
    where
        Self: Visitor<'ast, BreakTy = ()>,
    {
        let outer = std::mem::replace(&mut self.item, item);
        let flow = node.visit_with(self);
        self.item = outer;
        flow
    }
}

/// Where an expression begins. A call's own span begins at its arguments.
fn leftmost(expression: &Expression) -> Place {
    match expression {
        Expression::Call(it) => leftmost(it.function()),
        Expression::Binary(it) => leftmost(it.lhs()),
        Expression::Conditional(it) => leftmost(it.condition()),
        Expression::PropertyAccess(PropertyAccess::Simple(it)) => leftmost(it.target()),
        Expression::Optional(it) => leftmost(it.target()),
        Expression::TaggedTemplate(it) => leftmost(it.tag()),
        _ => place(expression.span().start()),
    }
}

fn of_binding(binding: &Binding) -> Place {
    place(match binding {
        Binding::Identifier(name) => name.span().start(),
        Binding::Pattern(pattern) => pattern.span().start(),
    })
}

/// What a statement begins with, and the words that must stand in front of that.
fn lead(item: &StatementListItem) -> Option<(Place, Words)> {
    let first = |list: &[Variable]| list.first().map(|first| (of_binding(first.binding()), DECLARED));
    match item {
        StatementListItem::Declaration(declaration) => match declaration.as_ref() {
            Declaration::Lexical(LexicalDeclaration::Const(list) | LexicalDeclaration::Let(list)) => {
                first(list.as_ref())
            }
            _ => None,
        },
        StatementListItem::Statement(statement) => match statement.as_ref() {
            Statement::Var(declaration) => first(declaration.0.as_ref()),
            // An assignment has a place.
            Statement::Expression(it) if !matches!(it, Expression::Assign(_)) => Some((leftmost(it), &[])),
            Statement::Return(it) => Some((leftmost(it.target()?), RETURNED)),
            Statement::If(it) => Some((leftmost(it.cond()), BRACKETED)),
            Statement::WhileLoop(it) => Some((leftmost(it.condition()), BRACKETED)),
            Statement::Switch(it) => Some((leftmost(it.val()), BRACKETED)),
            Statement::ForOfLoop(it) => match it.initializer() {
                IterableLoopInitializer::Let(binding) | IterableLoopInitializer::Const(binding) => {
                    Some((of_binding(binding), LOOPED))
                }
                IterableLoopInitializer::Var(variable) => Some((of_binding(variable.binding()), LOOPED)),
                _ => None,
            },
            _ => None,
        },
    }
}

impl<'ast> Visitor<'ast> for Finder {
    type BreakTy = ();

    fn visit_statement_list_item(&mut self, item: &'ast StatementListItem) -> ControlFlow<()> {
        self.inside(lead(item), item)
    }

    fn visit_formal_parameter_list(&mut self, parameters: &'ast FormalParameterList) -> ControlFlow<()> {
        self.inside(None, parameters)
    }

    fn visit_variable(&mut self, variable: &'ast Variable) -> ControlFlow<()> {
        if matches!(variable.binding(), Binding::Pattern(_)) {
            self.weak();
        }
        variable.visit_with(self)
    }

    fn visit_property_access(&mut self, access: &'ast PropertyAccess) -> ControlFlow<()> {
        // That of a method, or of an argument, has no place.
        self.weak();
        access.visit_with(self)
    }

    fn visit_optional(&mut self, optional: &'ast Optional) -> ControlFlow<()> {
        self.weak();
        optional.visit_with(self)
    }

    fn visit_for_of_loop(&mut self, for_of: &'ast ForOfLoop) -> ControlFlow<()> {
        self.weak();
        for_of.visit_with(self)
    }

    fn visit_spread(&mut self, spread: &'ast Spread) -> ControlFlow<()> {
        self.weak();
        spread.visit_with(self)
    }

    fn visit_yield(&mut self, it: &'ast Yield) -> ControlFlow<()> {
        if it.delegate() {
            self.weak();
        }
        it.visit_with(self)
    }

    fn visit_binary(&mut self, binary: &'ast Binary) -> ControlFlow<()> {
        if !matches!(binary.op(), BinaryOp::Logical(_) | BinaryOp::Comma) {
            self.weak();
        }
        binary.visit_with(self)
    }

    fn visit_template_literal(&mut self, template: &'ast TemplateLiteral) -> ControlFlow<()> {
        self.weak();
        template.visit_with(self)
    }

    fn visit_unary(&mut self, unary: &'ast Unary) -> ControlFlow<()> {
        if matches!(unary.op(), UnaryOp::Minus | UnaryOp::Plus | UnaryOp::Tilde) {
            self.weak();
        }
        unary.visit_with(self)
    }
}

/// The indices of places that are in order.
fn indices(code: &[u16], places: impl Iterator<Item = Place>) -> Vec<usize> {
    let mut at = 0;
    let mut now = (1, 1);
    let mut rest = char::decode_utf16(code.iter().copied());
    places
        .map(|place| {
            while now < place {
                let Some(unit) = rest.next() else { break };
                at += unit.as_ref().map_or(1, |char| char.len_utf16());
                now = if unit.is_ok_and(breaks) { (now.0 + 1, 1) } else { (now.0, now.1 + 1) };
            }
            at
        })
        .collect()
}

/// Where a statement begins, going back over the words before `at`; `None` when something else is there.
fn before(code: &[u16], at: usize, words: Words) -> Option<usize> {
    let char_of = |unit: u16| char::from_u32(u32::from(unit)).unwrap_or('\u{fffd}');
    let is_space = |unit: &u16| char_of(*unit).is_whitespace();
    let is_word = |unit: u16| {
        let char = char_of(unit);
        char.is_alphanumeric() || matches!(char, '_' | '$' | '\\' | '\u{200c}' | '\u{200d}' | '\u{fffd}')
    };
    let start = words.iter().try_fold(at, |at, any| {
        let end = code[..at].iter().rposition(|unit| !is_space(unit))? + 1;
        let word = any.iter().find(|word| {
            let start = end.checked_sub(word.len());
            start.is_some_and(|start| code[start..end].iter().copied().eq(word.encode_utf16()))
        })?;
        let start = end - word.len();
        // Not the end of a longer word, nor the name of a property.
        let free =
            start == 0 || *word == "(" || !(is_word(code[start - 1]) || code[start - 1] == u16::from(b'.'));
        free.then_some(start)
    })?;
    let Some(last) = code[..start].iter().rposition(|unit| !is_space(unit)) else { return Some(start) };
    let end = last + 1;
    let ended = matches!(char_of(code[last]), ';' | '{' | '}' | ':');
    (ended || code[end..start].iter().any(|unit| breaks(char_of(*unit)))).then_some(start)
}
