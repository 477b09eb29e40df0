//! Finds what is done to the variables, and what has to be added there.

use super::{Nest, Piece, Variable};
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentOperator, AssignmentTarget,
    AssignmentTargetPropertyIdentifier, BinaryExpression, BinaryOperator, CallExpression, Expression,
    ExpressionStatement, IdentifierReference, NewExpression, ObjectProperty, SimpleAssignmentTarget,
    Statement, StaticMemberExpression, UpdateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

/// Who sees what an addition gives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    /// Nobody: it is a statement.
    Nowhere,
    /// A function that drops it.
    ToForEach,
    /// The script.
    ToScript,
}

/// Finds what is done to the variables.
pub struct Uses<'t> {
    text: &'t str,
    pub variables: Vec<Variable>,
    nest: Nest,
    own_for_each: bool,
    /// What arrow functions without a body give: the tree shows statements.
    values: Vec<Span>,
    /// Those of them that `forEach` drops.
    ignored: Vec<Span>,
    /// Within what `new` is applied to, where a call would be another thing.
    within_new: bool,
    /// Each with the number of its variable.
    pub pieces: Vec<(usize, Piece)>,
}

impl<'t> Uses<'t> {
    /// `own_for_each`: see [`super::declared::Declared`].
    pub fn new(text: &'t str, variables: Vec<Variable>, own_for_each: bool) -> Self {
        Self {
            text,
            variables,
            nest: Nest::default(),
            own_for_each,
            values: Vec::new(),
            ignored: Vec::new(),
            within_new: false,
            pieces: Vec::new(),
        }
    }

    /// The number of the variable that a name means.
    fn variable(&mut self, it: &IdentifierReference<'_>) -> Option<usize> {
        let index = self.variables.iter().position(|variable| variable.name == it.name.as_str())?;
        let variable = &mut self.variables[index];
        // Beyond its scope the name means something else.
        variable.unfit |= it.span.start < variable.scope.start || it.span.end > variable.scope.end;
        Some(index)
    }

    fn put(&mut self, variable: usize, at: u32, piece: impl Into<String>) {
        self.pieces.push((variable, (at as usize, piece.into())));
    }

    fn between(&self, from: u32, to: u32) -> &'t str {
        self.text.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Mends an addition to a variable; false when it is something else, and nothing was visited.
    fn addition(&mut self, it: &AssignmentExpression<'_>, given: Given) -> bool {
        let AssignmentTarget::AssignmentTargetIdentifier(target) = &it.left else { return false };
        let Some(index) = self.variable(target) else { return false };
        let name = target.name.as_str();
        let operator = self.operator(target.span, it.right.span());
        match it.operator {
            AssignmentOperator::Addition if operator.is_some_and(|(text, _)| text == "+=") => {}
            AssignmentOperator::Assign => {
                if given != Given::Nowhere || !self.sum(index, &it.right, name) {
                    self.visit_expression(&it.right);
                }
                return true;
            }
            _ => {
                self.variables[index].unfit = true;
                self.visit_expression(&it.right);
                return true;
            }
        }
        let (ahead, open, close) = match given {
            Given::Nowhere => ("", "ferrule$add(", ")"),
            Given::ToForEach => ("void(", "ferrule$add(", "))"),
            Given::ToScript => ("", "ferrule$flat(ferrule$add(", "))"),
        };
        if given != Given::ToScript {
            self.grows(index);
        }
        self.put(index, target.span.start, format!("{ahead}{name}={open}"));
        self.operand(index, target.span, &it.right);
        self.put(index, it.right.span().end, close);
        true
    }

    /// Mends `out + a + b`, which is assigned to `out`; false when it is something else.
    fn sum(&mut self, index: usize, right: &Expression<'_>, name: &str) -> bool {
        let Some(steps) = steps(right, name) else { return false };
        let plain = |step: &&BinaryExpression<'_>| {
            self.operator(step.left.span(), step.right.span()).is_some_and(|(text, _)| text == "+")
        };
        let (Some(first), true) = (steps.first(), steps.iter().all(plain)) else { return false };
        self.grows(index);
        self.put(index, first.left.span().start, "ferrule$add(".repeat(steps.len()));
        for step in steps {
            self.operand(index, step.left.span(), &step.right);
            self.put(index, step.right.span().end, ")");
        }
        true
    }

    /// Notes that there is an addition to a variable.
    fn grows(&mut self, index: usize) {
        let variable = &mut self.variables[index];
        variable.grows |= self.nest.loops > variable.loops || self.nest.functions.len() > variable.functions;
    }

    /// Makes an operator the comma behind the first argument of a call, and mends what it adds.
    fn operand(&mut self, index: usize, left: Span, right: &Expression<'_>) {
        if let Some((_, end)) = self.operator(left, right.span()) {
            self.put(index, left.end, ",/*");
            self.put(index, end, "*/");
        }
        self.visit_expression(right);
    }

    /// What stands between two operands, and where it ends.
    fn operator(&self, left: Span, right: Span) -> Option<(&'t str, u32)> {
        let text = self.between(left.end, right.start);
        let end = left.end + u32::try_from(text.trim_end().len()).ok()?;
        Some((text.trim(), end))
    }
}

/// The additions that a sum consists of which begins with a variable, the first one first.
fn steps<'e, 'a>(sum: &'e Expression<'a>, name: &str) -> Option<Vec<&'e BinaryExpression<'a>>> {
    let mut steps = Vec::new();
    let mut left = sum;
    while let Expression::BinaryExpression(it) = left
        && it.operator == BinaryOperator::Addition
    {
        steps.push(&**it);
        left = &it.left;
    }
    steps.reverse();
    matches!(left, Expression::Identifier(it) if it.name == name).then_some(steps)
}

/// The assignment that an expression is.
fn assignment<'e, 'a>(expression: &'e Expression<'a>) -> Option<&'e AssignmentExpression<'a>> {
    match expression {
        Expression::AssignmentExpression(it) => Some(it),
        Expression::ParenthesizedExpression(it) => assignment(&it.expression),
        _ => None,
    }
}

/// What an arrow function without a body gives.
fn value(it: &ArrowFunctionExpression<'_>) -> Option<Span> {
    match it.body.statements.first() {
        Some(Statement::ExpressionStatement(only)) if it.expression => Some(only.span),
        _ => None,
    }
}

impl<'a> Visit<'a> for Uses<'_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.nest.enter(kind);
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.nest.leave(kind);
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        let given = if self.ignored.contains(&it.span) {
            Given::ToForEach
        } else if self.values.contains(&it.span) {
            Given::ToScript
        } else {
            Given::Nowhere
        };
        if !assignment(&it.expression).is_some_and(|one| self.addition(one, given)) {
            walk::walk_expression_statement(self, it);
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.values.extend(value(it));
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Expression::StaticMemberExpression(callee) = &it.callee
            && callee.property.name == "forEach"
            && !self.own_for_each
            && let Some(Argument::ArrowFunctionExpression(function)) = it.arguments.first()
        {
            self.ignored.extend(value(function));
        }
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        let outer = std::mem::replace(&mut self.within_new, true);
        self.visit_expression(&it.callee);
        self.within_new = outer;
        self.visit_arguments(&it.arguments);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if !self.addition(it, Given::ToScript) {
            walk::walk_assignment_expression(self, it);
        }
    }

    fn visit_simple_assignment_target(&mut self, it: &SimpleAssignmentTarget<'a>) {
        match it {
            SimpleAssignmentTarget::AssignmentTargetIdentifier(it) => {
                self.variable(it);
            }
            SimpleAssignmentTarget::StaticMemberExpression(it) => self.visit_expression(&it.object),
            _ => walk::walk_simple_assignment_target(self, it),
        }
    }

    fn visit_assignment_target_property_identifier(&mut self, it: &AssignmentTargetPropertyIdentifier<'a>) {
        self.variable(&it.binding);
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        if let SimpleAssignmentTarget::AssignmentTargetIdentifier(name) = &it.argument
            && let Some(index) = self.variable(name)
        {
            self.variables[index].unfit = true;
        }
        walk::walk_update_expression(self, it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        if let Expression::Identifier(name) = &it.value
            && it.shorthand
            && let Some(index) = self.variable(name)
        {
            self.put(index, it.span.end, format!(":ferrule$flat({})", name.name));
        } else {
            walk::walk_object_property(self, it);
        }
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if let Expression::Identifier(name) = &it.object
            && self.between(name.span.end, it.span.end) == ".length"
            && !self.within_new
            && let Some(index) = self.variable(name)
        {
            self.put(index, name.span.start, "ferrule$size(");
            self.put(index, name.span.end, ",/*");
            self.put(index, it.span.end, "*/0)");
        } else {
            walk::walk_static_member_expression(self, it);
        }
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let Some(index) = self.variable(it) else { return };
        self.variables[index].unfit |= self.within_new;
        self.put(index, it.span.start, "ferrule$flat(");
        self.put(index, it.span.end, ")");
    }
}
