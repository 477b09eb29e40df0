//! Places of mistakes that the engine reports at the start of the whole script: those that are against the
//! rules of JavaScript although every word stands where it may.

use super::{Place, place_of, read};
use oxc_ast::ast::{
    BindingIdentifier, BreakStatement, ClassBody, ClassElement, ContinueStatement, DoWhileStatement,
    ForInStatement, ForOfStatement, ForStatement, Function, LabeledStatement, PrivateFieldExpression,
    PropertyKey, Super, SwitchStatement, WhileStatement,
};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::scope::ScopeFlags;
use regex::Regex;
use std::sync::LazyLock;

static KIND: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:illegal|undefined) (break|continue) (?:statement|target: (\S+))|invalid (private|super)|formal (parameter) `(\S+)`|duplicate (label): (\S+)",
    )
    .expect("a valid pattern")
});

/// Where what the engine says can be; none for what it says a place of, or what is not known here.
pub fn places(message: &str, source: &[u16]) -> Vec<Place> {
    let Some(kind) = KIND.captures(message) else { return Vec::new() };
    let of = |at: usize| kind.get(at).map(|found| found.as_str());
    let word = of(1).or(of(3)).or(of(4)).or(of(6)).unwrap_or_default();
    let name = of(2).or(of(5)).or(of(7));
    read(source, |text, parsed| {
        let mut finder = Finder { word, name, loops: 0, switches: 0, private: Vec::new(), found: Vec::new() };
        finder.visit_program(&parsed.program);
        // The first label is none too many.
        let skipped = usize::from(word == "label");
        finder.found.iter().skip(skipped).map(|at| place_of(text, *at as usize)).collect()
    })
}

struct Finder<'m> {
    word: &'m str,
    name: Option<&'m str>,
    loops: u32,
    switches: u32,
    private: Vec<String>,
    found: Vec<u32>,
}

impl Finder<'_> {
    fn jump(&mut self, word: &str, label: Option<&str>, outside: bool, at: u32) {
        if self.word == word && (self.name.is_some() && label == self.name || self.name.is_none() && outside)
        {
            self.found.push(at);
        }
    }

    fn round(&mut self, walk: impl FnOnce(&mut Self)) {
        self.loops += 1;
        walk(self);
        self.loops -= 1;
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_break_statement(&mut self, it: &BreakStatement<'a>) {
        let label = it.label.as_ref().map(|label| label.name.as_str());
        self.jump("break", label, label.is_none() && self.loops + self.switches == 0, it.span.start);
    }

    fn visit_continue_statement(&mut self, it: &ContinueStatement<'a>) {
        let label = it.label.as_ref().map(|label| label.name.as_str());
        self.jump("continue", label, label.is_some() || self.loops == 0, it.span.start);
    }

    fn visit_labeled_statement(&mut self, it: &LabeledStatement<'a>) {
        if self.word == "label" && Some(it.label.name.as_str()) == self.name {
            self.found.push(it.span.start);
        }
        walk::walk_labeled_statement(self, it);
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        if self.word == "parameter" && Some(it.name.as_str()) == self.name {
            self.found.push(it.span.start);
        }
    }

    fn visit_super(&mut self, it: &Super) {
        if self.word == "super" {
            self.found.push(it.span.start);
        }
    }

    fn visit_private_field_expression(&mut self, it: &PrivateFieldExpression<'a>) {
        let declared = self.private.iter().any(|name| name == it.field.name.as_str());
        if self.word == "private" && !declared {
            self.found.push(it.field.span.start);
        }
        walk::walk_private_field_expression(self, it);
    }

    fn visit_class_body(&mut self, it: &ClassBody<'a>) {
        let outer = self.private.len();
        for member in &it.body {
            let key = match member {
                ClassElement::MethodDefinition(it) => Some(&it.key),
                ClassElement::PropertyDefinition(it) => Some(&it.key),
                ClassElement::AccessorProperty(it) => Some(&it.key),
                _ => None,
            };
            if let Some(PropertyKey::PrivateIdentifier(name)) = key {
                self.private.push(name.name.to_string());
            }
        }
        walk::walk_class_body(self, it);
        self.private.truncate(outer);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        let outer = (std::mem::take(&mut self.loops), std::mem::take(&mut self.switches));
        walk::walk_function(self, it, flags);
        (self.loops, self.switches) = outer;
    }

    fn visit_arrow_function_expression(&mut self, it: &oxc_ast::ast::ArrowFunctionExpression<'a>) {
        let outer = (std::mem::take(&mut self.loops), std::mem::take(&mut self.switches));
        walk::walk_arrow_function_expression(self, it);
        (self.loops, self.switches) = outer;
    }

    fn visit_switch_statement(&mut self, it: &SwitchStatement<'a>) {
        self.switches += 1;
        walk::walk_switch_statement(self, it);
        self.switches -= 1;
    }

    fn visit_for_statement(&mut self, it: &ForStatement<'a>) {
        self.round(|this| walk::walk_for_statement(this, it));
    }

    fn visit_for_in_statement(&mut self, it: &ForInStatement<'a>) {
        self.round(|this| walk::walk_for_in_statement(this, it));
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.round(|this| walk::walk_for_of_statement(this, it));
    }

    fn visit_while_statement(&mut self, it: &WhileStatement<'a>) {
        self.round(|this| walk::walk_while_statement(this, it));
    }

    fn visit_do_while_statement(&mut self, it: &DoWhileStatement<'a>) {
        self.round(|this| walk::walk_do_while_statement(this, it));
    }
}
