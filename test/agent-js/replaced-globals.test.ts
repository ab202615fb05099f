import t, { type Test } from 'tap';
import { openAgent, openBrowser, openSite } from '../support/agent-fixture.js';
import { eventually } from '../support/eventually.js';
import { guardLeaks } from '../support/leaks.js';
import {
  declaring,
  LISTED,
  NAMES,
  PRESSED,
  replacedPage,
  replacing,
  replacingMembers,
} from '../support/replaced-page.js';
import { sampled } from '../support/sampled.js';

guardLeaks(t);
const site = await openSite(t);
const lease = await openBrowser(t);
const { call, failure, look, told } = await openAgent(t, lease, { actMs: 3_000 });
await call('go', site.set('/', '<!doctype html><p>Names'));
const names = (await call('page', NAMES)) as readonly string[];

/** What is wrong with a page: its own script, what a look lists, its values, and its errors. */
async function faults(page: string): Promise<unknown> {
  const before = told('PageErrorLogged').length;
  await call('go', site.set('/replaced', page));
  const { title, elements } = await look();
  const values = await call('page', '({ heard, all: [1n, document, window, [null]] })').catch(String);
  return {
    title,
    listed: elements.map(({ locator }) => locator),
    values,
    errors: told('PageErrorLogged')
      .slice(before)
      .map(({ text }) => text),
  };
}
const NONE = {
  title: 'ready',
  listed: LISTED,
  values: { heard: '', all: ['1', '<#document>', '[window]', [null]] },
  errors: [],
};

/** Whether everything that the present page reacts to does so. */
async function reacts(t: Test): Promise<void> {
  const before = told('PageErrorLogged').length;
  for (const locator of PRESSED) await call('act', locator, 'click');
  await call('act', '{input}Name', 'input', 'A');
  t.match(await call('act', '{button}Pause', 'click'), { changed: true });
  t.equal(await call('text', '#said'), 'Listener Property Closed Open Compiled React Query Written Typed Paused');
  await call('act', '{button}Ask', 'click');
  t.match(await look(), { elements: [{ locator: '{dialog}OK' }] });
  await call('act', '{dialog}OK', 'click');
  t.match(await call('page', 'heard'), /Asked/);
  const failed = () => told('StepFinished').filter(({ error }) => error !== undefined);
  const known = failed().length;
  t.match(await failure('act', '{', 'click'), { code: 'SCRIPT_ERROR' });
  await eventually('the failed step is told', () => failed().length > known);
  t.match(failed().at(-1), { timers: [{ ms: 60_000, repeats: true }] });
  t.same(told('PageErrorLogged').slice(before), []);
}
const fails = (what: string) => `function () { throw new Error('The page has replaced ' + ${JSON.stringify(what)}); }`;
/** Members of dictionaries and of descriptors, traps, and what is asked of nodes and events. */
const INHERITED = [
  ...['get', 'set', 'apply', 'construct', 'has', 'ownKeys', 'value', 'writable', 'enumerable', 'configurable'],
  ...['bubbles', 'cancelable', 'composed', 'view', 'detail', 'which', 'sourceCapabilities', 'data', 'isComposing'],
  ...['inputType', 'dataTransfer', 'targetRanges', 'startContainer', 'startOffset', 'endContainer', 'endOffset'],
  ...['capture', 'passive', 'once', 'signal', 'host', 'mode', 'type', 'length', 'index', 'selector', 'events', 'next'],
  ...['done', 'return', 'raw', 'toJSON', 'nodeType', 'nodeName', 'localName', 'click', 'then', 'message', 'stack', '0'],
  ...[
    'news',
    'question',
    'answer',
    'keys',
    'timers',
    'pending',
    'dialog',
    'declared',
    'due',
    'ms',
    'repeats',
    'hovered',
  ],
];
const inherits = (keys: readonly string[], descriptor: string) =>
  `for (const key of ${JSON.stringify(keys)}) defineProperty(OwnObject.prototype, key, { __proto__: null, configurable: true, ${descriptor} });`;
// The engine itself asks every value of a promise for `then`.
const READ = INHERITED.filter((key) => key !== 'then');
const throwing = "get() { throw new OwnError('Read ' + key); }";
const settable = `${throwing}, set(value) { defineProperty(this, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true }); }`;
/** Own members of the document and of all its elements, in place of those that they inherit. */
const shadows = (of: string, types: string) => `for (const node of ${of}) for (const type of ${types})
  for (const key of ownKeys(type.prototype)) {
    if (key === 'constructor' || ownOf(node, key)) continue;
    const what = 'own ' + text(key);
    defineProperty(node, key, { __proto__: null, configurable: true, get() { throw new OwnError('Read ' + what); } });
  }`;
const elements =
  "['listener', 'property', 'closed', 'open', 'compiled', 'react', 'jquery', 'field'].map((id) => document.getElementById(id))";

/** What a page does before its own script, and markup in it. */
const ALL_AT_ONCE: {
  readonly [what: string]: string | { readonly replace?: string; readonly late?: string; readonly body?: string };
} = {
  'replaces nothing': '',
  'declares all names itself': declaring(names),
  'replaces all globals': replacing(names),
  'deletes all globals': names.map((name) => `delete window.${name};`).join(''),
  'replaces all methods and accessors': replacingMembers(names, true),
  'replaces all methods and accessors, and all globals': replacingMembers(names, true) + replacing(names),
  'freezes all prototypes': `for (const [, owner] of [...ownersOf(${JSON.stringify(names)}), ...unnamed()])
    if (!Object.is(owner, window)) try { Object.freeze(owner); } catch {}`,
  'gives all objects members': inherits(INHERITED, 'value: 5, writable: true'),
  'gives all objects enumerable members': inherits(INHERITED, 'value: 5, writable: true, enumerable: true'),
  'gives all objects members that cannot be written': inherits(INHERITED, 'value: 5'),
  'gives all objects getters that throw': inherits(READ, throwing),
  'gives all objects enumerable getters that throw': inherits(READ, `enumerable: true, ${settable}`),
  'gives all arrays setters that throw': `for (const key of [0, 1, 2, 3]) defineProperty(Array.prototype, key,
    { __proto__: null, configurable: true, get: ${fails('[0]')}, set: ${fails('[0] =')} });`,
  'breaks iteration': `const iterators = unnamed(), types = [Array, String, Map, Set, NodeList, protoOf(Uint8Array)];
    for (let nth = 0; nth < types.length; nth++) {
      if (types[nth].prototype[Symbol.iterator]) types[nth].prototype[Symbol.iterator] = ${fails('iterator')};
      Object.defineProperty(types[nth], Symbol.species, { configurable: true, get: ${fails('species')} });
    }
    for (let nth = 0; nth < iterators.length; nth++) if (iterators[nth][1].next) iterators[nth][1].next = ${fails('next')};`,
  'ends every iteration at once': `const iterators = unnamed();
    for (let nth = 0; nth < iterators.length; nth++) if (iterators[nth][1].next) iterators[nth][1].next = () => ({ done: true });`,
  'breaks regular expressions': `RegExp.prototype.exec = RegExp.prototype.test = ${fails('exec')};
    for (const name of ['match', 'replace', 'search', 'split', 'matchAll']) Object.defineProperty(RegExp.prototype, Symbol[name], { value: ${fails('Symbol')} });
    for (const name of ['flags', 'global', 'lastIndex', 'unicode']) Object.defineProperty(RegExp.prototype, name, { get: ${fails('flags')} });`,
  'says itself what is an instance': `for (const name of ${JSON.stringify(names)}) if (typeof window[name] === 'function')
    try { Object.defineProperty(window[name], Symbol.hasInstance, { value: ${fails('hasInstance')} }); } catch {}`,
  'takes everything for an instance': `for (const type of [Element, Document, Node, Event, UIEvent, Window, HTMLElement])
    Object.defineProperty(type, Symbol.hasInstance, { value: () => true });`,
  'breaks how objects become texts': `for (const [, owner] of ownersOf(['Object', 'String', 'Number', 'Boolean', 'Symbol', 'Function', 'Array', 'Date'])) {
      defineProperty(owner, Symbol.toPrimitive, { __proto__: null, value: ${fails('toPrimitive')} });
      defineProperty(owner, 'toString', { __proto__: null, value: ${fails('toString')} });
      defineProperty(owner, 'valueOf', { __proto__: null, value: ${fails('valueOf')} });
    }`,
  'listens in the constructors that a listener takes': `for (const name of ['Map', 'Set', 'WeakMap', 'WeakRef', 'Event', 'InputEvent', 'UIEvent', 'StaticRange'])
    window[name] = class { constructor() { document.addEventListener('click', () => {}); } };`,
  'listens in methods that a listener takes': `for (const [type, name] of [[Array, 'push'], [Array, 'includes'], [Map, 'get'], [Map, 'set'], [WeakMap, 'get'], [String, 'slice'], [Object, 'toString']]) {
      const kept = type.prototype[name];
      type.prototype[name] = function (...args) { document.addEventListener('click', () => {}); return apply(kept, this, args); };
    }`,
  'has another getRootNode, as a polyfill of shadow roots has it': `Node.prototype.getRootNode = function () { return document; };
    Object.defineProperty(Node.prototype, 'isConnected', { get: () => false });
    Object.defineProperty(ShadowRoot.prototype, 'mode', { get: () => 'open' });`,
  'has a slower clock': 'performance.now = Date.now = () => 0; Performance.prototype.now = () => NaN;',
  'has its own members in the document': shadows('[document]', '[Document, Node, EventTarget]'),
  'has its own members in its elements': { late: shadows(elements, '[HTMLElement, Element, Node, EventTarget]') },
  'keeps on its elements what throws when it is read': {
    late: `const fail = () => { throw new OwnError('Read') }, { proxy: gone, revoke } = OwnProxy.revocable({}, {});
      revoke();
      const kept = [
        { get: fail },
        { value: gone },
        { value: new OwnProxy({}, { get: fail, ownKeys: fail, has: fail }) },
        { value: { get events() { fail(); }, get onClick() { fail(); } } },
        { value: { events: { get click() { fail(); } } } },
        { value: { events: { click: [null, 5, gone, { get selector() { fail(); } }, { selector: '::x(' }, { selector: { toString: fail } }] } } },
        { value: { events: { click: new OwnProxy([], { get: fail }) } } },
        { value: { events: gone, onClick: gone } },
      ];
      kept.forEach((descriptor, nth) => {
        for (const id of ['jquery', 'listener', 'props', 'child'])
          for (const key of ['jQuery7' + nth, '__reactProps$7' + nth]) defineProperty(byId(document, id), key, { enumerable: true, ...descriptor });
      });`,
  },
  'names elements as the document names its members': {
    body: [
      'body',
      'documentElement',
      'querySelectorAll',
      'createComment',
      'addEventListener',
      'dispatchEvent',
      'defaultView',
      'head',
    ]
      .map((name) => `<form name=${name}></form><img name=${name}>`)
      .join(''),
  },
  'names fields as their forms name their members': {
    body: `<form>${[
      'getRootNode',
      'isConnected',
      'append',
      'addEventListener',
      'dispatchEvent',
      'matches',
      'attachShadow',
      'host',
      'mode',
      'remove',
    ]
      .map((name) => `<input type=hidden name=${name}>`)
      .join('')}<i id=inform></i></form>`,
    late: "listen(byId(document, 'inform'), 'click', () => {}); listen(document.forms[0], 'click', () => {});",
  },
};
for (const [what, given] of Object.entries(ALL_AT_ONCE)) {
  t.test(`a page works, is listed whole and reacts where it ${what}`, async (t) => {
    const { replace = '', late = '', body = '' } = typeof given === 'string' ? { replace: given } : given;
    t.same(await faults(replacedPage(replace, { body: `${body}<script>${late}</script>` })), NONE);
    if (t.passing()) await reacts(t);
  });
}

/** What the language and the core of the DOM have: these are replaced one at a time as well. */
const CORE =
  /^(?:[A-Z]\w*Array|Array|ArrayBuffer|Atomics|BigInt|Boolean|DataView|Date|\w*Error|FinalizationRegistry|Function|Iterator|Intl|JSON|Map|Math|Number|Object|Promise|Proxy|Reflect|RegExp|Set|String|Symbol|Weak\w+|decodeURI\w*|encodeURI\w*|escape|unescape|eval|is\w+|parse\w+|globalThis|Node|NodeList|Element|HTMLElement|SVGElement|HTML(?:Collection|Document|InputElement|ButtonElement)|Document|DocumentFragment|ShadowRoot|Event\w*|\w*Event|\w*Range|MutationObserver|Comment|Text|CharacterData|Window|self|window|frames|parent|performance|Performance|set(?:Timeout|Interval)|clear(?:Timeout|Interval)|queueMicrotask|requestAnimationFrame|alert|confirm|prompt|add\w+Listener|dispatchEvent|console|open|structuredClone)$/;
const core = names.filter((name) => CORE.test(name));

const IN_TURN: { readonly [how: string]: (name: string) => string } = {
  'declares {} itself': (name) => declaring([name]),
  'replaces {}': (name) => replacing([name]),
  'deletes {}': (name) => `delete window.${name};`,
  'replaces the members of {}': (name) => replacingMembers([name]),
};
t.test('a page works and is listed whole, whichever global it replaces', async (t) => {
  for (const [how, replace] of Object.entries(IN_TURN)) {
    for (const name of sampled(core, { name: how, count: 20 }))
      t.same(await faults(replacedPage(replace(name))), NONE, how.replace('{}', name));
  }
});
t.test('a page works and is listed whole, whatever all its objects inherit', async (t) => {
  for (const key of sampled(INHERITED, { name: 'inherited', count: 10 }))
    t.same(await faults(replacedPage(inherits([key], 'value: 5, enumerable: true'))), NONE, key);
});

/** Calls of what the hooks stand in for, and what the browser answers: a value, or the name of an error. */
const CALLS: { readonly [js: string]: string } = {
  "addEventListener('click')": 'TypeError',
  "addEventListener('click', 5)": 'TypeError',
  'addEventListener(Symbol(), () => {})': 'TypeError',
  "addEventListener.call({}, 'click', () => {})": 'TypeError',
  "addEventListener.call(undefined, 'click', () => {})": 'undefined',
  "new addEventListener('click', () => {})": 'TypeError',
  "addEventListener('click', undefined)": 'undefined',
  "addEventListener('click', { get handleEvent() { throw new RangeError(); } })": 'undefined',
  "addEventListener('click', () => {}, { get capture() { throw new RangeError(); } })": 'RangeError',
  "removeEventListener('click')": 'TypeError',
  "document.body.addEventListener({ toString: () => 'click' }, () => {})": 'undefined',
  "document.body.addEventListener('click', null, 5)": 'undefined',
  'addEventListener.name + addEventListener.length': 'addEventListener2',
  'document.body.onclick = 5, document.body.onclick': 'null',
  "Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'onclick').set.call({}, 5)": 'TypeError',
  "Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'onclick').set.name": 'set onclick',
  'JSON.stringify(Object.getOwnPropertyDescriptor(EventTarget.prototype, "addEventListener"))':
    '{"writable":true,"enumerable":true,"configurable":true}',
  "document.createElement('p').attachShadow()": 'TypeError',
  "document.createElement('a').attachShadow({ mode: 'open' })": 'NotSupportedError',
  "document.createElement('p').attachShadow({ mode: 'closed' })": '[object ShadowRoot]',
  'setTimeout()': 'TypeError',
  'typeof setTimeout({ toString: () => "0" })': 'number',
  "typeof setTimeout('0', { valueOf: () => 5 })": 'number',
  "setTimeout('0', { valueOf() { throw new RangeError(); } })": 'RangeError',
  'clearTimeout({ valueOf() { throw new RangeError(); } })': 'RangeError',
  "setTimeout.call({}, '0')": 'TypeError',
  'document.write(Symbol())': 'TypeError',
  'document.write.call({}, "x")': 'TypeError',
  "document.body.setHTMLUnsafe({ toString: () => '<b>x</b>' }), document.body.innerHTML": '<b>x</b>',
};
t.test('what listens in a page fails and answers as the browser has it', async (t) => {
  const js = (call: string) =>
    `(() => { try { return String(eval(${JSON.stringify(call)})); } catch (error) { return error.name; } })()`;
  await call('go', site.set('/calls', '<!doctype html><body><p>Calls'));
  for (const [text, answer] of Object.entries(CALLS)) t.equal(await call('page', js(text)), answer, text);
  const counts = `(() => {
    let seen = '';
    const told = (name, value) => ({ get: () => { seen += name + ' '; return value; }, enumerable: true });
    document.body.addEventListener('click', () => {}, Object.defineProperties({}, { capture: told('capture', true), once: told('once', true) }));
    document.body.addEventListener({ toString: () => { seen += 'type '; return 'click'; } }, () => {});
    setTimeout('0', { valueOf() { seen += 'delay '; return 5; } });
    clearTimeout({ valueOf() { seen += 'id '; return 5; } });
    return seen;
  })()`;
  t.equal(await call('page', counts), 'capture once type delay id ', 'what is given to them is read once');
});
