//! The left operand of an operator, when that is a variable which the right one changes: the engine reads it
//! after that. `a + (a = b)` becomes `[a][0] + (a = b)`, which holds on to the value.

use super::Piece;
use oxc_ast::ast::{
    ArrowFunctionExpression, AssignmentTarget, BinaryExpression, Expression, ExpressionStatement, Function,
    IdentifierReference, Program, SimpleAssignmentTarget, Statement, UpdateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

pub fn pieces(program: &Program<'_>) -> Vec<Piece> {
    let mut finder = Finder { start: None, pieces: Vec::new() };
    finder.visit_program(program);
    finder.pieces
}

struct Finder {
    /// Where the statement begins: a bracket there could belong to the one before.
    start: Option<u32>,
    pieces: Vec<Piece>,
}

fn variable<'t>(operand: &'t Expression<'_>) -> Option<(&'t str, Span)> {
    match operand.get_inner_expression() {
        Expression::Identifier(name) => Some((name.name.as_str(), name.span)),
        _ => None,
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        self.start = Some(it.span.start);
        walk::walk_expression_statement(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        match it.body.statements.first() {
            // The tree shows what such a function gives as a statement.
            Some(Statement::ExpressionStatement(only)) if it.expression => {
                self.visit_formal_parameters(&it.params);
                self.start = None;
                self.visit_expression(&only.expression);
            }
            _ => walk::walk_arrow_function_expression(self, it),
        }
    }

    fn visit_binary_expression(&mut self, it: &BinaryExpression<'a>) {
        if let Some((name, span)) = variable(&it.left)
            && self.start != Some(it.left.span().start)
            && changes(&it.right, name)
        {
            self.pieces.push((span.start as usize, "[".to_owned()));
            self.pieces.push((span.end as usize, "][0]".to_owned()));
        }
        walk::walk_binary_expression(self, it);
    }
}

/// Whether an operand assigns to a variable itself, and not in a function of its own: what functions share
/// the engine reads in time.
fn changes(operand: &Expression<'_>, name: &str) -> bool {
    let mut changes = Changes { name, target: false, found: false };
    changes.visit_expression(operand);
    changes.found
}

struct Changes<'n> {
    name: &'n str,
    /// Within what is assigned to.
    target: bool,
    found: bool,
}

impl<'a> Visit<'a> for Changes<'_> {
    fn visit_assignment_target(&mut self, it: &AssignmentTarget<'a>) {
        let outer = std::mem::replace(&mut self.target, true);
        walk::walk_assignment_target(self, it);
        self.target = outer;
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        let outer = std::mem::replace(&mut self.target, true);
        walk::walk_simple_assignment_target(self, it);
        self.target = outer;
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        walk::walk_update_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.found |= self.target && it.name == self.name;
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
}

#[cfg(test)]
mod tests {
    use super::super::mend;

    #[test]
    fn a_value_that_is_about_to_change_is_held() {
        for (code, expected) in [
            ("f(a + (a = b))", "f([a][0] + (a = b))"),
            ("while (b) b = a % (a = b)", "while (b) b = [a][0] % (a = b)"),
            ("return_ = i * (i++ - 1)", "return_ = [i][0] * (i++ - 1)"),
            ("if (last !== (last = row)) f()", "if ([last][0] !== (last = row)) f()"),
            ("x = (s) + g([s] = t)", "x = ([s][0]) + g([s] = t)"),
            ("() => x + x-- + (x = 1)", "() => [x][0] + x-- + (x = 1)"),
            ("x = a + b[a = 1, 0].c || a", "x = [a][0] + b[a = 1, 0].c || a"),
        ] {
            assert_eq!(mend(code), expected);
        }
        for code in [
            "x = a + (b = a)",
            "x = a.b + (a.b = 1)",
            "x = a + (() => { a = 1 })()",
            "a + a++",
            "x = f(a) + (a = 1)",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
