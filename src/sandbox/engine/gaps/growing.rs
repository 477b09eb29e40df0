//! Variables that gather a long text: `let out = ''; for (…) out += line`. The engine copies all of it each time.
//!
//! Such a variable holds something else while its text is long (see [`super::super::growing`]), which only the places
//! know that name it: `out += line` (and `out = out + line`) becomes `out=ferrule$add(out,/* +=*/ line)`, any other use of `out` that reads it
//! `ferrule$flat(out)`, and `out.length` `ferrule$size(out,/*.length*/0)`. So all of them have to be known: the name is
//! declared once in the whole script, in a function, with a text; it is named in that scope only; and nothing is done
//! to it but to read it, to assign and to add. A script that names `eval` is left alone.

use super::Piece;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Argument, ArrowFunctionExpression, AssignmentExpression, AssignmentOperator, AssignmentTarget,
    AssignmentTargetPropertyIdentifier, BinaryExpression, BinaryOperator, BindingIdentifier, CallExpression,
    Expression, ExpressionStatement, ForStatementInit, IdentifierReference, NewExpression, ObjectProperty,
    Program, PropertyKey, SimpleAssignmentTarget, Statement, StaticMemberExpression, UpdateExpression,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

pub fn pieces(text: &str, program: &Program<'_>) -> Vec<Piece> {
    let mut declared = Declared::default();
    declared.visit_program(program);
    let Declared { mut variables, names, .. } = declared;
    variables.retain(|variable| names.iter().filter(|name| **name == variable.name).count() == 1);
    if variables.is_empty() || declared.eval {
        return Vec::new();
    }
    let mut uses = Uses {
        text,
        variables,
        nest: Nest::default(),
        own_for_each: declared.own_for_each,
        values: Vec::new(),
        ignored: Vec::new(),
        within_new: false,
        pieces: Vec::new(),
    };
    uses.visit_program(program);
    let Uses { variables, pieces, .. } = uses;
    let wanted = |index: usize| variables[index].grows && !variables[index].unfit;
    pieces.into_iter().filter(|(index, _)| wanted(*index)).map(|(_, piece)| piece).collect()
}

/// A variable that begins as a text.
struct Variable {
    name: String,
    /// Where it may be named.
    scope: Span,
    /// How many functions and loops it is declared in.
    functions: usize,
    loops: usize,
    /// It is added to again and again.
    grows: bool,
    /// Something is done to it that cannot be done to what it would hold.
    unfit: bool,
}

/// Where in the tree a visitor is.
#[derive(Default)]
struct Nest {
    functions: Vec<Span>,
    scopes: Vec<Span>,
    loops: usize,
}

impl Nest {
    fn enter(&mut self, kind: AstKind<'_>) {
        if let AstKind::FunctionBody(it) = kind {
            self.functions.push(it.span);
        }
        self.scopes.extend(scope(kind));
        self.loops += usize::from(is_loop(kind));
    }

    fn leave(&mut self, kind: AstKind<'_>) {
        if let AstKind::FunctionBody(_) = kind {
            self.functions.pop();
        }
        if scope(kind).is_some() {
            self.scopes.pop();
        }
        self.loops -= usize::from(is_loop(kind));
    }
}

/// What a node keeps the names in that are declared directly within.
fn scope(kind: AstKind<'_>) -> Option<Span> {
    match kind {
        AstKind::FunctionBody(it) => Some(it.span),
        AstKind::BlockStatement(it) => Some(it.span),
        AstKind::SwitchStatement(it) => Some(it.span),
        AstKind::StaticBlock(it) => Some(it.span),
        _ => None,
    }
}

fn is_loop(kind: AstKind<'_>) -> bool {
    matches!(
        kind,
        AstKind::ForStatement(_)
            | AstKind::ForInStatement(_)
            | AstKind::ForOfStatement(_)
            | AstKind::WhileStatement(_)
            | AstKind::DoWhileStatement(_)
    )
}

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
struct Declared {
    variables: Vec<Variable>,
    /// Every name that is bound.
    names: Vec<String>,
    nest: Nest,
    eval: bool,
    /// There may be a `forEach` of the script's own, which does something with what its function gives.
    own_for_each: bool,
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
struct Uses<'t> {
    text: &'t str,
    variables: Vec<Variable>,
    nest: Nest,
    own_for_each: bool,
    /// What arrow functions without a body give: the tree shows statements.
    values: Vec<Span>,
    /// Those of them that `forEach` drops.
    ignored: Vec<Span>,
    /// Within what `new` is applied to, where a call would be another thing.
    within_new: bool,
    /// Each with the number of its variable.
    pieces: Vec<(usize, Piece)>,
}

impl<'t> Uses<'t> {
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
                if given == Given::ToScript || !self.sum(index, &it.right, name) {
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

#[cfg(test)]
mod tests {
    use super::super::mend_growing;

    const LOOP: &str = "for (x of y) out += x;";

    fn mended(code: &str) -> String {
        let whole = mend_growing(&format!("(function() {{ {code} }})"));
        whole.strip_prefix("(function() { ").and_then(|rest| rest.strip_suffix(" })")).unwrap().to_owned()
    }

    #[test]
    fn what_gathers_a_text() {
        for (code, expected) in [
            (
                "let out = ''; for (const x of y) { out += x + '\\n'; } return out;",
                "let out = ''; for (const x of y) { out=ferrule$add(out,/* +=*/ x + '\\n'); } return ferrule$flat(out);",
            ),
            (
                "var out = `a${b}`; while (b) out+=out",
                "var out = `a${b}`; while (b) out=ferrule$add(out,/*+=*/ferrule$flat(out))",
            ),
            (
                "let out = a + ':'; y.map((x) => { (out += x) })",
                "let out = a + ':'; y.map((x) => { (out=ferrule$add(out,/* +=*/ x)) })",
            ),
            (
                "let out = ''; y.forEach(x => out += x); y.map(x => out += x)",
                "let out = ''; y.forEach(x => void(out=ferrule$add(out,/* +=*/ x))); y.map(x => out=ferrule$flat(ferrule$add(out,/* +=*/ x)))",
            ),
            (
                "let out = ''; for (x of y) out += out.length; f({ out }, out?.length)",
                "let out = ''; for (x of y) out=ferrule$add(out,/* +=*/ ferrule$size(out,/*.length*/0)); f({ out:ferrule$flat(out) }, ferrule$flat(out)?.length)",
            ),
            (
                "let out = ''; for (x of y) { out = out + x + (b+out); } f(out = out + x)",
                "let out = ''; for (x of y) { out = ferrule$add(ferrule$add(out,/* +*/ x),/* +*/ (b+ferrule$flat(out))); } f(out = ferrule$flat(out) + x)",
            ),
            (
                "let out = ''; let n = 1; for (x of y) { out += x; n ||= out }",
                "let out = ''; let n = 1; for (x of y) { out=ferrule$add(out,/* +=*/ x); n ||= ferrule$flat(out) }",
            ),
            (
                "let out = '', b = ''; for (x of y) { out += x; b ||= out; b += x }",
                "let out = '', b = ''; for (x of y) { out=ferrule$add(out,/* +=*/ x); b ||= ferrule$flat(out); b += x }",
            ),
            (
                "let out = ''; for (x of y) { out += x; out = f(out); [out, { out, x: out }] = [1, { out: 2 }] }",
                "let out = ''; for (x of y) { out=ferrule$add(out,/* +=*/ x); out = f(ferrule$flat(out)); [out, { out, x: out }] = [1, { out: 2 }] }",
            ),
        ] {
            assert_eq!(mended(code), expected);
        }
    }

    #[test]
    fn what_is_left_alone() {
        for code in [
            "let out = ''; out += 1",
            "let out = 0; for (x of y) out += x",
            "let out = ''; y.map((x) => out += x)",
            "let out = ''; function f(out) {} for (x of y) out += x",
            "{ let out = ''; for (x of y) out += x } out",
            "let out = ''; for (x of y) { out += x; out++ }",
            "let out = ''; for (x of y) { out += x; out ||= x }",
            "let out = ''; for (x of y) { out += x; new out.f() }",
            "let out = ''; for (x of y) { out /* a */ += x }",
            "let out = ''; for (x of y) { out += x; eval('out') }",
            "for (let out = '';;) for (x of y) out += x",
            "class A { forEach(f) { return f(1) } } let out = ''; a.forEach(x => out += x)",
        ] {
            assert_eq!(mended(code), code);
        }
        // A script of its own gives what its last statement does.
        assert_eq!(
            mend_growing("let out = ''; for (x of y) out += x"),
            "let out = ''; for (x of y) out += x"
        );
        assert!(mended(&format!("let out = ''; {LOOP}")).contains("ferrule$add"));
    }
}
