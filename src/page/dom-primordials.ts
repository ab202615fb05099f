/*
 * The DOM's own functions as they were before a page's first script, for code that runs among the page's scripts: these
 * replace and declare names as they like, and a form's fields or an image stand in for members of a form or a document. What
 * is written with them follows the rules of script/prelude/primordials.ts; dictionaries for the browser are {@link bare}.
 */
import { holdToJson, isInstance, method, uncurry } from '../script/prelude/primordials.js';

const { apply, getOwnPropertyDescriptor, setPrototypeOf } = Reflect;
const NONE: readonly unknown[] = [];
type Callable = (...args: never[]) => unknown;

/** An accessor as a function of its `this`; throws for what is no such object. */
function getter<T extends object, K extends keyof T & string>(prototype: T, key: K): (self: T) => T[K] {
  const get = getOwnPropertyDescriptor(prototype, key)?.get;
  if (get === undefined) throw new TypeError(`${key} is missing`);
  return (self) => apply(get, self, NONE) as T[K];
}

/** An object literal without the members of Object.prototype, which scripts may add to. */
export function bare<T extends object>(literal: T): T {
  setPrototypeOf(literal, null);
  return literal;
}

export const EventClass = Event;
export const UIEventClass = UIEvent;
export const InputEventClass = InputEvent;
export const StaticRangeClass = StaticRange;
const { Element: ElementClass, Document: DocumentClass, ShadowRoot: ShadowRootClass } = window;

export const isElement = (value: unknown): value is Element => isInstance(ElementClass, value);
export const isDocument = (value: unknown): value is Document => isInstance(DocumentClass, value);
export const isShadowRoot = (value: unknown): value is ShadowRoot => isInstance(ShadowRootClass, value);
export const isUIEvent = (value: unknown): value is UIEvent => isInstance(UIEventClass, value);

export const eventType = getter(Event.prototype, 'type');
export const preventDefault = uncurry(Event.prototype.preventDefault);
export const listenAt: (target: EventTarget, type: string, listener: Callable, capture?: boolean) => void = method(
  EventTarget.prototype.addEventListener,
);
export const dispatchAt: (target: EventTarget, event: Event) => boolean = method(EventTarget.prototype.dispatchEvent);

/** Of any realm's node; throws for anything else. */
export const nodeName: (value: object) => string = method(getOwnPropertyDescriptor(Node.prototype, 'nodeName')?.get);
export const isConnected = getter(Node.prototype, 'isConnected');
export const rootOf: (node: Node) => Node = method(Node.prototype.getRootNode);
export const rootElement = getter(Document.prototype, 'documentElement');
export const bodyOf = getter(Document.prototype, 'body');
export const createComment: (document: Document, text: string) => Comment = method(Document.prototype.createComment);
export const allElements: (node: Document | Element, selector: string) => NodeListOf<Element> = (node, selector) =>
  isDocument(node) ? inDocument(node, selector) : inElement(node, selector);
const inDocument: (node: Document, selector: string) => NodeListOf<Element> = method(
  Document.prototype.querySelectorAll,
);
const inElement: (node: Element, selector: string) => NodeListOf<Element> = method(Element.prototype.querySelectorAll);
export const lengthOf = getter(NodeList.prototype, 'length');
export const localName = getter(Element.prototype, 'localName');
export const rootMode = getter(ShadowRoot.prototype, 'mode');
export const hostOf = getter(ShadowRoot.prototype, 'host');
export const appendTo: (root: DocumentFragment, node: Node) => void = method(DocumentFragment.prototype.append);
export const removeNode: (node: CharacterData) => void = method(CharacterData.prototype.remove);
/** The window of a window of any origin; throws for anything else. */
export const windowOf: (value: object) => Window = method(getOwnPropertyDescriptor(window, 'window')?.get);

const WeakRefClass = WeakRef;
const dereference: <T extends WeakKey>(reference: WeakRef<T>) => T | undefined = method(WeakRef.prototype.deref);

/** Like a WeakRef. */
export class Weak<T extends WeakKey> {
  readonly #reference: WeakRef<T>;

  constructor(target: T) {
    this.#reference = new WeakRefClass(target);
  }

  get(): T | undefined {
    return dereference(this.#reference);
  }
}

// Those of the platform's objects that a script may return and whose toJSON a page may replace.
for (const { prototype } of [URL, DOMRectReadOnly, DOMPointReadOnly, DOMQuad, DOMMatrixReadOnly]) holdToJson(prototype);
for (const { prototype } of [Performance, PerformanceEntry]) holdToJson(prototype);
