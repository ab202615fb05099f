import { DECLARED, OWN_DIALOG, REWRITTEN } from '../../tabs/page-calls.js';
import type { WindowListeners } from '../window-listeners.js';

/** The names of the events by which the two worlds of a page speak; see hooks.entry.ts. */
export interface HookNames {
  readonly news: string;
  readonly question: string;
  readonly answer: string;
  readonly retraction: string;
  readonly keys: string;
  readonly dialog: string;
  readonly declared: string;
}

/**
 * What a document does not show by itself: its closed shadow roots, and which elements listen for presses. One for all
 * the documents that reach one another; each document's world adds what its page tells.
 */
export class Discoveries {
  readonly #roots = new WeakMap<Element, ShadowRoot>();
  readonly #listening = new WeakSet<Element>();
  readonly #names: HookNames;
  readonly #question: Event;
  /** Whose pages have something to tell. */
  readonly #news = new WeakSet<Window>();
  readonly #listeners = new WeakMap<Window, WindowListeners>();
  readonly #frames = new WeakMap<Element, string>();
  readonly #byId = new Map<string, WeakRef<Element>>();
  #anyRoot = false;
  #acting = false;
  #count = 0;

  constructor(names: HookNames) {
    this.#names = names;
    this.#question = new Event(names.question);
  }

  /** Hears what the page of `view` tells, by the listeners on it. */
  attend(view: Window, listeners: WindowListeners): void {
    this.#listeners.set(view, listeners);
    const { news, answer, retraction, dialog, declared } = this.#names;
    let probe: Node | undefined;
    const hear = (event: Event): void => {
      if (event.composedPath()[0] !== view) {
        this.#hearInside(event);
        return;
      }
      // A comment is given first, and stands in a closed root the next time.
      const root = 'getTargetRanges' in event ? undefined : probe?.getRootNode();
      probe = undefined;
      if (root !== undefined && 'host' in root) this.adoptRoot(root as ShadowRoot);
      this.#count++;
      for (const node of nodesOf(event)) {
        if (node.nodeType === 8) probe = node;
        else this.#note(node, event.type === answer);
      }
    };
    listeners.add([answer, retraction], hear, { capture: true });
    listeners.add([news], () => this.#news.add(view));
    listeners.add([dialog], () => this.#dialogOpens());
    listeners.add([declared], () => announce(DECLARED));
    // What it said before anybody heard.
    this.#news.add(view);
    listeners.onReturn(() => {
      this.#news.add(view);
      announce(REWRITTEN);
    });
  }

  /** From an element in a shadow root. */
  readonly #hearInside = (event: Event): void => {
    this.#note(event.composedPath()[0], event.type === this.#names.answer);
  };

  /** What is done between `true` and `false` may open a dialog, which holds the page: it is told then by whom it came. */
  act(acting: boolean): void {
    this.#acting = acting;
  }

  #dialogOpens(): void {
    if (this.#acting) announce(OWN_DIALOG);
  }

  /** Rises with each that begins or ends to listen, and with new shadow roots. */
  get count(): number {
    return this.#count;
  }

  #note(node: unknown, listens: boolean): void {
    if (!isElement(node)) return;
    this.#count++;
    if (listens) this.#listening.add(node);
    else this.#listening.delete(node);
  }

  /** Asks the page of `view` for what is new, where there is something. It answers at once. */
  ask(view: Window): void {
    this.#listeners.get(view)?.attend();
    if (this.#news.delete(view)) view.dispatchEvent(this.#question);
  }

  /** Takes in a closed root, of whoever made it. */
  adoptRoot(root: ShadowRoot): void {
    if (this.#roots.get(root.host) === root || root.mode === 'open') return;
    this.#roots.set(root.host, root);
    this.#anyRoot = true;
    this.#count++;
    for (const type of [this.#names.answer, this.#names.retraction])
      root.addEventListener(type, this.#hearInside, true);
  }

  /** Whether a script of the page may listen to keys. Where none does, the page's hooks cancel the event. */
  hearsKeys(view: Window): boolean {
    return view.dispatchEvent(new Event(this.#names.keys, { cancelable: true }));
  }

  closedRoot(host: Element): ShadowRoot | null {
    return this.#anyRoot ? (this.#roots.get(host) ?? null) : null;
  }

  /** @param id the frame's, as the protocol has it */
  nameFrame(element: Element, id: string): void {
    this.#frames.set(element, id);
    this.#byId.set(id, new WeakRef(element));
  }

  frameId(element: Element): string | null {
    return this.#frames.get(element) ?? null;
  }

  frameElement(id: string): Element | null {
    return this.#byId.get(id)?.deref() ?? null;
  }

  listens(element: Element): boolean {
    return this.#listening.has(element);
  }
}

let shared: Discoveries | undefined;

/** The discoveries of this world's documents. */
export function discoveries(): Discoveries | undefined {
  return shared;
}

/** @param one what this world tells and asks from now on: another document's, or its own */
export function share(one: Discoveries): void {
  shared = one;
}

/** Calls a function that the service has put into this world. */
function announce(binding: string): void {
  const call: unknown = Reflect.get(globalThis, binding);
  if (typeof call === 'function') call('');
}

function nodesOf(event: Event): Node[] {
  return 'getTargetRanges' in event ? (event as InputEvent).getTargetRanges().map((range) => range.startContainer) : [];
}

function isElement(node: unknown): node is Element {
  return typeof node === 'object' && node !== null && 'nodeType' in node && node.nodeType === 1;
}
