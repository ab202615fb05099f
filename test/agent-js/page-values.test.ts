import { createServer, type ServerResponse } from 'node:http';
import t from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, look, failure } = await openAgent(t, lease, { actMs: 3_000 });

const deep = (levels: number) => `(() => { let a = 1; for (let n = 0; n < ${levels}; n++) a = [a]; return a; })()`;
const rect = { x: 1, y: 2, width: 3, height: 4, top: 2, right: 4, bottom: 6, left: 1 };
const point = { x: 1, y: 2, z: 3, w: 1 };
/** JavaScript, and what JSON makes of its value. */
const VALUES: { readonly [js: string]: unknown } = {
  undefined: null,
  null: null,
  true: true,
  '-0': 0,
  '1e21': 1e21,
  NaN: null,
  Infinity: null,
  '-Infinity': null,
  "''": '',
  "'a\\u2028\"\\\\\\n'": 'a\u2028"\\\n',
  "'\\ud800x\\udc00'": '\ud800x\udc00',
  "'x'.repeat(200000)": 'x'.repeat(200_000),
  '12345678901234567890n': '12345678901234567890',
  "Symbol('s')": null,
  '() => 1': null,
  'class A {}': null,
  '[undefined, () => 1, Symbol(), NaN, -0, 3n, null]': [null, null, null, null, 0, '3', null],
  '({ u: undefined, f() {}, s: Symbol(), [Symbol()]: 1, n: NaN, b: 3n, i: -Infinity })': { n: null, b: '3', i: null },
  '[, 1, , ]': [null, 1, null],
  'Object.assign([1], { x: 2 })': [1],
  "new String('x')": 'x',
  'new Number(3)': 3,
  'new Boolean(false)': false,
  'Object(4n)': '4',
  'Object(Symbol())': {},
  "({ s: new String('x'), n: new Number(NaN), b: [new Boolean(true)], i: Object(4n) })": {
    s: 'x',
    n: null,
    b: [true],
    i: '4',
  },
  'new Date(0)': '1970-01-01T00:00:00.000Z',
  'new Date(NaN)': null,
  '[{ date: new Date(0) }]': [{ date: '1970-01-01T00:00:00.000Z' }],
  'new (class extends Date {})(0)': '1970-01-01T00:00:00.000Z',
  "new (class extends Date { toJSON() { return 'own'; } })(0)": 'own',
  "[new URL('http://a.example/b?c')]": ['http://a.example/b?c'],
  'new DOMRect(1, 2, 3, 4)': rect,
  'new DOMRectReadOnly(1, 2, 3, 4)': rect,
  '({ at: new DOMPoint(1, 2, 3) })': { at: point },
  'new Map([[1, 2]])': {},
  'new Set([1])': {},
  'new WeakMap()': {},
  'new Uint8Array([1, 2])': { 0: 1, 1: 2 },
  'new BigInt64Array([1n])': { 0: '1' },
  'new ArrayBuffer(2)': {},
  '/x/g': {},
  "new Error('x')": {},
  "Object.assign(new Error('x'), { code: 'E' })": { code: 'E' },
  'Object.create({ inherited: 1 }, { hidden: { value: 1 }, shown: { value: 2, enumerable: true } })': { shown: 2 },
  '({ b: 1, 2: 2, a: 3, 1: 4 })': { 1: 4, 2: 2, b: 1, a: 3 },
  '({ get a() { return 1; } })': { a: 1 },
  "({ get a() { throw new Error('no'); }, b: 1 })": { a: '[Throws Error: no]', b: 1 },
  "({ get a() { throw new TypeError('no'); } })": { a: '[Throws TypeError: no]' },
  'new (class { a = 1; #b = 2; get c() { return 3; } })()': { a: 1 },
  '({ __proto__: null, a: 1 })': { a: 1 },
  "({ ['__proto__']: { a: 1 } })": JSON.parse('{ "__proto__": { "a": 1 } }'),
  '({ length: 1, constructor: 2, hasOwnProperty: 3 })': { length: 1, constructor: 2, hasOwnProperty: 3 },
  '({ nodeType: 1, nodeName: "X" })': { nodeType: 1, nodeName: 'X' },
  '({ then: 1 })': JSON.parse('{ "then": 1 }'),
  "({ toJSON() { return 'own'; } })": 'own',
  "new (class { toJSON() { return 'own'; } })()": 'own',
  "new (class extends class { toJSON() { return 'base'; } } {})()": 'base',
  "({ __proto__: null, toJSON() { return 'own'; } })": 'own',
  '[{ toJSON() { return { b: 1n, self: this.c }; }, c: NaN }]': [{ b: '1', self: null }],
  '({ k: { toJSON(key) { return key; } }, l: [{ toJSON(key) { return key; } }] })': { k: 'k', l: ['0'] },
  "({ a: { toJSON() { throw new Error('no'); } }, b: 1 })": { a: '[Throws Error: no]', b: 1 },
  '({ toJSON() {} })': null,
  '({ a: { toJSON() {} }, b: [{ toJSON() {} }] })': { b: [null] },
  '({ toJSON: 5 })': { toJSON: 5 },
  'new Proxy({ a: 1 }, { __proto__: null })': { a: 1 },
  'new Proxy([1], { __proto__: null })': [1],
  "new Proxy({}, { __proto__: null, ownKeys: () => ['a'], getOwnPropertyDescriptor: () => ({ __proto__: null, value: 1, enumerable: true, configurable: true }), get: (_, key) => key === 'a' ? 2 : undefined })":
    { a: 2 },
  'Promise.resolve({ a: 1n })': { a: '1' },
  'Promise.resolve()': null,
  '({ p: Promise.resolve(1) })': { p: {} },
  '({ then(done) { done(5); } })': 5,
  '(async () => [await 1])()': [1],
  '(() => { const a = { b: { d: 1 } }; a.b.c = a; return a; })()': { b: { d: 1, c: '[Circular]' } },
  '(() => { const a = [1]; a.push({ a }); return a; })()': [1, { a: '[Circular]' }],
  '(() => { const a = { b: [1] }; return { x: a, y: [a, a.b], z: a }; })()': {
    x: { b: [1] },
    y: [{ b: [1] }, [1]],
    z: { b: [1] },
  },
  [deep(450)]: JSON.parse('['.repeat(450) + 1 + ']'.repeat(450)),
  "document.createElement('div')": '<div>',
  document: '<#document>',
  "[document.createTextNode('x'), document.createElementNS('http://www.w3.org/2000/svg', 'linearGradient'), document.createDocumentFragment()]":
    ['<#text>', '<lineargradient>', '<#document-fragment>'],
  "(() => { const form = document.createElement('form'); form.innerHTML = '<input name=nodeName><input name=nodeType>'; return { form }; })()":
    { form: '<form>' },
  "(() => { const list = document.createElement('p'); list.innerHTML = '<b></b><i></i>'; return list.childNodes; })()":
    {
      0: '<b>',
      1: '<i>',
    },
  "(() => { const node = document.createElement('p'); node.dataset.aB = 'c'; return node.dataset; })()": { aB: 'c' },
  "(() => { const node = document.createElement('p'); node.className = 'a b'; return node.classList; })()": {
    0: 'a',
    1: 'b',
  },
  window: '[window]',
  '({ w: [window, self] })': { w: ['[window]', '[window]'] },
};

/** Objects of the platform that say themselves what JSON has for them. */
const PLATFORM =
  "[performance.mark('m'), location, new DOMMatrix(), new DOMQuad(), new URL('http://a.example/'), new Date(0)]";

/** A page whose first script makes all values, and whose second one does this. */
const valuesPage = (replace: string, more = '') =>
  `<!doctype html><title>before</title><script>const values = [${Object.keys(VALUES)
    .map((js) => `(${js})`)
    .join(',\n')}];
  const platform = ${PLATFORM};
  const written = JSON.stringify(platform);</script><script>${replace}</script>${more}<script>document.title = 'ready'</script>`;

/** The first expressions whose values are not what they should be; the order of members counts, too. */
async function wrong(of: (js: string, nth: number) => string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [nth, [js, value]] of Object.entries(VALUES).entries()) {
    if (found.length > 7) break;
    const got = JSON.stringify(await call('page', of(js, nth)).catch(String));
    if (got !== JSON.stringify(value)) found.push(`${js.slice(0, 100)} is ${got.slice(0, 200)}`);
  }
  return found;
}

t.test('the value of each expression is what JSON has for it', async (t) => {
  await call('go', site.set('/', '<!doctype html><p>Values'));
  t.same(await wrong((js) => (js.startsWith('class') ? `(${js})` : js)), []);
});

const everyToJson = (toJson: string) =>
  `for (const name of Object.getOwnPropertyNames(window)) {
    const { prototype } = window[name] ?? {};
    if (prototype && name !== 'Proxy') Object.defineProperty(prototype, 'toJSON', { configurable: true, ...${toJson} });
  }`;
const throws = "() => { throw new Error('The page has replaced it'); }";

/** What a page does to the objects that make JSON of values, or have it made. */
const REPLACED: { readonly [what: string]: string } = {
  nothing: '',
  'JSON, by an object': "window.JSON = { stringify: () => '\"x\"', parse: () => 'x' };",
  'JSON, by a class': 'class JSON {}',
  'JSON, which it deletes': 'delete window.JSON;',
  'methods of JSON': `JSON.stringify = JSON.parse = ${throws};`,
  'eval, by null': 'window.eval = null;',
  'eval, by a function that does nothing': 'window.eval = () => {};',
  'eval, by a declaration': 'let eval = 5;',
  'Promise, by a class': 'class Promise {}',
  'Promise, which it deletes': 'delete window.Promise;',
  'the methods of promises': `for (const name of ['then', 'catch', 'finally']) Promise.prototype[name] = ${throws};`,
  'toJSON of Prototype.js, which answers texts': `for (const type of [Array, String, Number, Date])
    type.prototype.toJSON = function () { return 'wrong ' + this; };
    Object.toJSON = () => 'wrong';`,
  'every toJSON, by functions': everyToJson("{ value: () => 'wrong', writable: true }"),
  'every toJSON, by functions that throw': everyToJson(`{ value: ${throws}, writable: true }`),
  'every toJSON, by getters that throw': everyToJson(`{ get: ${throws} }`),
  'every toJSON, by undefined': everyToJson('{ value: undefined, writable: true }'),
  'every toJSON, which it deletes':
    'for (const name of Object.getOwnPropertyNames(window)) if (window[name]?.prototype) delete window[name].prototype.toJSON;',
  'toISOString and the valueOf of dates': `for (const name of ['toISOString', 'valueOf', 'getTime', 'toString'])
    Date.prototype[name] = ${throws}; Object.defineProperty(Date.prototype, Symbol.toPrimitive, { value: ${throws} });`,
  'toString and valueOf of boxed values': `for (const type of [String, Number, Boolean, BigInt, Symbol, Object])
    type.prototype.toString = type.prototype.valueOf = ${throws};`,
  'what says what an object is': `for (const type of [Object, Array, Date, String, Number, Boolean, Node, Element, Window, Error])
    Object.defineProperty(type, Symbol.hasInstance, { value: () => true });
    Object.defineProperty(Object.prototype, Symbol.toStringTag, { value: 'Window' });`,
  'Node and Element': 'window.Node = {}; window.Element = null; class Document {}',
  'Array.from, as MooTools has it': 'Array.from = (item) => [item];',
  'how arrays are walked': `Array.prototype[Symbol.iterator] = ${throws}; [].values().__proto__.next = ${throws};`,
  'push and includes of arrays': `Array.prototype.push = Array.prototype.includes = Array.prototype.pop = ${throws};`,
  'setters for the members of arrays': `for (const key of [0, 1, 2])
    Object.defineProperty(Array.prototype, key, { set: ${throws}, configurable: true });`,
  'what every object inherits':
    "for (const key of ['get', 'set', 'value', 'writable', 'enumerable', 'nodeType', 'nodeName', 'toJSON']) Object.prototype[key] = 5;",
  'nothing, but freezes all of it':
    'for (const type of [Object, Array, String, Date, Promise, Function, Map, Set, Error]) Object.freeze(type.prototype); Object.freeze(JSON);',
};
for (const [what, replace] of Object.entries(REPLACED)) {
  t.test(`values are what they are where a page has replaced ${what}`, async (t) => {
    await call('go', site.set('/replaced', valuesPage(replace)));
    t.equal((await look()).title, 'ready');
    t.same(await wrong((_, nth) => `values[${nth}]`), []);
    t.same(await call('page', 'platform'), JSON.parse(String(await call('page', 'written'))));
  });
}

t.test('statements have the value of the last one, and leave nothing behind', async (t) => {
  await call('go', site.set('/statements', '<!doctype html><script>let own = 1; var shared = 2;</script>'));
  const names = 'Object.getOwnPropertyNames(window).join()';
  const before = await call('page', names);
  const STATEMENTS: { readonly [js: string]: unknown } = {
    'let a = 1; a + 1': 2,
    'const b = 2; class C {} b': 2,
    'if (own) { shared + 1; } else { 0; }': 3,
    'for (const n of [1, 2]) n;': 2,
    '"use strict"; let d = 4; d': 4,
    '// a comment\n5 // another': 5,
    '{ a: 1 }': 1,
    'let e = 1;': null,
    'this === window': true,
    'own = own + 1; own': [2, 3],
  };
  for (const [js, value] of Object.entries(STATEMENTS)) {
    for (const nth of [0, 1]) t.same(await call('page', js), Array.isArray(value) ? value[nth] : value, js);
  }
  t.equal(await call('page', names), before);
  t.equal(await call('page', 'typeof a + typeof b + typeof C + typeof e'), 'undefined'.repeat(4));
});

/** JavaScript that fails, and what is said of it. */
const FAILURES: { readonly [js: string]: RegExp } = {
  "throw new TypeError('no')": /^In the page: TypeError: no$/,
  "throw 'text'": /^In the page: .*text/,
  "Promise.reject(new Error('no'))": /^In the page: Error: no$/,
  "(async () => { throw new RangeError('no'); })()": /^In the page: RangeError: no$/,
  "Promise.reject('text')": /^In the page: .*text/,
  '1 +': /^In the page: SyntaxError: /,
  '}': /^In the page: SyntaxError: /,
  ') => 5, (5': /^In the page: SyntaxError: /,
  'nothing.here': /^In the page: ReferenceError: nothing is not defined$/,
  "'x'.repeat(9e6)": /longer? than|too long/,
  [deep(5_000)]: /^In the page: .*(?:500|deep|stack)/,
};
for (const replace of [
  '',
  'window.Error = window.RangeError = window.TypeError = null; window.JSON = {}; window.eval = null;',
]) {
  t.test(`what fails says why${replace && ', where a page has replaced errors'}`, async (t) => {
    await call('go', site.set('/failures', `<!doctype html><script>${replace}</script>`));
    for (const [js, error] of Object.entries(FAILURES)) {
      if (replace && /new \w*Error/.test(js)) continue;
      t.match(await failure('page', js), { code: 'SCRIPT_ERROR', error }, js.slice(0, 60));
    }
  });
}

/** Documents of other kinds: what their scripts may do, and who has made them, changes no value. */
const VALUE = "({ list: [1n, new Date(0), [new String('x')]], node: document, self: window })";
const IS = { list: ['1', '1970-01-01T00:00:00.000Z', ['x']], node: '<#document>', self: '[window]' };
const answers =
  (headers: { readonly [name: string]: string }, body: string, status = 200) =>
  (_: unknown, response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(body);
  };
const listens =
  "<p><span id=b>Go</span></p><script nonce=x>b.addEventListener('click', () => { b.textContent = 'Gone'; });</script>";
const broken = `window.JSON = { stringify: () => '1' }; window.eval = null; Array.prototype.toJSON = () => 1; window.Map = window.Event = null;`;
const inScript = (html: string) => JSON.stringify(html).replaceAll('</', '<\\/');
const writesAnew = (replace: string) => `<script>${replace}</script><script>addEventListener('load', () => {
  document.open(); document.write(${inScript(listens)}); document.close(); });</script>`;
const DOCUMENTS: {
  readonly [what: string]: { readonly page: string | ReturnType<typeof answers>; readonly listed?: readonly string[] };
} = {
  'a policy without eval': {
    page: answers({ 'content-security-policy': "script-src 'self' 'nonce-x'" }, listens),
    listed: ['{span}Go'],
  },
  'a policy that wants trusted types': {
    page: answers({ 'content-security-policy': "require-trusted-types-for 'script'; trusted-types 'none'" }, listens),
    listed: ['{span}Go'],
  },
  'a policy without scripts': {
    page: answers({ 'content-security-policy': "default-src 'none'" }, '<a href=#>Link</a>'),
    listed: ['{a}Link'],
  },
  'a sandbox with scripts': {
    page: answers({ 'content-security-policy': 'sandbox allow-scripts' }, listens),
    listed: ['{span}Go'],
  },
  'an SVG image': {
    page: answers(
      { 'content-type': 'image/svg+xml' },
      "<svg xmlns='http://www.w3.org/2000/svg'><script>var JSON = 1; var eval = 2;</script></svg>",
    ),
  },
  'an XML document': { page: answers({ 'content-type': 'text/xml' }, '<a><b/></a>') },
  'a text': { page: answers({ 'content-type': 'text/plain' }, 'text') },
  'an error': { page: answers({}, `<script>${broken}</script>${listens}`, 500), listed: ['{span}Go'] },
  'a page that has written itself anew': { page: writesAnew(''), listed: ['{span}Go'] },
  'a page that has replaced its globals and written itself anew': { page: writesAnew(broken), listed: ['{span}Go'] },
  'a page that stops its timers': {
    page: `<script>for (const name of ['setTimeout', 'queueMicrotask', 'requestAnimationFrame']) window[name] = () => {};</script>${listens}`,
    listed: ['{span}Go'],
  },
};
for (const [what, { page, listed }] of Object.entries(DOCUMENTS)) {
  t.test(`values and listeners are what they are in ${what}`, async (t) => {
    await call('go', site.set('/document', page));
    t.same(await call('page', VALUE), IS);
    t.equal(await call('page', 'let a = 1; a + 1'), 2);
    const { elements } = await look();
    if (listed !== undefined)
      t.same(
        elements.map(({ locator }) => locator),
        listed,
      );
  });
}

t.test('values are what they are in an empty page, and where no page answers', async (t) => {
  await call('go', 'about:blank');
  t.same(await call('page', VALUE), IS);
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const address = closed.address();
  await new Promise((resolve) => closed.close(resolve));
  t.match(await failure('go', `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`), {
    error: /cannot be reached/,
  });
  t.same(await call('page', VALUE), IS);
});

/** How a page opens a window that it writes itself; the window's objects may be replaced before its first script. */
const WRITES: { readonly [how: string]: string } = {
  'writes it': 'w.document.write(html); w.document.close();',
  'replaces its globals, then writes it': `w.eval(${JSON.stringify(broken)}); w.document.write(html); w.document.close();`,
  'writes it, then replaces its globals': `w.document.write(html); w.document.close(); w.eval(${JSON.stringify(broken)});`,
  'adds to it':
    'w.document.body.innerHTML = "<p><span id=b>Go</span></p>"; w.b.addEventListener("click", () => { w.b.textContent = "Gone"; });',
  'replaces its globals, then adds to it later': `w.eval(${JSON.stringify(broken)}); setTimeout(() => {
    w.document.body.innerHTML = "<p><span id=b>Go</span></p>"; w.b.addEventListener("click", () => { w.b.textContent = "Gone"; }); }, 50);`,
};
for (const [how, writes] of Object.entries(WRITES)) {
  t.test(`values and listeners are what they are in a window whose opener ${how}`, async (t) => {
    const opener = `<button>Open</button><script>document.querySelector('button').onclick = () => {
      const html = ${inScript(listens)}, w = (window.opened = window.open('')); ${writes} };</script>`;
    await call('go', site.set('/opener', opener));
    await call('act', '{button}Open', 'click');
    t.match(await call('tabs'), [{ active: false }, { active: true }]);
    t.teardown(async () => {
      await call('tab', 0);
      await call('page', 'opened.close(); 0');
    });
    t.same(await call('page', VALUE), IS);
    await call('wait', '{span}Go', { timeout: 5_000 }).catch(() => undefined);
    t.match(await look(), { elements: [{ locator: '{span}Go' }] });
    await call('act', '{span}Go', 'click').catch(() => undefined);
    t.equal(await call('text', 'body'), 'Gone');
  });
}

t.test('a page sees nothing of who looks at it', async (t) => {
  const page = `<!doctype html><p id=b>Go</p><div id=host></div><script>
    const keys = () => [window, document, Document.prototype, Element.prototype, EventTarget.prototype, JSON, Object.prototype,
      Array.prototype, Event.prototype, document.documentElement, b].map((of) => Reflect.ownKeys(of).map(String).join());
    const seen = [], before = keys(), { apply, construct } = Reflect;
    b.addEventListener('click', () => {});
    host.attachShadow({ mode: 'closed' });
    new MutationObserver((records) => seen.push(...records)).observe(document, { subtree: true, childList: true, attributes: true });
    const watch = (owner, name) => {
      const told = (act) => (...all) => { seen.push(name); return act(...all); };
      owner[name] = new Proxy(owner[name], { apply: told(apply), construct: told(construct) });
    };
    for (const name of ['defineProperty', 'getOwnPropertyDescriptor', 'keys', 'entries']) watch(Object, name);
    for (const name of ['stringify', 'parse']) watch(JSON, name);
    for (const name of ['get', 'apply']) watch(Reflect, name);
    for (const name of ['dispatchEvent', 'addEventListener', 'removeEventListener']) watch(EventTarget.prototype, name);
    for (const name of ['eval', 'Map', 'Set', 'WeakMap', 'WeakRef', 'Event', 'InputEvent', 'UIEvent', 'StaticRange', 'Array', 'Promise', 'Proxy'])
      watch(window, name);
  </script>`;
  await call('go', site.set('/unseen', page));
  t.match(await look(), { elements: [{ locator: '{p}Go' }] });
  await call('act', '{p}Go', 'click');
  await call('page', '({ a: [1, 2n], p: Promise })');
  t.same(await call('page', 'seen'), []);
  t.same(await call('page', 'keys().filter((names, nth) => names !== before[nth])'), []);
  t.equal(await call('page', '/\\w{8}-\\w{4}-/.exec(before.join())'), null);
  t.same(
    await call(
      'page',
      '[alert, setTimeout, document.write, b.attachShadow].filter((own) => !/\\[native code\\]/.test(own))',
    ),
    [],
  );
});
