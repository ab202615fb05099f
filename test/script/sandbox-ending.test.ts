import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { stretched } from '#troupe/base/deadline.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { Sandbox } from '#troupe/script/sandbox.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import { deferred, hostModule, openSandbox } from './open-sandbox.js';

guardLeaks(t);

t.test('an endless loop fails at its deadline, the scope stays, and the next script runs', async (t) => {
  const { run, fails } = await openSandbox(t);
  await run('let kept = 1');
  for (const source of [
    '\nwhile (true) {}',
    '\n/(a*)*b/.test("a".repeat(50))',
    '\n({ get slow() { while (true) {} } })',
    '\n[3, 1, 2].sort(() => { while (true) {} })',
  ]) {
    const error = await fails(source, { timeoutMs: 200 });
    t.match(error, { code: 'EVAL_TIMEOUT', message: /^The script did not end within 200 ms/ }, source);
    t.equal(error.details?.scopeLost, undefined, source);
    t.equal(await run('kept'), 1);
  }
  // In a separate function: the engine may count the loop for the statement before it.
  const spin = '1;\nfunction spin() { while (true) { Math.abs(1); } }\nspin();';
  t.match((await fails(spin, { timeoutMs: 200 })).details, { name: 'script 1', line: 2 });
  for (const loop of ['while (true) Math.abs(1);', 'let n = 0; for (;;) n++;', 'do {} while (Math.abs(1));']) {
    const { details } = await fails(`function spin() {\n  1;\n  ${loop}\n}\nspin();`, { timeoutMs: 200 });
    t.match(details, { name: 'script 1', line: 3 }, loop);
  }
});

t.test('a built-in that runs for ever is ended, the lost scope is reported, and the next script runs', async (t) => {
  const { run, fails } = await openSandbox(t);
  await run('let kept = 1');
  const error = await fails("new Array(2 ** 31).join('y')", { timeoutMs: 200 });
  t.match(error, { code: 'EVAL_TIMEOUT', details: { scopeLost: true }, message: /the scope was lost/ });
  t.same(await run('typeof kept'), 'undefined');
  t.equal(await run('match(1, "#number")'), true);
});

t.test('the time of a script that waits for a new thread starts when the thread is ready', async (t) => {
  const prelude = `(function () { for (const end = Date.now() + ${stretched(500)}; Date.now() < end; ); })`;
  const { run, fails } = await openSandbox(t, { modules: [{ name: 'slow', prelude, calls: {} }] });
  await fails("new Array(2 ** 31).join('y')", { timeoutMs: 200 });
  t.equal(await run('1 + 1', { timeoutMs: stretched(350) }), 2);
});

t.test('a loop that catches everything is ended all the same', async (t) => {
  const { run, fails } = await openSandbox(t);
  // The engine checks once in thousands of iterations, and one that throws is slow: the thread may have to be
  // terminated.
  const error = await fails('while (true) { try { null.x } catch {} finally {} }', { timeoutMs: 200 });
  t.equal(error.code, 'EVAL_TIMEOUT');
  t.equal(await run('1 + 1'), 2);
});

t.test('endless promises are ended, and run into no other script', async (t) => {
  const module = hostModule(async (args) => args[0]);
  const { run, fails } = await openSandbox(t, { modules: [module] });
  const source = 'globalThis.turns = 0; (function again() { turns++; return Promise.resolve().then(again); })(); 1';
  t.equal((await fails(source, { timeoutMs: 200 })).code, 'EVAL_TIMEOUT');
  const turns = await run('globalThis.turns ?? 0');
  t.equal(await run('globalThis.turns ?? 0'), turns);
});

t.test('endless memory use stops that script only', async (t) => {
  const { run, fails } = await openSandbox(t, { limits: { memoryBytes: 32 * 1024 * 1024 } });
  for (const source of [
    'const hog = []; while (true) hog.push(new Array(10_000).fill(7))',
    'const texts = []; for (let i = 0; ; i++) texts.push("x".repeat(1e6) + i)',
    'new ArrayBuffer(2 ** 30)',
    'const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })',
    'const set = new Set(); for (let i = 0; ; i++) set.add(i + 0.5)',
    'const hog = []; while (true) try { while (true) hog.push([1, 2, 3]) } catch { hog.push(1) }',
    'for (let i = 0; ; i++) globalThis["g" + i] = [i]',
  ]) {
    const error = await fails(source);
    t.match(error, { code: 'SCRIPT_ERROR', message: /memory/, details: { scopeLost: true } }, source);
    t.equal(await run('1 + 1'), 2);
  }
  t.equal(
    await run('try { new ArrayBuffer(2 ** 30) } catch (error) { error.message }'),
    'out of memory',
    'can be caught',
  );
});

t.test('endless recursion is an ordinary error', async (t) => {
  const { run, fails } = await openSandbox(t, { modules: [hostModule(async (args) => args[0])] });
  await run('let kept = 1');
  for (const source of [
    '(function f() { return f() + 1; })()',
    'const o = { get x() { return JSON.stringify({ toJSON: () => o.x }); } }; o.x',
    `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
    `const deep = ${'`${'.repeat(50_000)}1${'}`'.repeat(50_000)}`,
    'JSON.parse("[".repeat(1e6))',
    'new Function("(".repeat(1e5))',
    'const p = new Proxy({}, { get: (target, key, self) => self[key] }); p.x',
    'function h() { match({ get x() { h(); } }, { x: 1 }); } h()',
    'async function a() { await a(); } a()',
    'function w() { await Promise.resolve(); [1].map(() => await w()); } w()',
  ]) {
    const error = await fails(source);
    t.equal(error.code, 'SCRIPT_ERROR', `${source.slice(0, 80)}: ${error.message}`);
    t.equal(error.details?.scopeLost, undefined, source.slice(0, 80));
    t.equal(await run('kept'), 1);
  }
  t.equal(await run('try { (function f() { return f() + 1; })() } catch (error) { error.name }'), 'RangeError');
});

t.test('a host call that is open at the deadline is aborted, whatever the script catches', async (t) => {
  const aborted: unknown[] = [];
  const module = hostModule((_args, { signal }) => {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(signal.aborted);
        reject(new TroupeError('WAIT_TIMEOUT', 'aborted'));
      });
    });
  });
  const { run, fails } = await openSandbox(t, { modules: [module] });
  const error = await fails('let kept = 1;\nhost.call();\nfor (let n = 0; n < 3; n++) {}', { timeoutMs: 200 });
  t.match(error, { code: 'EVAL_TIMEOUT', details: { line: 2 } });
  t.same(aborted, [true]);
  const caught = await fails('while (true) { try { host.call() } catch {} }', { timeoutMs: 200 });
  t.equal(caught.code, 'EVAL_TIMEOUT');
  t.equal(await run('kept'), 1);
});

t.test('an abort by the caller ends the script with its own reason', async (t) => {
  const entered = deferred();
  const module = hostModule(async () => entered.resolve());
  const { run, fails } = await openSandbox(t, { modules: [module] });
  const stop = new AbortController();
  const failure = fails('host.call(); while (true) {}', { signal: stop.signal });
  await entered.promise;
  stop.abort(new TroupeError('HARD_TIMEOUT', 'time is up'));
  t.match(await failure, { code: 'HARD_TIMEOUT', message: 'time is up' });
  t.match(await fails('1', { signal: stop.signal }), { code: 'HARD_TIMEOUT' }, 'also when it came before');
  t.equal(await run('2'), 2);
});

t.test('jobs that a stopped script left never run', async (t) => {
  const calls: unknown[] = [];
  const { run, fails } = await openSandbox(t, { modules: [hostModule(async (args) => calls.push(args[0]))] });
  await fails('Promise.resolve().then(() => host.call("later")); while (true) {}', { timeoutMs: 100 });
  t.equal(await run('host.call("next"); 1'), 1);
  t.same(calls, ['next']);
});

t.test('closing ends a running script with SESSION_ENDED, can be repeated, and nothing runs after it', async (t) => {
  const entered = deferred();
  const module = hostModule((_args, { signal }) => {
    entered.resolve();
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  });
  const { sandbox, fails } = await openSandbox(t, { modules: [module] });
  const failure = fails('host.call()');
  await entered.promise;
  await Promise.all([sandbox.close(), sandbox.close()]);
  t.equal((await failure).code, 'SESSION_ENDED');
  t.equal((await fails('1')).code, 'SESSION_ENDED');
});

t.test('nothing keeps a closed sandbox in memory, however long its script might have taken', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const closed = async (): Promise<WeakRef<Sandbox>> => {
    const sandbox = await Sandbox.start({ modules: [], emit: () => undefined });
    await sandbox.run({ source: '1', name: 'job', kind: 'script', timeoutMs: 1_800_000 });
    await sandbox.close();
    return new WeakRef(sandbox);
  };
  const sandbox = await closed();
  await eventually('it is collected', () => {
    collect();
    return sandbox.deref() === undefined;
  });
});

t.test('a prelude that throws fails the start and leaves nothing', async (t) => {
  const module = { name: 'bad', prelude: '(function () { throw new Error("no prelude"); })', calls: {} };
  await t.rejects(openSandbox(t, { modules: [module] }), { message: /no prelude/ });
});

t.test('a busy sandbox does not hold its neighbour up', async (t) => {
  const [hog, neighbour] = await Promise.all([openSandbox(t), openSandbox(t)]);
  const stop = new AbortController();
  const failure = hog.fails('while (true) {}', { signal: stop.signal });
  for (let runs = 0; runs < 50; runs += 1) t.equal(await Promise.race([neighbour.run('1 + 1'), failure]), 2);
  stop.abort(new TroupeError('HARD_TIMEOUT', 'enough'));
  t.equal((await failure).code, 'HARD_TIMEOUT');
});
