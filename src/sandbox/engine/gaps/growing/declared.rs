//! Finds the variables that begin as a text, and what speaks against any.

use super::{Nest, Variable};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    BinaryOperator, BindingIdentifier, Expression, ForStatementInit, IdentifierReference, PropertyKey,
    SimpleAssignmentTarget, VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};

/// Whether an expression gives a text, whatever its parts are.
fn is_text(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => true,
        Expression::BinaryExpression(it) => {
            it.operator == BinaryOperator::Addition && (is_text(&it.left) || is_text(&it.right))
        }
        _ => false,
    }
}

/// Finds the variables, and what speaks against any.
#[derive(Default)]
pub struct Declared {
    pub variables: Vec<Variable>,
    /// Every name that is bound.
    pub names: Vec<String>,
    nest: Nest,
    /// The script names `eval`, which may name anything.
    pub eval: bool,
    /// There may be a `forEach` of the script's own, which does something with what its function gives.
    pub own_for_each: bool,
}

impl<'a> Visit<'a> for Declared {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.nest.enter(kind);
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.nest.leave(kind);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.names.push(it.name.to_string());
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.eval |= it.name == "eval";
    }

    fn visit_property_key(&mut self, it: &PropertyKey<'a>) {
        self.own_for_each |= it.static_name().is_none_or(|name| name == "forEach");
        walk::walk_property_key(self, it);
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        if let SimpleAssignmentTarget::StaticMemberExpression(it) = it {
            self.own_for_each |= it.property.name == "forEach";
        }
        walk::walk_simple_assignment_target(self, it);
    }

    fn visit_for_statement_init(&mut self, it: &ForStatementInit<'a>) {
        // There, each round has a variable of its own.
        let found = self.variables.len();
        walk::walk_for_statement_init(self, it);
        if matches!(it, ForStatementInit::VariableDeclaration(_)) {
            self.variables.truncate(found);
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let scope = if it.kind.is_var() { self.nest.functions.last() } else { self.nest.scopes.last() };
        if let Some(name) = it.id.get_identifier_name()
            && let Some(scope) = scope
            && !self.nest.functions.is_empty()
            && it.init.as_ref().is_some_and(is_text)
        {
            self.variables.push(Variable {
                name: name.to_string(),
                scope: *scope,
                functions: self.nest.functions.len(),
                loops: self.nest.loops,
                grows: false,
                unfit: false,
            });
        }
        walk::walk_variable_declarator(self, it);
    }
}
