//! The table of constructs. What typed scripts mean is compared with the compiler in `__test__/sandbox`.

use super::types_gone;

fn strip_types(source: &str) -> Option<String> {
    let units: Vec<u16> = source.encode_utf16().collect();
    types_gone(&units).unwrap().map(|(units, _)| String::from_utf16(&units).unwrap())
}

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
        ("let a: number = 1, b: string[] = [], c = f(a, b), d: number", "let a = 1, b = [], c = f(a, b), d"),
        ("const m: Map<string, number> = n, [o]: [x: number] = p;", "const m = n, [o] = p;"),
        ("for (let i: number = 0, n: number = 3; i < n; i++) {}", "for (let i = 0, n = 3; i < n; i++) {}"),
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
        ("function f(a: string): string;\nfunction f(a: any) { return a }", "function f(a ) { return a }"),
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
