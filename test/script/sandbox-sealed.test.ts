import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { hostModule, openSandbox } from './open-sandbox.js';

guardLeaks(t);

/** The language's standard globals. */
const LANGUAGE =
  `AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError
  FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array
  Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set
  SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray
  WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite
  isNaN parseFloat parseInt undefined unescape`.split(/\s+/);

/** Everything that a script can do to the built-ins that others use. */
const POLLUTION = `
  const bad = () => { throw new Error('polluted'); };
  const { getOwnPropertyNames } = Object;
  const keep = { prototype: 1, constructor: 1, length: 1, name: 1, __proto__: null };
  const owners = [Object, Array, String, Number, Boolean, Function, RegExp, Date, Map, Set, WeakMap, WeakSet, Promise, JSON,
    Reflect, Math, Symbol, Error, TypeError];
  for (let i = 0; i < owners.length; i++) {
    for (let target = owners[i]; target; target = target === owners[i] ? target.prototype : null) {
      const keys = getOwnPropertyNames(target);
      for (let k = 0; k < keys.length; k++) if (!keep[keys[k]]) try { target[keys[k]] = bad; } catch {}
    }
  }
  const names = ['get', 'set', 'value', 'writable', 'enumerable', 'configurable', 'ok', 'error', 'code', '0', '1'];
  for (let i = 0; i < names.length; i++) Object.prototype[names[i]] = bad;
  globalThis.Date = globalThis.RegExp = globalThis.TypeError = globalThis.Error = globalThis.Promise = bad;
`;

t.test('scripts see the language, console, match, args, the modules, and nothing else', async (t) => {
  const { run } = await openSandbox(t, { modules: [hostModule(async () => 1)] });
  const seen = await run('Object.getOwnPropertyNames(globalThis)');
  t.same(Array.isArray(seen) && seen.sort(), [...LANGUAGE, 'args', 'console', 'host', 'match'].sort());
  for (const name of [
    'process',
    'require',
    'module',
    'fetch',
    'setTimeout',
    'performance',
    'std',
    'os',
    'scriptArgs',
  ]) {
    t.equal(await run(`typeof ${name}`), 'undefined', name);
  }
  t.equal(await run('(function () { return this === globalThis; })()'), true);
  t.equal(await run('Error.prepareStackTrace === undefined && Error.stackTraceLimit === undefined'), true);
});

t.test('a script that overwrites every built-in breaks neither host calls nor match nor its results', async (t) => {
  const module = hostModule(async (args) => ({ got: args }));
  const { run, fails, of } = await openSandbox(t, { modules: [module] });
  t.equal(await run('Object.prototype.toJSON = () => "forged"; Array.prototype.toJSON = () => "forged"; 1'), 1);
  t.same(await run('({ a: [1, { b: 2 }] })'), { a: [1, { b: 2 }] }, 'a polluted toJSON does not reach results');
  t.same(await run('host.call({ list: [1] }, "x")'), { got: [{ list: [1] }, 'x'] }, 'nor host calls');
  await run(`delete Object.prototype.toJSON; delete Array.prototype.toJSON; ${POLLUTION}; 1`);
  t.same(await run('host.call({ list: [1] }, "x")'), { got: [{ list: [1] }, 'x'] });
  t.equal(
    await run(
      'match({ a: [1, 2], b: "x", c: null, d: 5 }, { a: "#[2] #number", b: "#regex [x-z]", c: "##string", d: "#? _ > 3" })',
    ),
    true,
  );
  t.match(await fails('match({ a: 1 }, { a: "#string" })'), {
    code: 'MATCH_FAILED',
    details: { failures: [{ path: '$.a' }] },
  });
  t.same(await run('const got = host.call(7); [got.got[0], 1n]'), [7, '1']);
  await run('console.log("still", { here: [1] })');
  t.match(of('ConsoleWritten'), [{ text: 'still {"here":[1]}' }]);
  t.match(await fails('\nnope'), { code: 'SCRIPT_ERROR', details: { line: 2 } });
});

t.test('provided globals cannot be changed, replaced or removed', async (t) => {
  const { run, fails } = await openSandbox(t, { modules: [hostModule(async () => 'real')] });
  for (const name of ['host', 'match', 'console', 'args']) {
    t.match(await fails(`${name} = 1`), { code: 'SCRIPT_ERROR', message: /built in/ }, name);
    t.match(await fails(`let ${name} = 1`), { code: 'SCRIPT_ERROR', message: /built in/ }, name);
    t.match(await fails(`function ${name}() {}`), { code: 'SCRIPT_ERROR' }, name);
    t.equal(await run(`delete globalThis.${name}; typeof ${name} === 'undefined'`), false, name);
    t.match(await fails(`Object.defineProperty(globalThis, '${name}', { value: 1 })`), { code: 'SCRIPT_ERROR' }, name);
  }
  await run(`host.call = () => 'forged'; match.equals = null; console.log = null;
    try { Object.setPrototypeOf(host, { forged: 1 }); } catch {}
    try { host.call.prototype.x = 1; } catch {} 1`);
  t.same(await run('[host.call(), typeof match.equals, typeof console.log, host.forged ?? null]'), [
    'real',
    'function',
    'function',
    null,
  ]);
});

t.test('the raw host function cannot be reached', async (t) => {
  const calls: unknown[] = [];
  const { run } = await openSandbox(t, { modules: [hostModule(async (args) => calls.push(args))] });
  const found = await run(`
    const loot = [];
    const take = (why) => function (...values) { loot.push(why); for (const v of values) if (typeof v === 'function') loot.push('function'); };
    // Callers and their arguments.
    host.call({ toJSON() {
      try { if (arguments.callee.caller) loot.push('caller'); } catch {}
      try { if (host.call.arguments) loot.push('arguments'); } catch {}
      try { throw new Error('x'); } catch (error) {
        Error.prepareStackTrace = (e, sites) => { loot.push('sites'); return sites; };
        const again = new Error('y');
        if (typeof again.stack !== 'string') loot.push('stack');
        try { Error.captureStackTrace(again); if (typeof again.stack !== 'string') loot.push('capture'); } catch {}
      }
      return 1;
    } });
    // Hooks on what a wrapper might use to pass its arguments on.
    const { apply, call, bind } = Function.prototype;
    Function.prototype.call = take('call');
    Function.prototype.apply = take('apply');
    Function.prototype.bind = take('bind');
    Reflect.apply = take('Reflect.apply');
    const iterate = Array.prototype[Symbol.iterator];
    Array.prototype[Symbol.iterator] = function () { loot.push('iterator'); return iterate; };
    Object.defineProperty(Array.prototype, '0', { configurable: true, set(v) { if (typeof v !== 'number') loot.push('index'); } });
    let failed = null;
    try { host.call('a', 'b'); match([1], [1]); match({ x: 1 }, { x: '#? _ === 1' }); } catch (error) { failed = error; }
    delete Array.prototype[0];
    Array.prototype[Symbol.iterator] = iterate;
    Function.prototype.call = call; Function.prototype.apply = apply; Function.prototype.bind = bind;
    if (failed !== null) throw failed;
    // The constructor chain ends in this context.
    if (host.call.constructor('return this')() !== globalThis) loot.push('realm');
    if (match.constructor.constructor('return typeof process')() !== 'undefined') loot.push('process');
    loot`);
  t.same(found, []);
  t.same(calls, [[1], ['a', 'b']]);
});

t.test('modules, imports and blocking primitives are not available', async (t) => {
  const { run, fails } = await openSandbox(t);
  for (const source of [
    'import("os")',
    'eval("import(\\"std\\")")',
    'import.meta',
    'new Function("return import(\\"os\\")")()',
  ]) {
    t.match(await fails(source), { code: 'SCRIPT_ERROR' }, source);
  }
  t.equal(await run('typeof Atomics'), 'undefined');
});
