//! Variables that gather a long text: `let out = ''; for (…) out += line`. The engine copies all of it each time.
//!
//! Such a variable holds something else while its text is long (see [`super::super::growing`]), which only the places
//! know that name it: `out += line` becomes `out=ferrule$add(out,/* +=*/ line)`, and so does `out = out + line`; any
//! other use of `out` that reads it becomes `ferrule$flat(out)`, and `out.length` `ferrule$size(out,/*.length*/0)`. So
//! all of them have to be known: the name is declared once in the whole script, in a function, with a text; it is named
//! in that scope only; and nothing is done to it but to read it, to assign and to add. A script that names `eval` is
//! left alone.

mod declared;
mod uses;

use super::Piece;
use declared::Declared;
use oxc_ast::AstKind;
use oxc_ast::ast::Program;
use oxc_ast_visit::Visit;
use oxc_span::Span;
use uses::Uses;

pub fn pieces(text: &str, program: &Program<'_>) -> Vec<Piece> {
    let mut declared = Declared::default();
    declared.visit_program(program);
    let Declared { mut variables, names, .. } = declared;
    variables.retain(|variable| names.iter().filter(|name| **name == variable.name).count() == 1);
    if variables.is_empty() || declared.eval {
        return Vec::new();
    }
    let mut uses = Uses::new(text, variables, declared.own_for_each);
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

#[cfg(test)]
mod tests {
    use super::super::mend_growing;

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
            "let out = ''; y.forEach((x) => out = out + x)",
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
    }
}
