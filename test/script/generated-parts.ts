import { type Choices, closure, expression, leaf, type Scope } from './generated-code.js';

/** Statements about one part of the language each; \`e\` is an expression, and each logs what it did. */
type Part = (c: Choices, scope: Scope) => string;

const e = expression;

/**
 * An iterable that logs when it is closed. No pattern leaves out an element: the engine reads its value nevertheless. No
 * `next()` throws: the engine's spread closes the iterable nevertheless.
 */
function closable(c: Choices, scope: Scope): string {
  const ends = c.pick([
    'return {};',
    'return {};',
    'return 5;',
    "throw new RangeError('r');",
    'collect(); return { done: true };',
  ]);
  const limit = 1 + c.below(5);
  return `({ [Symbol.iterator]() { let n = 0; const held = ${closure(c, scope, names(scope))}; return {
    next() { ${c.maybe(0.2, () => 'collect();')} n += 1; return { get done() { say('done', n); return n > ${limit}; }, get value() { return [n, held()]; } }; },
    return(v) { say('closed', n, attempt(held)); ${ends} },
  }; } })`;
}

function names(scope: Scope): readonly string[] {
  return scope.names.length > 0 ? scope.names : ['num'];
}

const destructuring: Part = (c, scope) => {
  const [a, b] = [c.name('d'), c.name('d')];
  const source = closable(c, scope);
  const pattern = c.pick([
    `[${a}, ${b}]`,
    `[${a}, ...${b}]`,
    `[${a} = ${e(c, scope)}, [${b}] = [1]]`,
    `[{ length: ${a}, 0: ${b} = ${leaf(c, scope)} }]`,
    `[${a} = collect(), { x: { y: ${b} = 2 } }]`,
    `[[${a}, ${b} = (() => { throw new EvalError('d'); })()]]`,
  ]);
  return `try { let ${a}, ${b}; (${pattern} = ${source}); keep(() => [${a}, ${b}]); say('des', ${a}, ${b}); } catch (error) { say('des', nameOf(error)); }`;
};

const spreading: Part = (c, scope) =>
  `say('spread', attempt(() => [...${closable(c, scope)}, ...'é𝒳x', ...new Map([[1, 2]])].length), attempt((...a) => Math.max(...a), ...[${c.below(9)}, ${c.below(9)}]));`;

const json: Part = (c, scope) => {
  const size = c.pick([3, 8, 30]);
  const made = c.name('j');
  return `{ const ${made} = Array.from({ length: ${size} }, (_, i) => ({ id: i, text: 'x'.repeat(i % 17) + '\\u00e9\\n"', deep: { list: [i, null, [i / 8]], ok: i % 2 === 0 }, toJSON(key) { ${c.maybe(0.3, () => `if (i === ${c.below(size)}) collect();`)} return i % 7 === 3 ? [key, i] : { ...this, toJSON: undefined }; } }));
    let calls = 0;
    const text = JSON.stringify(${made}, ${c.pick(['null', "['id', 'deep', 'list']", `(key, value) => { calls += 1; return typeof value === 'number' && value % 5 === 1 ? { value: 'n' + value } : key === 'ok' ? undefined : value; }`])}, ${c.below(3)});
    const seen = [];
    const back = JSON.parse(text, ${c.pick(['undefined', `function (key, value) { if (seen.length < 30) seen.push(this); ${c.maybe(0.3, () => 'if (calls++ % 50 === 0) collect();')} return key === 'text' ? undefined : typeof value === 'number' ? value + 1 : value; }`])});
    keep(() => [back[0], seen.length, seen[1]]);
    say('json', digest(text), digest(JSON.stringify(back)), calls, attempt(() => JSON.parse(text.slice(0, ${c.below(40)}))), attempt(() => { const z = {}; z.z = [z]; return JSON.stringify(z); }));
    say(JSON.stringify({ a: [undefined, () => 1, NaN, -0, new Date(NaN)], b: ${e(c, { ...scope, kind: 'plain' })} !== 1, u: '\\ud800' }));
  }`;
};

const bytes: Part = (c, scope) => {
  const type = c.pick(['Uint8Array', 'Int16Array', 'Float64Array', 'Uint8ClampedArray', 'Float32Array', 'Int32Array']);
  const [most, now, then] = [64 + 8 * c.below(20), 8 * c.below(8), 8 * c.below(24)];
  return `{ const buffer = new ArrayBuffer(${now}, { maxByteLength: ${most} }); const all = new ${type}(buffer); const view = new DataView(buffer);
    const part = attempt(() => new ${type}(buffer, 8, 1));
    const fill = () => { for (let i = 0; i < all.length; i++) all[i] = num(${leaf(c, scope)}) * i - 3; };
    fill(); keep(() => [...all.slice(0, 5)].concat(part.length, buffer.byteLength));
    say('bytes', attempt(() => buffer.resize(${then})), all.length, part.length, attempt(() => part[0]), attempt(() => view.getInt16(${c.below(64)}, true)));
    fill(); collect();
    say(attempt(() => all.map((v, i) => { if (i === 2) buffer.resize(${8 * c.below(8)}); return v + 1; })), attempt(() => all.subarray(1, 4)), attempt(() => all.fill(7, 2)), attempt(() => [...all.entries()].length), attempt(() => Array.from(all.toSorted((a, b) => b - a).slice(0, 4))));
    say(attempt(() => new BigInt64Array([${c.below(99)}n, -1n]).at(-1)), attempt(() => all.set([1, 2, 3], ${c.below(6)})), all.indexOf(7), attempt(() => buffer.slice(3).byteLength), attempt(() => view.setFloat32(${c.below(12)}, 1.5)), digest(String(attempt(() => all.join()))));
  }`;
};

const numbers: Part = (c) => {
  const [a, b] = [c.below(1e9), 1 + c.below(1e6)];
  return `say('big', ${a}n ** ${c.below(12)}n % ${b}n, BigInt.asIntN(${1 + c.below(64)}, ${a}n * -${b}n), (${a}n << ${c.below(90)}n).toString(${2 + c.below(35)}), -${a}n / ${b}n, ${a}n > ${b}.5, attempt(() => 1n + 1), ${a} % -${b}, (${a} / ${b}).toFixed(${c.below(9)}), (${a} / ${b}).toPrecision(${1 + c.below(16)}), (${b}).toString(${2 + c.below(35)}), ${a} >>> ${c.below(40)}, parseFloat('${a}e-${c.below(30)}'), Math.fround(${a} / ${b}), Math.imul(${a}, ${b}), Number('0x${a.toString(16)}'));`;
};

const symbols: Part = (c, scope) => `{ const key = Symbol(${c.pick(["'own'", '', "'a'.repeat(9)"])});
  const o = { [key]: ${e(c, scope)}, [Symbol.toPrimitive](hint) { say('hint', hint); return ${c.pick(['5', "'p'", '{}', '3n'])}; }, get [Symbol.toStringTag]() { collect(); return 'Tag'; }, 2: 'b', b: 1, 1: 'a' };
  say('symbol', o[key], attempt(() => +o), attempt(() => \`\${o}\`), attempt(() => o + 1), Object.prototype.toString.call(o), Reflect.ownKeys(o).length, Object.keys(o), Symbol.for('x') === Symbol.for('x'), Symbol.keyFor(Symbol.for('y')), attempt(() => key + ''));
  keep(() => o[key]); }`;

const PATTERNS = [
  ['(a+)(b)?', 'g'],
  ['(?<year>\\d{2})-(?<day>\\d+)', 'gu'],
  ['(?<=x)(.)\\1*(?!y)', 'gs'],
  ['(?:(a)|(b)|c)*', 'g'],
  ['\\b\\w+?(?=\\s|$)', 'gi'],
  ['[^\\p{L}]+', 'gu'],
  ['(x+x+)+y', ''],
  ['^(.*?),(?<rest>.*)$', 'm'],
  ['(?<![ab])c', 'y'],
] as const;

const regexps: Part = (c, scope) => {
  const [pattern, flags] = c.pick(PATTERNS);
  const text = Array.from({ length: 4 + c.below(24) }, () =>
    c.pick(['a', 'b', 'aab', 'x', 'y', ' ', '12-34', ',', 'c', '\\n', 'É']),
  ).join('');
  return `{ const r = new RegExp(${JSON.stringify(pattern)}, '${flags}'); const s = '${text}';
    const used = [];
    say('re', r.exec(s), r.lastIndex, s.search(r), s.split(r, 7), s.replace(r, (...m) => { ${c.maybe(0.4, () => 'collect();')} used.push(m); keep(() => m); return '<' + m.length + show(${leaf(c, { ...scope, kind: 'plain' })}) + '>'; }), used.length);
    say(attempt(() => s.replaceAll(r, "[$&$1$'$$]")), attempt(() => { const it = s.matchAll(r); its.push(it); it.next(); return it.next().value?.groups?.year; }), r.flags);
    r[Symbol.replace] = undefined; r.cycle = [r, used]; r.lastIndex = { valueOf() { collect(); return 1; } };
    say(attempt(() => r.test(s)), digest(s.toUpperCase().normalize('NFD')));
  }`;
};

const tagged: Part = (
  c,
  scope,
) => `{ const seen = []; const tag = (strings, ...values) => { seen.push(strings); keep(() => [strings.raw, values]); return [strings, values]; };
  const once = (v) => tag\`a\${v}\\n\${${e(c, { ...scope, kind: 'plain' })}}\\u{41}\`;
  say('tag', once(1), once(2)[0] === seen[0], seen.length, tag\`\\unicode\`[0], Object.isFrozen(seen[0]), String.raw\`\\x\${${c.below(9)}}\\\`\`); }`;

const classes: Part = (c, scope) => {
  const [A, B] = [c.name('A'), c.name('B')];
  const at = { ...scope, kind: 'plain' } as const;
  return `{ let made = 0;
  class ${A} { #p = [${leaf(c, at)}, made++]; static #count = 0; static { ${A}.#count = num(${leaf(c, at)}); keep(() => ${A}.#count); ${c.maybe(0.3, () => 'collect();')} }
    own = () => this.#p; ['k' + num(${leaf(c, at)})] = this;
    get p() { return this.#p; } set p(v) { this.#p = [v, this.#q()]; } #q() { return ${A}.#count++; } static is(o) { return #p in o; }
    *[Symbol.iterator]() { yield this.#p; try { yield* [this.own, this.p]; } finally { say('class', this.#q()); } }
    static read(o) { return o.#p; } async wait() { await null; return this.#p; } }
  class ${B} extends ${c.pick([A, `(() => { collect(); return ${A}; })()`])} { #p = 'sub'; constructor(...a) { const early = () => this; say('this', attempt(early)); super(...a); keep(early); keep(() => super.p); } get p() { return [super.p, this.#p]; } set p(v) { super.p = v; } }
  const o = new ${B}(${leaf(c, at)}); o.p = ${leaf(c, at)}; keep(o.own); its.push(o[Symbol.iterator]()); later(o.wait());
  say('class', o.p, ${A}.is(o), ${A}.is({}), attempt(() => ${A}.read({})), attempt(() => ${A}()), [...o].length, attempt(() => new (class extends null {})()), attempt(() => { const [x] = o; return x; }));
  o.self = ${c.pick(['o', `[${A}, o]`, `new Map([[o, ${B}]])`])}; }`;
};

/**
 * The order that an inconsistent comparator makes is not defined: the values are all there, that is all. None shortens the
 * array: what the engine has then is not what the language says.
 */
const sorting: Part = (
  c,
  scope,
) => `{ let n = 0; const list = Array.from({ length: ${c.pick([2, 9, 40])} }, (_, i) => ({ key: (i * ${7 + c.below(90)}) % ${3 + c.below(60)}, i }));
  const keys = (l) => digest(l.map((one) => one.key + '/' + one.i).join());
  const ordered = [...list].sort((a, b) => ${c.pick(['a.key - b.key', 'String(a.key - b.key)', '{ valueOf: () => b.key - a.key }', 'a.key < b.key ? -1 : a.key > b.key', 'undefined', 'NaN'])});
  say('sort', keys(ordered));
  const odd = [...list].sort((a, b) => { if (++n === 5) collect(); if (n % 9 === 0) churn(3); return ${c.pick(['n % 3 - 1', '1', '-1', '(n * 7) % 5 - 2', 'a.i % 2 ? 1 : -1'])}; });
  say(keys(odd.sort((a, b) => a.i - b.i)));
  say(attempt(() => [3, 1, 2].sort(() => { throw new ${c.pick(['RangeError', 'URIError'])}('s'); })), attempt(() => [1, 2].sort(() => 1n)), [5, undefined, , 1, 10].sort(), attempt(() => list.sort((a, b) => { list.odd = [a, list]; return a.key - b.key; }).length));
  keep(() => [ordered[1], ${leaf(c, { ...scope, kind: 'plain' })}]); }`;

const strings: Part = (c) => {
  const piece = c.pick(['ab', 'é', '𝒳', 'x'.repeat(60)]);
  return `{ let s = ''; const parts = []; for (let i = 0; i < ${10 + c.below(60)}; i++) { s = i % 3 ? s + '${piece}' + i : i + s; if (i % 50 === 7) { parts.push(s.slice(i, -i)); collect(); } }
  keep(() => digest(s)); s += s; say('text', digest(s), parts.map(digest), s.indexOf('7${piece.slice(0, 2)}'), s.at(-3) === undefined, s.codePointAt(${c.below(20)}), digest(s.padStart(s.length + 5, 'pq')), digest([...s].reverse().join('')), s.split('${piece}').length, digest(s.replaceAll('1', '$&-')), s.localeCompare === undefined, digest(encodeURIComponent(s)), s < parts[0] + s); }`;
};

/** Node calls no callback of the registry here: the engine's log nothing, unless what they get is damaged. */
const weak: Part = (c, scope) => {
  const at = { ...scope, kind: 'plain' } as const;
  return `{ const registry = new FinalizationRegistry((held) => { if (held.mark !== 'held' || held.f()[0] !== held.i) say('damaged'); });
  const map = new WeakMap(), set = new WeakSet(), refs = [], strong = [];
  for (let i = 0; i < ${5 + c.below(20)}; i++) { let key = { i }; const value = { key, x: ${leaf(c, at)}, f: () => [i, value] }; key.value = ${c.pick(['value', 'null', 'map'])}; map.set(key, value); set.add(value); refs.push(new WeakRef(key));
    registry.register(key, { mark: 'held', i, f: () => [i, ${c.pick(names(scope))}], r: ${c.pick(['registry', 'null', 'map'])} }, ${c.pick(['value', 'key', 'undefined'])});
    if (i % ${2 + c.below(4)} === 0) strong.push(key); if (i % 9 === 4) collect(); }
  collect();
  for (const key of strong.slice(0, 6)) say('weak', map.get(key).key === key, set.has(map.get(key)), map.get(key).f()[0], map.delete(key) && key.i % 2);
  for (const ref of refs) { const o = ref.deref(); if (o !== undefined && typeof o.i !== 'number') say('damaged'); }
  say(refs[0].deref() === strong[0], attempt(() => map.set(1, 1)), attempt(() => new WeakRef(null)), attempt(() => registry.register(registry, registry)), registry.unregister({}));
  keep(() => strong.length); }`;
};

const proxies: Part = (c, scope) => {
  const at = { ...scope, kind: 'plain' } as const;
  const fails = c.pick(['get', 'has', 'ownKeys', 'deleteProperty', 'set', 'getPrototypeOf']);
  return `{ const { proxy, revoke } = Proxy.revocable(${c.pick(['{ a: 1 }', '[1, 2, 3]', '() => {}', 'new Map()'])}, { ${fails}() { ${c.maybe(0.4, () => 'collect();')} ${c.pick(["throw new URIError('p');", 'return undefined;', 'revoke(); return true;', 'return Reflect.ownKeys({ z: 1, y: 2 });'])} },
    getOwnPropertyDescriptor(t, k) { say('desc', k); return Reflect.getOwnPropertyDescriptor(t, k); }, defineProperty(t, k, d) { say('define', k); return Reflect.defineProperty(t, k, d); } });
  const deep = new Proxy(new Proxy(proxy, {}), { get(t, k, r) { return k === 'then' ? undefined : [Reflect.get(t, k), r === deep]; } });
  keep(() => deep.a); keep(() => Object.keys(deep));
  say('proxy', attempt(() => proxy.a), attempt(() => 'a' in proxy), attempt(() => Object.keys(proxy)), attempt(() => delete proxy.a), attempt(() => { 'use strict'; proxy.b = ${leaf(c, at)}; return proxy.b; }), attempt(() => ({ ...proxy })), attempt(() => deep.c), attempt(() => proxy instanceof Array), attempt(() => Array.isArray(proxy)));
  ${c.maybe(0.5, () => 'revoke();')} say(attempt(() => proxy.a), attempt(() => typeof proxy), attempt(() => new proxy()), attempt(() => Object.assign(deep, { q: ${leaf(c, at)} }) === deep)); }`;
};

const accessors: Part = (c, scope) => {
  const at = { ...scope, kind: 'plain' } as const;
  return `{ const o = { n: 0, get up() { ${c.maybe(0.3, () => 'collect();')} return this.n++; }, set up(v) { this.n = num(v); if (this.n === ${c.below(9)}) throw new RangeError('set'); } };
  const sub = Object.create(o, { only: { get: ${closure(c, at, ['o', ...names(scope)])}, configurable: true } });
  Object.defineProperty(sub, 'once', { get() { Object.defineProperty(this, 'once', { value: ${leaf(c, at)} }); delete this.only; return 'first'; }, configurable: true, enumerable: true });
  say('accessor', o.up, sub.up, sub.n, o.n, attempt(() => { sub.up = ${c.below(9)}; return sub.n; }), attempt(() => sub.only), sub.once, sub.once, sub.only, { ...sub }, (sub.up += 2, sub.up ||= 5, sub.up ??= 1));
  keep(() => [o.up, sub.up]); }`;
};

const promises: Part = (c, scope) => {
  const at = { ...scope, kind: 'plain' } as const;
  const one = (): string =>
    c.pick([
      () => e(c, at),
      () => `Promise.reject(new TypeError('p'))`,
      () => 'new Promise((resolve) => wakers.push(resolve))',
      () =>
        `({ then(resolve, reject) { say('then'); ${c.pick(['resolve(1); reject(2);', 'reject(3);', "throw new EvalError('t');", 'collect(); resolve({ then: (f) => f(4) });'])} } })`,
      () => `rest(${c.below(6)}).then(() => ${leaf(c, at)})`,
      () =>
        `(async () => { try { await null; return ${leaf(c, at)}; } finally { say('async end'); ${c.maybe(0.3, () => 'collect();')} } })()`,
      () => 'never',
    ])();
  const how = c.pick(['all', 'allSettled', 'race', 'any']);
  return `{ const all = attempt(() => Promise.${how}([${one()}, ${one()}, ${one()}])); if (all instanceof Promise) later(all).then(keep, () => say('no')).finally(() => { ${c.maybe(0.4, () => 'collect();')} say('finally ${how}'); });
  class Sub extends Promise { constructor(f) { super(f); this.me = ${c.pick(['this', '[f, this]', 'f'])}; } } later(Sub.resolve(${one()}).then((v) => v)); say(attempt(() => Promise.call(1)), attempt(() => new Promise(5))); }`;
};

const maps: Part = (c, scope) => `{ const m = new Map(), s = new Set([1, 2, 3]); let turns = 0;
  for (let i = 0; i < ${c.pick([5, 30])}; i++) m.set(i % 3 ? i : { i, m }, i);
  for (const [key, value] of m) { if (++turns > 60) break; if (value % 4 === 0) m.delete(key); if (value === ${c.below(30)}) m.set('new' + value, [m]); if (value % 17 === 3) collect(); }
  s.forEach((v) => { s.delete(v); if (v < 9) s.add(v + 3); });
  const it = m.entries(); it.next(); its.push(it); const values = s.values(); values.next(); s.clear(); s.add(${e(c, { ...scope, kind: 'plain' })});
  say('map', m.size, turns, s.size, values.next(), m.get(NaN), m.set(-0, 1).has(0)); m.set(m, it); keep(() => it.next().done); }`;

const arrays: Part = (c, scope) => {
  const at = { ...scope, kind: 'plain' } as const;
  return `{ const list = [1, , ${e(c, at)}, 'x', ${leaf(c, at)}]; list.self = list; list[${5 + c.below(40)}] = list;
  const kept2 = list.map((v, i) => { if (i === 2) { list.length = ${3 + c.below(4)}; collect(); } return () => [v, i]; }); keep(kept2[0]);
  say('array', kept2.length, list.splice(${c.below(5)}, ${c.below(4)}, 7, 8), list, list.flat(1).length, list.findLast((v) => typeof v === 'number'), list.copyWithin(0, 2), attempt(() => list.reduceRight((a, v) => [num(a), num(v)])), list.with(1, 2).length, list.toSpliced(1, 1).length, attempt(() => list.concat({ length: 2, 0: 'c', [Symbol.isConcatSpreadable]: true })), Array.from({ length: 3, 1: 5 }, (v) => v), attempt(() => { const f = Object.freeze([1]); 'use strict'; return f.push(2); })); }`;
};

export const PARTS: readonly Part[] = [
  destructuring,
  destructuring,
  spreading,
  json,
  bytes,
  numbers,
  symbols,
  regexps,
  tagged,
  classes,
  classes,
  sorting,
  strings,
  weak,
  weak,
  proxies,
  accessors,
  promises,
  promises,
  maps,
  arrays,
];
