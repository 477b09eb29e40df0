//! `break` with a label beyond a loop over values (`for … of`, `for … in`) it stands in: the engine forgets to
//! put away what that loop goes over, and a loop around both goes on with it.
//!
//! A `break` of the loop itself is right. So each such loop gets a label, and a variable that says which label
//! was meant, and is followed by the rest of the way:
//! `for (y of ys) { break out }` becomes
//! `{let ferrule$j0=0;ferrule$l0:for (y of ys) { {ferrule$j0=1;break ferrule$l0;break out} }if(ferrule$j0===1)break out;}`.

use super::Piece;
use oxc_ast::ast::{
    ArrowFunctionExpression, BreakStatement, ForInStatement, ForOfStatement, Function, LabeledStatement,
    Program, Statement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

pub fn pieces(program: &Program<'_>) -> Vec<Piece> {
    let mut finder = Finder::default();
    finder.visit_program(program);
    // The inner ones first: two can end at one place.
    let loops = &finder.loops;
    loops.iter().enumerate().rev().for_each(|(number, one)| one.mend(number, loops, &mut finder.pieces));
    finder.pieces
}

/// A loop over values.
struct Loop {
    span: Span,
    /// Where its own labels begin.
    start: u32,
    /// The nearest of these, or one that it is given.
    label: String,
    /// Labels beyond it that are meant from within, and the next loop on the way to each.
    beyond: Vec<(String, Option<usize>)>,
}

impl Loop {
    fn mend(&self, number: usize, all: &[Self], pieces: &mut Vec<Piece>) {
        if self.beyond.is_empty() {
            return;
        }
        pieces.push((self.start as usize, format!("{{let ferrule$j{number}=0;")));
        if self.start == self.span.start {
            // The engine does not get along with two labels of one loop.
            pieces.push((self.span.start as usize, format!("{}:", self.label)));
        }
        let mut rest = String::new();
        for (at, (label, next)) in self.beyond.iter().enumerate() {
            let way = next.map_or(label, |next| &all[next].label);
            rest.extend([format!("if(ferrule$j{number}==={})break {way};", at + 1)]);
        }
        pieces.push((self.span.end as usize, format!("{rest}}}")));
    }
}

enum Around {
    /// Its name, and where it begins.
    Label(String, u32),
    Loop(usize),
}

#[derive(Default)]
struct Finder {
    loops: Vec<Loop>,
    /// What the place is in, from outside.
    around: Vec<Around>,
    /// Where labels began that are directly in front of the statement to come.
    labels: Option<u32>,
    pieces: Vec<Piece>,
}

impl Finder {
    fn over(&mut self, span: Span, walk: impl FnOnce(&mut Self)) {
        let start = self.labels.take();
        let label = match self.around.last() {
            Some(Around::Label(label, _)) if start.is_some() => label.clone(),
            _ => format!("ferrule$l{}", self.loops.len()),
        };
        self.around.push(Around::Loop(self.loops.len()));
        self.loops.push(Loop { span, start: start.unwrap_or(span.start), label, beyond: Vec::new() });
        walk(self);
        self.around.pop();
    }

    fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.around);
        walk(self);
        self.around = outer;
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        let start = self.labels.take().unwrap_or(it.span.start);
        let direct = matches!(
            it.body,
            Statement::LabeledStatement(_) | Statement::ForOfStatement(_) | Statement::ForInStatement(_)
        );
        self.labels = direct.then_some(start);
        self.around.push(Around::Label(it.label.name.to_string(), it.span.start));
        walk::walk_labeled_statement(self, it);
        self.around.pop();
    }

    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        let Some(label) = it.label.as_ref().map(|label| label.name.as_str()) else { return };
        let target = |around: &Around| match around {
            Around::Label(name, start) if name == label => Some(*start),
            _ => None,
        };
        let Some((at, start)) =
            self.around.iter().enumerate().rev().find_map(|(at, around)| Some((at, target(around)?)))
        else {
            return;
        };
        let mut crossed: Vec<usize> = Vec::new();
        for around in self.around[at..].iter().rev() {
            if let Around::Loop(number) = around {
                crossed.push(*number);
            }
        }
        // The loop that has the label itself is not crossed.
        if crossed.last().is_some_and(|&last| start >= self.loops[last].start) {
            crossed.pop();
        }
        if crossed.is_empty() {
            return;
        }
        let mut set = String::from("{");
        for (step, &number) in crossed.iter().enumerate() {
            let meant = (label.to_owned(), crossed.get(step + 1).copied());
            let beyond = &mut self.loops[number].beyond;
            let known = beyond.iter().position(|known| *known == meant).unwrap_or_else(|| {
                beyond.push(meant);
                beyond.len() - 1
            });
            set.extend([format!("ferrule$j{number}={};", known + 1)]);
        }
        set.extend(["break ", &self.loops[crossed[0]].label, ";"]);
        self.pieces.push((it.span().start as usize, set));
        self.pieces.push((it.span().end as usize, "}".to_owned()));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.over(it.span, |this| walk::walk_for_of_statement(this, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.over(it.span, |this| walk::walk_for_in_statement(this, it));
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.apart(|this| walk::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.apart(|this| walk::walk_arrow_function_expression(this, it));
    }
}

#[cfg(test)]
mod tests {
    use super::super::mend;

    #[test]
    fn each_loop_on_the_way_is_left_by_itself() {
        for (code, expected) in [
            (
                "a: { for (y of ys) { if (y == 1) break a; } }",
                "a: { {let ferrule$j0=0;ferrule$l0:for (y of ys) { if (y == 1) {ferrule$j0=1;break ferrule$l0;break a;} }if(ferrule$j0===1)break a;} }",
            ),
            (
                "a: for (x of xs == 1) b: for (y of ys) { break a }",
                "a: for (x of xs == 1) {let ferrule$j1=0;b: for (y of ys) { {ferrule$j1=1;break b;break a} }if(ferrule$j1===1)break a;}",
            ),
            (
                "a: for (;;) for (x in xs) for (y of ys) { z = 1; break a }",
                "a: for (;;) {let ferrule$j0=0;ferrule$l0:for (x in xs) {let ferrule$j1=0;ferrule$l1:for (y of ys) { z = 1; {ferrule$j1=1;ferrule$j0=1;break ferrule$l1;break a} }if(ferrule$j1===1)break ferrule$l0;}if(ferrule$j0===1)break a;}",
            ),
        ] {
            assert_eq!(mend(code), expected);
        }
        assert!(mend("a: { b: for (x of xs) { break a } }").contains("{ferrule$j0=1;break b;break a}"));
        for code in [
            "a: for (x of xs) { z = 1; break a }",
            "a: b: for (x of xs) { z = 1; break a }",
            "a: for (x of xs) { for (y of ys) { z = 1; continue a } }",
            "a: { for (x of xs) { a: { z = 1; break a } } }",
            "a: for (x of xs) { for (;;) { z = 1; break a } }",
            "for (x of xs) { for (y of ys) { z = 1; break } }",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
