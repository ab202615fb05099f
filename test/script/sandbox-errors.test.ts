import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { openSandbox } from './open-sandbox.js';

guardLeaks(t);

t.test("an error has the line and column of the author's source", async (t) => {
  const { run, fails } = await openSandbox(t);
  for (const [source, line, column] of [
    ['nope', 1, 1],
    ['const a = 1;\n\n  nope', 3, 3],
    ['const a = 1; const b = 2; class C {}; nope', 1, 39],
    ['await 1; await 2; nope', 1, 19],
    ['let u; nope', 1, 8],
    ['function f() {\n  throw new Error("x");\n}\nf();', 2, 13],
    ['let b = 1;\nlet q = ;', 2, 9],
    ['throw "text"', 1, 7],
    ['if (true) {\n  throw { code: 1 };\n}', null, null],
    ['1;\r\nnope', 2, 1],
    ['"use strict";\nundeclared = 1', 2, 1],
    ['for (const x of [1]) {\n  await x; nope\n}', 2, 12],
    ['const t = `\n\n`; nope', 3, 4],
    ['Promise.reject(new Error("in a promise"))', 1, 20],
    ['(async () => {\n  await null;\n  nope\n})()', 3, 3],
  ] as const) {
    const { code, details } = await fails(source);
    t.equal(code, 'SCRIPT_ERROR', source);
    t.same([details?.line ?? null, details?.column ?? null], [line, column], source);
  }
  await run('function later() {\n\n  throw new Error("of an earlier script"); }', { name: 'script 7' });
  t.match((await fails('\n\n\n\nlater()', { name: 'script 8' })).details, { name: 'script 7', line: 3 });
});

t.test('messages are helpful', async (t) => {
  const { fails } = await openSandbox(t);
  for (const [source, message] of [
    ['null.x', /^TypeError: .*null/],
    ['throw "plain"', /^plain$/],
    ['throw 42', /^42$/],
    ['throw null', /^null$/],
    ['throw { reason: "object" }', /^\{"reason":"object"\}$/],
    ['throw new Error()', /^Error$/],
    ['return 5', /a script's result is its last expression/],
    ['import fs from "fs"', /cannot import/],
    ['let x = (', /^SyntaxError: Unexpected end: let x = \($/],
    ['f(1;', /^SyntaxError: Unexpected token ';': f\(1;$/],
    ['f(1 two)', /^SyntaxError: Unexpected token 'two': /],
    ['match(1, "#nmber")', /#nmber is not a marker.*#number/],
    ['await new Promise(() => {})', /never settles/],
    ['const e = new Error("x"); Object.defineProperty(e, "message", { get() { throw 1; } }); throw e', /unreadable/],
    ['throw new Proxy({}, { get() { throw 1; } })', /unreadable/],
    ['throw Object.assign(new Error("fake"), { code: "WORKER_LOST", details: { line: 99 } })', /^Error: fake$/],
  ] as const) {
    const error = await fails(source);
    t.match(error.message, message, source);
    t.equal(error.code, 'SCRIPT_ERROR', source);
    t.not(error.details?.line, 99, source);
  }
});

t.test('a failed match is MATCH_FAILED with every failing path, and an event with its line', async (t) => {
  const { fails, run, of } = await openSandbox(t);
  const error = await fails('\nmatch({ a: 1, b: "x", c: [1] }, { a: "#string", b: "x", c: [2, 3] }, "the order")');
  t.match(error, {
    code: 'MATCH_FAILED',
    message:
      'match failed (the order): $.a expected #string, got 1; $.c expected 2 items, got 1 item; $.c[0] expected 2, got 1',
    details: {
      line: 2,
      message: 'the order',
      failures: [
        { path: '$.a', expected: '#string', actual: 1 },
        { path: '$.c' },
        { path: '$.c[0]', expected: 2, actual: 1 },
      ],
    },
  });
  t.equal(await run('match(1, 1, "fine")'), true);
  t.match(of('AssertionChecked'), [
    { ok: false, message: 'the order', line: 2, failures: [{ path: '$.a' }, { path: '$.c' }, { path: '$.c[0]' }] },
    { ok: true, message: 'fine', line: 1 },
  ]);
  t.same(await run('try { match(1, 2) } catch (e) { [e.code, e.details.failures[0].path] }'), ['MATCH_FAILED', '$']);
});
