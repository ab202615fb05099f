import {
  append,
  exec,
  isArray,
  isObject,
  keysOf,
  read,
  Seen,
  slice,
  startsWith,
  Table,
  toLowerCase,
} from '../script/prelude/primordials.js';
import { allElements, lengthOf, localName, Weak } from './dom-primordials.js';
import { HOVER, kindOfEvent } from './event-kinds.js';

/** What a library keeps on an element; its name ends with random characters. */
const REACT_PROPS = /^__reactProps\$|^__reactEventHandlers\$/;
const REACT_ROOT = /^_reactListening/;
const JQUERY = /^jQuery\d/;
/** Svelte and Solid: `__click`, `$$click`. */
const COMPILED = /^(?:__|\$\$)([a-z]+)$/;
/** Elements that are asked for what a library keeps on them, and nodes with handlers of jQuery. */
const MAX_ELEMENTS = 20_000;
const MAX_NODES = 500;
/** Pages in which so many searches found nothing have no such library. */
const MAX_FRUITLESS = 10;

/** Elements that a form or a frame names are members of it. */
const WITH_NAMED_MEMBERS = new Seen();
for (const name of ['form', 'iframe', 'object', 'embed', 'select', 'frame']) WITH_NAMED_MEMBERS.add(name);

/**
 * Runs in the page's own world. Some libraries listen on one node for many: React, Svelte and Solid on the root, jQuery where a
 * selector is given. Which elements those handlers are for stands in what these libraries keep on their elements.
 */
export class Delegated {
  readonly #nodes: Weak<Document | Element>[] = [];
  #fruitless = 0;

  /** A listener was added to a node. */
  heard(node: Document | Element): void {
    if (this.#nodes.length < MAX_NODES) append(this.#nodes, new Weak(node));
  }

  /** Calls `tell` with each element that a library's handlers are for, and with what they react to. */
  tell(tell: (element: Element, kinds: number) => void): void {
    if (this.#nodes.length === 0) return;
    const told = new Seen();
    for (let nth = 0; nth < this.#nodes.length; nth++) {
      const node = this.#nodes[nth]?.get();
      if (node === undefined || told.has(node)) continue;
      told.add(node);
      tellSelected(node, tell);
    }
    if (this.#fruitless >= MAX_FRUITLESS) return;
    let any = false;
    const all = allElements(document, '*');
    const count = lengthOf(all);
    for (let nth = 0; nth < count && nth < MAX_ELEMENTS; nth++) {
      const element = all[nth];
      if (element === undefined || WITH_NAMED_MEMBERS.has(localName(element))) continue;
      const kinds = kindsKeptOn(element);
      if (kinds === 0) continue;
      any = true;
      tell(element, kinds);
    }
    this.#fruitless = any ? 0 : this.#fruitless + 1;
  }

  /** Whether a listener on a node is that of a library for all that is in it. */
  isForOthers(node: Element): boolean {
    let isLibrarys = false;
    eachKey(node, (key) => {
      isLibrarys ||= exec(REACT_ROOT, key) !== null;
    });
    return isLibrarys;
  }
}

/** Calls `take` with each enumerable member of an object's own. What a page keeps there may throw when it is read: it is left out. */
function eachKey(value: object, take: (key: string) => void): void {
  const keys = keysOf(value);
  for (let nth = 0; nth < keys.length; nth++) {
    const key = keys[nth];
    try {
      if (key !== undefined) take(key);
    } catch {}
  }
}

function tellSelected(node: Document | Element, tell: (element: Element, kinds: number) => void): void {
  eachKey(node, (key) => {
    if (exec(JQUERY, key) === null) return;
    selectorsOf(read(node, key)).forEach((kinds, selector) => {
      const elements = matches(node, selector);
      const count = elements === null ? 0 : lengthOf(elements);
      for (let nth = 0; nth < count; nth++) {
        const element = elements?.[nth];
        if (element !== undefined) tell(element, kinds);
      }
    });
  });
}

function kindsKeptOn(element: Element): number {
  let kinds = 0;
  eachKey(element, (key) => {
    const compiled = exec(COMPILED, key)?.[1];
    if (compiled !== undefined) kinds |= kindOfEvent(compiled);
    else if (exec(REACT_PROPS, key) !== null) kinds |= kindsInProps(read(element, key));
  });
  return kinds;
}

function kindsInProps(props: unknown): number {
  if (typeof props !== 'object' || props === null) return 0;
  let kinds = 0;
  eachKey(props, (name) => {
    if (!startsWith(name, 'on') || typeof read(props, name) !== 'function') return;
    const type = toLowerCase(slice(name, 2));
    kinds |= kindOfEvent(type === 'doubleclick' ? 'dblclick' : type);
  });
  return kinds;
}

/** The selectors of jQuery's handlers on one node. */
function selectorsOf(kept: unknown): Table<string, number> {
  const selectors = new Table<string, number>();
  const events = isObject(kept) ? read(kept, 'events') : null;
  if (!isObject(events)) return selectors;
  eachKey(events, (type) => {
    const kind = kindOfEvent(type) & ~HOVER;
    const handlers = read(events, type);
    if (kind === 0 || !isArray(handlers)) return;
    for (let nth = 0; nth < handlers.length; nth++) {
      const handler: unknown = handlers[nth];
      const selector = isObject(handler) ? read(handler, 'selector') : null;
      if (typeof selector === 'string') selectors.set(selector, (selectors.get(selector) ?? 0) | kind);
    }
  });
  return selectors;
}

function matches(node: Document | Element, selector: string): NodeListOf<Element> | null {
  try {
    return allElements(node, selector);
  } catch {
    // Some of its selectors are jQuery's own.
    return null;
  }
}
