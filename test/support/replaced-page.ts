/**
 * What a page reacts to, and how: by listeners, handler properties, in shadow roots, by libraries that listen on one node for
 * many, by a timer, a dialog, and markup that a script writes. Its first script keeps what the page needs; then `replace` is
 * run, which may break whatever it likes; then the page is made with nothing but what was kept. So whatever fails is not the
 * page's fault.
 */
export function replacedPage(replace: string, more: { readonly head?: string; readonly body?: string } = {}): string {
  return `<!doctype html><title>before</title>${more.head ?? ''}<script>${KEEP}</script>
    <script>${replace}</script>
    <div id=listener>Listener</div><div id=property>Property</div><div id=closed></div><div id=open></div>
    <div id=compiled><p id=child>Compiled</p></div><div id=react><p id=props>React</p></div>
    <div id=jquery><p class=row>Query</p></div>
    <input id=field aria-label=Name><p><button id=pause>Pause</button><button id=ask>Ask</button></p>
    <p><script>write(document, '<button id=written>Written</button>')</script></p><output id=said></output>
    ${more.body ?? ''}<script>${USE}</script>`;
}

/** What a look lists of the page. */
export const LISTED: readonly string[] = [
  '{div}Listener',
  '{div}Property',
  '{div}Closed',
  '{div}Open',
  '{p}Compiled',
  '{p}React',
  '{p}Query',
  '{input}Name',
  '{button}Pause',
  '{button}Ask',
  '{button}Written',
];

/** What the page says when it is pressed. */
export const PRESSED: readonly string[] = LISTED.filter((locator) => !/Name|Pause|Ask/.test(locator));

/** Everything that the page calls later, and what replaces it. */
const KEEP = `
  const { apply, ownKeys, defineProperty, getOwnPropertyDescriptor: ownOf, getPrototypeOf: protoOf } = Reflect;
  const method = (owner, name) => { const kept = owner[name]; return (self, ...args) => apply(kept, self, args); };
  const setter = (owner, name) => { const { set } = ownOf(owner, name); return (self, value) => apply(set, self, [value]); };
  const listen = method(EventTarget.prototype, 'addEventListener');
  const byId = method(Document.prototype, 'getElementById');
  const make = method(Document.prototype, 'createElement');
  const write = method(Document.prototype, 'write');
  const attach = method(Element.prototype, 'attachShadow');
  const append = method(Node.prototype, 'appendChild');
  const setText = setter(Node.prototype, 'textContent');
  const setTitle = setter(Document.prototype, 'title');
  const setHandler = setter(HTMLElement.prototype, 'onclick');
  const later = setTimeout, every = setInterval, ask = alert, OwnError = Error, OwnProxy = Proxy, OwnObject = Object;

  /** Throws however it is used. */
  const thrower = (what) => new OwnProxy(function () {}, new OwnProxy({}, {
    get: (_, trap) => () => { throw new OwnError('The page has replaced ' + what + ': ' + trap); },
  }));
  const replaceGlobals = (names) => {
    for (let nth = 0; nth < names.length; nth++) {
      defineProperty(window, names[nth], { __proto__: null, value: thrower(names[nth]), configurable: true, writable: true });
    }
  };
  const text = String;
  /** Methods and accessors of objects throw. */
  const replaceMembers = (owners) => {
    const all = [];
    for (const [name, owner] of owners) {
      for (const key of ownKeys(owner)) {
        const { value, get, set, writable, configurable } = ownOf(owner, key);
        // The engine itself asks a promise for its constructor; a page that replaces that has no promises any more.
        if (key === 'constructor' || key === 'prototype' || !(configurable || writable)) continue;
        const what = name + '.' + text(key);
        const fail = function () { throw new OwnError('The page has replaced ' + what); };
        if (typeof value === 'function') all.push([owner, key, { __proto__: null, value: fail }]);
        else if (configurable && (get || set)) all.push([owner, key, { __proto__: null, get: get && fail, set: set && fail }]);
      }
    }
    for (let nth = 0; nth < all.length; nth++) defineProperty(all[nth][0], all[nth][1], all[nth][2]);
  };
  /** An object by its name in the window, and its prototype. */
  const ownersOf = (names) => names.flatMap((name) => {
    const owner = window[name];
    const prototype = typeof owner === 'function' ? ownOf(owner, 'prototype')?.value : null;
    return prototype ? [[name, owner], [name + '.prototype', prototype]] : [[name, owner]];
  });
  /** Objects of the language that have no name. */
  const unnamed = () => [
    ...Object.entries({
      ArrayIterator: [].values(), MapIterator: new Map().values(), SetIterator: new Set().values(),
      StringIterator: ''[Symbol.iterator](), MatchIterator: ''.matchAll(/x/g), TypedArray: new Uint8Array().__proto__,
      Generator: (function* () {})(), AsyncGenerator: (async function* () {})(), AsyncFunction: async () => {},
      GeneratorFunction: function* () {}, AsyncGeneratorFunction: async function* () {},
    }).map(([name, object]) => ['%' + name + '%', protoOf(object)]),
    ['%Generator.prototype%', protoOf(protoOf((function* () {})()))],
    ['%AsyncIterator%', protoOf(protoOf(protoOf((async function* () {})())))],
  ];`;

const USE = `
  let heard = '';
  const say = (what) => { heard += what + ' '; setText(byId(document, 'said'), heard); };
  const at = (id) => byId(document, id);
  listen(at('listener'), 'click', () => say('Listener'));
  setHandler(at('property'), () => say('Property'));
  const inRoot = (id, mode, name) => {
    const child = make(document, 'div');
    setText(child, name);
    append(attach(at(id), { __proto__: null, mode }), child);
    listen(child, 'click', () => say(name));
  };
  inRoot('closed', 'closed', 'Closed');
  inRoot('open', 'open', 'Open');
  const own = (node, key, value) => defineProperty(node, key, { __proto__: null, value, enumerable: true });
  listen(at('compiled'), 'click', () => say('Compiled'));
  own(at('child'), '__click', () => {});
  listen(at('react'), 'click', () => say('React'));
  own(at('react'), '_reactListening1', true);
  own(at('props'), '__reactProps$1', { __proto__: null, onClick() {} });
  listen(at('jquery'), 'click', () => say('Query'));
  own(at('jquery'), 'jQuery123', { __proto__: null, events: { __proto__: null, click: [{ __proto__: null, selector: '.row' }] } });
  listen(at('field'), 'input', () => say('Typed'));
  listen(at('pause'), 'click', () => later(() => say('Paused'), 300));
  listen(at('ask'), 'click', () => { ask('Sure?'); say('Asked'); });
  listen(at('written'), 'click', () => say('Written'));
  every(() => {}, 60_000);
  setTitle(document, 'ready');`;

/** A script that answers the names of what a window holds: constructors, namespaces, functions and other objects. */
export const NAMES = `Object.getOwnPropertyNames(window).filter((name) => {
  const { configurable } = Object.getOwnPropertyDescriptor(window, name);
  const value = window[name];
  return configurable && /^[A-Za-z_$][\\w$]*$/.test(name) && (typeof value === 'function' || (typeof value === 'object' && value !== null));
})`;

/** A script that declares the names, as classes where it may. */
export function declaring(names: readonly string[]): string {
  return names.map((name) => (name === 'eval' ? 'let eval = {};' : `class ${name} {}`)).join('\n');
}

/** A script that replaces what these names of the window hold. */
export function replacing(names: readonly string[]): string {
  return `replaceGlobals(${JSON.stringify(names)});`;
}

/** A script that replaces the methods and accessors of what these names hold, and of its prototype. */
export function replacingMembers(names: readonly string[], unnamed = false): string {
  return `replaceMembers([...ownersOf(${JSON.stringify(names)})${unnamed ? ', ...unnamed()' : ''}]);`;
}
