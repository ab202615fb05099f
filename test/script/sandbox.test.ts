import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { deferred, hostModule, openSandbox } from './open-sandbox.js';

guardLeaks(t);

t.test('the value of the last expression is the result, like that of eval', async (t) => {
  const { run } = await openSandbox(t);
  for (const [source, value] of [
    ['1 + 1', 2],
    ['const a = 5; a * 2', 10],
    ['if (true) { "yes" } else { "no" }', 'yes'],
    ['for (let i = 0; i < 3; i++) i * 10', 20],
    ['try { JSON.parse("{") } catch { "caught" }', 'caught'],
    ['{ let inner = 4; inner }', 4],
    ['switch (2) { case 2: "two" }', 'two'],
    ['let nothing = 1', null],
    ['', null],
    ['// only a comment', null],
    ['({ a: 1 })', { a: 1 }],
    ['#!/usr/bin/env troupe\n7', 7],
  ] as const) {
    t.same(await run(source), value, source);
  }
});

t.test('the scope lasts from one script to the next, and names may be declared again', async (t) => {
  const { run } = await openSandbox(t);
  await run('let x = 1; const y = [2]; class Box { get() { return 3; } } function twice(n) { return n * 2; } z = 4');
  t.same(await run('[x, y, new Box().get(), twice(5), z]'), [1, [2], 3, 10, 4]);
  await run('let x = 6; const y = 7; class Box { get() { return 8; } } function twice(n) { return n * 3; }');
  t.same(await run('x++; [x, y, new Box().get(), twice(5)]'), [7, 7, 8, 15]);
  t.equal(await run('let x; x'), null, 'a let without a value is undefined again');
  t.same(await run('let { a, b: [c] } = { a: 1, b: [2] }; const [d] = [3]; [a, c, d]'), [1, 2, 3]);
  t.same(await run('[a, c, d]'), [1, 2, 3], 'also what was taken out of an object');
  t.equal(
    await run('class Next extends Box {}\n(function () { return new Next().get(); })()'),
    8,
    'and lines still end',
  );
});

t.test('await before any call is allowed, anywhere, and changes nothing', async (t) => {
  const { run } = await openSandbox(t, { modules: [hostModule(async (args) => args)] });
  t.same(await run('host.call(1)'), [1]);
  t.same(await run('await host.call(1)'), [1]);
  t.same(await run('const answer = await host.call(2); answer.length'), 1);
  t.same(await run('if (await host.call()) (await host.call(3))[0] + 1'), 4, 'inside a statement');
  t.same(await run('[1, 2].map((n) => (await host.call(n))[0])'), [1, 2], 'in a function that is not async');
  t.same(await run('async function f(n) { const got = await host.call(n); return got[0]; } await f(5)'), 5);
  t.same(await run('(async () => { await null; return (await host.call(6))[0]; })()'), 6, 'a promise is awaited');
  t.same(
    await run('const list = []; Promise.resolve().then(() => list.push(1)); list'),
    [1],
    'jobs are run to their end',
  );
  t.same(await run('let sum = 0; for await (const n of [1, Promise.resolve(2)]) sum += n; sum'), 3);
  t.same(
    await run('async function* gen() { yield 1; yield 2; } let s2 = 0; for await (const n of gen()) s2 += n; s2'),
    3,
  );
  t.same(await run('class Lazy { value = await host.call(8) } new Lazy().value'), [8]);
  t.same(await run('await { then(resolve) { resolve("thenable") } }'), 'thenable');
  t.same(await run('try { await Promise.reject(new Error("no")) } catch (error) { error.message }'), 'no');
});

t.test('values that JSON lacks are converted, and nothing odd in them breaks the answer', async (t) => {
  const { run } = await openSandbox(t);
  t.same(
    await run(`const odd = { big: 12n, date: new Date(0), nan: NaN, inf: -Infinity, f() {}, s: Symbol(), u: undefined,
      list: [undefined, () => 1, 2], json: { toJSON: () => 'own' } }; odd.self = odd; odd.list.push(odd); odd`),
    {
      big: '12',
      date: '1970-01-01T00:00:00.000Z',
      nan: null,
      inf: null,
      list: [null, null, 2, '[Circular]'],
      json: 'own',
      self: '[Circular]',
    },
  );
  t.same(await run('({ ok: 1, get bad() { throw new Error("no way"); } })'), { ok: 1, bad: '[Throws Error: no way]' });
  t.same(await run('({ p: new Proxy({}, { ownKeys() { throw 1; } }), ok: 2 })'), { p: '[Throws 1]', ok: 2 });
  t.same(await run('new Proxy([1], { get() { throw "trap"; } })'), '[Throws trap]');
  t.same(await run('({ revoked: (() => { const r = Proxy.revocable({}, {}); r.revoke(); return r.proxy; })() })'), {
    revoked: '[Throws TypeError: revoked proxy]',
  });
  t.same(await run('const shared = { a: 1n }; [shared, shared]'), [{ a: '1' }, { a: '1' }], 'twice is no cycle');
  t.same(await run('"\\ud800 \\u0000 \\u2028 \u{1f600}"'), '\ud800 \u0000 \u2028 \u{1f600}');
  t.equal(await run('10n ** 20n'), '100000000000000000000');
  t.equal(await run('(() => {})'), null);
});

t.test('a result that is too long, or nested too deeply, is an error that says so', async (t) => {
  const { fails, run } = await openSandbox(t, { limits: { resultLength: 1000 } });
  for (const source of ['"x".repeat(1001)', '({ n: 1n, text: "x".repeat(1001) })', 'new Array(1e9)']) {
    const error = await fails(source);
    t.match(error, { code: 'SCRIPT_ERROR', message: /longer than 1000 characters/ }, source);
  }
  t.match(await fails('let deep = 1n; for (let i = 0; i < 600; i++) deep = { deep }; deep'), {
    code: 'SCRIPT_ERROR',
    message: /nested/,
  });
  t.equal(await run('"x".repeat(998)'), 'x'.repeat(998));
});

t.test('ordinary page data passes unchanged', async (t) => {
  const { run } = await openSandbox(t, { modules: [hostModule(async () => 'text of a page '.repeat(100_000))] });
  t.equal(await run('host.call()'), 'text of a page '.repeat(100_000));
});

t.test('console lines are events with their position, and limited', async (t) => {
  const { run, of } = await openSandbox(t, { limits: { consoleLines: 3 } });
  await run('console.log("a", { b: [1] }, undefined, null, 5n);\n  console.error(new TypeError("bad"))');
  t.match(of('ConsoleWritten'), [
    { level: 'log', text: 'a {"b":[1]} undefined null 5', line: 1 },
    { level: 'error', text: 'TypeError: bad', line: 2 },
  ]);
  await run('for (let i = 0; i < 10_000; i++) console.warn(i)');
  t.same(
    of('ConsoleWritten').map((line) => line.text),
    [
      'a {"b":[1]} undefined null 5',
      'TypeError: bad',
      '0',
      '1',
      '2',
      'Further console output of this script is omitted',
    ],
  );
});

t.test('args are those that the sandbox was started with', async (t) => {
  const { run } = await openSandbox(t, { args: { user: 'ann', list: [1] } });
  t.same(await run('[args.user, args.list]'), ['ann', [1]]);
  const other = await openSandbox(t);
  t.same(await other.run('args'), {});
});

t.test(
  'a host call has its arguments, its position, the time left, and passes its error with code and details',
  async (t) => {
    const calls: unknown[] = [];
    const module = hostModule(async (args, { site, remainingMs }) => {
      calls.push({ args, site, left: remainingMs() > 1000 && remainingMs() <= 5000 });
      if (args[0] === 'fail')
        throw Object.assign(new Error('not there'), { code: 'LOCATOR_NOT_FOUND', details: { near: 1 } });
      if (args[0] === 'odd') return 10n;
      return undefined;
    });
    const { run, fails } = await openSandbox(t, { modules: [module] });
    t.equal(
      await run('host.call({ n: 1n }, undefined, undefined) === undefined', { timeoutMs: 5000, kind: 'model' }),
      true,
    );
    await run('\n\n  host.call(1, undefined, 3)', { timeoutMs: 5000 });
    t.match(calls, [
      { args: [{ n: '1' }], site: { kind: 'model', flow: null, line: 1 }, left: true },
      { args: [1, null, 3], site: { kind: 'script', flow: null, line: 3, column: 8 }, left: true },
    ]);
    t.same(await run('try { host.call("fail") } catch (e) { [e.code, e.message, e.details, e instanceof Error] }'), [
      'LOCATOR_NOT_FOUND',
      'not there',
      { near: 1 },
      true,
    ]);
    t.match(await fails('host.call("fail")'), {
      code: 'LOCATOR_NOT_FOUND',
      message: 'not there',
      details: { near: 1, line: 1 },
    });
    t.match(await fails('try { host.call("fail") } catch (e) { throw e }'), { code: 'LOCATOR_NOT_FOUND' });
    t.match(await fails('host.call("odd")'), { code: 'INTERNAL' }, 'an answer that is no JSON');
  },
);

t.test('a second script during another one is refused, and does not affect the first', async (t) => {
  const entered = deferred();
  const leave = deferred();
  const module = hostModule(async () => {
    entered.resolve();
    await leave.promise;
  });
  const { run, fails } = await openSandbox(t, { modules: [module] });
  const first = run('host.call(); "first"');
  await entered.promise;
  t.equal((await fails('2')).code, 'INTERNAL');
  leave.resolve();
  t.equal(await first, 'first');
});

t.test('short scripts, long ones and their results keep every character', async (t) => {
  const { run } = await openSandbox(t);
  for (const text of ['', 'é中', '😀', '\ud800', '\0', 'x'.repeat(5_000), 'x'.repeat(20_000)]) {
    t.equal(await run(JSON.stringify(text)), text, `${text.length} characters`);
  }
  t.equal(await run('"中".repeat(10000)'), '中'.repeat(10_000), 'a short script with a long result');
});

t.test('many short scripts at once, in several sandboxes, are all answered', async (t) => {
  const sandboxes = await Promise.all([openSandbox(t), openSandbox(t), openSandbox(t)]);
  const sums = sandboxes.map(async ({ run }, index) => {
    let sum = 0;
    for (let n = 0; n < 200; n += 1) sum += Number(await run(`${index} + ${n}`));
    return sum;
  });
  t.same(await Promise.all(sums), [19_900, 20_100, 20_300]);
});

t.test('the events of a short script come before its end, with its own positions', async (t) => {
  const { run, fails, events } = await openSandbox(t);
  await run('console.log("told")', { name: 'teller.js' });
  t.same(
    events.map(({ type }) => type),
    ['ConsoleWritten'],
  );
  await run('var later = function () {\n  nowhere();\n}', { name: 'first.js' });
  const { details } = await fails('later()', { name: 'second.js' });
  t.match(details, { name: 'first.js', line: 2, column: 3 });
});
