import t from 'tap';
import type { HostModule } from '#troupe/script/host-module.js';
import { guardLeaks } from '../support/leaks.js';
import { openSandbox } from './open-sandbox.js';

guardLeaks(t);

const module: HostModule = {
  name: 'host',
  prelude: `(function (host, engine) {
    globalThis.host = { flow(path, source) { return engine.runFlow(path, source, {}); } };
  })`,
  calls: {},
};
const { run, fails } = await openSandbox(t, { modules: [module] });

t.test('endless recursion, and a text or memory beyond the limits, is a RangeError, as in Node', async (t) => {
  for (const source of ['(function f() { return f() + 1; })()', '"x".padEnd(2 ** 30)', 'new ArrayBuffer(2 ** 32)']) {
    const seen = `try { ${source} } catch (e) { [e instanceof RangeError, e.name, e.constructor === RangeError, String(e.stack).length > 0] }`;
    t.same(await run(seen), [true, 'RangeError', true, true], source);
    t.match((await fails(source)).message, /^RangeError: /, source);
  }
  t.equal(await run('typeof InternalError'), 'undefined');
  const own = await fails('throw new RangeError("out of memory")');
  t.match(own, { message: 'RangeError: out of memory' });
  t.notOk('scopeLost' in (own.details ?? {}), 'a script can say so without any harm');
});

t.test('Array.fromAsync', async (t) => {
  const lists: { readonly [source: string]: unknown } = {
    'Array.fromAsync([1, Promise.resolve(2)])': [1, 2],
    'Array.fromAsync("ab", (text, nth) => Promise.resolve(text + nth))': ['a0', 'b1'],
    'Array.fromAsync((async function* () { yield 1; yield Promise.resolve(2); })())': [1, 2],
    'Array.fromAsync({ length: 3, 0: Promise.resolve("a"), 2: "c" })': ['a', null, 'c'],
    'Array.fromAsync({ length: "2.9" }, (_, nth) => nth)': [0, 1],
    'Array.fromAsync({})': [],
    'Array.fromAsync(5)': [],
    'Array.fromAsync([1], function () { return this.x; }, { x: "this" })': ['this'],
    '(class extends Array {}).fromAsync([1]).then((list) => [Array.isArray(list), list.constructor !== Array, ...list])':
      [true, true, 1],
    'Array.fromAsync.call({}, [1]).then((list) => list.constructor === Array)': true,
    'Array.fromAsync.call(function (n) { this.n = n ?? "none"; }, { length: 1, 0: "a" })': { 0: 'a', n: 1, length: 1 },
    '[Array.fromAsync.name, Array.fromAsync.length, Object.keys(Array).length]': ['fromAsync', 1, 0],
    'Array.fromAsync([1]) instanceof Promise': true,
    'try { new Array.fromAsync([]); } catch (e) { e.name }': 'TypeError',
    'Array.fromAsync(null).catch((e) => e.name)': 'TypeError',
    'Array.fromAsync([], 5).catch((e) => e.name)': 'TypeError',
    'Array.fromAsync([Promise.reject(new Error("no"))]).catch((e) => e.message)': 'no',
  };
  for (const [source, value] of Object.entries(lists)) t.same(await run(source), value, source);
  const closed = `let ended = 0; const items = { [Symbol.iterator]: () => ({
      next: () => ({ value: 1, done: false }), return() { ended += 1; return {}; } }) };
    try { await Array.fromAsync(items, () => { throw new Error('map'); }); } catch (e) { [e.message, ended] }`;
  t.same(await run(closed), ['map', 1], 'an iterator is closed');
});

t.test('Error.captureStackTrace gives an object the text of the stack', async (t) => {
  const source = `function Failure() { Error.captureStackTrace(this, Failure); }
function make() {
  return [new Failure()][0];
}
const { stack } = make();
const plain = {};
Error.captureStackTrace(plain);
[typeof stack, /at make /.test(stack), /at Failure /.test(stack), /captureStackTrace/.test(plain.stack), /script 1#/.test(plain.stack),
  Object.keys(plain).length]`;
  t.same(await run(source), ['string', true, false, false, true, 0]);
  t.equal(await run('try { Error.captureStackTrace(5) } catch (e) { e.name }'), 'TypeError');
  const { details } = await fails(`function fail() {
  throw Object.assign(Object.create(Error.prototype), { message: 'odd' }, caught());
}
function caught() { const at = {}; Error.captureStackTrace(at); return { stack: at.stack }; }
fail();`);
  t.match(details, { line: 4 }, 'the place of an error that was made so');
});

t.test('a text that is no JSON is an error that says where', async (t) => {
  for (const [source, message] of [
    ['JSON.parse("")', /^SyntaxError: .* at line 1, column 1 of the JSON text$/],
    ['JSON.parse("{\\n  \\"a\\": tru }")', /^SyntaxError: .* at line 2, column \d+ of the JSON text$/],
    ['JSON.parse("<html>")', /^SyntaxError: .*'<' at line 1, column 1 of the JSON text$/],
    ['new Function("{")', /^SyntaxError: (?!.*JSON)/],
    ['throw new SyntaxError("mine")', /^SyntaxError: mine$/],
  ] as const) {
    t.match((await fails(source)).message, message, source);
  }
});

t.test('nothing that Node lacks', async (t) => {
  t.equal(await run('typeof Set.groupBy'), 'undefined');
  t.same(await run('[...Map.groupBy([1, 2, 3], (n) => n % 2)]'), [
    [1, [1, 3]],
    [0, [2]],
  ]);
});

t.test('closures keep the variable of their own turn of a loop, whatever begins the next one', async (t) => {
  const log = 'log.map((f) => f()).join()';
  const loops: { readonly [source: string]: string } = {
    'for (let n = 0; n < 4; n++) { log.push(() => n); if (n % 2) continue; }': '0,1,2,3',
    'for (let n = 0; n < 4; n++) { if (n % 2) continue; log.push(() => n); }': '0,2',
    'for (let n = 0; n < 4; n++) { log.push(() => n); if (n % 2) continue }log.push(() => "end")': '0,1,2,3,end',
    'for (let n = 0; n < 4; n++) if (log.push(() => n)) { continue }log.push(() => "end")': '0,1,2,3,end',
    'for (let n = 0; n < 2; n++) if (n) continue; else log.push(() => n)\nlog.push(() => "end")': '0,end',
    'for (let n = 0; n < 3; log.push(() => n), n++) continue;': '1,2,3',
    'outer: for (let n = 0; n < 3; n++) { for (let m = 0; m < 3; m++) { log.push(() => `${n}${m}`); if (m) continue outer; } }':
      '00,01,10,11,20,21',
    'a: b: for (let n = 0; n < 3; n++) { log.push(() => n); continue a; }': '0,1,2',
    'for (let n = 0; n < 2; n++) for (let m = 0; m < 2; m++) { log.push(() => `${n}${m}`); if (m) continue; }':
      '00,01,10,11',
    'o: for (let n = 0; n < 2; n++) for (let m = 0; m < 2; m++) { log.push(() => `${n}${m}`); if (m) continue; else continue o; }':
      '00,10',
    'for (let n = 0; n < 3; n++) { try { log.push(() => n); if (n) throw 1; } catch { continue; } finally { log.push(() => `f${n}`); } }':
      '0,f0,1,f1,2,f2',
    'for (let n = 0; n < 3; n++) { switch (n) { case 1: log.push(() => n); continue; default: log.push(() => -n); } }':
      '0,1,-2',
    'for (let n = 0; n < 3; n++) { for (const m of [1]) { if (m) continue; } log.push(() => n); }': '0,1,2',
    'for (let n = 0; n < 3; n++) { log.push(() => n); const f = () => { for (let k = 0; k < 2; k++) continue; return n; }; if (f()) continue; }':
      '0,1,2',
    'for (let n = 0, f = () => n; n < 2; n++) { log.push(f); continue; }': '0,0',
  };
  for (const [loop, value] of Object.entries(loops)) {
    const source = `const log = []; ${loop}\n`;
    t.equal(await run(source + log), value, loop);
    t.equal(await run(`(() => { ${source} return ${log}; })()`), value, `${loop}, in a function`);
    t.equal(await run(`host.flow('a.js', ${JSON.stringify(`${source}${log}`)})`), value, `${loop}, in a flow`);
  }
  t.equal(await run('for (let n = 0; n < 3; n++) { if (n === 1) continue; n * 10; }'), 20, 'the value of a loop');
  const { details } = await fails('for (let n = 0; n < 3; n++) { if (!n) continue; nope; }');
  t.match(details, { line: 1, column: 49 }, 'positions are those of the source');
});
