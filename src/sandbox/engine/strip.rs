//! Takes the types out of a script that is TypeScript, by blanking them in place.
//!
//! Only asked when a source does not parse as JavaScript, and whatever comes out must then parse, so a
//! wrong guess ends as the syntax error the source had anyway. Not a TypeScript parser: it knows
//! annotations of variables, parameters, fields and returns, `as`, `satisfies`, `!`, type arguments,
//! `interface`, `type` and what [`super::strip_more`] adds. Enums and namespaces are left alone: they
//! mean code.

use super::strip_lexer::{Kind, Token, tokens};

/// The source with its types blanked; `None` when there are none. Parameter properties become assignments
/// on the line their constructor's body starts on.
pub fn strip_types(source: &str) -> Option<String> {
    let mut stripper = Stripper::new(source);
    stripper.walk();
    let Stripper { mut text, mut added, blanked, .. } = stripper;
    added.sort();
    for (at, code) in added.into_iter().rev() {
        text.splice(at..at, code.chars());
    }
    blanked.then(|| text.into_iter().collect())
}

/// Whether a source that failed looks like TypeScript.
pub fn looks_typed(source: &str) -> bool {
    let words = ["enum", "interface", "namespace", "declare", "implements", "abstract"];
    source.lines().any(|line| words.contains(&line.split_whitespace().next().unwrap_or_default()))
        || strip_types(source).is_some()
}

const CONTROL: [&str; 6] = ["if", "for", "while", "switch", "with", "return"];
pub(super) const MODIFIERS: [&str; 6] =
    ["public", "private", "protected", "readonly", "override", "abstract"];

pub(super) struct Stripper {
    pub(super) text: Vec<char>,
    pub(super) tokens: Vec<Token>,
    pub(super) blanked: bool,
    /// Code to put in, by the character it goes before.
    pub(super) added: Vec<(usize, String)>,
}

impl Stripper {
    pub(super) fn new(source: &str) -> Self {
        let text: Vec<char> = source.chars().collect();
        Self { tokens: tokens(&text), text, blanked: false, added: Vec::new() }
    }

    pub(super) fn is(&self, at: usize, what: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.text == what)
    }

    pub(super) fn any(&self, at: usize, what: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| what.contains(&token.text.as_str()))
    }

    pub(super) fn word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word)
    }

    /// Blanks the tokens `from..to`, keeping line breaks.
    fn blank(&mut self, from: usize, to: usize) {
        if from >= to {
            return;
        }
        let (start, end) = (self.tokens[from].start, self.tokens[to - 1].end);
        for at in &mut self.text[start..end] {
            if *at != '\n' && *at != '\r' {
                *at = ' ';
            }
        }
        self.blanked = true;
    }

    /// The token behind the bracket that closes the one at `open`.
    pub(super) fn behind(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            if self.any(at, &["(", "[", "{"]) {
                depth += 1;
            } else if self.any(at, &[")", "]", "}"]) {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
        }
        None
    }

    /// The token behind `<…>` at `open`, when what is inside reads as types.
    pub(super) fn behind_angles(&self, open: usize) -> Option<usize> {
        let mut at = open + 1;
        loop {
            if self.is(at, "const") {
                at += 1;
            }
            at = self.type_end(at)?;
            // A parameter's bound and its default.
            for mark in ["extends", "="] {
                if self.is(at, mark) {
                    at = self.type_end(at + 1)?;
                }
            }
            if self.is(at, ",") {
                at += 1;
            }
            if self.is(at, ">") || !self.is(at - 1, ",") {
                return self.is(at, ">").then_some(at + 1);
            }
        }
    }

    /// The token behind the type that starts at `at`.
    pub(super) fn type_end(&self, mut at: usize) -> Option<usize> {
        if self.any(at, &["|", "&"]) {
            at += 1;
        }
        loop {
            at = self.primary_end(at)?;
            while self.is(at, "[") && !self.tokens[at].after_newline {
                at = self.behind(at)?;
            }
            if self.any(at, &["|", "&"]) || self.is(at, "is") {
                at += 1;
            } else {
                return Some(at);
            }
        }
    }

    fn primary_end(&self, at: usize) -> Option<usize> {
        let token = self.tokens.get(at)?;
        if self.any(at, &["typeof", "keyof", "readonly", "unique", "infer", "asserts", "new", "-"]) {
            return self.primary_end(at + 1);
        }
        match token.text.as_str() {
            "{" | "[" => self.behind(at),
            "(" => {
                let end = self.behind(at)?;
                if self.is(end, "=>") { self.type_end(end + 1) } else { Some(end) }
            }
            _ => match token.kind {
                Kind::Word => {
                    let mut end = at + 1;
                    while self.is(end, ".") && self.word(end + 1) {
                        end += 2;
                    }
                    if self.is(end, "<") { self.behind_angles(end) } else { Some(end) }
                }
                Kind::Literal => Some(at + 1),
                Kind::Mark => None,
            },
        }
    }

    /// Blanks `: type` (with a `?` or `!` before it) at `at`.
    pub(super) fn annotation(&mut self, at: usize) -> usize {
        let colon = if self.any(at, &["?", "!"]) { at + 1 } else { at };
        if !self.is(colon, ":") {
            if self.is(at, "?") && self.any(colon, &[",", ")"]) {
                self.blank(at, colon);
                return colon;
            }
            return at;
        }
        match self.type_end(colon + 1) {
            Some(end) => {
                self.blank(at, end);
                end
            }
            None => at,
        }
    }

    /// The token behind a binding: a name or a pattern.
    pub(super) fn binding_end(&self, at: usize) -> Option<usize> {
        if self.any(at, &["{", "["]) { self.behind(at) } else { self.word(at).then_some(at + 1) }
    }

    pub(super) fn walk(&mut self) {
        self.strip_holes();
        let mut braces: Vec<bool> = Vec::new();
        let mut class_next = false;
        let mut at = 0;
        while at < self.tokens.len() {
            let text = self.tokens[at].text.clone();
            let word = self.word(at) && !(at > 0 && self.any(at - 1, &[".", "?."]));
            let fresh = at == 0 || self.any(at - 1, &[";", "{", "}"]) || self.tokens[at].after_newline;
            let member = fresh && braces.last() == Some(&true) && (word || text == "[");
            let typed = if member { self.typed_member(at) } else { None };
            let typed = typed.or_else(|| if word && fresh { self.typed_statement(at) } else { None });
            if let Some(end) = typed {
                self.blank(at, end);
                at = end;
                continue;
            }
            match text.as_str() {
                "{" => {
                    braces.push(class_next);
                    class_next = false;
                }
                "}" => {
                    braces.pop();
                }
                "class" if word => class_next = true,
                "abstract" if word && self.is(at + 1, "class") => self.blank(at, at + 1),
                "implements" if class_next => {
                    let mut end = at + 1;
                    while let Some(next) = self.type_end_in_list(end) {
                        end = next;
                    }
                    self.blank(at, end);
                    at = end;
                    continue;
                }
                "interface" if word && fresh && self.word(at + 1) => {
                    if let Some(open) = (at..self.tokens.len()).find(|&open| self.is(open, "{"))
                        && let Some(end) = self.behind(open)
                    {
                        self.blank(at, end);
                        at = end;
                        continue;
                    }
                }
                "type" if word && fresh && self.word(at + 1) && self.any(at + 2, &["=", "<"]) => {
                    if let Some(end) = self.alias_end(at + 2) {
                        self.blank(at, end);
                        at = end;
                        continue;
                    }
                }
                "const" | "let" | "var" if word => {
                    self.declarators(at + 1);
                }
                "as" | "satisfies" if word && at > 0 && self.ends_expression(at - 1) => {
                    let end = if self.is(at + 1, "const") { Some(at + 2) } else { self.type_end(at + 1) };
                    if let Some(end) = end {
                        self.blank(at, end);
                        at = end;
                        continue;
                    }
                }
                "!" if at > 0
                    && self.ends_expression(at - 1)
                    && self.tokens[at - 1].end == self.tokens[at].start =>
                {
                    self.blank(at, at + 1);
                }
                "<" => {
                    if let Some(end) = self.behind_angles(at)
                        && (self.any(end, &["(", "{", "extends", "implements"]) || self.asserts(at, end))
                    {
                        self.blank(at, end);
                        at = end;
                        continue;
                    }
                }
                "(" => self.parameters(at),
                _ if word && fresh && braces.last() == Some(&true) => at = self.field(at),
                _ => {}
            }
            at += 1;
        }
    }

    fn type_end_in_list(&self, at: usize) -> Option<usize> {
        if self.is(at, "{") {
            return None;
        }
        let end = self.type_end(at)?;
        Some(if self.is(end, ",") { end + 1 } else { end })
    }

    /// `= type` of an alias, with its parameters before and the semicolon behind.
    fn alias_end(&self, mut at: usize) -> Option<usize> {
        if self.is(at, "<") {
            at = self.behind_angles(at)?;
        }
        if !self.is(at, "=") {
            return None;
        }
        let end = self.whole_type_end(at + 1)?;
        Some(if self.is(end, ";") { end + 1 } else { end })
    }

    /// A class field or a modifier in front of a member; gives the token to go on behind.
    fn field(&mut self, mut at: usize) -> usize {
        let first = at;
        while self.any(at, &MODIFIERS) && self.word(at + 1) {
            at += 1;
        }
        self.blank(first, at);
        let name = if self.is(at, "static") && self.word(at + 1) { at + 1 } else { at };
        if self.word(name) && self.any(name + 1, &[":", "?", "!"]) {
            let end = self.annotation(name + 1);
            return end.max(name + 1) - 1;
        }
        at.max(first)
    }

    pub(super) fn ends_expression(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        match token.kind {
            Kind::Word => !["return", "typeof", "await", "case", "in", "of", "const", "let", "var", "else"]
                .contains(&token.text.as_str()),
            Kind::Literal => true,
            Kind::Mark => [")", "]", "}"].contains(&token.text.as_str()),
        }
    }

    /// Blanks the annotations in a parameter list that opens at `open`, and the return type behind it.
    fn parameters(&mut self, open: usize) {
        let Some(end) = self.behind(open) else { return };
        let mut body = end;
        if self.is(end, ":") {
            match self.type_end(end + 1) {
                Some(behind) if self.any(behind, &["=>", "{"]) => body = behind,
                _ => return,
            }
        }
        let named = open > 0 && self.word(open - 1) && !self.any(open - 1, &CONTROL);
        let generic = open > 0 && self.is(open - 1, ">");
        let arrow = self.is(body, "=>");
        let block = self.is(body, "{")
            && (named || generic || (open > 0 && self.any(open - 1, &["function", "*", "]"])));
        if !arrow && !block {
            return;
        }
        self.blank(end, body);
        let constructor = block && self.is(open - 1, "constructor");
        let mut properties = Vec::new();
        let mut at = open + 1;
        while at < end - 1 {
            let first = at;
            while self.any(at, &MODIFIERS) && self.word(at + 1) {
                self.blank(at, at + 1);
                at += 1;
            }
            if constructor && at > first {
                properties.push(self.tokens[at].text.clone());
            }
            if self.is(at, "this") && self.is(at + 1, ":") {
                let Some(behind) = self.type_end(at + 2) else { return };
                let behind = if self.is(behind, ",") { behind + 1 } else { behind };
                self.blank(at, behind);
                at = behind;
                continue;
            }
            if self.is(at, "...") {
                at += 1;
            }
            let Some(binding) = self.binding_end(at) else { return };
            at = self.annotation(binding);
            // The default value, up to the next parameter.
            let mut depth = 0_usize;
            while at < end - 1 && !(depth == 0 && self.is(at, ",")) {
                if self.any(at, &["(", "[", "{"]) {
                    depth += 1;
                } else if self.any(at, &[")", "]", "}"]) {
                    depth = depth.saturating_sub(1);
                }
                at += 1;
            }
            at += 1;
        }
        self.assign(body, &properties);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn squeezed(source: &str) -> String {
        let stripped = strip_types(source).unwrap_or_else(|| source.to_owned());
        assert_eq!(stripped.chars().count(), source.chars().count(), "positions stay");
        stripped.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn types_go_and_code_stays() {
        for (typed, plain) in [
            ("const x: number = 1", "const x = 1"),
            ("let a: string | undefined;", "let a ;"),
            (
                "let a: number = 1, b: string[] = [], c = f(a, b), d: number",
                "let a = 1, b = [], c = f(a, b), d",
            ),
            ("const m: Map<string, number> = n, [o]: [x: number] = p;", "const m = n, [o] = p;"),
            (
                "for (let i: number = 0, n: number = 3; i < n; i++) {}",
                "for (let i = 0, n = 3; i < n; i++) {}",
            ),
            ("function f<T extends object>(x: T): T { return x }", "function f (x ) { return x }"),
            ("function f<T = number, const U extends A[] = B>(x: T) {}", "function f (x ) {}"),
            (
                "const g = <T extends object, K extends keyof T>(o: T, k: K): T[K] => o[k]",
                "const g = (o , k ) => o[k]",
            ),
            ("class C<T extends object = {}> extends D<T> {}", "class C extends D {}"),
            ("const y = <string>z", "const y = z"),
            ("f(<number[]>[1], <A<B>>'x')", "f( [1], 'x')"),
            ("const { a, b }: { a: string; b: number } = o", "const { a, b } = o"),
            ("function f(a: number, b?: string): Promise<void> { }", "function f(a , b ) { }"),
            ("const g = (x: A[], y = 1): string => x", "const g = (x , y = 1) => x"),
            ("const g = async (...rest: string[]) => rest", "const g = async (...rest ) => rest"),
            ("const m = new Map<string, number[]>()", "const m = new Map ()"),
            ("const r = (await tools.a({})) as { items: string[] }", "const r = (await tools.a({}))"),
            ("x = y as unknown as Foo<Bar>;", "x = y ;"),
            ("const c = ['a'] as const", "const c = ['a']"),
            ("return a!.b + c![0]", "return a .b + c [0]"),
            ("interface A { b: string }\nreturn 1", "return 1"),
            ("type A = { x: 1 } | 'b';\nreturn 2", "return 2"),
            ("type F = (a: number) => void\nreturn 2", "return 2"),
            (
                "class A { private n: number = 0; get(k: string): number { return this.n } }",
                "class A { n = 0; get(k ) { return this.n } }",
            ),
            ("try { } catch (e: any) { }", "try { } catch (e ) { }"),
            ("function id<T>(x: T): T { return x }", "function id (x ) { return x }"),
            ("items.map((i: Item) => i.id)", "items.map((i ) => i.id)"),
            ("items.reduce<Record<string, number>>((a, b) => a, {})", "items.reduce ((a, b) => a, {})"),
            ("const s = new Set<string>(['a']); f<T>(x)", "const s = new Set (['a']); f (x)"),
            ("const t = `a ${s as string} ${`${t!}`}`", "const t = `a ${s } ${`${t }`}`"),
            (
                "function f(a: string): string;\nfunction f(a: any) { return a }",
                "function f(a ) { return a }",
            ),
            ("declare const a: string;\ndeclare function f(x: number): void\nreturn 1", "return 1"),
            (
                "abstract class A { abstract area(): number; abstract b: string; declare c: T; x = 1 }",
                "class A { x = 1 }",
            ),
            ("class A { [key: string]: unknown; get(): A; get(a?: 1) { } }", "class A { get(a ) { } }"),
            ("const id = <T,>(x: T) => x", "const id = (x ) => x"),
            ("function f(this: Foo, a: number) { }", "function f( a ) { }"),
            ("import type { A } from './a';\nreturn 1", "return 1"),
            ("type U<T> = T extends (infer I)[] ? I : never;\nreturn 1", "return 1"),
        ] {
            assert_eq!(squeezed(typed), plain, "{typed}");
        }
    }

    #[test]
    fn parameter_properties_are_assigned() {
        for (typed, plain) in [
            (
                "class A { constructor(private readonly x: number, public y = 2, z?: T) {} }",
                "class A { constructor( x , y = 2, z ) {this.x=x;this.y=y;} }",
            ),
            (
                "class B extends A { constructor(public n: string) { super(n); f() } }",
                "class B extends A { constructor( n ) { super(n);;this.n=n; f() } }",
            ),
        ] {
            let stripped = strip_types(typed).unwrap();
            assert_eq!(stripped.split_whitespace().collect::<Vec<_>>().join(" "), plain, "{typed}");
        }
    }

    #[test]
    fn plain_code_is_left_alone() {
        for plain in [
            "const a = b ? c : d",
            "const o = { a: 1, b: { c: 2 } }",
            "switch (x) { case 1: break; default: y() }",
            "const s = 'x: number'; const t = `a: ${b ? 1 : 2}`",
            "const r = /a: b/g.test(c)",
            "if (a < b && c > d) { e() }",
            "label: for (const x of y) continue label",
            "for (let i = 0; i < n; i++) { f(i) }",
            "const y = a != b && !c",
            "return { type: 'x', as: 1 }",
        ] {
            assert_eq!(strip_types(plain), None, "{plain}");
        }
    }
}
