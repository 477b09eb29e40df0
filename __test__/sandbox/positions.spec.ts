// Where errors of a script come from: the line is the one that Node names for the same source, whatever
// goes wrong and wherever that stands (03 §7.3).
import { runBridgedSource } from 'ferrule/sandbox';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';

/** What goes wrong. `U` is undefined, `N` a number, `S` a symbol, `B` a BigInt, `F` a function, `O` an object. */
const FAULTS = `
const { a } = U;
const [b] = U;
const { a: { zz } } = { a: U };
const { k, ...rest } = U;
({ k: C2 } = U);
[C2] = U;
for (const v of N) { v; }
for (const v of U) { v; }
const s = [...N];
const s = [...U];
[...O.list, ...N];
F(...N);
U.foo();
U.foo.bar;
const q = U.foo;
O.missing();
O.missing.call(1);
O.a.b.c;
O?.a.b.c();
O.f?.g.h;
F(U.x);
F(O.no());
F(1, U.y());
U.x = 1;
U[0] = 2;
U\`x\`;
null.x;
C = 5;
N();
new N();
new O.x();
undefinedName;
F(undefinedName2);
later; let later = 1;
const early = early + 1;
const t = \`\${S}\`;
const w = 1 + B;
const w = A * B - 1;
let g = 1; g += B;
S + "";
-S;
~S;
S++;
const inn = "a" in N;
N instanceof N;
BigInt("x");
JSON.parse("{");
O.list.map((v) => v.k.j);
O.list.forEach((v) => { const { p } = v.k; });
O.list.reduce((x, v) => x + v.k.j, 0);
(() => { U.r; })();
const fn = ({ d }) => d; fn();
const fn = ([d]) => d; fn();
class X { m() { return U.m; } } new X().m();
class X { static s = U.m; }
class Y { list = []; f = U.g(); } new Y();
class Y extends Object { g = F(this.h.i); } new Y();
if (U.q) { F(1); }
while (U.q) { F(1); }
switch (U.q) { case 1: break; }
return U.q;
return A + B;
return [...N];
throw new Error("e");
await U.z();
typeof U.x;
delete U.x;
for (let i = 0; i < U.length; i++) { F(i); }
for (let i = 0; i < 3; i += B) { F(i); }
const obj = {¶  k: 1,¶  l: U.m(),¶};
F(¶  1,¶  U.m(),¶);
O.list¶  .filter((v) => v)¶  .map((v) => v.k.j);
return {¶  a: 1,¶  b: O.a.x.y,¶};
const y2 = await F(1);¶const { e } = y2.no;
const { items } = await F(O);¶for (const i of items) { i; }
try { F(1); } finally { U.f; }
try { throw 1; } catch (e) { U.f; }
const g2 = function* () { yield* N; };¶[...g2()];
L: for (const v of O.list) { v.k.j; continue L; }
let g3 = ''; for (const v of [1, 2]) { g3 += U.x; }
let g4 = ''; for (const v of [1, 2]) {¶  g4 += v;¶  g4.foo();¶}
let g5 = ''; for (const v of [1, 2]) g5 += S;
let g6 = ''; [1, 2].forEach((v) => g6 += v + U.x);
`
  .trim()
  .split('\n')
  .map((fault) => fault.replaceAll('¶', '\n'));

/** What stands around it. */
const PLACES: Record<string, (fault: string) => string> = {
  'alone': (fault) => fault,
  'behind a call': (fault) => `F(1);\n${fault}`,
  'between other reads': (fault) => `const p = O.a;\nconst { list } = O;\n${fault}\nF(2);`,
  'behind an await': (fault) => `await null;\n\n${fault}`,
  'in a function': (fault) => `function inner() {\n  const z = 1;\n  ${fault.replaceAll('await ', '')}\n}\ninner();`,
  'in an async function': (fault) => `const inner = async () => {\n  const z = await F(1);\n  ${fault}\n  return z;\n};\nreturn await inner();`,
  'in the second turn of a loop': (fault) => `for (const i of [1, 2]) {\n  const y = i * 2;\n  if (y > 2) {\n    ${fault}\n  }\n}`,
  'in one of several promises': (fault) => `await Promise.all([1].map(async (i) => {\n  await null;\n  ${fault}\n}));`,
  'between statements of its kind': (fault) =>
    `const a1 = 1 + 2;\nconst { x1 } = O;\nconst [y1] = [1];\n${fault}\nconst { z1 } = O;\nconst m1 = a1 * 2;`,
};

const GIVEN =
  'let C2; const U = undefined, N = 5, S = Symbol(), B = 1n, A = 2, C = 3, F = (...a) => a[0], O = { a: {}, x: 3, list: [{}] };';

/** The line Node names; undefined where it sees no fault. */
async function lineInNode(source: string): Promise<number | undefined> {
  try {
    await runInThisContext(`(async () => {"use strict";\n${source}\n})`, { filename: 'model.js', lineOffset: -1 })();
    return undefined;
  } catch (error) {
    return Number(/model\.js:(\d+):\d+/.exec((error as Error).stack ?? '')?.[1]);
  }
}

async function messageOf(source: string): Promise<string> {
  const outcome = await runBridgedSource({
    source,
    allowedTools: ['echo', 'fail'],
    dispatch: async ({ name, args }) => {
      if (name === 'fail') throw new Error('backend down');
      return args;
    },
    timeoutMs: 20_000,
  });
  return outcome.ok ? `no error, but ${JSON.stringify(outcome.output)}` : outcome.error.message;
}

describe('03 §7.3: every error names the line that Node names', () => {
  test.each(Object.entries(PLACES))('%s', async (_, around) => {
    const differing: string[] = [];
    let compared = 0;
    for (const fault of FAULTS) {
      const source = `${GIVEN}\n${around(fault)}`;
      const line = await lineInNode(source);
      if (line === undefined) continue;
      compared += 1;
      const message = await messageOf(source);
      if (!message.includes(`(line ${line}, column `)) differing.push(`${fault}\n  Node: line ${line}; here: ${message}`);
    }
    expect(differing).toEqual([]);
    expect(compared).toBeGreaterThan(60);
  });
});

describe('03 §7.3: messages name what failed', () => {
  test.each([
    ['const r = { items: null };\nreturn r.items.map((i) => i)', "cannot read property 'map' of null or undefined (line 2, column 16)"],
    ['const o = null;\no.x = 1', "cannot set property 'x' of null or undefined (line 2, column 1)"],
    ['const o = {};\nreturn o.a.run()', "cannot read property 'run' of null or undefined (line 2, column 12)"],
    ['const o = {};\no.run()', 'o.run is not a function (line 2, column 6)'],
    ['const { items } = await tools.echo({});\nfor (const item of items) {}', 'null or undefined is not iterable (line 2, column 20)'],
    ['return Object.keys(undefined)', 'cannot convert null or undefined to an object (line 1, column 19)'],
    ['const user = undefined, out = [];\nout.push(user.name)', "cannot read property 'name' of null or undefined (line 2, column 15)"],
    ['const user = undefined;\nawait tools.echo({ id: 1,\n  name: user.name })', "cannot read property 'name' of null or undefined (line 3, column 14)"],
    ['const r = {};\nreturn Object.keys(r.data)\n  .map((k) => k)', 'cannot convert null or undefined to an object (line 2, column 19)'],
    ['const o = { a: {} };\nreturn o?.a.b.c.d', 'cannot read a property of null or undefined (line 2, column 13)'],
    ['const o = {};\nreturn o?.a.b', "cannot read property 'b' of null or undefined (line 2, column 13)"],
    ['class MyError extends Error {\n  constructor(m) { super(m); this.name = "MyError"; }\n}\nthrow new MyError("x")', 'x (line 4, column 7)'],
    ['const f = () => later;\nf();\nconst later = 1', "cannot access 'later' before it is declared (line 1, column 17)"],
    ['const has = typeof tools.maybe;\nconst u = undefined;\nreturn u.x', "cannot read property 'x' of null or undefined (line 3, column 10)"],
    ["let out = '';\nfor (const x of [1, 2]) { out += x; out.run(out.length) }", 'out.run is not a function (line 2, column 44)'],
    ["let out = '';\nfor (const x of [1, 2]) { out += x; out.a.b }", "cannot read property 'b' of null or undefined (line 2, column 43)"],
    ["const f = () => { for (const x of [1]) out += x };\nf();\nlet out = ''", "cannot access 'out' before it is declared (line 1, column 40)"],
    ['const t = tools.maybe;\nawait t({})', 't is not a function. There is no tool named "maybe"; the tools are: echo, fail (line 2, column 8)'],
    ['await Promise.all(undefined)', 'cannot convert null or undefined to an object (line 1, column 18)'],
    ['const f = () => f();\nf()', 'RangeError: Maximum call stack size exceeded (line 1, column 18)'],
  ])('%j', async (source, message) => {
    expect(await messageOf(source)).toBe(message);
  });

  test('names in messages have a bound', async () => {
    const long = 'n'.repeat(100_000);
    for (const source of [`null.${long}`, `const o = {}; o.${long}()`, `tools.${long}()`, `${long}; let ${long}`]) {
      expect((await messageOf(source)).length).toBeLessThan(1000);
    }
  });

  test('names that are not there are found in loops and in short forms', async () => {
    for (const [source, place] of [
      ['const items = [];\nreturn { items, total }', '(line 2, column 17)'],
      ['let n = 0;\ndo {\n  n += 1;\n} while (n < missing)', '(line 4, column 14)'],
      ['for (let i = 0;\n  i < missing;\n  i += 1) {}', '(line 2, column 7)'],
      ['switch (1) {\n  case 2: break;\n  case missing: break;\n}', '(line 3, column 8)'],
    ] as const) {
      const message = await messageOf(source);
      expect(message, source).toContain('is not defined. Available globals: tools');
      expect(message.endsWith(place), `${source}: ${message}`).toBe(true);
    }
  });

  test('a refused call is told where it was made, and to the script as an error of its own', async () => {
    expect(await messageOf('const a = 1;\nreturn await tools.fail({ a });')).toBe('backend down (line 2, column 24)');
    expect(await messageOf('await Promise.all([1, 2].map((n) =>\n  tools.fail({ n })));')).toBe('backend down (line 2, column 13)');
    expect(await messageOf('return await tools.echo({ f() {} })')).toMatch(/could not be cloned \(at \$\.f\) \(line 1, column 24\)$/);
    const seen = await messageOf(
      'try { await tools.fail({}) } catch (e) { return [e.message, e.name, e instanceof Error, Object.keys(e), `${e}`] }',
    );
    expect(seen).toBe('no error, but ["backend down","Error",true,[],"Error: backend down"]');
  });

  test('a value that is no error comes from where it is thrown', async () => {
    expect(await messageOf('const x = 1;\nthrow "plain"')).toBe('plain (line 2, column 7)');
    expect(await messageOf('if (tools) throw { code: 1 };\nthrow "b"')).toBe('{"code":1} (line 1, column 18)');
    expect(await messageOf('if (tools) throw "a";\nthrow "a"')).toBe('a (line 1, column 18 or line 2, column 7)');
    expect(await messageOf('await new Promise((_, reject) =>\n  setTimeout(() => reject(7), 1))')).toBe('7 (line 2, column 27)');
  });

  test('what was taken away, added or ended by another line break moves nothing', async () => {
    for (const [source, place] of [
      ['```js\nconst q = 1;\nq.a.b\n```', '(line 3, column 5)'],
      ['const x: number = 5; const { y } = x; y.z', '(line 1, column 41)'],
      ['const { a: { q }, ...rest } = { a: { q: 1 } }; rest.x.y', '(line 1, column 55)'],
      ['class A { constructor(private x: number) { this.x.y.z } }\nnew A(1)', '(line 1, column 53)'],
      ['const a = 1;\rconst b = null;\r\nb.x', '(line 3, column 3)'],
      ["const face = '\u{1F600}'; const b = null; b.x", '(line 1, column 37)'],
      ['const a = 1; const { b } = { b: a + 1 }; const { c } = null;', '(line 1, column 48)'],
      ["let t = ''; for (const x of [1]) { t += x; t += t.length; null.a }", '(line 1, column 64)'],
    ] as const) {
      expect(await messageOf(source), source).toContain(place);
    }
  });
});
