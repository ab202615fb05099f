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
const WITH_NAMED_MEMBERS = new Set(['form', 'iframe', 'object', 'embed', 'select', 'frame']);

/**
 * Runs in the page's own world. Some libraries listen on one node for many: React, Svelte and Solid on the root, jQuery where a
 * selector is given. Which elements those handlers are for stands in what these libraries keep on their elements.
 */
export class Delegated {
  readonly #nodes: WeakRef<Document | Element>[] = [];
  #fruitless = 0;

  /** A listener was added to a node. */
  heard(node: Document | Element): void {
    if (this.#nodes.length < MAX_NODES) this.#nodes.push(new WeakRef(node));
  }

  /** Calls `tell` with each element that a library's handlers are for, and with what they react to. */
  tell(tell: (element: Element, kinds: number) => void): void {
    if (this.#nodes.length === 0) return;
    const told = new Set<Node>();
    for (const reference of this.#nodes) {
      const node = reference.deref();
      if (node === undefined || told.has(node)) continue;
      told.add(node);
      tellSelected(node, tell);
    }
    if (this.#fruitless >= MAX_FRUITLESS) return;
    let any = false;
    const all = document.querySelectorAll('*');
    for (let nth = 0; nth < Math.min(all.length, MAX_ELEMENTS); nth++) {
      const element = all[nth];
      if (element === undefined || WITH_NAMED_MEMBERS.has(element.localName)) continue;
      const kinds = kindsKeptOn(element);
      if (kinds === 0) continue;
      any = true;
      tell(element, kinds);
    }
    this.#fruitless = any ? 0 : this.#fruitless + 1;
  }

  /** Whether a listener on a node is that of a library for all that is in it. */
  isForOthers(node: Element): boolean {
    return Object.keys(node).some((key) => REACT_ROOT.test(key));
  }
}

function tellSelected(node: Document | Element, tell: (element: Element, kinds: number) => void): void {
  for (const key of Object.keys(node)) {
    if (!JQUERY.test(key)) continue;
    for (const [selector, kinds] of selectorsOf(Reflect.get(node, key))) {
      for (const element of matches(node, selector)) tell(element, kinds);
    }
  }
}

function kindsKeptOn(element: Element): number {
  let kinds = 0;
  for (const key of Object.keys(element)) {
    const compiled = COMPILED.exec(key)?.[1];
    if (compiled !== undefined) kinds |= kindOfEvent(compiled);
    else if (REACT_PROPS.test(key)) kinds |= kindsInProps(Reflect.get(element, key));
  }
  return kinds;
}

function kindsInProps(props: unknown): number {
  if (typeof props !== 'object' || props === null) return 0;
  let kinds = 0;
  for (const [name, value] of Object.entries(props)) {
    if (typeof value !== 'function' || !name.startsWith('on')) continue;
    const type = name.slice(2).toLowerCase();
    kinds |= kindOfEvent(type === 'doubleclick' ? 'dblclick' : type);
  }
  return kinds;
}

/** The selectors of jQuery's handlers on one node. */
function selectorsOf(kept: unknown): ReadonlyMap<string, number> {
  const selectors = new Map<string, number>();
  const events: unknown = typeof kept === 'object' && kept !== null ? Reflect.get(kept, 'events') : null;
  if (typeof events !== 'object' || events === null) return selectors;
  for (const [type, handlers] of Object.entries(events)) {
    const kind = kindOfEvent(type) & ~HOVER;
    if (kind === 0 || !Array.isArray(handlers)) continue;
    for (const handler of handlers) {
      const selector: unknown =
        typeof handler === 'object' && handler !== null ? Reflect.get(handler, 'selector') : null;
      if (typeof selector === 'string') selectors.set(selector, (selectors.get(selector) ?? 0) | kind);
    }
  }
  return selectors;
}

function matches(node: Document | Element, selector: string): Iterable<Element> {
  try {
    return node.querySelectorAll(selector);
  } catch {
    // Some of its selectors are jQuery's own.
    return [];
  }
}
