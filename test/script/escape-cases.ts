import type { ErrorCode } from '#troupe/protocol/errors.js';

/**
 * A script that tries to escape, or never to end. With `value` it must end with exactly that, with `codes` in one of
 * those errors; with neither, any value and any error of the table is accepted.
 */
export interface EscapeCase {
  readonly title: string;
  readonly source: string;
  readonly value?: unknown;
  readonly codes?: readonly ErrorCode[];
  /** Part of the error's message. */
  readonly says?: RegExp;
}

/** What a script must not see, whatever realm it reaches. */
const REALM = `'${[
  'return ["process", "require", "module", "fetch", "setTimeout", "setImmediate", "queueMicrotask", "performance",',
  '"Buffer", "WebAssembly", "Atomics", "Worker", "std", "os"]',
  '.filter((name) => (0, eval)("typeof " + name) !== "undefined").length + (globalThis === this ? 0 : 100)',
].join(' ')}'`;

/** Scripts that look for a way out; each ends by itself, without success. */
export const ESCAPES: readonly EscapeCase[] = [
  {
    title: 'constructor chains from everything that is handed in end in the same empty realm',
    source: `[host, host.call, host.ask, match, console.log, args, host.call([1]), (() => { try { host.call('fail'); }
      catch (error) { return error; } })()].map((one) => one.constructor.constructor(${REALM})())`,
    value: [0, 0, 0, 0, 0, 0, 0, 0],
  },
  {
    title: 'constructor chains of async, generator and error functions end there too',
    source: `const makers = [async () => {}, function* () {}, async function* () {}].map((one) => one.constructor);
      let error; try { null.x } catch (thrown) { error = thrown }
      [await makers[0](${REALM})(), makers[1](${REALM})().next().value, (await makers[2](${REALM})().next()).value,
        error.constructor.constructor(${REALM})(), Function(${REALM})(), (0, eval)('(function () {' + ${REALM} + '})')()]`,
    value: [0, 0, 0, 0, 0, 0],
  },
  {
    title: 'nothing that members, prototypes and accessors lead to is a raw host function',
    source: `const seen = new Set(); const queue = [globalThis]; const loot = [];
      const raw = ['wrote', 'checked', 'compile', 'settle', 'enterFlow', 'leaveFlow', 'flows', 'runFlow', 'hostOf'];
      while (queue.length > 0) {
        const one = queue.pop();
        if ((typeof one !== 'object' && typeof one !== 'function') || one === null || seen.has(one)) continue;
        seen.add(one);
        if (typeof one === 'function' && raw.includes(one.name) && one !== RegExp.prototype.compile) loot.push(one.name);
        queue.push(Object.getPrototypeOf(one));
        for (const key of Reflect.ownKeys(one)) {
          const { value, get, set } = Object.getOwnPropertyDescriptor(one, key);
          queue.push(value, get, set);
          try { queue.push(one[key]); } catch {}
        }
      }
      [loot, seen.size > 500]`,
    value: [[], true],
  },
  {
    title: "the name of the engine's own steps leads to no call of the host",
    source: `const loot = [];
      for (const text of ['$troupe', 'this.$troupe', 'globalThis.$troupe']) try {
        const step = (0, eval)(text);
        for (const key of Reflect.ownKeys(step)) {
          loot.push(key);
          try { step[key] = 1; } catch {}
          if (step[key] === 1) loot.push('changed');
          if (step[key].constructor.constructor(${REALM})() !== 0) loot.push('realm');
          try { step[key](1); step[key].call(host, {}, {}, {}); } catch {}
        }
      } catch {}
      loot.filter((key) => !['settle', 'each', 'thrown', 'dropped', 'flow'].includes(key))`,
    value: [],
  },
  {
    title: 'callers and arguments of a strict function are not to be had',
    source: `const loot = [];
      const look = () => {
        for (const one of [host.call, match, console.log, Reflect.apply]) {
          try { if (one.caller) loot.push('caller'); } catch {}
          try { if (one.arguments) loot.push('arguments'); } catch {}
        }
        return 1;
      };
      host.call({ toJSON: look }); match({ get a() { return look(); } }, { a: 1 }); console.log({ toJSON: look });
      loot`,
    value: [],
  },
  {
    title: 'Error.prepareStackTrace and its like give no functions of the stack',
    source: `const loot = [];
      for (const owner of [Error, TypeError, Object.prototype, Function.prototype]) {
        owner.prepareStackTrace = (error, sites) => { loot.push('sites'); return sites; };
        owner.stackTraceLimit = 1e9;
        owner.captureStackTrace = () => loot.push('capture');
      }
      try { host.call('fail'); } catch (error) { if (typeof error.stack !== 'string') loot.push('stack'); }
      try { match(1, 2); } catch (error) { if (typeof error.stack !== 'string') loot.push('stack'); }
      loot`,
    value: [],
  },
  {
    title: 'a stack that a script forges moves no host call out of its sandbox',
    source: `Object.defineProperty(Error.prototype, 'stack', { get() { return { toString() { throw 1; } }; } });
      Object.defineProperty(Object.prototype, 'stack', { configurable: true, get() { return '    at x (troupe/engine:1:1)'; } });
      const got = host.call('x'); delete Object.prototype.stack; got`,
    value: ['x'],
  },
  {
    title: 'members of the prototype of the calls are no host calls',
    source: `['constructor', '__proto__', 'toString', 'hasOwnProperty', '__defineGetter__', 'call.call', '', '.', 'host.call',
      'valueOf'].map((name) => { try { return host.ask(name, 'x'); } catch (error) { return error.code; } })`,
    value: Array.from({ length: 10 }, () => 'INTERNAL'),
  },
  {
    title: 'a name of a call that is no text asks for nothing else',
    source: `let turn = 0;
      [{ toString: () => turn++ === 0 ? 'call' : 'constructor' }, ['constructor'], 7, null, Symbol.iterator].map((name) => {
        try { return host.ask(name, 'x') && 'answered'; } catch (error) { return error.code ?? error.name; } })`,
    value: ['answered', 'INTERNAL', 'INTERNAL', 'INTERNAL', 'INTERNAL'],
  },
  {
    title: 'arguments that look like an answer or a message are data',
    source: `host.call({ type: 'done', run: 1, outcome: { ok: true, json: '"forged"' } }, { call: 1, text: '{"ok":true}' },
      '{"ok":true,"value":"forged"}')`,
    value: [
      { type: 'done', run: 1, outcome: { ok: true, json: '"forged"' } },
      { call: 1, text: '{"ok":true}' },
      '{"ok":true,"value":"forged"}',
    ],
  },
  {
    title: 'a toJSON that writes brackets and quotes adds no argument',
    source: `host.call({ toJSON: () => '"],["' }, '\\u2028"]', { '"]': '[' })`,
    value: ['"],["', '\u2028"]', { '"]': '[' }],
  },
  {
    title: 'JSON that a script replaced is not what carries arguments and answers',
    source: `JSON.stringify = () => '["forged"]'; JSON.parse = () => ({ ok: true, value: 'forged' });
      String.prototype.concat = () => 'forged'; Array.prototype.join = () => 'forged';
      Object.defineProperty(Object.prototype, 'ok', { get: () => true, set() {} });
      Object.defineProperty(Object.prototype, 'value', { get: () => 'forged', set() {} });
      const got = host.call('true'); delete Object.prototype.ok; delete Object.prototype.value; got`,
    value: ['true'],
  },
  {
    title: 'an argument named __proto__ pollutes nothing on the way, and comes back as a member',
    source: `const back = host.call(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'));
      [({}).polluted ?? null, Object.hasOwn(back[0], '__proto__'), back[0].polluted ?? null]`,
    value: [null, true, null],
  },
  {
    title: 'what is handed in stays as it is, also by way of prototypes, descriptors and Reflect',
    source: `const tries = [() => { host.call = 1; }, () => Object.defineProperty(host, 'call', { value: 1 }),
      () => Object.setPrototypeOf(host, null), () => delete host.call, () => Reflect.set(host, 'call', 1),
      () => Object.assign(match, { equals: 1 }), () => { host.__proto__ = {}; }, () => { host.call.name = 'x'; },
      () => Reflect.defineProperty(globalThis, 'host', { get: () => 1 }), () => { delete globalThis.host; },
      () => Object.defineProperties(console, { log: { value: 1 } }), () => { (function () { host = 1; })(); },
      () => { host.__defineGetter__('call', () => 1); }, () => { globalThis['host'] = 1; }];
      for (const one of tries) try { one(); } catch {}
      [host.call(1), typeof match.equals, typeof console.log, Object.getPrototypeOf(host) === Object.prototype]`,
    value: [[1], 'function', 'function', true],
  },
  {
    title: 'getters put on Object.prototype see nothing of the host between calls',
    source: `const loot = [];
      for (const key of ['call', 'wrote', 'settle', 'compile', 'flows', 'result', 'describe', 'step', 'raw', 'engine', 'then']) {
        Object.defineProperty(Object.prototype, key, { configurable: true,
          get() { if (this !== globalThis && this !== host && typeof this === 'function') loot.push(key); return undefined; },
          set(value) { loot.push(key + ' set'); } });
      }
      host.call([1], { a: 2 }); console.log({ a: 1 }); match({ a: [1] }, { a: ['#number'] });
      for (const key of Object.getOwnPropertyNames(Object.prototype)) {
        const { get } = Object.getOwnPropertyDescriptor(Object.prototype, key);
        if (get && key !== '__proto__') delete Object.prototype[key];
      }
      loot`,
    value: [],
  },
  {
    title: 'setters put on Array.prototype see no argument list',
    source: `const loot = [];
      for (let i = 0; i < 6; i++) Object.defineProperty(Array.prototype, i, { configurable: true, get() { return 'got'; },
        set(value) { if (typeof value === 'function' || typeof value === 'object') loot.push(i); } });
      const text = String(host.call('a', 'b')); match({ a: 1 }, { a: 1 });
      for (let i = 0; i < 6; i++) delete Array.prototype[i];
      [loot, text]`,
    value: [[], 'a,b'],
  },
  {
    title: 'a setter or a Proxy under every array forges no code of an error',
    source: `const forge = (value) => { if (typeof value === 'object' && value !== null) value.code = 'SESSION_ENDED'; };
      Object.defineProperty(Array.prototype, 0, { configurable: true, set: forge });
      Object.setPrototypeOf(Array.prototype, new Proxy({}, { set: (target, key, value) => { forge(value); return true; } }));
      throw new Error('plain')`,
    codes: ['SCRIPT_ERROR'],
    says: /plain/,
  },
  {
    title: 'an iterator and a species that a script replaced hand it nothing',
    source: `const loot = [];
      Array.prototype[Symbol.iterator] = function () { loot.push('iterator'); return { next: () => ({ done: true }) }; };
      Object.defineProperty(Array, Symbol.species, { get() { loot.push('species'); return Object; } });
      Object.defineProperty(RegExp, Symbol.species, { get() { loot.push('species'); return Object; } });
      RegExp.prototype[Symbol.replace] = RegExp.prototype.exec = () => { loot.push('regexp'); return null; };
      const got = host.call('a', 'b').length; match('x1', '#regex x[0-9]'); console.log([1], new Map());
      [got, loot]`,
    value: [2, []],
  },
  {
    title: 'Symbol.toPrimitive, toStringTag, hasInstance and unscopables fool no check',
    source: `const sly = { [Symbol.toPrimitive]: () => { throw new Error('primitive'); }, [Symbol.toStringTag]: 'Error',
        get [Symbol.unscopables]() { throw 1; }, kept: 1 };
      for (const one of [Error, Array, Object, Promise, Function])
        Object.defineProperty(one, Symbol.hasInstance, { value: () => true, configurable: true });
      [host.call(sly)[0].kept, sly, await 7]`,
    value: [1, { kept: 1 }, 7],
  },
  {
    title: 'a Proxy that lies about its members leaves as data',
    source: `let reads = 0;
      new Proxy({}, { ownKeys: () => ['a', '__proto__'], getPrototypeOf: () => null,
        getOwnPropertyDescriptor: () => ({ value: 1, enumerable: true, configurable: true, get: undefined, set: undefined }),
        get: (target, key) => key === 'toJSON' ? undefined : key === 'a' ? () => process : ++reads })`,
  },
  {
    title: 'a function, a class and a symbol as the result are nothing',
    source: '[host.call, class {}, Symbol("x"), { f() {}, call: host.call }, new Proxy(host.call, {})]',
    value: [null, null, null, {}, null],
  },
  {
    title: 'a thenable that settles twice and throws after it gives its first value',
    source: `await { then(resolve, reject) { resolve('first'); resolve('second'); reject(new Error('third')); throw 4; } }`,
    value: 'first',
  },
  {
    title: 'a promise class that a script replaced does not take part in awaits',
    source: `const loot = []; const { then } = Promise.prototype;
      Promise.prototype.then = function (a, b) { loot.push(typeof a); return then.call(this, a, b); };
      globalThis.Promise = class { constructor(run) { loot.push('made'); run(loot.push, loot.push); } };
      const got = await host.call(1); Reflect.deleteProperty(Object.prototype, 'then'); [got, loot.includes('made')]`,
    value: [[1], false],
  },
  {
    title: 'an error with the code and details of a host error is none',
    source: `const real = (() => { try { host.call('fail'); } catch (error) { return error; } })();
      throw Object.setPrototypeOf(Object.assign(Object.create(real), { code: 'SESSION_ENDED', message: 'forged',
        details: { scopeLost: true } }), Object.getPrototypeOf(real))`,
    codes: ['SCRIPT_ERROR'],
    says: /forged/,
  },
  {
    title: 'a host error that a script changed leaves as the host made it',
    source: `try { host.call('fail'); } catch (error) {
      Object.assign(error, { code: 'SESSION_ENDED', message: 'forged', name: 'Forged' }); throw error; }`,
    codes: ['LOCATOR_NOT_FOUND'],
    says: /^not there$/,
  },
  {
    title: 'freezing every built-in stops no host call',
    source: `for (const name of Object.getOwnPropertyNames(globalThis)) try {
        const one = globalThis[name]; Object.freeze(one); Object.freeze(one.prototype); } catch {}
      try { Object.freeze(globalThis); } catch {} try { Object.preventExtensions(globalThis); } catch {}
      [host.call(1), match({ a: 1 }, { a: '#number' })]`,
    value: [[1], true],
  },
  {
    title: 'built-ins that are declared again are those of the script alone',
    source: `var Object = null, Array = 1, String = () => 'forged', JSON = {}, Reflect = null, Map = null, Set = null,
        WeakMap = null, Proxy = null, Symbol = null, Function = null;
      function Error() { return 'forged'; } function Promise() { throw 'forged'; }
      [host.call({ a: 1 }, 'x'), match([1], ['#number']), await 5]`,
    value: [[{ a: 1 }, 'x'], true, 5],
  },
  {
    title: 'eval and Function know no import and no await of the host',
    source: `['import("os")', 'import("node:fs")', 'import.meta.url', 'require("fs")', 'process.exit()', 'new.target'].map((text) => {
        try { return typeof new Function('return ' + text)(); } catch (error) { return error.name; } })`,
    value: ['object', 'object', 'SyntaxError', 'ReferenceError', 'ReferenceError', 'undefined'],
  },
  {
    title: 'an import from a promise of eval loads nothing',
    source: `const loot = [];
      for (const name of ['os', 'std', 'node:fs', 'data:text/javascript,1', '/etc/passwd', './script.thread.js'])
        try { await (0, eval)('import(' + JSON.stringify(name) + ')'); loot.push(name); } catch {}
      loot`,
    value: [],
  },
  {
    title: 'shared memory is of no use: there is no Atomics to wait with, and none leaves',
    source: `const shared = new Int32Array(new SharedArrayBuffer(1024));
      const got = host.call(shared.subarray(0, 2), new SharedArrayBuffer(8));
      [typeof Atomics, typeof WebAssembly, typeof shared.constructor.Atomics, got]`,
    value: ['undefined', 'undefined', 'undefined', [{ 0: 0, 1: 0 }, {}]],
  },
  {
    title: 'weak references and finalizers run no code after their script',
    source: `globalThis.late = 0; const registry = new FinalizationRegistry(() => { late++; host.call('late'); });
      for (let i = 0; i < 1000; i++) registry.register({ i }, i);
      const ref = new WeakRef({}); typeof ref.deref`,
    value: 'function',
  },
  {
    title: 'a host call out of what a host call reads is one call after the other',
    source: `const order = [];
      const outer = host.call({ toJSON() { order.push(host.call('inner')[0]); return 'outer'; } }, 'second');
      [outer, order, host.call({ get deep() { return host.call({ toJSON: () => host.call('three')[0] })[0]; } })]`,
    value: [['outer', 'second'], ['inner'], [{ deep: 'three' }]],
  },
  {
    title: 'twenty nested flows run',
    source: `const nest = 'args.n === 1 ? 1 : 1 + host.flow("deep", args.nest, { n: args.n - 1, nest: args.nest })';
      host.flow('deep', nest, { n: 20, nest })`,
    value: 20,
  },
  {
    title: 'the twenty-first nested flow is refused',
    source: `const nest = 'args.n === 1 ? 1 : 1 + host.flow("deep", args.nest, { n: args.n - 1, nest: args.nest })';
      host.flow('deep', nest, { n: 21, nest })`,
    codes: ['SCRIPT_ERROR'],
    says: /20 levels deep/,
  },
  {
    title: 'flows that recurse by way of what they return and throw are refused at the same depth',
    source: `let most = 0; let depth = 0;
      globalThis.again = () => host.flow('again', 'globalThis.down()');
      globalThis.down = () => { depth++; most = Math.max(most, depth);
        try { host.call({ toJSON: again }); } catch (error) { if (error.code !== 'SCRIPT_ERROR') throw error; } finally { depth--; } };
      again(); most`,
    value: 20,
  },
];

/** Scripts that use up resources: time, memory, stack, jobs, the console. */
export const EXHAUSTIONS: readonly EscapeCase[] = [
  { title: 'join of an endless array', source: "new Array(2 ** 31).join('y')", codes: ['EVAL_TIMEOUT'] },
  { title: 'fill of an endless array', source: "Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 'y')" },
  {
    title: 'indexOf over an endless length',
    source: 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
    codes: ['EVAL_TIMEOUT'],
  },
  { title: 'repeat of repeats', source: "let s = 'y'; while (true) s = s.repeat(1000)", codes: ['SCRIPT_ERROR'] },
  { title: 'padding without end', source: "'x'.padEnd(2 ** 30, 'y').padStart(2 ** 30, 'z').toUpperCase()" },
  { title: 'split and replaceAll without end', source: "'a'.repeat(2e6).replaceAll('a', 'b'.repeat(1e4)).split('')" },
  { title: 'a comparator that never ends', source: '[3, 1, 2].sort(() => { for (;;) {} })', codes: ['EVAL_TIMEOUT'] },
  {
    title: 'a comparator that lies, over many items, again and again',
    source: 'for (;;) new Array(1e5).fill(1).map((_, i) => i).sort(() => Math.random() - 0.5)',
    codes: ['EVAL_TIMEOUT'],
  },
  { title: 'powers of BigInt', source: '(2n ** 1000000n) ** 1000n' },
  {
    title: 'products of BigInt',
    source: 'let n = 3n; for (;;) n *= n',
    codes: ['EVAL_TIMEOUT', 'SCRIPT_ERROR'],
  },
  { title: 'the text of a huge BigInt', source: '(7n ** 500000n).toString(7)' },
  { title: 'JSON.stringify of deep data', source: 'let o = {}; for (;;) { o = { o }; JSON.stringify(o); }' },
  {
    title: 'JSON.stringify with an endless indent of an endless list',
    source: "JSON.stringify(new Array(2 ** 31).fill(0), null, '          ')",
  },
  { title: 'JSON.parse with a reviver that never ends', source: 'JSON.parse("[1]", () => { for (;;) {} })' },
  {
    title: 'a toJSON that gives ever more of itself',
    source:
      'const bomb = { toJSON: () => ({ a: bomb2(), b: bomb2() }) }; const bomb2 = () => ({ toJSON: bomb.toJSON }); bomb',
  },
  {
    title: 'a toJSON that gives an endless list, to a host call',
    source: 'host.call({ toJSON: () => new Array(2 ** 31) })',
  },
  {
    title: 'a result that is small and shared and doubles at every level',
    source: 'let o = ["x"]; for (let i = 0; i < 60; i++) o = [o, o]; o',
  },
  { title: 'a result with a getter that never ends', source: '({ get x() { for (;;) {} } })', codes: ['EVAL_TIMEOUT'] },
  {
    title: 'a result that is a Proxy with members without end',
    source: 'new Proxy({}, { ownKeys: () => { for (;;) {} } })',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'a Proxy array of endless length',
    source: 'new Proxy([], { get: (_, key) => key === "length" ? 2 ** 53 - 1 : key === "toJSON" ? undefined : null })',
  },
  {
    title: 'a thrown object whose stack and message never come',
    source: 'throw { get message() { for (;;) {} }, get stack() { for (;;) {} } }',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'a thrown object with a stack of many million characters',
    source: 'throw { stack: "    at x (1:1:1)\\n".repeat(1e6), get message() { for (;;) {} } }',
    codes: ['EVAL_TIMEOUT', 'SCRIPT_ERROR'],
  },
  {
    title: 'a thrown Proxy that answers everything with itself',
    source: 'const p = new Proxy(function () {}, { get: () => p, has: () => true, apply: () => p }); throw p',
    codes: ['SCRIPT_ERROR'],
  },
  { title: 'a regular expression that backtracks', source: '/^(a+)+$/.test("a".repeat(60) + "!")' },
  { title: 'nested quantifiers with references', source: '/^((a*)*\\2)*b$/.exec("a".repeat(200))' },
  {
    title: 'a regular expression of a huge size',
    source: 'new RegExp("(?:" + "a?".repeat(2e5) + "){1000}").test("a".repeat(1e5))',
  },
  { title: 'a marker with a regular expression that backtracks', source: 'match("a".repeat(60), "#regex ^(a+)+b$")' },
  {
    title: 'a marker whose predicate never ends',
    source: 'match(1, "#? (() => { for (;;) {} })()")',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'match of values that go on for ever',
    source:
      'const deep = () => new Proxy({}, { get: deep, ownKeys: () => ["a", "b"], has: () => true, getOwnPropertyDescriptor: () => ({ value: deep(), enumerable: true, configurable: true }) }); match(deep(), deep())',
  },
  {
    title: 'recursion into host calls',
    source: 'const o = { toJSON: () => host.call(o) }; host.call(o)',
    codes: ['SCRIPT_ERROR', 'EVAL_TIMEOUT'],
  },
  {
    title: 'host calls without end, with what they throw caught',
    source: 'for (;;) try { host.call("fail") } catch {}',
    codes: ['EVAL_TIMEOUT'],
  },
  { title: 'huge arguments to a host call', source: 'host.call("x".repeat(1e7))', codes: ['SCRIPT_ERROR'] },
  {
    title: 'a host call that does not answer',
    source: 'for (;;) try { host.call("never") } catch {}',
    codes: ['EVAL_TIMEOUT'],
  },
  { title: 'flows without end in a row', source: 'for (;;) host.flow("f", "1")', codes: ['EVAL_TIMEOUT'] },
  {
    title: 'flows with ever new sources',
    source: 'for (let i = 0; ; i++) host.flow("f" + i, "1 + " + i + ";".repeat(1000))',
    codes: ['EVAL_TIMEOUT', 'SCRIPT_ERROR'],
  },
  {
    title: 'a flow that never ends, in a flow',
    source: `host.flow('a', 'host.flow("b", "for (;;) {}")')`,
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'flows that fail wherever the stack is used up',
    source: 'const down = () => { try { host.flow("f", "null.x") } catch {} down(); }; try { down() } catch {} 1',
  },
  {
    title: 'strings without end in memory',
    source: 'const all = []; for (let i = 0; ; i++) all.push("x".repeat(1e5) + i)',
    codes: ['SCRIPT_ERROR'],
  },
  { title: 'ropes without end', source: 'let s = "x"; for (;;) s += s', codes: ['SCRIPT_ERROR'] },
  {
    title: 'buffers without end',
    source: 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1))',
    codes: ['SCRIPT_ERROR'],
  },
  {
    title: 'memory without end, caught again and again',
    source: 'const all = []; for (;;) try { for (;;) all.push(new Array(1000).fill({})) } catch { all.length >>= 1 }',
  },
  {
    title: 'shared buffers that grow',
    source: 'const b = new SharedArrayBuffer(8, { maxByteLength: 2 ** 30 }); for (;;) b.grow(b.byteLength * 2)',
  },
  {
    title: 'Atomics.wait on memory of its own',
    source: 'Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)',
    codes: ['SCRIPT_ERROR'],
  },
  {
    title: 'WebAssembly that would loop',
    source: 'new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))',
    codes: ['SCRIPT_ERROR'],
  },
  {
    title: 'symbols and names without end',
    source: 'for (let i = 0; ; i++) globalThis[Symbol.for("s" + i)] = globalThis["n" + i] = i',
  },
  {
    title: 'functions without end',
    source: 'for (let i = 0; ; i++) globalThis["f" + i] = new Function("return " + i)',
  },
  {
    title: 'eval in eval in eval',
    source: 'let code = "1"; for (;;) { code = "eval(" + JSON.stringify(code) + ")"; eval(code); }',
  },
  { title: 'a generator without end', source: '[...(function* () { for (;;) yield 1; })()]' },
  {
    title: 'a generator that will not be closed',
    source:
      'function* stay() { try { for (;;) yield 1; } finally { for (;;) yield 2; } }\nfor (const x of stay()) break;\nArray.from({ [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) })',
  },
  {
    title: 'an async generator without end',
    source: 'for await (const x of (async function* () { for (;;) yield 1; })());',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'a storm of promises',
    source: 'const storm = () => { Promise.resolve().then(storm); Promise.resolve().then(storm); }; storm()',
  },
  {
    title: 'a thenable that resolves to a new one for ever',
    source: 'const next = () => ({ then(resolve) { resolve(next()); } }); await next()',
    codes: ['EVAL_TIMEOUT'],
  },
  { title: 'a promise that is never settled', source: 'await new Promise(() => {})', codes: ['SCRIPT_ERROR'] },
  {
    title: 'async functions that call one another for ever',
    source: 'const a = async () => { await b(); }; const b = async () => { await null; await a(); }; await a()',
    codes: ['EVAL_TIMEOUT', 'SCRIPT_ERROR'],
  },
  {
    title: 'rejections that nobody handles',
    source: 'for (let i = 0; i < 1e4; i++) Promise.reject(new Error("x" + i)); 1',
    value: 1,
  },
  { title: 'a flood of console lines', source: 'for (;;) console.log("x".repeat(1000))', codes: ['EVAL_TIMEOUT'] },
  {
    title: 'a console line of what never ends',
    source: 'console.log({ toJSON() { for (;;) {} } }, { get message() { for (;;) {} } })',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'a huge console line',
    source: 'console.log("x".repeat(1e6), ["y".repeat(1e6)]); 1',
    value: 1,
  },
  {
    title: 'finally blocks that start again',
    source: 'for (;;) try { for (;;) null.x } catch { continue } finally { continue }',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'recursion by way of getters and Proxies',
    source: 'const p = new Proxy({}, { get: (t, k, self) => self[k] }); p.x',
    codes: ['SCRIPT_ERROR'],
  },
  {
    title: 'a prototype that is a Proxy of what inherits from it',
    source: 'const o = {}; o.__proto__ = new Proxy(o, {}); o.nothing',
  },
  {
    title: 'bound functions of bound functions',
    source: 'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null, 1); f()',
  },
  {
    title: 'a source that is nested deeply',
    source: `${'('.repeat(20_000)}1${')'.repeat(20_000)}`,
    codes: ['SCRIPT_ERROR'],
  },
  { title: 'a source that is one long sum', source: `0${'+1'.repeat(100_000)}` },
  { title: 'a source over the limit', source: `'${'x'.repeat(1024 * 1024)}'`, codes: ['SCRIPT_ERROR'] },
  {
    title: 'an object of a hundred thousand members as the result',
    source: 'const o = {}; for (let i = 0; i < 1e6; i++) o["k" + i] = "v".repeat(20); o',
  },
  {
    title: 'dates, numbers and texts in endless loops',
    source: 'for (;;) new Date(NaN).toString() + (1.1).toFixed(100) + encodeURIComponent("\\u2028".repeat(1e4))',
    codes: ['EVAL_TIMEOUT'],
  },
  {
    title: 'normalising and comparing huge texts',
    source: 'for (;;) "\\u0344".repeat(1e5).normalize("NFKD").localeCompare("x".repeat(1e5))',
    codes: ['EVAL_TIMEOUT'],
  },
  { title: 'flat of what contains itself', source: 'const a = []; a.push(a, a); a.flat(Infinity)' },
  {
    title: 'sets and maps that grow while they are walked',
    source: 'const s = new Set([0]); for (const x of s) s.add(x + 1)',
  },
  {
    title: 'weak maps whose keys hold one another',
    source: 'const w = new WeakMap(); let k = {}; for (;;) { const n = {}; w.set(n, k); k = n; }',
  },
];
