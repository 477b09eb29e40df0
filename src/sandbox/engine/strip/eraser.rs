//! Walks the tree of a TypeScript source and marks on its [`Sheet`] what is nothing but types.
//!
//! What is gone must not change what is left. A line break that is no longer inside of brackets may end
//! a statement, and a statement that ended at a type may go on: where that can be, a bracket moves or a
//! semicolon stands in place of the type.

use super::sheet::Sheet;
use oxc_ast::ast::{
    ArrowFunctionExpression, CatchParameter, Declaration, ExportDefaultDeclarationKind, Expression,
    ExpressionStatement, FormalParameter, FormalParameterRest, Function, ImportDeclarationSpecifier,
    ImportOrExportKind, Statement, TSAsExpression, TSEnumDeclaration, TSInstantiationExpression,
    TSModuleDeclaration, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter, TSType,
    TSTypeAnnotation, TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation,
    VariableDeclaration, VariableDeclarator,
};
use oxc_ast::ast::{Class, ClassBody};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

/// Marks the types of a tree.
pub(super) struct Eraser<'s> {
    pub(super) sheet: Sheet<'s>,
    /// Where the expression of a statement, or of an arrow function's body, begins: what begins there
    /// with a brace is a block.
    start: Option<u32>,
}

impl<'s> Eraser<'s> {
    pub(super) fn new(sheet: Sheet<'s>) -> Self {
        Self { sheet, start: None }
    }

    /// `: type` of what ends at `end`, with the mark before it.
    pub(super) fn annotation(&mut self, end: u32, annotation: Option<&TSTypeAnnotation<'_>>, marked: bool) {
        if let Some(annotation) = annotation {
            self.sheet.blank(end, annotation.span.end);
        } else if marked && let Some((at, '?' | '!')) = self.sheet.next(end) {
            self.sheet.blank(at, at + 1);
        }
    }

    /// What follows an expression up to the end of a node.
    fn tail(&mut self, expression: &Expression<'_>, span: Span) {
        self.visit_expression(expression);
        self.sheet.blank(expression.span().end, span.end);
    }

    /// A whole statement.
    fn gone(&mut self, span: Span) {
        self.sheet.blank(span.start, span.end);
        self.sheet.end(span.start, span.end);
    }
}

/// Whether a statement is nothing but types.
fn is_type(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::TSTypeAliasDeclaration(_)
        | Statement::TSInterfaceDeclaration(_)
        | Statement::TSGlobalDeclaration(_)
        | Statement::TSNamespaceExportDeclaration(_) => true,
        Statement::VariableDeclaration(it) => it.declare,
        Statement::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        Statement::ClassDeclaration(it) => it.declare,
        Statement::TSEnumDeclaration(it) => it.declare,
        Statement::TSModuleDeclaration(it) => it.declare,
        Statement::TSImportEqualsDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
        Statement::ImportDeclaration(it) => {
            let typed = |one: &ImportDeclarationSpecifier<'_>| {
                matches!(one, ImportDeclarationSpecifier::ImportSpecifier(one)
                    if one.import_kind == ImportOrExportKind::Type)
            };
            it.import_kind == ImportOrExportKind::Type
                || it.specifiers.as_ref().is_some_and(|all| !all.is_empty() && all.iter().all(typed))
        }
        Statement::ExportAllDeclaration(it) => it.export_kind == ImportOrExportKind::Type,
        Statement::ExportNamedDeclaration(it) => {
            it.export_kind == ImportOrExportKind::Type
                || it.declaration.as_ref().is_some_and(declares_type)
                || (!it.specifiers.is_empty()
                    && it.specifiers.iter().all(|one| one.export_kind == ImportOrExportKind::Type))
        }
        Statement::ExportDefaultDeclaration(it) => match &it.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
            ExportDefaultDeclarationKind::FunctionDeclaration(it) => it.body.is_none(),
            _ => false,
        },
        _ => false,
    }
}

fn declares_type(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
        Declaration::VariableDeclaration(it) => it.declare,
        Declaration::ClassDeclaration(it) => it.declare,
        Declaration::TSEnumDeclaration(it) => it.declare,
        Declaration::TSModuleDeclaration(it) => it.declare,
        Declaration::TSImportEqualsDeclaration(it) => it.import_kind == ImportOrExportKind::Type,
    }
}

impl<'a> Visit<'a> for Eraser<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if is_type(it) {
            return self.gone(it.span());
        }
        walk::walk_statement(self, it);
        let span = it.span();
        if self.sheet.trails_off(span) {
            let last = self.sheet.last(span.end);
            self.sheet.end(last, span.end);
        }
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        self.start = Some(it.span.start);
        walk::walk_expression_statement(self, it);
    }

    /// The engine ends a declaration with `let` or `const` at a line break, also where a comma follows: it
    /// gets its commas in front of the break.
    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        walk::walk_variable_declaration(self, it);
        for pair in it.declarations.windows(2) {
            let end = pair[0].span.end;
            if !it.kind.is_var()
                && let Some((comma, ',')) = self.sheet.next(end)
                && self.sheet.breaks(end, comma)
            {
                self.sheet.add(end, ",".to_owned());
                self.sheet.blank(comma, comma + 1);
            }
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.visit_binding_pattern(&it.id);
        self.annotation(it.id.span().end, it.type_annotation.as_deref(), it.definite);
        if let Some(value) = &it.init {
            self.visit_expression(value);
        }
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        self.visit_binding_pattern(&it.pattern);
        self.annotation(it.pattern.span().end, it.type_annotation.as_deref(), false);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.visit_decorators(&it.decorators);
        let pattern = it.pattern.span();
        if it.has_modifier() {
            let start = it.decorators.last().map_or(it.span.start, |last| last.span.end);
            self.sheet.blank(start, pattern.start);
        }
        self.visit_binding_pattern(&it.pattern);
        self.annotation(pattern.end, it.type_annotation.as_deref(), it.optional);
        if let Some(value) = &it.initializer {
            self.visit_expression(value);
        }
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        self.visit_binding_rest_element(&it.rest);
        self.annotation(it.rest.span.end, it.type_annotation.as_deref(), false);
    }

    fn visit_function(&mut self, it: &Function<'a>, _: ScopeFlags) {
        if let Some(types) = &it.type_parameters {
            self.visit_ts_type_parameter_declaration(types);
        }
        if let Some(this) = &it.this_param {
            self.visit_ts_this_parameter(this);
        }
        self.visit_formal_parameters(&it.params);
        self.annotation(it.params.span.end, it.return_type.as_deref(), false);
        if let Some(body) = &it.body {
            self.visit_function_body(body);
        }
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let params = it.params.span;
        self.visit_formal_parameters(&it.params);
        if let Some(types) = &it.type_parameters {
            self.sheet.blank(types.span.start, types.span.end);
            // After `async`, `return` and the like the bracket must stand in the same line.
            if self.sheet.breaks(types.span.start, params.start) {
                self.sheet.put(types.span.start, '(');
                self.sheet.blank(params.start, params.start + 1);
            }
        }
        if let Some(returned) = &it.return_type {
            self.sheet.blank(params.end, returned.span.end);
            // And so must the arrow.
            if self.sheet.breaks(params.end, returned.span.end) {
                self.sheet.blank(params.end - 1, params.end);
                self.sheet.put_last(returned.span.end, ')');
            }
        }
        self.visit_function_body(&it.body);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.visit_decorators(&it.decorators);
        let head = it.decorators.last().map_or(it.span.start, |last| last.span.end.max(it.span.start));
        let mut end = head;
        if let Some(name) = &it.id {
            end = name.span.end;
        }
        let named = it.id.as_ref().map_or(it.body.span.start, |name| name.span.start);
        for (span, word) in self.sheet.words(head, named) {
            if it.r#abstract && word == "abstract" {
                self.sheet.blank(span.start, span.end);
            }
            end = if word == "class" { end.max(span.end) } else { end };
        }
        if let Some(types) = &it.type_parameters {
            self.sheet.blank(types.span.start, types.span.end);
            end = types.span.end;
        }
        if let Some(parent) = &it.super_class {
            self.visit_expression(parent);
            end = parent.span().end;
        }
        if let Some(types) = &it.super_type_arguments {
            self.sheet.blank(types.span.start, types.span.end);
            end = types.span.end;
        }
        if let Some(last) = it.implements.last() {
            self.sheet.blank(end, last.span.end);
        }
        self.visit_class_body(&it.body);
    }

    fn visit_class_body(&mut self, it: &ClassBody<'a>) {
        self.members(it);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.tail(&it.expression, it.span);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.tail(&it.expression, it.span);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.tail(&it.expression, it.span);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.tail(&it.expression, it.span);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let block = self.start == Some(it.span.start) && {
            let mut innermost = &it.expression;
            while let Expression::TSTypeAssertion(inner) = innermost {
                innermost = &inner.expression;
            }
            let rest = self.sheet.rest(innermost.span().start);
            ["{", "function", "class", "async"].iter().any(|word| rest.starts_with(word))
        };
        let wraps = block || self.sheet.breaks(it.span.start, it.expression.span().start);
        self.sheet.blank(it.span.start, it.expression.span().start);
        self.visit_expression(&it.expression);
        if wraps {
            self.sheet.put(it.span.start, '(');
            self.sheet.add(it.span.end, ")".to_owned());
        }
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        let comma = self.sheet.next(it.span.end).filter(|&(_, char)| char == ',');
        self.sheet.blank(it.span.start, comma.map_or(it.span.end, |(at, _)| at + 1));
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.sheet.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.sheet.blank(it.span.start, it.span.end);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.sheet.blank(it.span.start, it.span.end);
    }

    // Types are blanked by what holds them; enums and namespaces mean code.
    fn visit_ts_type(&mut self, _: &TSType<'a>) {}
    fn visit_ts_enum_declaration(&mut self, _: &TSEnumDeclaration<'a>) {}
    fn visit_ts_module_declaration(&mut self, _: &TSModuleDeclaration<'a>) {}
}
