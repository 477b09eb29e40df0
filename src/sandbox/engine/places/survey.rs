//! The places of a script where something can go wrong, and what.

use super::Place;
use crate::sandbox::engine::added::place;
use boa_engine::ast::declaration::{Binding, LexicalDeclaration, Variable};
use boa_engine::ast::expression::access::{PropertyAccess, PropertyAccessField, SimplePropertyAccess};
use boa_engine::ast::expression::literal::{LiteralKind, PropertyDefinition, TemplateLiteral};
use boa_engine::ast::expression::operator::assign::{Assign, AssignOp, AssignTarget};
use boa_engine::ast::expression::operator::binary::{BinaryOp, RelationalOp};
use boa_engine::ast::expression::operator::unary::UnaryOp;
use boa_engine::ast::expression::operator::{Binary, Unary, Update};
use boa_engine::ast::expression::{
    Call, Expression, Identifier, New, Optional, OptionalOperationKind, Spread, SuperCall, TaggedTemplate,
    Yield,
};
use boa_engine::ast::function::{
    ClassDeclaration, ClassExpression, FormalParameterList, FunctionBody, FunctionExpression,
};
use boa_engine::ast::operations::bound_names;
use boa_engine::ast::pattern::{ArrayPattern, ObjectPattern, Pattern};
use boa_engine::ast::statement::Throw;
use boa_engine::ast::statement::iteration::{ForOfLoop, IterableLoopInitializer};
use boa_engine::ast::visitor::{VisitWith, Visitor};
use boa_engine::ast::{Position, Script, Span, Spanned};
use boa_engine::interner::{Interner, Sym};
use std::ops::ControlFlow;

/// What is done at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// A property is read.
    Read {
        /// Its name, where the script spells it.
        name: Option<String>,
        /// The span of what it is read from.
        target: (Place, Place),
    },
    /// A property is written.
    Write(Option<String>),
    /// Something is called; the span of what.
    Call(Place, Place),
    /// A constructor is called.
    New,
    /// The constructor of the superclass is called.
    Super,
    /// Promises are gathered: `Promise.all` and its like.
    Gather,
    /// A value is taken apart by a pattern of names.
    Names,
    /// A value is gone through.
    Iterate,
    /// Values are converted to numbers or text.
    Convert,
    /// `in` or `instanceof`.
    Relate,
    /// A name is looked up.
    Name(String),
    /// A name is looked up that the script declares, but later.
    Early(String),
    /// Something is thrown, or a promise rejected with it.
    Throw(Thrown),
}

/// What is thrown, as far as the script shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thrown {
    /// This text.
    Text(String),
    /// Something that cannot be an error.
    Plain,
    /// Whatever it is.
    Any,
}

/// One place.
#[derive(Debug)]
pub struct Spot {
    /// The function it is in, by number.
    pub scope: u32,
    /// Where a reader looks for it.
    pub at: Place,
    /// Behind what has to be done before.
    pub done: Place,
    /// What the engine does while the place holds that it gives this: from where to where.
    pub inside: (Place, Place),
    /// See [`Deed`].
    pub deed: Deed,
}

/// All of a script.
#[derive(Debug, Default)]
pub struct Survey {
    /// In the order of the tree.
    pub spots: Vec<Spot>,
    /// Where bodies of functions begin, and their numbers. Of a constructor, where that begins too: the engine
    /// gives its body this place.
    pub bodies: Vec<(Place, u32)>,
    /// Names that are not there before their declaration, and where that ends.
    pub late: Vec<(String, Place)>,
}

/// Goes through a script.
pub fn survey(script: &Script, interner: &Interner) -> Survey {
    let mut surveyor = Surveyor {
        interner,
        survey: Survey::default(),
        scope: 0,
        last_scope: 0,
        begun: None,
        constructors: Vec::new(),
    };
    let _ = script.visit_with(&mut surveyor);
    surveyor.survey
}

struct Surveyor<'a> {
    interner: &'a Interner,
    survey: Survey,
    scope: u32,
    last_scope: u32,
    /// The function whose parameters were just gone through.
    begun: Option<u32>,
    /// Where constructors begin.
    constructors: Vec<Place>,
}

impl Surveyor<'_> {
    fn name(&self, name: Sym) -> String {
        self.interner.resolve_expect(name).to_string()
    }

    fn spot(&mut self, at: Position, done: Position, deed: Deed) {
        self.within_span(Span::new(at, at), at, done, deed);
    }

    fn whole(&mut self, span: Span, deed: Deed) {
        self.within_span(span, span.start(), span.end(), deed);
    }

    fn within_span(&mut self, span: Span, at: Position, done: Position, deed: Deed) {
        let inside = (place(span.start()), place(span.end()));
        self.survey.spots.push(Spot { scope: self.scope, at: place(at), done: place(done), inside, deed });
    }

    fn field(&self, field: &PropertyAccessField) -> Option<String> {
        match field {
            PropertyAccessField::Const(name) => Some(self.name(name.sym())),
            PropertyAccessField::Expr(_) => None,
        }
    }

    fn read(&mut self, field: &PropertyAccessField, whole: Span, target: Span) {
        let deed =
            Deed::Read { name: self.field(field), target: (place(target.start()), place(target.end())) };
        self.within_span(whole, field.span().start(), field.span().start(), deed);
    }

    fn new_scope(&mut self) -> u32 {
        self.last_scope += 1;
        self.last_scope
    }

    fn within<'ast>(&mut self, scope: u32, node: &'ast impl VisitWith) -> ControlFlow<()>
    where
        Self: Visitor<'ast, BreakTy = ()>,
    {
        let outer = std::mem::replace(&mut self.scope, scope);
        let flow = node.visit_with(self);
        self.scope = outer;
        flow
    }

    /// What comes apart when `source` is known, or, without one, when the function is called.
    fn pattern(&mut self, pattern: &Pattern, source: Option<&Expression>) {
        let (span, deed) = match pattern {
            Pattern::Object(pattern) => (pattern.span(), Deed::Names),
            Pattern::Array(pattern) => (pattern.span(), Deed::Iterate),
        };
        let done = source.map_or(span.start(), |source| source.span().end());
        self.spot(span.start(), done, deed);
    }

    fn look_up(&mut self, name: Identifier) {
        let deed = Deed::Name(self.name(name.sym()));
        self.spot(name.span().start(), name.span().start(), deed);
    }

    fn throw(&mut self, target: &Expression) {
        let thrown = match target.flatten() {
            Expression::Literal(literal) => match literal.kind() {
                LiteralKind::String(text) => Thrown::Text(self.name(*text)),
                _ => Thrown::Plain,
            },
            Expression::ObjectLiteral(_)
            | Expression::ArrayLiteral(_)
            | Expression::TemplateLiteral(_)
            | Expression::Binary(_) => Thrown::Plain,
            _ => Thrown::Any,
        };
        self.whole(target.span(), Deed::Throw(thrown));
    }

    fn late(&mut self, name: Sym, end: Position) {
        let name = self.name(name);
        self.survey.late.push((name, place(end)));
    }
}

impl<'ast> Visitor<'ast> for Surveyor<'_> {
    type BreakTy = ();

    fn visit_formal_parameter_list(&mut self, parameters: &'ast FormalParameterList) -> ControlFlow<()> {
        let scope = self.new_scope();
        for parameter in parameters.as_ref() {
            if let Binding::Pattern(pattern) = parameter.variable().binding() {
                let outer = std::mem::replace(&mut self.scope, scope);
                self.pattern(pattern, None);
                self.scope = outer;
            }
        }
        let flow = self.within(scope, parameters);
        self.begun = Some(scope);
        flow
    }

    fn visit_function_body(&mut self, body: &'ast FunctionBody) -> ControlFlow<()> {
        let scope = self.begun.take().unwrap_or_else(|| self.new_scope());
        self.survey.bodies.push((place(body.span().start()), scope));
        self.within(scope, body)
    }

    fn visit_simple_property_access(&mut self, access: &'ast SimplePropertyAccess) -> ControlFlow<()> {
        self.read(access.field(), access.span(), access.target().span());
        access.visit_with(self)
    }

    fn visit_optional(&mut self, optional: &'ast Optional) -> ControlFlow<()> {
        for link in optional.chain() {
            match link.kind() {
                // Behind `?.` there is always something to read from.
                OptionalOperationKind::SimplePropertyAccess { field } if !link.shorted() => {
                    let before = Span::new(optional.target().span().start(), link.span().start());
                    self.read(field, link.span(), before);
                }
                OptionalOperationKind::Call { .. } => {
                    let callee = (place(optional.target().span().start()), place(link.span().start()));
                    self.spot(link.span().start(), link.span().start(), Deed::Call(callee.0, callee.1));
                }
                _ => {}
            }
        }
        optional.visit_with(self)
    }

    fn visit_call(&mut self, call: &'ast Call) -> ControlFlow<()> {
        let target = call.function().span();
        let deed = Deed::Call(place(target.start()), place(target.end()));
        self.within_span(call.span(), call.span().start(), call.span().start(), deed);
        let called = match call.function() {
            Expression::Identifier(name) => Some(self.name(name.sym())),
            Expression::PropertyAccess(PropertyAccess::Simple(access)) => self.field(access.field()),
            _ => None,
        };
        match (called.as_deref(), call.args().first()) {
            (Some("reject"), Some(reason)) => self.throw(reason),
            (Some("all" | "race" | "any" | "allSettled"), _) => self.whole(call.span(), Deed::Gather),
            _ => {}
        }
        call.visit_with(self)
    }

    fn visit_tagged_template(&mut self, template: &'ast TaggedTemplate) -> ControlFlow<()> {
        let target = template.tag().span();
        self.whole(template.span(), Deed::Call(place(target.start()), place(target.end())));
        template.visit_with(self)
    }

    fn visit_new(&mut self, new: &'ast New) -> ControlFlow<()> {
        let span = new.call().span();
        self.within_span(span, span.start(), span.start(), Deed::New);
        // Its call is no place of its own.
        self.visit_expression(new.call().function())?;
        for argument in new.call().args() {
            self.visit_expression(argument)?;
        }
        ControlFlow::Continue(())
    }

    fn visit_super_call(&mut self, call: &'ast SuperCall) -> ControlFlow<()> {
        self.within_span(call.span(), call.span().start(), call.span().start(), Deed::Super);
        call.visit_with(self)
    }

    fn visit_variable(&mut self, variable: &'ast Variable) -> ControlFlow<()> {
        if let (Binding::Pattern(pattern), Some(source)) = (variable.binding(), variable.init()) {
            self.pattern(pattern, Some(source));
        }
        variable.visit_with(self)
    }

    fn visit_lexical_declaration(&mut self, declaration: &'ast LexicalDeclaration) -> ControlFlow<()> {
        for variable in declaration.variable_list().as_ref() {
            let end = match (variable.init(), variable.binding()) {
                (Some(init), _) => init.span().end(),
                (None, Binding::Identifier(name)) => name.span().start(),
                (None, Binding::Pattern(pattern)) => pattern.span().start(),
            };
            for name in bound_names(variable) {
                self.late(name, end);
            }
        }
        declaration.visit_with(self)
    }

    fn visit_function_expression(&mut self, function: &'ast FunctionExpression) -> ControlFlow<()> {
        if self.constructors.contains(&place(function.span().start())) {
            // Its parameters, which come first, will have the next number.
            self.survey.bodies.push((place(function.span().start()), self.last_scope + 1));
        }
        function.visit_with(self)
    }

    fn visit_class_expression(&mut self, class: &'ast ClassExpression) -> ControlFlow<()> {
        self.constructors.extend(class.constructor().map(|it| place(it.span().start())));
        class.visit_with(self)
    }

    fn visit_class_declaration(&mut self, class: &'ast ClassDeclaration) -> ControlFlow<()> {
        self.constructors.extend(class.constructor().map(|it| place(it.span().start())));
        self.late(class.name().sym(), class.name().span().start());
        class.visit_with(self)
    }

    fn visit_object_pattern(&mut self, pattern: &'ast ObjectPattern) -> ControlFlow<()> {
        // One inside of another is taken apart at its own place.
        self.spot(pattern.span().start(), pattern.span().start(), Deed::Names);
        pattern.visit_with(self)
    }

    fn visit_array_pattern(&mut self, pattern: &'ast ArrayPattern) -> ControlFlow<()> {
        self.spot(pattern.span().start(), pattern.span().start(), Deed::Iterate);
        pattern.visit_with(self)
    }

    fn visit_for_of_loop(&mut self, for_of: &'ast ForOfLoop) -> ControlFlow<()> {
        self.whole(for_of.iterable().span(), Deed::Iterate);
        if let IterableLoopInitializer::Let(binding) | IterableLoopInitializer::Const(binding) =
            for_of.initializer()
        {
            for name in bound_names(binding) {
                self.late(name, for_of.iterable().span().end());
            }
        }
        for_of.visit_with(self)
    }

    fn visit_spread(&mut self, spread: &'ast Spread) -> ControlFlow<()> {
        self.whole(spread.target().span(), Deed::Iterate);
        spread.visit_with(self)
    }

    fn visit_yield(&mut self, it: &'ast Yield) -> ControlFlow<()> {
        if let Some(target) = it.target()
            && it.delegate()
        {
            self.whole(target.span(), Deed::Iterate);
        }
        it.visit_with(self)
    }

    fn visit_binary(&mut self, binary: &'ast Binary) -> ControlFlow<()> {
        let span = binary.span();
        match binary.op() {
            BinaryOp::Relational(RelationalOp::In | RelationalOp::InstanceOf) => {
                self.spot(binary.rhs().span().start(), span.end(), Deed::Relate);
            }
            BinaryOp::Arithmetic(_) | BinaryOp::Bitwise(_) | BinaryOp::Relational(_) => {
                self.whole(span, Deed::Convert);
            }
            BinaryOp::Logical(_) | BinaryOp::Comma => {}
        }
        binary.visit_with(self)
    }

    fn visit_template_literal(&mut self, template: &'ast TemplateLiteral) -> ControlFlow<()> {
        self.whole(template.span(), Deed::Convert);
        template.visit_with(self)
    }

    fn visit_unary(&mut self, unary: &'ast Unary) -> ControlFlow<()> {
        if matches!(unary.op(), UnaryOp::Plus | UnaryOp::Minus | UnaryOp::Tilde) {
            self.whole(unary.span(), Deed::Convert);
        }
        unary.visit_with(self)
    }

    fn visit_update(&mut self, update: &'ast Update) -> ControlFlow<()> {
        self.whole(update.span(), Deed::Convert);
        update.visit_with(self)
    }

    fn visit_assign(&mut self, assign: &'ast Assign) -> ControlFlow<()> {
        if !matches!(
            assign.op(),
            AssignOp::Assign | AssignOp::BoolAnd | AssignOp::BoolOr | AssignOp::Coalesce
        ) {
            self.whole(assign.span(), Deed::Convert);
        }
        match assign.lhs() {
            AssignTarget::Pattern(pattern) => self.pattern(pattern, Some(assign.rhs())),
            AssignTarget::Access(PropertyAccess::Simple(access)) => {
                // The engine gives a property that is written the place where the assignment begins.
                let name = self.field(access.field());
                self.whole(assign.span(), Deed::Write(name));
            }
            _ => {}
        }
        assign.visit_with(self)
    }

    fn visit_throw(&mut self, throw: &'ast Throw) -> ControlFlow<()> {
        self.throw(throw.target());
        throw.visit_with(self)
    }

    fn visit_property_definition(&mut self, property: &'ast PropertyDefinition) -> ControlFlow<()> {
        if let PropertyDefinition::IdentifierReference(name) = property {
            self.look_up(*name);
        }
        property.visit_with(self)
    }

    fn visit_expression(&mut self, expression: &'ast Expression) -> ControlFlow<()> {
        if let Expression::Identifier(name) = expression {
            self.look_up(*name);
        }
        expression.visit_with(self)
    }
}
