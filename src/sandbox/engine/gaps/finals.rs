//! `try` with both `catch` and `finally`: the engine loses what `catch` throws when `finally` calls an
//! asynchronous function or handles an error of its own. Two statements, one in the other, do not:
//! `try {…} catch {…} finally {…}` becomes `try{try {…} catch {…}} finally {…}`.

use super::Piece;
use oxc_ast::ast::{Program, TryStatement};
use oxc_ast_visit::{Visit, walk};

pub fn pieces(program: &Program<'_>) -> Vec<Piece> {
    let mut finder = Finder(Vec::new());
    finder.visit_program(program);
    finder.0
}

struct Finder(Vec<Piece>);

impl<'a> Visit<'a> for Finder {
    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        if let (Some(handler), Some(_)) = (&it.handler, &it.finalizer) {
            self.0.push((it.span.start as usize, "try{".to_owned()));
            self.0.push((handler.span.end as usize, "}".to_owned()));
        }
        walk::walk_try_statement(self, it);
    }
}

#[cfg(test)]
mod tests {
    use super::super::mend;

    #[test]
    fn both_become_one_in_the_other() {
        assert_eq!(
            mend("if (a) try { b() } catch (e) { throw e }\nfinally { c() }"),
            "if (a) try{try { b() } catch (e) { throw e }}\nfinally { c() }"
        );
        assert_eq!(
            mend("try { try { a = 1 } catch {} finally {} } catch {} finally {}"),
            "try{try { try{try { a = 1 } catch {}} finally {} } catch {}} finally {}"
        );
        for code in ["try { a = 1 } catch {}", "try { a = 1 } finally {}"] {
            assert_eq!(mend(code), code);
        }
    }
}
