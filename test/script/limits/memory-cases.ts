import { type LimitCase, memory, refusal } from './limit-case.js';

/** Scripts that use memory without end. */
export const MEMORY: readonly LimitCase[] = [
  memory('arrays in an array', 'const hog = []; while (true) hog.push(new Array(10_000).fill(7))'),
  memory('a growing array', 'const hog = []; while (true) hog.push(1)'),
  refusal('concatenation', 'let s = "x"; while (true) s += s'),
  memory(
    'concatenation, flattened each time',
    'let s = "x"; for (let i = 0; ; i++) { s += "abcdefgh".repeat(1000); s.charCodeAt(i) }',
  ),
  memory('wide characters', 'const hog = []; while (true) hog.push("\\u4e2d".repeat(10_000) + hog.length)'),
  memory('repeat', 'const hog = []; for (let i = 0; ; i++) hog.push("x".repeat(1e6) + i)'),
  memory('padEnd', 'const hog = []; for (let i = 0; ; i++) hog.push("x".padEnd(1e6, "ab" + i))'),
  memory('join', 'let s = "xx"; while (true) s = [s, s, s].join("--")'),
  memory('replaceAll', 'let s = "ab"; while (true) s = s.replaceAll("a", "aab")'),
  memory('replace with a regular expression', 'let s = "ab"; while (true) s = s.replace(/a/g, "$&$&b")'),
  memory('split', 'const hog = []; const s = "a,".repeat(1e5); while (true) hog.push(s.split(","))'),
  memory('a Map', 'const map = new Map(); for (let i = 0; ; i++) map.set(i, { i })'),
  memory('a Set', 'const set = new Set(); for (let i = 0; ; i++) set.add(i + 0.5)'),
  memory(
    'a WeakMap',
    'const keys = []; const map = new WeakMap(); while (true) { const key = {}; keys.push(key); map.set(key, [1, 2, 3]) }',
  ),
  memory('WeakRefs', 'const hog = []; while (true) hog.push(new WeakRef({}))'),
  memory('typed arrays', 'const hog = []; while (true) hog.push(new Float64Array(10_000))'),
  memory('one ArrayBuffer', 'new ArrayBuffer(2 ** 30)'),
  memory('ArrayBuffers', 'const hog = []; while (true) hog.push(new ArrayBuffer(100_000))'),
  memory('a SharedArrayBuffer', 'const hog = []; while (true) hog.push(new SharedArrayBuffer(100_000))'),
  {
    title: 'a resized ArrayBuffer',
    meets: ['memory', 'recursion', 'value'],
    source:
      'const b = new ArrayBuffer(8, { maxByteLength: 2 ** 30 }); for (let i = 8; ; i *= 2) { b.resize(i); if (i > 2 ** 29) break }; 1',
  },
  memory('closures', 'let f = () => 0; while (true) { const g = f; f = () => g }'),
  memory(
    'generators that never end',
    'const hog = []; while (true) { const one = (function* () { yield 1; yield 2 })(); one.next(); hog.push(one) }',
  ),
  memory('promises that never settle', 'const hog = []; while (true) hog.push(new Promise(() => {}))'),
  memory('reactions of one promise', 'const p = new Promise(() => {}); while (true) p.then(() => 1)'),
  memory('jobs that never get a turn', 'while (true) Promise.resolve().then(() => 1)'),
  memory(
    'suspended async functions',
    'const never = new Promise(() => {}); const later = [async () => { await never }]; while (true) later.push(Promise.resolve(never).then(later[0]), (async function () { for await (const x of [never]) x })())',
  ),
  refusal('BigInt growth', 'let n = 3n; while (true) n = n << 100000n'),
  memory('BigInts', 'const hog = []; for (let n = 1n; ; n++) hog.push(n << 1000n)'),
  memory('regular expressions', 'const hog = []; for (let i = 0; ; i++) hog.push(new RegExp("a{1,3}b" + i))'),
  {
    title: 'one regular expression',
    source: 'new RegExp("[a-c]x{1,1000}".repeat(400_000)).test("a")',
    meets: ['memory', 'value'],
  },
  memory('symbols', 'const hog = []; for (let i = 0; ; i++) hog.push(Symbol("name" + i))'),
  memory('registered symbols', 'const hog = []; for (let i = 0; ; i++) hog.push(Symbol.for("name" + i))'),
  memory('symbol keys', 'const o = {}; while (true) o[Symbol()] = 1'),
  memory('classes', 'const hog = []; while (true) hog.push(class A { #x = 1; static y = 2; m() { return this.#x } })'),
  memory(
    'stacks of errors',
    'const hog = []; while (true) { const e = new Error("x".repeat(100) + hog.length); e.stack; hog.push(e) }',
  ),
  memory('causes of errors', 'let e; while (true) e = new Error("e", { cause: e })'),
  memory('JSON.stringify', 'let s = "x"; while (true) s = JSON.stringify([s, s])'),
  memory(
    'JSON.parse',
    'const hog = []; const s = "[" + "{},".repeat(10_000) + "1]"; while (true) hog.push(JSON.parse(s))',
  ),
  memory('a chain of proxies', 'let p = {}; while (true) p = new Proxy(p, {})'),
  memory('a chain of prototypes', 'let o = {}; while (true) o = Object.create(o)'),
  memory('bound functions', 'let f = () => 1; while (true) f = f.bind(null, 1)'),
  memory('property names', 'const o = {}; for (let i = 0; ; i++) o["p" + i] = i'),
  memory('a sparse array', 'const a = []; for (let i = 0; ; i += 1000) a[i * 7 % 4294967295] = i'),
  memory('spread arguments', 'let a = [1]; while (true) { a = [...a, ...a] } Math.max(...a)'),
  memory('concat and flat', 'let a = [1]; while (true) a = a.concat(a, [a]).flat()'),
  memory('variables of evaluated code', 'for (let i = 0; ; i++) (0, eval)("var v" + i + " = [1, 2, 3]")'),
  memory(
    'functions of evaluated code',
    'const hog = []; for (let i = 0; ; i++) hog.push(new Function("a", "return a + " + i))',
  ),
  memory('a linked list', 'let list = null; while (true) list = { next: list }'),
  memory('nested arrays', 'let list = []; while (true) list = [list]'),
  memory('a getter', 'const hog = []; const o = { get x() { while (true) hog.push([1, 2, 3]) } }; o.x'),
  memory('a getter of the result', 'const hog = []; ({ get x() { while (true) hog.push([1, 2, 3]) } })'),
  memory('toJSON of the result', 'const hog = []; ({ toJSON() { while (true) hog.push([1, 2, 3]) } })'),
  memory('a proxy as the result', 'const hog = []; new Proxy({}, { ownKeys() { while (true) hog.push([1, 2, 3]) } })'),
  memory('finally', 'const hog = []; try { null.x } finally { while (true) hog.push([1, 2, 3]) }'),
  {
    title: 'catch that goes on',
    meets: ['memory', 'time'],
    source: 'const hog = []; while (true) try { while (true) hog.push([1, 2, 3]) } catch { hog.push(1) }',
  },
  {
    title: 'catch that frees and goes on',
    meets: ['memory', 'time'],
    source: 'let hog = []; while (true) try { while (true) hog.push([1, 2, 3]) } catch { hog = [] }',
  },
  {
    title: 'catch that frees and ends',
    meets: ['memory', 'value'],
    source: 'let hog = []; try { while (true) hog.push([1, 2, 3]) } catch { hog = null } 1',
  },
  {
    title: 'catch of each single allocation',
    meets: ['memory', 'time'],
    source: 'const hog = []; while (true) try { hog.push(new Array(1000).fill(1)) } catch {}',
  },
  {
    title: 'catch, and host calls after it',
    meets: ['memory', 'value'],
    source: 'const hog = []; try { while (true) hog.push([1, 2, 3]) } catch {} try { host.call("after") } catch {} 1',
  },
  {
    title: 'catch, and a result after it',
    meets: ['memory', 'value'],
    source: 'const hog = []; try { while (true) hog.push("x".repeat(10)+hog.length) } catch {} hog.length',
  },
  {
    title: 'catch, and console lines after it',
    meets: ['memory', 'value'],
    source:
      'const hog = []; try { while (true) hog.push([1, 2, 3]) } catch {} try { for (let i = 0; i < 100; i++) console.log("x", i) } catch {} 1',
  },
  {
    title: 'catch, and match after it',
    meets: ['memory', 'value', 'recursion'],
    source: 'const hog = []; try { while (true) hog.push([1, 2, 3]) } catch {} match({ a: [1, 2] }, { a: [1, 2] })',
  },
  {
    title: 'catch in a promise',
    meets: ['memory', 'value', 'time'],
    source:
      'const hog = []; const more = async () => { while (true) hog.push([1, 2, 3]) }; await more().catch(() => more()).catch(() => 1)',
  },
  {
    title: 'a FinalizationRegistry callback',
    meets: ['memory', 'value', 'time'],
    source:
      'const hog = []; const r = new FinalizationRegistry(() => { while (true) hog.push([1, 2, 3]) }); (() => { r.register({}, 1) })(); for (let i = 0; i < 1e5; i++) [i]; await null; 1',
  },
  memory(
    'an argument of console.log',
    'const hog = []; console.log({ get x() { while (true) hog.push([1, 2, 3]) } }); 1',
  ),
  memory(
    'an argument of a host call',
    'const hog = []; host.call({ get x() { while (true) hog.push([1, 2, 3]) } }); 1',
  ),
  memory(
    'an argument of match',
    'const hog = []; match({ get x() { while (true) hog.push([1, 2, 3]) } }, { x: 1 }); 1',
  ),
  {
    title: 'answers of host calls',
    meets: ['memory'],
    source: 'const hog = []; while (true) hog.push(host.call("x".repeat(1e6)))',
  },
  memory('a flow', 'host.flow("flow.js", "const hog = []; while (true) hog.push([1, 2, 3])")'),
  memory(
    'the result of a flow',
    'const hog = []; host.flow("flow.js", "export default () => ({ get x() { const hog = []; while (true) hog.push([1, 2, 3]) } })").x',
  ),
  memory('a thrown value', 'const hog = []; throw { get message() { while (true) hog.push([1, 2, 3]) } }'),
  memory('a sort comparator', 'const hog = []; [3, 2, 1].sort(() => { while (true) hog.push([1, 2, 3]) })'),
  memory('a replace callback', 'const hog = []; "a".replace(/a/, () => { while (true) hog.push([1, 2, 3]) })'),
  memory('Array.from', 'Array.from({ length: 2 ** 31 }, () => [1])'),
  memory('an endless iterator', '[...(function* () { while (true) yield [1] })()]'),
  memory('after an await', 'await null; const hog = []; while (true) hog.push([1, 2, 3])'),
  memory(
    'in an async function',
    'const hog = []; await (async () => { await null; while (true) hog.push([1, 2, 3]) })()',
  ),
  memory(
    'in an async generator',
    'const hog = []; for await (const x of (async function* () { while (true) yield [1, 2, 3] })()) hog.push(x)',
  ),
  memory('global variables', 'for (let i = 0; ; i++) globalThis["g" + i] = [i]'),
  memory('matchAll', 'const hog = []; while (true) hog.push(...("ab".repeat(1000).matchAll(/(a)(b)/g)))'),
  memory(
    'Object.groupBy',
    'const hog = []; while (true) hog.push(Object.groupBy([..."abcdefgh".repeat(100)], (x) => x))',
  ),
  memory('dates', 'const hog = []; while (true) hog.push(new Date())'),
  memory('structured text of numbers', 'const hog = []; for (let i = 0; ; i++) hog.push((i * 1.1).toString(2))'),
  {
    title: 'catch of large pieces, and a large result',
    source: 'const hog = []; try { while (true) hog.push(new ArrayBuffer(3e6)) } catch {} "\\u00e9".repeat(2e6)',
    meets: ['memory', 'value'],
  },
  {
    title: 'catch of large pieces, and a large answer',
    source:
      'const text = "x".repeat(1e6); const hog = []; try { while (true) hog.push(new ArrayBuffer(3e6)) } catch {} host.call(text, text, text).length',
    meets: ['memory', 'value'],
  },
  {
    title: 'catch of large pieces, and a large flow',
    source:
      'const text = "1;".repeat(5e5); const hog = []; try { while (true) hog.push(new ArrayBuffer(3e6)) } catch {} host.flow("flow.js", text); 1',
    meets: ['memory', 'value', 'refusal'],
  },
];
