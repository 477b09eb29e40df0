//! Functions within the expression of a `case`: the engine gives them no scope of their own, so that their
//! names are those of the function around. Such an expression is made a function in front of the `switch`,
//! where it is understood, and stays in its place as a comment:
//! `switch (a) { case b.some((c) => c): … }` becomes
//! `{const ferrule$c0=()=>(b.some((c) => c));switch (a) { case ferrule$c0()/*b.some((c) => c)*/: … }}`.

use super::Piece;
use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, Class, Expression, Function, LabeledStatement, Program,
    Statement, SwitchStatement, YieldExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use oxc_syntax::scope::ScopeFlags;

pub fn pieces(text: &str, program: &Program<'_>) -> Vec<Piece> {
    let mut finder = Finder { text, count: 0, labels: None, pieces: Vec::new() };
    finder.visit_program(program);
    finder.pieces
}

struct Finder<'t> {
    text: &'t str,
    count: usize,
    /// Where labels began that are directly in front of the statement to come.
    labels: Option<u32>,
    pieces: Vec<Piece>,
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        let start = self.labels.take().unwrap_or(it.span.start);
        let direct = matches!(it.body, Statement::LabeledStatement(_) | Statement::SwitchStatement(_));
        self.labels = direct.then_some(start);
        walk::walk_labeled_statement(self, it);
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        let start = self.labels.take().unwrap_or(it.span.start) as usize;
        let mut declared = String::new();
        let mut inside = Vec::new();
        for test in it.cases.iter().filter_map(|case| case.test.as_ref()).filter(|test| has_scope(test)) {
            let span = test.span();
            let copy = &self.text[span.start as usize..span.end as usize];
            // What cannot be copied on one line, or not be a comment, is left as it is.
            if copy.contains(['\n', '\u{2028}', '\u{2029}']) || copy.contains("*/") || copy.contains("//") {
                continue;
            }
            let name = format!("ferrule$c{}", self.count);
            self.count += 1;
            declared.extend(["const ", &name, "=()=>(", copy, ");"]);
            inside.push((span.start as usize, format!("{name}()/*")));
            inside.push((span.end as usize, "*/".to_owned()));
        }
        if !inside.is_empty() {
            self.pieces.push((start, format!("{{{declared}")));
            self.pieces.append(&mut inside);
            self.pieces.push((it.span.end as usize, "}".to_owned()));
        }
        // Not into what is a comment now.
        self.visit_expression(&it.discriminant);
        for case in &it.cases {
            for statement in &case.consequent {
                self.visit_statement(statement);
            }
        }
    }
}

/// Whether an expression has functions in it, and nothing that only stands where it does.
fn has_scope(test: &Expression<'_>) -> bool {
    let mut finder = Scopes { found: false, bound: false };
    finder.visit_expression(test);
    finder.found && !finder.bound
}

struct Scopes {
    found: bool,
    bound: bool,
}

impl<'a> Visit<'a> for Scopes {
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {
        self.found = true;
    }

    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {
        self.found = true;
    }

    fn visit_class(&mut self, _: &Class<'a>) {
        self.found = true;
    }

    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.bound = true;
    }

    fn visit_yield_expression(&mut self, _: &YieldExpression<'a>) {
        self.bound = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::mend;

    #[test]
    fn functions_of_cases_get_a_scope() {
        assert_eq!(
            mend("a: switch (x = 1) { case y: f(); case z.some((n) => n > 1): g() }"),
            "{const ferrule$c0=()=>(z.some((n) => n > 1));a: switch (x = 1) { case y: f(); case ferrule$c0()/*z.some((n) => n > 1)*/: g() }}"
        );
        for code in [
            "switch (x = 1) { case y: z.some((n) => n) }",
            "switch (x = 1) { case z.some((n) => /* n */ n): }",
            "async () => { switch (x = 1) { case (await z).some((n) => n): } }",
            "switch (x = 1) { case z.some((n) => {\nreturn n }): }",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
