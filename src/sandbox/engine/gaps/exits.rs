//! Several ways out of two `finally` blocks, one in the other: the engine numbers the ways out of the outer one before
//! it knows them all, and takes the wrong one.
//!
//! Out of one block all are right. So a statement that leaves two only leaves the inner one, and what comes behind
//! that goes the rest of the way:
//! `try { try { if (a) break; return b } finally {…} } finally {…}` becomes
//! `try { {let ferrule$e1=0,ferrule$v1;ferrule$x1:try { if (a) {ferrule$e1=1;break ferrule$x1;break;} …} finally {…}if(ferrule$e1===1)break;…} } finally {…}`.
//!
//! The way out of the inner one may lead out of a loop over values, which is what [`super::jumps`] is about: that
//! comes afterwards.

use super::Piece;
use oxc_ast::ast::{
    ArrowFunctionExpression, BreakStatement, ContinueStatement, DoWhileStatement, ForInStatement,
    ForOfStatement, ForStatement, Function, LabelIdentifier, LabeledStatement, Program, ReturnStatement,
    StaticBlock, SwitchStatement, TryStatement, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

pub fn pieces(program: &Program<'_>) -> Vec<Piece> {
    let mut finder = Finder::default();
    finder.visit_program(program);
    for (number, one) in finder.tries.iter().enumerate() {
        one.mend(number, &mut finder.pieces);
    }
    finder.pieces
}

/// A statement with a `finally`.
struct Try {
    span: Span,
    /// What comes behind it, for each way out that goes on beyond the next one.
    ways: Vec<String>,
}

impl Try {
    fn mend(&self, number: usize, pieces: &mut Vec<Piece>) {
        if self.ways.is_empty() {
            return;
        }
        let start = format!("{{let ferrule$e{number}=0,ferrule$v{number};ferrule$x{number}:");
        pieces.push((self.span.start as usize, start));
        let mut rest = String::new();
        for (at, way) in self.ways.iter().enumerate() {
            rest.extend([format!("if(ferrule$e{number}==={}){way}", at + 1)]);
        }
        pieces.push((self.span.end as usize, format!("{rest}}}")));
    }

    /// The number of a way.
    fn way(&mut self, way: String) -> usize {
        let known = self.ways.iter().position(|known| *known == way);
        known.unwrap_or_else(|| {
            self.ways.push(way);
            self.ways.len() - 1
        }) + 1
    }
}

#[derive(Clone, PartialEq, Eq)]
enum Around {
    Label(String),
    Loop,
    Switch,
    Try(usize),
}

#[derive(Default)]
struct Finder {
    tries: Vec<Try>,
    /// What the place is in, from outside, within its function.
    around: Vec<Around>,
    /// In a function that waits for what it returns where it says so.
    returns_wait: bool,
    pieces: Vec<Piece>,
}

impl Finder {
    fn within(&mut self, around: Around, walk: impl FnOnce(&mut Self)) {
        self.around.push(around);
        walk(self);
        self.around.pop();
    }

    fn apart(&mut self, returns_wait: bool, walk: impl FnOnce(&mut Self)) {
        let outer = (std::mem::take(&mut self.around), self.returns_wait);
        self.returns_wait = returns_wait;
        walk(self);
        (self.around, self.returns_wait) = outer;
    }

    /// The way out of the inmost `finally` for a statement that leaves everything from a place on, when that is
    /// more than one: which, and which of its ways.
    fn exit(&mut self, from: usize, last: &dyn Fn(usize) -> String) -> Option<(usize, usize)> {
        let left = self.around[from..].iter().filter_map(|around| match around {
            Around::Try(number) => Some(*number),
            _ => None,
        });
        let left: Vec<usize> = left.collect();
        // The outermost one is left by the statement itself, from behind the one in it.
        let [_, inner @ ..] = left.as_slice() else { return None };
        let mut next: Option<(usize, usize)> = None;
        for &number in inner {
            let way = next.map_or_else(
                || last(number),
                |(beyond, way)| {
                    format!(
                        "{{ferrule$v{beyond}=ferrule$v{number};ferrule$e{beyond}={way};break ferrule$x{beyond};}}"
                    )
                },
            );
            next = Some((number, self.tries[number].way(way)));
        }
        next
    }

    fn labelled(&self, label: Option<&LabelIdentifier<'_>>) -> Option<usize> {
        let label = label?.name.as_str();
        self.around.iter().rposition(|around| matches!(around, Around::Label(name) if name == label))
    }

    fn leave(&mut self, span: Span, from: Option<usize>, word: &str, label: Option<&LabelIdentifier<'_>>) {
        let Some(from) = from else { return };
        let statement = label.map_or_else(|| format!("{word};"), |label| format!("{word} {};", label.name));
        let Some((number, way)) = self.exit(from, &|_| statement.clone()) else { return };
        let set = format!("{{ferrule$e{number}={way};break ferrule$x{number};");
        self.pieces.push((span.start as usize, set));
        self.pieces.push((span.end as usize, "}".to_owned()));
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        let Some(finalizer) = &it.finalizer else { return walk::walk_try_statement(self, it) };
        let number = self.tries.len();
        self.tries.push(Try { span: it.span, ways: Vec::new() });
        self.within(Around::Try(number), |this| {
            this.visit_block_statement(&it.block);
            if let Some(handler) = &it.handler {
                this.visit_catch_clause(handler);
            }
        });
        self.visit_block_statement(finalizer);
    }

    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        let from = if it.label.is_some() {
            self.labelled(it.label.as_ref())
        } else {
            self.around.iter().rposition(|around| matches!(around, Around::Loop | Around::Switch))
        };
        self.leave(it.span, from, "break", it.label.as_ref());
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        let from = match &it.label {
            Some(label) => self.labelled(Some(label)),
            None => self.around.iter().rposition(|around| matches!(around, Around::Loop)),
        };
        self.leave(it.span, from, "continue", it.label.as_ref());
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        walk::walk_return_statement(self, it);
        if self.returns_wait {
            return;
        }
        let Some((number, way)) = self.exit(0, &|number| format!("return ferrule$v{number};")) else {
            return;
        };
        let (start, end) = (it.span.start as usize, it.span.end as usize);
        let leave = format!("ferrule$e{number}={way};break ferrule$x{number};");
        if let Some(argument) = &it.argument {
            self.pieces.push((start, format!("{{ferrule$v{number}=/*")));
            self.pieces.push((start + "return".len(), "*/(".to_owned()));
            self.pieces.push((argument.span().end as usize, ")".to_owned()));
            self.pieces.push((end, format!(";{leave}}}")));
        } else {
            self.pieces.push((start, format!("{{ferrule$v{number}=void 0;{leave}")));
            self.pieces.push((end, "}".to_owned()));
        }
    }

    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        self.within(Around::Label(it.label.name.to_string()), |this| walk::walk_labeled_statement(this, it));
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.within(Around::Loop, |this| walk::walk_for_statement(this, it));
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.within(Around::Loop, |this| walk::walk_while_statement(this, it));
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.within(Around::Loop, |this| walk::walk_do_while_statement(this, it));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.within(Around::Loop, |this| walk::walk_for_of_statement(this, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.within(Around::Loop, |this| walk::walk_for_in_statement(this, it));
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.within(Around::Switch, |this| walk::walk_switch_statement(this, it));
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.apart(it.generator && it.r#async, |this| walk::walk_function(this, it, flags));
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.apart(false, |this| walk::walk_arrow_function_expression(this, it));
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.apart(false, |this| walk::walk_static_block(this, it));
    }
}

#[cfg(test)]
mod tests {
    use super::super::mend_exits as mend;

    #[test]
    fn ways_out_of_two_go_one_by_one() {
        for (code, expected) in [
            (
                "for (;;) { try { try { if (a) break; continue } finally { b() } } finally { c() } }",
                "for (;;) { try { {let ferrule$e1=0,ferrule$v1;ferrule$x1:try { if (a) {ferrule$e1=1;break ferrule$x1;break;} {ferrule$e1=2;break ferrule$x1;continue} } finally { b() }if(ferrule$e1===1)break;if(ferrule$e1===2)continue;} } finally { c() } }",
            ),
            (
                "a: for (;;) try { try { try { return (b), c } finally {} } finally { continue a } } finally {}",
                "a: for (;;) try { {let ferrule$e1=0,ferrule$v1;ferrule$x1:try { {let ferrule$e2=0,ferrule$v2;ferrule$x2:try { {ferrule$v2=/*return*/( (b), c);ferrule$e2=1;break ferrule$x2;} } finally {}if(ferrule$e2===1){ferrule$v1=ferrule$v2;ferrule$e1=1;break ferrule$x1;}} } finally { continue a }if(ferrule$e1===1)return ferrule$v1;} } finally {}",
            ),
        ] {
            assert_eq!(mend(code), expected);
        }
        for code in [
            "for (;;) { try { if (a) break; continue } finally { b() } }",
            "try { for (;;) { try { if (a) break; continue } finally { b() } } } finally {}",
            "try { a() } finally { try { return 1 } finally {} }",
            "try { try { f(() => { return 1 }) } finally {} } finally {}",
            "async function* f() { try { try { return 1 } finally {} } finally {} }",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
