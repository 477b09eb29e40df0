//! Mends a gap of the engine: in `const { a: { b }, ...rest } = o` it leaves `a` in `rest`, because a key
//! whose value is taken apart is not counted as taken.
//!
//! Such a pattern gets an item more before its rest, which takes the key once more the way the engine does
//! count: `const { a: { b }, "a": ferrule$0, ...rest } = o`.

use super::added::{self, Added};
use boa_engine::ast::Script;
use boa_engine::ast::expression::Expression;
use boa_engine::ast::expression::literal::LiteralKind;
use boa_engine::ast::expression::operator::assign::AssignTarget;
use boa_engine::ast::pattern::{ObjectPattern, ObjectPatternElement};
use boa_engine::ast::property::PropertyName;
use boa_engine::ast::scope::Scope;
use boa_engine::ast::statement::iteration::IterableLoopInitializer;
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Position, Spanned};
use boa_engine::interner::Interner;
use boa_engine::parser::{Parser, Source};
use regex::Regex;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// What every such pattern holds, and little else does.
static LIKELY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[}\]][^;]*,\s*\.\.\.\s*[\w$]+\s*,?\s*\}").expect("a valid pattern"));

/// The code with its patterns mended; None when there is none to mend.
pub fn mended(code: &[u16]) -> Option<(Vec<u16>, Added)> {
    let text = String::from_utf16_lossy(code);
    if !LIKELY.is_match(&text) {
        return None;
    }
    let mut interner = Interner::default();
    let script = parse(code, &mut interner)?;
    let mut finder = Finder { interner: &interner, assigning: false, found: Vec::new() };
    let _ = script.visit_with(&mut finder);
    let mut places: Vec<(usize, String)> =
        finder.found.into_iter().filter_map(|(at, item)| Some((before_dots(code, at)?, item))).collect();
    if places.is_empty() {
        return None;
    }
    places.sort_unstable();
    places.dedup();
    Some(added::insert(code, places))
}

fn parse(code: &[u16], interner: &mut Interner) -> Option<Script> {
    Parser::new(Source::from_utf16(code)).parse_script(&Scope::new_global(), interner).ok()
}

/// Where the dots before an identifier begin.
fn before_dots(code: &[u16], identifier: Position) -> Option<usize> {
    let at = added::index_of(code, (identifier.line_number(), identifier.column_number()))?;
    let before = &code[..at];
    let is_space = |unit: &u16| char::from_u32(u32::from(*unit)).is_some_and(char::is_whitespace);
    let end = before.iter().rposition(|unit| !is_space(unit))? + 1;
    let dots: Vec<u16> = "...".encode_utf16().collect();
    before[..end].ends_with(&dots).then(|| end - 3)
}

struct Finder<'a> {
    interner: &'a Interner,
    /// The pattern assigns, instead of declaring.
    assigning: bool,
    found: Vec<(Position, String)>,
}

impl Finder<'_> {
    /// The items a pattern needs more; None when it has a rest that cannot be mended.
    fn items(&self, pattern: &ObjectPattern) -> Option<(Position, String)> {
        let Some(ObjectPatternElement::RestProperty { ident }) = pattern.bindings().last() else {
            return None;
        };
        let mut items = String::new();
        for element in pattern.bindings() {
            let ObjectPatternElement::Pattern { name, .. } = element else { continue };
            let key = self.key(name)?;
            let key = serde_json::to_string(&key).ok()?;
            let target = if self.assigning {
                "[][0]".to_owned()
            } else {
                format!("ferrule${}x{}", self.found.len(), items.len())
            };
            items.extend([key.as_str(), ": ", target.as_str(), ", "]);
        }
        (!items.is_empty()).then(|| (ident.span().start(), items))
    }

    fn key(&self, name: &PropertyName) -> Option<String> {
        let text = |sym| Some(self.interner.resolve_expect(sym).to_string());
        match name {
            PropertyName::Literal(ident) => text(ident.sym()),
            PropertyName::Computed(Expression::Literal(literal)) => match literal.kind() {
                LiteralKind::String(sym) => text(*sym),
                LiteralKind::Int(number) => Some(number.to_string()),
                _ => None,
            },
            PropertyName::Computed(_) => None,
        }
    }

    fn within<'ast>(&mut self, assigning: bool, node: &'ast impl VisitWith) -> ControlFlow<()>
    where
        Self: Visitor<'ast, BreakTy = ()>,
    {
        let outer = std::mem::replace(&mut self.assigning, assigning);
        let flow = node.visit_with(self);
        self.assigning = outer;
        flow
    }
}

impl<'ast> Visitor<'ast> for Finder<'_> {
    type BreakTy = ();

    fn visit_object_pattern(&mut self, pattern: &'ast ObjectPattern) -> ControlFlow<()> {
        if let Some(found) = self.items(pattern) {
            self.found.push(found);
        }
        pattern.visit_with(self)
    }

    fn visit_assign_target(&mut self, target: &'ast AssignTarget) -> ControlFlow<()> {
        self.within(true, target)
    }

    fn visit_iterable_loop_initializer(&mut self, first: &'ast IterableLoopInitializer) -> ControlFlow<()> {
        self.within(matches!(first, IterableLoopInitializer::Pattern(_)), first)
    }

    fn visit_expression(&mut self, expression: &'ast Expression) -> ControlFlow<()> {
        // A default, or a function in it, declares again.
        self.within(false, expression)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mend(code: &str) -> String {
        let units: Vec<u16> = code.encode_utf16().collect();
        mended(&units).map_or_else(|| code.to_owned(), |(code, _)| String::from_utf16(&code).unwrap())
    }

    #[test]
    fn keys_that_are_taken_apart_are_taken_again() {
        for (code, expected) in [
            ("const { a: { b }, ...rest } = o", r#"const { a: { b }, "a": ferrule$0x0, ...rest } = o"#),
            (
                "let {a: [b], c, 'd-e': {f}, ... rest} = o",
                r#"let {a: [b], c, 'd-e': {f}, "a": ferrule$0x0, "d-e": ferrule$0x18, ... rest} = o"#,
            ),
            (
                "let b, rest; ({ a: { b }, ...rest } = o)",
                r#"let b, rest; ({ a: { b }, "a": [][0], ...rest } = o)"#,
            ),
            (
                "for (const { a: { b }, ...rest } of o) f(rest)",
                r#"for (const { a: { b }, "a": ferrule$0x0, ...rest } of o) f(rest)"#,
            ),
            (
                "let b, rest; for ({ a: { b }, ...rest } of o) f(rest)",
                r#"let b, rest; for ({ a: { b }, "a": [][0], ...rest } of o) f(rest)"#,
            ),
            (
                "o.map(({ a: { b }, ...rest }) => rest)",
                r#"o.map(({ a: { b }, "a": ferrule$0x0, ...rest }) => rest)"#,
            ),
            (
                "const s = '\u{1F600}é', { a: { b }, ...rest } = o",
                "const s = '\u{1F600}é', { a: { b }, \"a\": ferrule$0x0, ...rest } = o",
            ),
            (
                "const x = 1;\n\nconst {\n  a: { b } = {},\n  ...rest\n} = o",
                "const x = 1;\n\nconst {\n  a: { b } = {},\n  \"a\": ferrule$0x0, ...rest\n} = o",
            ),
        ] {
            assert_eq!(mend(code), expected);
        }
    }

    #[test]
    fn everything_else_is_left_alone() {
        for code in [
            "const { a, ...rest } = o; const c = { d: { e }, ...rest }",
            "const { a: { b } } = o; f({ ...b })",
            "const { [k]: { b }, ...rest } = o",
            "f({ a: { b }, ...rest })",
            "const [[a], ...rest] = o",
        ] {
            assert_eq!(mend(code), code);
        }
    }
}
