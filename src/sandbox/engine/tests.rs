//! The engine against a host made of plain Rust.

use super::Engine;
use crate::sandbox::wire::{Format, Json, Mode, Port, Received, Start, Text, frame};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

/// Answers every call with its own arguments, or as `script` says.
#[derive(Default)]
struct Host {
    sent: Vec<(u8, Vec<u8>)>,
    waiting: VecDeque<Vec<u8>>,
}

#[derive(Clone, Default)]
struct Line(Rc<RefCell<Host>>);

impl Port for Line {
    fn send(&mut self, kind: u8, payload: &[u8]) {
        let mut host = self.0.borrow_mut();
        host.sent.push((kind, payload.to_vec()));
        if kind != frame::CALLS {
            return;
        }
        let mut at = 0;
        let mut answers = Vec::new();
        while at < payload.len() {
            let length = u32::from_le_bytes(payload[at + 9..at + 13].try_into().unwrap()) as usize;
            let (id, format, bytes) =
                (&payload[at..at + 4], payload[at + 8], &payload[at + 13..at + 13 + length]);
            let ok = u8::from(format != Format::Refused as u8);
            answers.extend_from_slice(id);
            answers.extend_from_slice(&[ok, format]);
            answers.extend_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
            answers.extend_from_slice(bytes);
            at += 13 + length;
        }
        host.waiting.push_back(answers);
    }

    fn receive(&mut self, wait: Option<Duration>) -> Received {
        if let Some(answers) = self.0.borrow_mut().waiting.pop_front() {
            return Received::Frame(frame::ANSWERS, answers);
        }
        match wait {
            Some(wait) => {
                std::thread::sleep(wait);
                Received::Timeout
            }
            None => Received::Closed,
        }
    }

    fn exit(&mut self, _code: i32) {}
}

fn start(mode: Mode, source: &str) -> Start {
    let text = |text: &str| Text::Wide(text.encode_utf16().collect());
    Start {
        mode,
        source: text(source),
        tools: vec![text("echo"), text("a.b")],
        input: (mode == Mode::Script).then(|| text("{\"n\":20}")),
        memory: 1 << 30,
        cpu_ms: 0,
        max_args: 1 << 20,
        max_output: 1 << 20,
        max_parts: 200_000,
        max_console: 1 << 16,
        without_filter: true,
    }
}

fn run(mode: Mode, source: &str) -> Vec<(u8, Vec<u8>)> {
    let line = Line::default();
    let start = start(mode, source);
    Engine::warm().furnished_for(&start).run(&start, Box::new(line.clone()), [7; 32]);
    line.0.take().sent
}

fn output(source: &str) -> String {
    let sent = run(Mode::Body, source);
    let (kind, payload) = sent.last().unwrap();
    let text = String::from_utf8(payload[usize::from(*kind == frame::RESULT)..].to_vec()).unwrap();
    assert_eq!(*kind, frame::RESULT, "{source}: {text}");
    text
}

fn failure(source: &str) -> String {
    let sent = run(Mode::Body, source);
    let (kind, payload) = sent.last().unwrap();
    assert_eq!(*kind, frame::FAILURE, "{source}: {}", String::from_utf8_lossy(payload));
    Json::parse(payload).unwrap().get("message").unwrap().as_text().unwrap().to_utf8()
}

#[test]
fn values_leave_as_json() {
    for (source, expected) in [
        ("return 1", "1"),
        ("return {b: 1, a: [true, null, 'é\\ud800']}", "{\"b\":1,\"a\":[true,null,\"é\\ud800\"]}"),
        ("return await tools.echo({x: 1.5, '__proto__x': 2})", "{\"x\":1.5e0,\"__proto__x\":2}"),
        ("return (await Promise.all([1, 2, 3].map((n) => tools['a.b'](n)))).join()", "\"1,2,3\""),
        ("return undefined", ""),
        ("const x: number = 2; return x", "2"),
    ] {
        assert_eq!(output(source), expected, "{source}");
    }
}

#[test]
fn what_json_cannot_say_is_a_table() {
    assert_eq!(output("return [undefined, -0, 1n]"), "[[1],[\"A\",[\"u\"],[\"z\"],[\"b\",\"1\"]]]");
    assert_eq!(output("const a = {}; a.self = a; return a"), "[[1],[\"O\",\"self\",[1]]]");
    assert_eq!(
        output("return await tools.echo(new Map([[1, new Set(['x'])]]))"),
        "[[1],[\"M\",1,[2]],[\"S\",\"x\"]]"
    );
    assert!(failure("return { a: [() => 1] }").contains("could not be cloned (at $.a[0])"));
    assert!(failure("await tools.echo({ f() {} })").contains("could not be cloned"));
}

#[test]
fn errors_say_where_and_what_to_do() {
    assert_eq!(failure("const a = 1;\n  throw new Error('boom')"), "boom (line 2, column 9)");
    assert!(failure("return tools.nope()").contains("no tool named \"nope\"; the tools are: echo, a.b"));
    let unknown = failure("const a = { nopes: 1 }.nope;\nreturn nope + a");
    assert!(
        unknown.contains("Available globals: tools") && unknown.ends_with("(line 2, column 8)"),
        "{unknown}"
    );
    assert!(failure("throw 'plain'").starts_with("plain"));
    assert!(failure("eval('1')").contains("code cannot be made from strings"));
    assert!(failure("(() => {}).constructor('return this')()").contains("code cannot be made from strings"));
    assert!(failure("function f() { return f() + 1 } f()").contains("Maximum call stack"));
    assert!(
        failure("Promise.reject(new Error('loose')); await new Promise((r) => setTimeout(r, 5))")
            .contains("loose")
    );
    assert_eq!(failure("await import('node:fs')"), "filesystem access denied by sandbox policy: node:fs");
}

#[test]
fn what_other_engines_run_runs() {
    for (source, expected) in [
        ("return new Set<string>(['a']).size + [1, 2].reduce<number>((a, b) => a + b, 0)", "4"),
        (
            "class A { constructor(private readonly x: number) {} get() { return this.x } } return new A(4).get()",
            "4",
        ),
        ("const s: string = 'a'; return `${s as string}`", "\"a\""),
        (
            "const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + \
             d.decode(new Uint8Array([0xac])) + d.decode(new Uint8Array([65, 0xe2]))",
            "\"€A\u{fffd}\"",
        ),
        (
            "return String(JSON.parse('{\"a\":[1e400, \"x\", {}, -1, null, {\"__proto__\": 1, \"b\": []}]}').a[0])",
            "\"Infinity\"",
        ),
        (
            "return JSON.stringify(JSON.parse('[1e999,{\"a\":[true,null],\"__proto__\":2,\"a\":{}}, \"\\\\n\"]'))",
            "\"[null,{\\\"a\\\":{},\\\"__proto__\\\":2},\\\"\\\\n\\\"]\"",
        ),
        (
            "let n = 0; let a = JSON.parse('['.repeat(5000) + ']'.repeat(5000)); while (a) { n++; a = a[0] } return n",
            "5000",
        ),
        ("return JSON.parse('[1e999, 2]', (k, v) => (k === '1' ? v * 2 : v))[1]", "4"),
        ("try { JSON.parse('[1e999,]') } catch (e) { return e.name }", "\"SyntaxError\""),
        ("try { JSON.parse('[1e999] x') } catch (e) { return e.name }", "\"SyntaxError\""),
        (
            "return new Intl.DateTimeFormat('en-US', { hour: 'numeric', timeZoneName: 'short', timeZone: \
             'Asia/Tokyo' }).formatToParts(new Date(0)).at(-1)",
            "{\"type\":\"timeZoneName\",\"value\":\"GMT+9\"}",
        ),
        (
            "return new Intl.NumberFormat('en-US', { style: 'unit', unit: 'byte', unitDisplay: 'narrow' }).format(10)",
            "\"10B\"",
        ),
        ("try { atob('*') } catch (e) { return e.name }", "\"InvalidCharacterError\""),
    ] {
        assert_eq!(output(source), expected, "{source}");
    }
    assert!(failure("return string").contains("TypeScript type"));
    assert!(failure("return nope").contains("setInterval"));
}

#[test]
fn the_stripper_knows_what_a_script_finds() {
    let known = serde_json::to_string(&super::strip::GLOBALS[..]).unwrap();
    let unknown = "Object.getOwnPropertyNames(globalThis).filter((name) => !known.includes(name)).join()";
    assert_eq!(output(&format!("const known = {known}; return {unknown}")), "\"\"");
}

#[test]
fn the_everyday_shuffle_does_not_panic() {
    assert_eq!(
        output("return Array.from({length: 2000}, (_, i) => i).sort(() => Math.random() - 0.5).length"),
        "2000"
    );
    assert_eq!(output("return [3, undefined, 1, 20].sort()"), "[[1],[\"A\",1,20,3,[\"u\"]]]");
    assert_eq!(output("return [5, 1, 4].toSorted((a, b) => a - b)"), "[1,4,5]");
}

#[test]
fn a_script_gives_its_completion_value() {
    for source in [
        "JSON.parse(__GRAPHORIN_INPUT__).n + 1",
        "return JSON.parse(__GRAPHORIN_INPUT__).n + 1",
        "Promise.resolve(21)",
    ] {
        let sent = run(Mode::Script, source);
        assert_eq!(sent.last().unwrap(), &(frame::RESULT, b"\x0021".to_vec()), "{source}");
    }
}

#[test]
fn a_dead_end_is_told_once() {
    let sent = run(Mode::Body, "await new Promise(() => {})");
    assert_eq!(sent, vec![(frame::IDLE, vec![])]);
}

#[test]
fn console_lines_are_kept_up_to_the_cap() {
    let sent =
        run(Mode::Body, "console.log('a', {b: [1]}); console.error('x'.repeat(1e5)); console.log('lost')");
    let (_, payload) = sent.iter().find(|(kind, _)| *kind == frame::CONSOLE).unwrap();
    assert_eq!(&payload[5..19], b"a { b: [ 1 ] }");
    assert!(payload.len() < 70_000 && !payload.ends_with(b"lost"));
}

#[test]
fn the_first_script_finds_what_every_other_finds() {
    let everything = "JSON.stringify(Object.entries(Object.getOwnPropertyDescriptors(";
    let method = "['toLocale', 'String'].join('')";
    for source in [
        format!("return {everything}globalThis)).map(([k, d]) => [k, typeof d.value, d]))"),
        format!("return {everything}Number.prototype)))"),
        "return [typeof Intl, typeof URL, typeof console, typeof crypto, typeof \\u0055RL]".to_owned(),
        format!("return [(1234.5)[{method}](), new Date(0)[{method}](), 12345n[{method}]()]"),
        format!("return [1234.5, 'a'][{method}]()"),
        "return ['b', 'a'].sort((a, b) => a['locale' + 'Compare'](b))".to_owned(),
        "return String.prototype['locale' + 'Compare'].toString()".to_owned(),
        "return (1234.5).toLocaleString('de-DE', { style: 'currency', currency: 'EUR' })".to_owned(),
    ] {
        let line = Line::default();
        let start = start(Mode::Body, &source);
        let mut engine = Engine::warm();
        while engine.furnish_more() {}
        engine.run(&start, Box::new(line.clone()), [7; 32]);
        assert_eq!(run(Mode::Body, &source), line.0.take().sent, "{source}");
    }
    let sent = run(Mode::Script, "(function () { return typeof this['U' + 'RL'] })()");
    assert_eq!(sent.last().unwrap(), &(frame::RESULT, b"\x00\"function\"".to_vec()));
}
