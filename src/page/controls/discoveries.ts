import { DECLARED, OWN_DIALOG, type PendingTimer, REWRITTEN } from '../page-calls.js';
import type { WindowListeners } from '../window-listeners.js';

/** The names of the events by which the two worlds of a page speak; see hooks.entry.ts. */
export interface HookNames {
  readonly news: string;
  readonly question: string;
  readonly answer: string;
  readonly keys: string;
  readonly timers: string;
  readonly pending: string;
  readonly dialog: string;
  readonly declared: string;
  readonly value: string;
}

/** Timers that are told of: those that are due first. */
const MAX_TIMERS = 5;

/**
 * What a document does not show by itself: its closed shadow roots, and which elements listen for presses. One for all
 * the documents that reach one another; each document's world adds what its page tells.
 */
export class Discoveries {
  readonly #roots = new WeakMap<Element, ShadowRoot>();
  /** What each reacts to, as bits of event-kinds. */
  readonly #kinds = new WeakMap<Element, number>();
  readonly #names: HookNames;
  readonly #question: Event;
  /** Whose pages have something to tell. */
  readonly #news = new WeakSet<Window>();
  /** After which change of the documents each was asked: a library's handlers come with new elements, without news. */
  readonly #asked = new WeakMap<Window, number>();
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
    const { news, answer, dialog, declared } = this.#names;
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
        else this.#note(node, detailOf(event));
      }
    };
    listeners.add([answer], hear, { capture: true });
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
    this.#note(event.composedPath()[0], detailOf(event));
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

  #note(node: unknown, kinds: number): void {
    if (!isElement(node)) return;
    this.#count++;
    if (kinds !== 0) this.#kinds.set(node, kinds);
    else this.#kinds.delete(node);
  }

  /**
   * Asks the page of `view` for what is new, where there is something. It answers at once.
   *
   * @param mutations how often the documents have changed
   */
  ask(view: Window, mutations: number): void {
    this.#listeners.get(view)?.attend();
    const told = this.#asked.get(view) === mutations;
    this.#asked.set(view, mutations);
    if (this.#news.delete(view) || !told) view.dispatchEvent(this.#question);
  }

  /** Takes in a closed root, of whoever made it. */
  adoptRoot(root: ShadowRoot): void {
    if (this.#roots.get(root.host) === root || root.mode === 'open') return;
    this.#roots.set(root.host, root);
    this.#anyRoot = true;
    this.#count++;
    root.addEventListener(this.#names.answer, this.#hearInside, true);
  }

  /** Whether a script of the page may listen to keys. Where none does, the page's hooks cancel the event. */
  hearsKeys(view: Window): boolean {
    return view.dispatchEvent(new Event(this.#names.keys, { cancelable: true }));
  }

  /** Whether a timer runs that the page has set on an input. The page's hooks cancel the event then. */
  awaitsTimer(view: Window): boolean {
    return !view.dispatchEvent(new Event(this.#names.timers, { cancelable: true }));
  }

  /**
   * The timers of the page, as far as its hooks know. They answer each with an event of the same name, whose detail is its
   * time in milliseconds: negative for one that repeats.
   */
  pendingTimers(view: Window): PendingTimer[] {
    const timers: PendingTimer[] = [];
    const hear = (event: Event): void => {
      const detail = detailOf(event);
      if (event !== question) timers.push({ ms: Math.abs(detail), repeats: detail < 0 });
    };
    const question = new Event(this.#names.pending);
    view.addEventListener(this.#names.pending, hear);
    view.dispatchEvent(question);
    view.removeEventListener(this.#names.pending, hear);
    return timers.sort((a, b) => a.ms - b.ms).slice(0, MAX_TIMERS);
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

  /** What an element's listeners react to, as bits of event-kinds. */
  kindsOf(element: Element): number {
    return this.#kinds.get(element) ?? 0;
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

/** What the elements that an event tells of react to. */
function detailOf(event: Event): number {
  return 'detail' in event ? Number(event.detail) : 0;
}

function isElement(node: unknown): node is Element {
  return typeof node === 'object' && node !== null && 'nodeType' in node && node.nodeType === 1;
}
