//! `var` with the name of a parameter, in a function whose parameters have defaults or patterns: the engine
//! makes it a new variable that has no value yet. It is the parameter that is meant, so the word becomes a
//! comment: `function f(a = 1) { /*var*/ a = a || 2 }`.

use super::Piece;
use oxc_ast::ast::{
    ArrowFunctionExpression, BindingIdentifier, Class, FormalParameters, Function, FunctionBody, Program,
    VariableDeclaration,
};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::scope::ScopeFlags;

pub fn pieces(program: &Program<'_>) -> Vec<Piece> {
    let mut finder = Finder(Vec::new());
    finder.visit_program(program);
    finder.0
}

struct Finder(Vec<Piece>);

impl Finder {
    fn function(&mut self, parameters: &FormalParameters<'_>, body: &FunctionBody<'_>) {
        let plain = parameters
            .items
            .iter()
            .all(|one| one.initializer.is_none() && one.pattern.is_binding_identifier());
        if plain && parameters.rest.is_none() {
            return;
        }
        let mut names = Names(Vec::new());
        names.visit_formal_parameters(parameters);
        let mut vars = Vars { names: &names.0, pieces: &mut self.0 };
        vars.visit_function_body(body);
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if let Some(body) = &it.body {
            self.function(&it.params, body);
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function(&it.params, &it.body);
        walk::walk_arrow_function_expression(self, it);
    }
}

/// The names that parameters bind.
struct Names(Vec<String>);

impl<'a> Visit<'a> for Names {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.0.push(it.name.to_string());
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
    fn visit_class(&mut self, _: &Class<'a>) {}
}

/// The declarations of one function that only have such names.
struct Vars<'n> {
    names: &'n [String],
    pieces: &'n mut Vec<Piece>,
}

impl<'a> Visit<'a> for Vars<'_> {
    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        let is_one = |name: &str| self.names.iter().any(|one| one == name);
        let all =
            it.declarations.iter().all(|one| one.id.get_identifier_name().is_some_and(|name| is_one(&name)));
        if it.kind.is_var() && all {
            let start = it.span.start as usize;
            self.pieces.push((start, "/*".to_owned()));
            self.pieces.push((start + "var".len(), "*/".to_owned()));
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
    fn visit_class(&mut self, _: &Class<'a>) {}
}

#[cfg(test)]
mod tests {
    use super::super::mend;

    #[test]
    fn a_var_of_a_parameter_is_the_parameter() {
        for (code, expected) in [
            ("function f(a = 1) { var a = a || 2 }", "function f(a = 1) { /*var*/ a = a || 2 }"),
            (
                "({ a, b: [c] }) => { if (a) { var c = 1, a; } for (var a of c = []) {} }",
                "({ a, b: [c] }) => { if (a) { /*var*/ c = 1, a; } for (/*var*/ a of c = []) {} }",
            ),
            ("function f(...a) { var a = 1 }", "function f(...a) { /*var*/ a = 1 }"),
        ] {
            assert_eq!(mend(code), expected);
        }
        for code in [
            "function f(a) { var a = 1 }",
            "function f(a = 1) { var b = 1 }",
            "function f(a = 1) { var a = 1, b = 2 }",
            "function f(a = 1) { () => { var a = 1 } }",
            "function f(a = (b) => b) { var b = 1 }",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
