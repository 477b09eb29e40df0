//! The members of a class: modifiers, signatures without code, and parameter properties, which mean code.

use super::eraser::Eraser;
use oxc_ast::ast::{
    AccessorPropertyType, BindingPattern, CallExpression, Class, ClassBody, ClassElement, Decorator,
    Expression, Function, FunctionBody, MethodDefinition, MethodDefinitionKind, PropertyDefinitionType,
    PropertyKey, TSTypeAnnotation,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;
use std::fmt::Write as _;

/// Words in front of a member that say nothing to JavaScript.
const MODIFIERS: [&str; 7] =
    ["public", "private", "protected", "readonly", "override", "abstract", "declare"];

/// A field, with or without `accessor`.
struct Field<'t, 'a> {
    span: Span,
    decorators: &'t [Decorator<'a>],
    key: &'t PropertyKey<'a>,
    computed: bool,
    annotation: Option<&'t TSTypeAnnotation<'a>>,
    marked: bool,
    value: Option<&'t Expression<'a>>,
}

impl Eraser<'_> {
    pub(super) fn members(&mut self, body: &ClassBody<'_>) {
        // Whether the member before is a field that only a line break ends.
        let mut open = false;
        for member in &body.body {
            let span = member.span();
            if is_type(member) {
                let behind = self.sheet.next(span.end).filter(|&(_, char)| char == ';');
                self.sheet.blank(span.start, behind.map_or(span.end, |(at, _)| at + 1));
                if open {
                    self.sheet.put(span.start, ';');
                    open = false;
                }
                continue;
            }
            let was_open = std::mem::take(&mut open);
            match member {
                ClassElement::MethodDefinition(it) => self.method(it, was_open),
                ClassElement::PropertyDefinition(it) => {
                    open = self.field(
                        &Field {
                            span,
                            decorators: &it.decorators,
                            key: &it.key,
                            computed: it.computed,
                            annotation: it.type_annotation.as_deref(),
                            marked: it.optional || it.definite,
                            value: it.value.as_ref(),
                        },
                        was_open,
                    );
                }
                ClassElement::AccessorProperty(it) => {
                    open = self.field(
                        &Field {
                            span,
                            decorators: &it.decorators,
                            key: &it.key,
                            computed: it.computed,
                            annotation: it.type_annotation.as_deref(),
                            marked: it.definite,
                            value: it.value.as_ref(),
                        },
                        was_open,
                    );
                }
                ClassElement::StaticBlock(_) | ClassElement::TSIndexSignature(_) => {
                    walk::walk_class_element(self, member);
                }
            }
        }
    }

    /// The modifiers of a member, and its key; gives where the key ends.
    fn head(
        &mut self,
        span: Span,
        decorators: &[Decorator<'_>],
        key: &PropertyKey<'_>,
        computed: bool,
        open: bool,
    ) -> u32 {
        for decorator in decorators {
            self.visit_decorator(decorator);
        }
        let start = decorators.last().map_or(span.start, |last| last.span.end.max(span.start));
        let first = self.sheet.next(start).map(|(at, _)| at);
        for (span, word) in self.sheet.words(start, key.span().start) {
            if MODIFIERS.contains(&word) {
                self.sheet.blank(span.start, span.end);
                if open && first == Some(span.start) {
                    self.sheet.put(span.start, ';');
                }
            }
        }
        let end = key.span().end;
        if computed {
            self.visit_property_key(key);
            return self.sheet.behind(end, b']').unwrap_or(end);
        }
        end
    }

    fn method(&mut self, it: &MethodDefinition<'_>, open: bool) {
        let end = self.head(it.span, &it.decorators, &it.key, it.computed, open);
        self.annotation(end, None, it.optional);
        self.visit_function(&it.value, ScopeFlags::Function);
        if it.kind == MethodDefinitionKind::Constructor {
            self.parameter_properties(&it.value);
        }
    }

    /// Tells whether only a line break ends the field.
    fn field(&mut self, it: &Field<'_, '_>, open: bool) -> bool {
        let end = self.head(it.span, it.decorators, it.key, it.computed, open);
        self.annotation(end, it.annotation, it.marked);
        if let Some(value) = it.value {
            self.visit_expression(value);
        }
        let next = self.sheet.next(it.span.end).map(|(_, char)| char);
        if self.sheet.trails_off(it.span) && !matches!(next, Some(';' | '}')) {
            self.sheet.put_last(it.span.end, ';');
            return false;
        }
        next != Some(';') && !self.sheet.rest(self.sheet.last(it.span.end)).starts_with(';')
    }

    /// Says in a constructor what its parameter properties mean.
    fn parameter_properties(&mut self, constructor: &Function<'_>) {
        let mut code = String::new();
        for parameter in constructor.params.items.iter().filter(|parameter| parameter.has_modifier()) {
            if let BindingPattern::BindingIdentifier(name) = &parameter.pattern {
                let _ = write!(code, "this.{0}={0};", name.name);
            }
        }
        let Some(body) = constructor.body.as_ref().filter(|_| !code.is_empty()) else { return };
        match behind_super(body).or_else(|| body.directives.last().map(|last| last.span.end)) {
            Some(place) => self.sheet.add(place, format!(";{code}")),
            None => self.sheet.add(body.span.start + 1, code),
        }
    }
}

/// Whether a member is nothing but types.
fn is_type(member: &ClassElement<'_>) -> bool {
    match member {
        ClassElement::MethodDefinition(it) => it.value.body.is_none(),
        ClassElement::PropertyDefinition(it) => {
            it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
        }
        ClassElement::AccessorProperty(it) => it.r#type == AccessorPropertyType::TSAbstractAccessorProperty,
        ClassElement::TSIndexSignature(_) => true,
        ClassElement::StaticBlock(_) => false,
    }
}

/// Behind the statement of a constructor that calls the one of its parent.
fn behind_super(body: &FunctionBody<'_>) -> Option<u32> {
    let calls = |statement: &&oxc_ast::ast::Statement<'_>| {
        let mut finder = SuperCall(false);
        finder.visit_statement(statement);
        finder.0
    };
    body.statements.iter().find(calls).map(|statement| statement.span().end)
}

struct SuperCall(bool);

impl<'a> Visit<'a> for SuperCall {
    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.0 |= matches!(it.callee, Expression::Super(_));
        walk::walk_call_expression(self, it);
    }

    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_class(&mut self, _: &Class<'a>) {}
}
