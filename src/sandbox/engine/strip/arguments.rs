//! Calls with type arguments in a source that is JavaScript as well.
//!
//! `f<Item>(x)` is two comparisons to a JavaScript parser. They read a value called `Item`, so when there
//! is none they could only fail, and the source must be TypeScript. When there is one, they stay
//! comparisons; `new Set<Item>(x)` never is one, as nobody compares what was made a moment ago.

use oxc_ast::ast::{
    BindingIdentifier, CallExpression, Expression, IdentifierName, IdentifierReference, NewExpression,
    Program, TSType, TSTypeName, TSTypeParameterInstantiation, TSTypeQuery, TSTypeReference,
    TaggedTemplateExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::GetSpan;
use std::collections::HashSet;

/// Names of types that are no names of values.
pub const TYPE_NAMES: [&str; 14] = [
    "string", "number", "boolean", "any", "unknown", "never", "object", "bigint", "symbol", "Record",
    "Partial", "Readonly", "Pick", "Omit",
];

/// What a script finds without declaring it, in order.
pub const GLOBALS: [&str; 95] = [
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "AsyncDisposableStack",
    "Atomics",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DOMException",
    "DataCloneError",
    "DataView",
    "Date",
    "DisposableStack",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float16Array",
    "Float32Array",
    "Float64Array",
    "Function",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "Intl",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "ShadowRealm",
    "SharedArrayBuffer",
    "String",
    "SuppressedError",
    "Symbol",
    "SyntaxError",
    "Temporal",
    "TextDecoder",
    "TextEncoder",
    "TypeError",
    "TypedArray",
    "URIError",
    "URL",
    "URLSearchParams",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "WebAssembly",
    "__GRAPHORIN_INPUT__",
    "arguments",
    "atob",
    "btoa",
    "clearImmediate",
    "clearInterval",
    "clearTimeout",
    "console",
    "crypto",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "fetch",
    "global",
    "globalThis",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "performance",
    "process",
    "queueMicrotask",
    "require",
    "setImmediate",
    "setInterval",
    "setTimeout",
    "structuredClone",
    "tools",
    "undefined",
    "unescape",
];

/// Whether a program holds type arguments for sure: they follow `new Name`, or a call whose brackets name
/// what can be no value: one of [`TYPE_NAMES`] that the program neither declares nor reads, or a name with a
/// capital letter that it does not mention elsewhere and finds nowhere.
pub(super) fn certain(program: &Program<'_>) -> bool {
    let mut uses = Uses::default();
    uses.visit_program(program);
    // A global may be made by way of the global object, under a name that is put together.
    let makes_globals = ["global", "this["].iter().any(|way| program.source_text.contains(way));
    let own_type = |name: &str| {
        !makes_globals
            && name.starts_with(|first: char| first.is_ascii_uppercase())
            && !uses.properties.contains(name)
            && GLOBALS.binary_search(&name).is_err()
    };
    let no_value = |name: &&str| !uses.values.contains(name) && (TYPE_NAMES.contains(name) || own_type(name));
    uses.made || uses.named.iter().any(no_value)
}

#[derive(Default)]
struct Uses<'a> {
    /// `new Name<…>(…)` was seen.
    made: bool,
    /// Names that are declared, or read outside of type arguments.
    values: HashSet<&'a str>,
    /// Names of properties.
    properties: HashSet<&'a str>,
    /// Names in type arguments.
    named: Vec<&'a str>,
}

impl<'a> Uses<'a> {
    /// Type arguments count when they stand as close as nobody writes a comparison.
    fn arguments(
        &mut self,
        callee: &Expression<'a>,
        types: Option<&TSTypeParameterInstantiation<'a>>,
    ) -> bool {
        let Some(types) = types.filter(|types| types.span.start == callee.span().end) else { return false };
        for one in &types.params {
            Names(&mut self.named).visit_ts_type(one);
        }
        true
    }
}

impl<'a> Visit<'a> for Uses<'a> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.values.insert(it.name.as_str());
    }

    fn visit_identifier_name(&mut self, it: &IdentifierName<'a>) {
        self.properties.insert(it.name.as_str());
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.values.insert(it.name.as_str());
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.arguments(&it.callee, it.type_arguments.as_deref());
        walk::walk_call_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.arguments(&it.tag, it.type_arguments.as_deref());
        walk::walk_tagged_template_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.made |= self.arguments(&it.callee, it.type_arguments.as_deref());
        walk::walk_new_expression(self, it);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, _: &TSTypeParameterInstantiation<'a>) {}
}

/// The names a type reads when it is taken for a value.
struct Names<'n, 'a>(&'n mut Vec<&'a str>);

impl<'a> Visit<'a> for Names<'_, 'a> {
    fn visit_ts_type(&mut self, it: &TSType<'a>) {
        match it {
            TSType::TSStringKeyword(_) => self.0.push("string"),
            TSType::TSNumberKeyword(_) => self.0.push("number"),
            TSType::TSBooleanKeyword(_) => self.0.push("boolean"),
            TSType::TSAnyKeyword(_) => self.0.push("any"),
            TSType::TSUnknownKeyword(_) => self.0.push("unknown"),
            TSType::TSNeverKeyword(_) => self.0.push("never"),
            TSType::TSObjectKeyword(_) => self.0.push("object"),
            TSType::TSBigIntKeyword(_) => self.0.push("bigint"),
            TSType::TSSymbolKeyword(_) => self.0.push("symbol"),
            // Never read, or not at once.
            TSType::TSFunctionType(_) | TSType::TSConstructorType(_) => {}
            _ => walk::walk_ts_type(self, it),
        }
    }

    fn visit_ts_type_reference(&mut self, it: &TSTypeReference<'a>) {
        let mut name = &it.type_name;
        while let TSTypeName::QualifiedName(inner) = name {
            name = &inner.left;
        }
        if let TSTypeName::IdentifierReference(one) = name {
            self.0.push(one.name.as_str());
        }
        if let Some(types) = &it.type_arguments {
            self.visit_ts_type_parameter_instantiation(types);
        }
    }

    /// `typeof` does not fail for a name that is not there.
    fn visit_ts_type_query(&mut self, _: &TSTypeQuery<'a>) {}
}
