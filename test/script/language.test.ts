import t from 'tap';
import { guardLeaks } from '../support/leaks.js';
import { hostModule, openSandbox } from './open-sandbox.js';

guardLeaks(t);

const { run, fails } = await openSandbox(t, { modules: [hostModule(async () => null)] });

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
