//! Fields whose initialiser writes to the class (`static next = 1; id = A.next++`): the engine holds on to the
//! class while they run, and fails. And `super` is nothing in them.
//!
//! Such a field gets its value in a private method, which the constructor calls where the fields would have
//! been given theirs: `id = A.next++` becomes `id;#ferrule$0(){this.id = A.next++}`. So do all others of the
//! class whose value could depend on when they are given it. A class for which that cannot be done by adding
//! code is left as it is.

use super::Piece;
use oxc_ast::ast::{
    ArrayExpressionElement, ArrowFunctionExpression, AssignmentExpression, CallExpression, Class,
    ClassElement, Expression, Function, MethodDefinitionKind, NewExpression, ObjectPropertyKind, Program,
    PropertyDefinition, PropertyKey, Statement, Super, TaggedTemplateExpression, UpdateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

/// Constructors that change nothing but what they make.
const MAKERS: [&str; 6] = ["Map", "Set", "WeakMap", "WeakSet", "Array", "Date"];

pub fn pieces(text: &str, program: &Program<'_>) -> Vec<Piece> {
    let mut mender = Mender { text, methods: 0, pieces: Vec::new() };
    mender.visit_program(program);
    mender.pieces
}

struct Mender<'t> {
    text: &'t str,
    methods: usize,
    pieces: Vec<Piece>,
}

impl Mender<'_> {
    fn mend(&mut self, class: &Class<'_>) -> Option<()> {
        let fields = || {
            class.body.body.iter().filter_map(|member| match member {
                ClassElement::PropertyDefinition(field) if !field.r#static => {
                    Some((&**field, field.value.as_ref()?))
                }
                _ => None,
            })
        };
        if !fields().any(|(_, value)| writes(value)) {
            return None;
        }
        let moved: Vec<_> = fields().filter(|(_, value)| !is_made(value)).collect();
        let keys: Vec<&str> = moved.iter().map(|(field, _)| key(self.text, field)).collect::<Option<_>>()?;
        let (at, before, after) = call_site(class)?;
        let mut calls = String::new();
        for ((field, value), key) in moved.iter().zip(keys) {
            let method = format!("#ferrule${}", self.methods);
            self.methods += 1;
            calls.extend(["this.", &method, "();"]);
            self.pieces.push((field.key.span().start as usize, format!("{key};{method}(){{this.")));
            self.pieces.push((value.span().end as usize, "}".to_owned()));
        }
        self.pieces.push((at, format!("{before}{calls}{after}")));
        Some(())
    }
}

/// The name of a field, as it can follow a dot.
fn key<'t>(text: &'t str, field: &PropertyDefinition<'_>) -> Option<&'t str> {
    let plain = matches!(field.key, PropertyKey::StaticIdentifier(_) | PropertyKey::PrivateIdentifier(_));
    let span = field.key.span();
    (plain && !field.computed).then(|| &text[span.start as usize..span.end as usize])
}

/// Where the constructor has its fields, what goes before calls there, and behind them.
fn call_site(class: &Class<'_>) -> Option<(usize, &'static str, &'static str)> {
    let derived = class.super_class.is_some();
    let constructor = class.body.body.iter().find_map(|member| match member {
        ClassElement::MethodDefinition(it) if it.kind == MethodDefinitionKind::Constructor => Some(it),
        _ => None,
    });
    let Some(constructor) = constructor else {
        let start = class.body.span.start as usize + 1;
        let before = if derived { "constructor(...a){super(...a);" } else { "constructor(){" };
        return Some((start, before, "}"));
    };
    let body = constructor.value.body.as_ref()?;
    if !derived {
        let behind = body.directives.last().map_or(body.span.start + 1, |last| last.span.end);
        return Some((behind as usize, if body.directives.is_empty() { "" } else { ";" }, ""));
    }
    let mut statements = body.statements.iter();
    let end = statements.find_map(|statement| match statement {
        Statement::ExpressionStatement(it) => match &it.expression {
            Expression::CallExpression(call) if matches!(call.callee, Expression::Super(_)) => {
                Some(it.span.end as usize)
            }
            _ => None,
        },
        _ => None,
    })?;
    Some((end, ";", ""))
}

/// Whether a value is the same whenever it is made.
fn is_made(value: &Expression<'_>) -> bool {
    match value {
        Expression::FunctionExpression(_) => true,
        Expression::ArrowFunctionExpression(_) => !writes(value),
        Expression::ArrayExpression(it) => it.elements.iter().all(|element| match element {
            ArrayExpressionElement::Elision(_) => true,
            element => element.as_expression().is_some_and(is_made),
        }),
        Expression::ObjectExpression(it) => it.properties.iter().all(|property| match property {
            ObjectPropertyKind::ObjectProperty(it) => !it.computed && is_made(&it.value),
            ObjectPropertyKind::SpreadProperty(_) => false,
        }),
        Expression::NewExpression(it) => {
            is_maker(it) && it.arguments.iter().all(|one| one.as_expression().is_some_and(is_made))
        }
        Expression::TemplateLiteral(it) => it.expressions.is_empty(),
        Expression::UnaryExpression(it) => is_made(&it.argument),
        value => value.is_literal(),
    }
}

fn is_maker(new: &NewExpression<'_>) -> bool {
    matches!(&new.callee, Expression::Identifier(name) if MAKERS.contains(&name.name.as_str()))
}

/// Whether an initialiser could write to its class, or needs its superclass.
fn writes(value: &Expression<'_>) -> bool {
    let mut finder = Writes { later: false, found: false };
    finder.visit_expression(value);
    finder.found
}

struct Writes {
    /// Inside of an arrow function, which runs later, but for its superclass would be asked now.
    later: bool,
    found: bool,
}

impl<'a> Visit<'a> for Writes {
    fn visit_super(&mut self, _: &Super) {
        self.found = true;
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.found |= !self.later;
        walk::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.found |= !self.later && !is_maker(it);
        walk::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.found |= !self.later;
        walk::walk_tagged_template_expression(self, it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        self.found |= !self.later;
        walk::walk_update_expression(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.found |= !self.later;
        walk::walk_assignment_expression(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let outer = std::mem::replace(&mut self.later, true);
        walk::walk_arrow_function_expression(self, it);
        self.later = outer;
    }

    // These have a superclass, if any, of their own.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_class(&mut self, _: &Class<'a>) {}
}

impl<'a> Visit<'a> for Mender<'_> {
    fn visit_class(&mut self, class: &Class<'a>) {
        let _ = self.mend(class);
        walk::walk_class(self, class);
    }
}

#[cfg(test)]
mod tests {
    use super::super::mend;

    #[test]
    fn fields_that_may_write_are_given_their_value_by_the_constructor() {
        for (code, expected) in [
            (
                "class A { static n = 1; id = A.n++; list = []; label = this.id }",
                "class A {constructor(){this.#ferrule$0();this.#ferrule$1();} static n = 1; id;#ferrule$0(){this.id = A.n++}; list = []; label;#ferrule$1(){this.label = this.id} }",
            ),
            (
                "class A { #id = next()\n constructor(x) { this.x = x } }",
                "class A { #id;#ferrule$0(){this.#id = next()}\n constructor(x) {this.#ferrule$0(); this.x = x } }",
            ),
            (
                "class B extends A { f = () => super.m() }",
                "class B extends A {constructor(...a){super(...a);this.#ferrule$0();} f;#ferrule$0(){this.f = () => super.m()} }",
            ),
            (
                "class B extends A { y = super.x; constructor() { f(); super(1)\n g() } }",
                "class B extends A { y;#ferrule$0(){this.y = super.x}; constructor() { f(); super(1);this.#ferrule$0();\n g() } }",
            ),
        ] {
            assert_eq!(mend(code), expected);
        }
    }

    #[test]
    fn every_other_class_is_left_alone() {
        for code in [
            "class A { a = 1; b = new Map(); c = () => f(); d = opts.x; e = [1, { f: 'g' }] }",
            "class A { static n = f(); m() { return A.n++ } }",
            "class A { [k] = f() }",
            "class A { 'a-b' = f() }",
            "class B extends A { x = f(); constructor() { if (y) super() } }",
            "const klass = f()",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
