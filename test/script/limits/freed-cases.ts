import type { LimitCase } from './limit-case.js';

/** What is large when it is let go. */
export const COLLECTED: readonly LimitCase[] = [
  {
    title: 'a linked list',
    source: 'let list = null; for (let i = 0; i < 100_000; i++) list = { next: list }; list = null; 1',
    meets: 'value',
  },
  {
    title: 'a linked list of arrays',
    source: 'let list = null; for (let i = 0; i < 100_000; i++) list = [list]; list = null; 1',
    meets: 'value',
  },
  {
    title: 'a list of closures',
    source: 'let f = null; for (let i = 0; i < 100_000; i++) { const g = f; f = () => g } f = null; 1',
    meets: 'value',
  },
  {
    title: 'a list of promises',
    source: 'let p = Promise.resolve(1); for (let i = 0; i < 20_000; i++) p = p.then((x) => x); await p; p = null; 1',
    meets: ['value', 'memory'],
  },
  {
    title: 'a list of pending promises',
    source: 'let p = new Promise(() => {}); for (let i = 0; i < 20_000; i++) p = p.then((x) => x); p = null; 1',
    meets: ['value', 'memory'],
  },
  {
    title: 'a chain of prototypes',
    source: 'let o = {}; for (let i = 0; i < 50_000; i++) o = Object.create(o); o = null; 1',
    meets: 'value',
  },
  {
    title: 'bound functions',
    source: 'let f = () => 1; for (let i = 0; i < 2000; i++) f = f.bind(null); f = null; 1',
    meets: 'value',
  },
  {
    title: 'proxies',
    source: 'let p = {}; for (let i = 0; i < 100_000; i++) p = new Proxy(p, {}); p = null; 1',
    meets: 'value',
  },
  {
    title: 'maps in maps',
    source: 'let m = new Map(); for (let i = 0; i < 20_000; i++) m = new Map([[1, m]]); m = null; 1',
    meets: 'value',
  },
  {
    title: 'weak maps of their values',
    source:
      'const m = new WeakMap(); let first = {}; let k = first; for (let i = 0; i < 50_000; i++) { const next = {}; m.set(k, next); k = next } first = k = null; 1',
    meets: 'value',
  },
  {
    title: 'generators in generators',
    source:
      'let g = (function* () { yield 1 })(); for (let i = 0; i < 10_000; i++) { const inner = g; g = (function* () { yield* inner })() } g = null; 1',
    meets: ['value', 'memory'],
  },
  {
    title: 'suspended generators in generators',
    source:
      'let g = (function* () { yield 1 })(); for (let i = 0; i < 10_000; i++) { const inner = g; g = (function* () { yield inner; })(); g.next() } g = null; 1',
    meets: ['value', 'memory'],
  },
  {
    title: 'iterator helpers',
    source: 'let it = [1].values(); for (let i = 0; i < 20_000; i++) it = it.map((x) => x); it = null; 1',
    meets: ['value', 'recursion'],
  },
  {
    title: 'a rope of strings',
    source: 'let s = ""; for (let i = 0; i < 500_000; i++) s = s + "a"; s.length; s = null; 1',
    meets: 'value',
  },
  {
    title: 'a rope of strings from the front',
    source: 'let s = ""; for (let i = 0; i < 20_000; i++) s = "a" + s + "b"; s.charCodeAt(5); s = null; 1',
    meets: 'value',
  },
  {
    title: 'a rope of long strings',
    source:
      'const long = "abc".repeat(3000); let s = ""; for (let i = 0; i < 100; i++) s = s + long + i; const t = s.charCodeAt(77); s = null; t',
    meets: 'value',
  },
  {
    title: 'a rope of one string a million deep',
    source:
      'const long = "abc".repeat(3000); let s = "x"; for (let i = 0; i < 100_000; i++) { s = s + "yy" + long.slice(0, 2) } s.length; s = null; 1',
    meets: 'value',
  },
  {
    title: 'causes of errors',
    source: 'let e; for (let i = 0; i < 20_000; i++) e = new Error("e", { cause: e }); e = null; 1',
    meets: 'value',
  },
  {
    title: 'cyclic lists',
    source:
      'for (let k = 0; k < 5; k++) { let first = {}; let list = first; for (let i = 0; i < 50_000; i++) list = { next: list, self: null }; first.next = list; } 1',
    meets: 'value',
  },
  {
    title: 'cycles without end',
    source:
      'while (true) { let first = {}; let list = first; for (let i = 0; i < 50_000; i++) list = { next: list }; first.next = list }',
    meets: 'time',
  },
  {
    title: 'cycles of closures without end',
    source:
      'while (true) { let f = null; let first; for (let i = 0; i < 20_000; i++) { const g = f; f = () => g; first ??= f } first.f = f }',
    meets: 'time',
  },
  {
    title: 'lists freed without end',
    source: 'while (true) { let list = null; for (let i = 0; i < 50_000; i++) list = { next: list } }',
    meets: 'time',
  },
  {
    title: 'finalization without end',
    source:
      'const r = new FinalizationRegistry((x) => { r.register({}, x) }); while (true) { for (let i = 0; i < 1000; i++) r.register([{}], i); await null }',
    meets: ['time', 'memory'],
  },
  {
    title: 'weak references without end',
    source:
      'const m = new WeakMap(); while (true) { let k = {}; for (let i = 0; i < 1000; i++) { const next = { k }; m.set(next, { k: next }); k = next } }',
    meets: ['time', 'memory'],
  },
  {
    title: 'deep function source',
    source: 'const f = new Function("return " + "(() => ".repeat(500) + "1" + ")".repeat(500)); 1',
    meets: ['value', 'recursion'],
  },
  {
    title: 'a deep list left for later scripts',
    source: 'globalThis.left = null; for (let i = 0; i < 50_000; i++) left = { next: left }; 1',
    meets: 'value',
  },
  {
    title: 'nested async functions left waiting',
    source:
      'let wait; const never = new Promise(() => {}); const f = Function("never", "return async function f(n) { if (n === 0) return never; return await f(n - 1) }")(never); for (let i = 0; i < 20; i++) f(100); 1',
    meets: ['value', 'recursion'],
  },
];

const HUGE = '"x".repeat(100_000_000)';

/** One string of 100 MB. */
export const HUGE_STRINGS: readonly LimitCase[] = [
  { title: 'as the result', source: `${HUGE}`, meets: ['memory', 'refusal'] },
  { title: 'in the result', source: `[{ a: ${HUGE} }]`, meets: ['memory', 'refusal'] },
  { title: 'as the result of a promise', source: `await null; ${HUGE}`, meets: ['memory', 'refusal'] },
  { title: 'as a console argument', source: `console.log(${HUGE}); 1`, meets: ['memory', 'value'] },
  { title: 'in a console argument', source: `console.log({ a: ${HUGE} }); 1`, meets: ['memory', 'value'] },
  { title: 'as a host argument', source: `host.call(${HUGE})`, meets: ['memory', 'refusal'] },
  { title: 'in a host argument', source: `host.call({ a: ${HUGE} })`, meets: ['memory', 'refusal'] },
  { title: 'as the source of a flow', source: `host.flow("flow.js", ${HUGE})`, meets: ['memory', 'refusal'] },
  {
    title: 'as the path of a flow',
    source: `host.flow(${HUGE}, "export default () => 1")`,
    meets: ['memory', 'refusal', 'value'],
  },
  { title: 'thrown', source: `throw ${HUGE}`, meets: ['memory', 'refusal'] },
  { title: 'as the message of an error', source: `throw new Error(${HUGE})`, meets: ['memory', 'refusal'] },
  {
    title: 'as the name of an error',
    source: `throw Object.assign(new Error("x"), { name: ${HUGE} })`,
    meets: ['memory', 'refusal'],
  },
  {
    title: 'as the stack of an error',
    source: `throw Object.assign(new Error("x"), { stack: ${HUGE} })`,
    meets: ['memory', 'refusal'],
  },
  { title: 'as a property key', source: `({})[${HUGE}]; 1`, meets: ['memory', 'value'] },
  { title: 'as a new property key', source: `({ [${HUGE}]: 1 })`, meets: ['memory', 'refusal'] },
  { title: 'as a global name', source: `globalThis[${HUGE}] = 1`, meets: ['memory', 'value'] },
  {
    title: 'as the name of a function',
    source: `Object.defineProperty(() => { null.x }, "name", { value: ${HUGE} })()`,
    meets: ['memory', 'refusal'],
  },
  { title: 'as a symbol description', source: `Symbol(${HUGE}); Symbol.for(${HUGE}); 1`, meets: ['memory', 'value'] },
  { title: 'as a regular expression', source: `new RegExp(${HUGE}).test("x"); 1`, meets: ['memory', 'value', 'time'] },
  { title: 'in a regular expression', source: `/y$/.test(${HUGE}); 1`, meets: ['memory', 'value', 'time'] },
  { title: 'to JSON.parse', source: `JSON.parse(${HUGE})`, meets: ['memory', 'refusal'] },
  { title: 'to JSON.parse as text', source: `JSON.parse('"' + ${HUGE} + '"').length`, meets: ['memory', 'value'] },
  { title: 'to eval', source: `(0, eval)(${HUGE})`, meets: ['memory', 'refusal', 'time'] },
  { title: 'to new Function', source: `new Function(${HUGE})`, meets: ['memory', 'refusal', 'time', 'value'] },
  { title: 'in match', source: `match(${HUGE}, "x"); 1`, meets: ['memory', 'refusal'] },
  { title: 'as an expectation of match', source: `match("x", ${HUGE}); 1`, meets: ['memory', 'refusal'] },
  { title: 'as the message of match', source: `match("x", "y", ${HUGE}); 1`, meets: ['memory', 'refusal'] },
  { title: 'split', source: `${HUGE}.split("").length`, meets: ['memory', 'time'] },
  {
    title: 'concatenated',
    source: `const s = ${HUGE}; s + s + s + s + s + s + s + s + s + s + s; 1`,
    meets: ['memory', 'value', 'refusal'],
  },
  { title: 'kept', source: `globalThis.kept2 = ${HUGE}; 1`, meets: ['memory', 'value'] },
];
