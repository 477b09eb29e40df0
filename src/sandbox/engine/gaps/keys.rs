//! `throw` out of `for … in`: the engine leaves what that loop goes over where it was, and a loop over values around
//! it goes on with that.
//!
//! Left by `break` it is put away. So what is thrown is kept until then:
//! `for (k in o) { f(k) }` becomes
//! `{let ferrule$h0=0,ferrule$t0;for (k in o) {try{{ f(k) }}catch(ferrule$c){ferrule$h0=1;ferrule$t0=ferrule$c;break}}if(ferrule$h0)throw ferrule$t0;}`.

use super::Piece;
use oxc_ast::ast::{ForInStatement, LabeledStatement, Program, Statement};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;

/// Those that begin something, and those that end it.
pub fn pieces(program: &Program<'_>) -> (Vec<Piece>, Vec<Piece>) {
    let mut finder = Finder::default();
    finder.visit_program(program);
    (finder.starts, finder.ends)
}

#[derive(Default)]
struct Finder {
    starts: Vec<Piece>,
    ends: Vec<Piece>,
    loops: usize,
    /// Where labels began that are directly in front of the statement to come.
    labels: Option<u32>,
}

impl<'a> Visit<'a> for Finder {
    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        let start = self.labels.take().unwrap_or(it.span.start);
        let direct = matches!(it.body, Statement::LabeledStatement(_) | Statement::ForInStatement(_));
        self.labels = direct.then_some(start);
        walk::walk_labeled_statement(self, it);
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        let number = self.loops;
        self.loops += 1;
        let start = self.labels.take().unwrap_or(it.span.start);
        let body = it.body.span();
        self.starts.push((start as usize, format!("{{let ferrule$h{number}=0,ferrule$t{number};")));
        self.starts.push((body.start as usize, "{try{".to_owned()));
        walk::walk_for_in_statement(self, it);
        let kept = format!("}}catch(ferrule$c){{ferrule$h{number}=1;ferrule$t{number}=ferrule$c;break}}}}");
        self.ends.push((body.end as usize, kept));
        self.ends.push((it.span.end as usize, format!("if(ferrule$h{number})throw ferrule$t{number};}}")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::mend_exits;

    #[test]
    fn what_is_thrown_is_kept_until_the_loop_is_left() {
        for (code, expected) in [
            (
                "a: b: for (const k in o) f(k);\nd()",
                "{let ferrule$h0=0,ferrule$t0;a: b: for (const k in o) {try{f(k);}catch(ferrule$c){ferrule$h0=1;ferrule$t0=ferrule$c;break}}if(ferrule$h0)throw ferrule$t0;}\nd()",
            ),
            (
                "for (x in o) for (y in o) { if (x) continue }",
                "{let ferrule$h0=0,ferrule$t0;for (x in o) {try{{let ferrule$h1=0,ferrule$t1;for (y in o) {try{{ if (x) continue }}catch(ferrule$c){ferrule$h1=1;ferrule$t1=ferrule$c;break}}if(ferrule$h1)throw ferrule$t1;}}catch(ferrule$c){ferrule$h0=1;ferrule$t0=ferrule$c;break}}if(ferrule$h0)throw ferrule$t0;}",
            ),
        ] {
            assert_eq!(mend_exits(code), expected);
        }
        // A statement that begins and ends with the body.
        let code = "try { for (x in o) try { break } finally {} } finally {}";
        assert_eq!(mend_exits(code).matches("finally {}}catch(ferrule$c)").count(), 1);
        for code in
            ["for (const x of o) f(x)", "if (\"a\" in o) f()", "for (let i = 0; i < 1; i++) g(i in o)"]
        {
            assert_eq!(mend_exits(code), code);
        }
    }
}
