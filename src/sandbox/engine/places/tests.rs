//! Records as this engine really writes them, and marks where they belong.

use super::*;
use crate::sandbox::engine::added;
use crate::sandbox::engine::source::PATH;
use boa_engine::Context;
use boa_engine::builtins::error::Error as ErrorData;
use std::path::Path;

fn units(text: &str) -> Vec<u16> {
    text.encode_utf16().collect()
}

/// The frames and the place of what a function body throws.
fn thrown(body: &str) -> (Vec<Frame>, Vec<Found>) {
    let code = units(&format!("(function(){{\"use strict\";\n{body}\n}})()"));
    let mut context = Context::default();
    let error = context.eval(Source::from_utf16(&code).with_path(Path::new(PATH))).unwrap_err();
    let value = error.into_opaque(&mut context).unwrap();
    let object = value.as_object().unwrap();
    let message = object.get(boa_engine::js_string!("message"), &mut context).unwrap();
    let message = message.to_string(&mut context).unwrap().to_std_string_lossy();
    let data = object.downcast_ref::<ErrorData>().unwrap();
    (record::frames(&*data), of_error(&*data, &message, &code))
}

#[test]
fn the_record_of_the_engine_is_understood() {
    let (frames, _) = thrown("const f = () => {\n  return null.x;\n};\nf();");
    assert_eq!(frames.len(), 3, "the arrow function, the body, the script");
    let known = |frame: &Frame| frame.places.iter().filter_map(|(_, place)| *place).collect::<Vec<_>>();
    assert!(known(&frames[0]).contains(&(3, 15)), "{frames:?}");
    assert!(known(&frames[1]).contains(&(5, 2)), "{frames:?}");
    assert!(frames.iter().all(|frame| frame.places.is_sorted_by_key(|(from, _)| *from)));
}

fn read(name: &str, from: Place, to: Place) -> Deed {
    Deed::Read { name: Some(name.to_owned()), target: (from, to) }
}

#[test]
fn what_has_no_place_of_its_own_is_found() {
    for (body, at, deed) in [
        ("const { a } = null;", (2, 7), Deed::Names),
        ("const [a] = null;", (2, 7), Deed::Iterate),
        ("for (const a of 5) {}", (2, 17), Deed::Iterate),
        ("return [...5];", (2, 12), Deed::Iterate),
        ("const a = 1n + 1;", (2, 11), Deed::Convert),
        ("return `${Symbol()}`;", (2, 8), Deed::Convert),
        ("return 'a' in 5;", (2, 15), Deed::Relate),
        ("return late;\nlet late;", (2, 8), Deed::Early("late".to_owned())),
        ("const o = {};\no.a.run();", (3, 5), read("run", (3, 1), (3, 4))),
        ("const f = ({ a }) => a;\nf();", (2, 12), Deed::Names),
        ("const o = {};\nreturn [1,\n  o.a.b.c()];", (4, 7), read("b", (4, 3), (4, 6))),
    ] {
        let (frames, found) = thrown(body);
        assert_eq!(found, [Found { at, deed: Some(deed) }], "{body}: {frames:?}");
    }
}

#[test]
fn a_fault_of_something_unknown_has_its_neighbourhood() {
    let (_, found) = thrown("const a = Object.freeze([]);\na.push(1);");
    assert_eq!(found[0].at, (3, 7));
}

#[test]
fn values_that_are_no_errors_come_from_what_throws_them() {
    for (code, message, expected) in [
        ("throw 'a';\nthrow 'b';", "b", vec![(2, 7)]),
        ("throw 'a';\nthrow { b: 1 };\nthrow new Error('c');", "{\"b\":1}", vec![(2, 7)]),
        ("throw 'a';\nthrow x;", "from x", vec![(2, 7)]),
        ("throw 'a';\nthrow 'a';", "a", vec![(1, 7), (2, 7)]),
        ("new Promise((resolve, reject) => reject('no'));", "no", vec![(1, 41)]),
        ("Promise.reject(5);", "5", vec![(1, 16)]),
        ("f();", "5", vec![]),
    ] {
        assert_eq!(of_throw(message, &units(code)), expected, "{code}");
    }
}

fn marked(code: &str) -> String {
    let code = units(code);
    let mut interner = Interner::default();
    let script =
        Parser::new(Source::from_utf16(&code)).parse_script(&Scope::new_global(), &mut interner).unwrap();
    String::from_utf16(&added::insert(&code, marks(&script, &code)).0).unwrap()
}

#[test]
fn statements_that_can_fail_without_a_place_are_marked() {
    for (code, expected) in [
        ("const { a } = o;", "delete(0);const { a } = o;"),
        ("f(1)\nlet [a] = o", "f(1)\ndelete(0);let [a] = o"),
        ("{ var x = a + b }", "{ delete(0);var x = a + b }"),
        ("for (const a of b) f(a + 1)", "delete(0);for (const a of b) f(a + 1)"),
        ("if (a + b) { f() } else if (c + d) g()", "delete(0);if (a + b) { f() } else if (c + d) g()"),
        ("while (x.y) f()", "delete(0);while (x.y) f()"),
        ("switch (x.y) { case 1: a.b(); }", "delete(0);switch (x.y) { case 1: delete(0);a.b(); }"),
        ("() => { return o.f().g }", "() => { delete(0);return o.f().g }"),
        ("a\n.b()\n;[c.d]", "delete(0);a\n.b()\n;delete(0);[c.d]"),
    ] {
        assert_eq!(marked(code), expected, "{code}");
    }
}

#[test]
fn no_mark_changes_what_a_statement_belongs_to() {
    for code in [
        "if (a) b.c(); else d()",
        "do a.b(); while (c)",
        "for (let i = 0; i < a.length; i += 1) f(i)",
        "(a) => a.b + 1",
        "x = a + b",
        "f(1)",
        "'use strict'",
        "label: a.b()",
        "const a = 1",
        "class A { b = c.d }",
        "function f({ a }, [b]) {}",
    ] {
        let marked = marked(code);
        assert!(marked == code || marked == format!("delete(0);{code}"), "{code}: {marked}");
        assert!(!marked.contains(") delete") && !marked.contains("else delete"), "{marked}");
    }
    assert_eq!(
        marked("const a = 1; f(1); x = a + b; (a) => a + 1"),
        "const a = 1; f(1); x = a + b; (a) => a + 1"
    );
}
