import { Delegated } from './delegated.js';
import { EVENT_TYPES, kindOfEvent, PRESS, WHOLE } from './event-kinds.js';
import { INPUTS, InputTimers } from './input-timers.js';
import { PageTimers } from './page-timers.js';

/** What a key, or a text on its way into a field, makes heard. */
const KEYS = ['keydown', 'keypress', 'keyup', 'beforeinput', 'textInput'] as const;
/** Markup that declares a shadow root. */
const DECLARES = /shadowrootmode/i;
type Method = (...args: unknown[]) => unknown;

/** Elements found and not asked for yet; further ones are not remembered. */
const MAX_PENDING = 50_000;

/**
 * Runs in the page's own world, before its scripts: hands closed shadow roots on as they are made, and notes what elements
 * react to. Says `news` when there is something to ask for. The isolated world asks by an event named `question` and hears
 * in events named `answer`: nodes that one world puts into an event's target ranges are there for the others, and the
 * event's detail is what they react to, in bits; 0 when their listeners have gone.
 *
 * Cancels `keys` as long as no script listens to keys, which is known where it ran before all of them.
 *
 * Cancels `timers` while a timer runs that was set just after an input: what it will do, the input has begun.
 *
 * Answers `pending` with an event of the same name for each timer that is still to come.
 *
 * Says `dialog` before a script opens one: that holds the page, and it is too late then to ask why. Says `declared` when a
 * script has markup parsed that declares shadow roots: those are handed to nobody.
 *
 * Runs once in a window, which may have two documents: its first, empty one is followed by another in the same window, with
 * the functions that stand there, and without any listener.
 *
 * @param names unguessable, so that a page's scripts neither hear nor forge them
 */
export function install(names: {
  readonly news: string;
  readonly question: string;
  readonly answer: string;
  readonly keys: string;
  readonly timers: string;
  readonly pending: string;
  readonly dialog: string;
  readonly declared: string;
}): void {
  const { apply, get } = Reflect;
  const view = window;
  // Only who knows the name sees that it has run.
  if (get(Element.prototype.attachShadow, names.question) === true) return;
  const { addEventListener: listenAt, dispatchEvent: dispatchAt } = EventTarget.prototype;
  const dispatch = dispatchAt.bind(view);
  const { preventDefault } = Event.prototype;
  const found: WeakRef<Element>[] = [];
  const listeners = new WeakMap<Element, Map<string, unknown[]>>();
  /** What was sent to the other world. */
  const told = new WeakMap<Node, number>();
  const delegated = new Delegated();

  /** The document whose window hears the other world. */
  let heardIn: Document | null = null;
  const attend = (): void => {
    if (heardIn !== document) hearWorld();
  };
  let announced = false;
  const announce = (): void => {
    attend();
    if (announced) return;
    announced = true;
    dispatch(new Event(names.news));
  };
  const note = (node: Element): void => {
    if (found.length < MAX_PENDING) found.push(new WeakRef(node));
    announce();
  };

  /** Puts a function in place of a method; it stays native to whoever looks at it. */
  const wrap = (
    owner: object,
    name: string,
    around: (target: Method, self: unknown, args: unknown[]) => unknown,
    more: ProxyHandler<Method> = {},
  ): void => {
    const descriptor = Object.getOwnPropertyDescriptor(owner, name);
    if (typeof descriptor?.value !== 'function') return;
    const value = new Proxy(descriptor.value as Method, {
      apply: (target, self, args: unknown[]) => around(target, self, args),
      ...more,
    });
    Object.defineProperty(owner, name, { ...descriptor, value });
  };

  /**
   * No event takes a node out of a closed root. So the other world is given a node first, which then stands in the root
   * for a moment: it is new, and nobody watches it yet.
   */
  const hand = (root: ShadowRoot): void => {
    const probe = document.createComment('');
    dispatch(new InputEvent(names.answer, { targetRanges: [rangeAt(probe)] }));
    root.append(probe);
    dispatch(new Event(names.answer));
    probe.remove();
  };

  for (const name of ['alert', 'confirm', 'prompt']) {
    wrap(view, name, (target, self, args) => {
      dispatch(new Event(names.dialog));
      return apply(target, self, args);
    });
  }

  let anyOpened = false;
  const attachShadow = (target: Method, self: unknown, args: unknown[]): ShadowRoot => {
    const root = apply(target, self, args) as ShadowRoot;
    if (root.mode === 'closed') {
      hand(root);
      return root;
    }
    anyOpened = true;
    announce();
    return root;
  };
  wrap(Element.prototype, 'attachShadow', attachShadow, {
    get: (target, key, receiver) => key === names.question || get(target, key, receiver),
  });

  const parsers: readonly (readonly [owner: object, method: string])[] = [
    [Element.prototype, 'setHTMLUnsafe'],
    [ShadowRoot.prototype, 'setHTMLUnsafe'],
    [Document, 'parseHTMLUnsafe'],
    [Document.prototype, 'write'],
    [Document.prototype, 'writeln'],
  ];
  for (const [owner, method] of parsers) {
    wrap(owner, method, (target, self, args) => {
      const result = apply(target, self, args);
      // To make a text of an object is to run the page's script.
      if (args.some((arg) => typeof arg === 'object' || DECLARES.test(String(arg))))
        dispatch(new Event(names.declared));
      return result;
    });
  }

  const keyOf = (type: unknown, options: unknown): string => {
    const capture = typeof options === 'object' && options !== null ? Reflect.get(options, 'capture') : options;
    return `${String(type)} ${Boolean(capture)}`;
  };
  const listen = (element: Element, key: string, listener: unknown): void => {
    const own = listeners.get(element) ?? new Map<string, unknown[]>();
    if (own.size === 0) listeners.set(element, own);
    const same = own.get(key) ?? [];
    if (same.length === 0) note(element);
    if (!same.includes(listener)) own.set(key, [...same, listener]);
  };
  const forget = (element: Element, key: string, gone: (listener: unknown) => boolean): void => {
    const own = listeners.get(element);
    const rest = own?.get(key)?.filter((listener) => !gone(listener));
    if (own === undefined || rest === undefined) return;
    if (rest.length > 0) {
      own.set(key, rest);
      return;
    }
    own.delete(key);
    note(element);
  };
  /** The document or the window listens for presses. */
  let wholeListens = false;
  const kindsOf = (element: Element): number => {
    let kinds = 0;
    for (const key of listeners.get(element)?.keys() ?? []) kinds |= kindOfEvent(key.slice(0, key.indexOf(' ')));
    if (kinds !== 0 && delegated.isForOthers(element)) kinds = 0;
    return wholeListens && element === document.documentElement ? kinds | WHOLE : kinds;
  };
  // In a document that is there already, scripts may have run.
  let hearsKeys = document.body !== null;
  wrap(EventTarget.prototype, 'addEventListener', (target, self, args) => {
    const result = apply(target, self, args);
    const [type, listener, options] = args;
    if (KEYS.some((key) => key === type)) hearsKeys = true;
    if (typeof type !== 'string' || !listener || kindOfEvent(type) === 0) return result;
    if (self instanceof Element) listen(self, keyOf(type, options), listener);
    const isWhole = self instanceof Document || self === view || self === undefined;
    if (isWhole && !wholeListens && (kindOfEvent(type) & PRESS) !== 0) {
      wholeListens = true;
      announce();
    }
    if (self instanceof Element || self instanceof Document) {
      delegated.heard(self);
      announce();
    }
    return result;
  });
  wrap(EventTarget.prototype, 'removeEventListener', (target, self, args) => {
    const [type, listener, options] = args;
    if (typeof type === 'string' && kindOfEvent(type) !== 0 && self instanceof Element) {
      forget(self, keyOf(type, options), (other) => other === listener);
    }
    return apply(target, self, args);
  });
  /** Calls `after` when a script has set a handler property. */
  const wrapHandler = (owner: object, type: string, after: (self: unknown, handler: unknown) => void): void => {
    const descriptor = Object.getOwnPropertyDescriptor(owner, `on${type}`);
    if (descriptor?.set === undefined) return;
    const set = new Proxy(descriptor.set, {
      apply: (target, self: unknown, args: unknown[]) => {
        apply(target, self, args);
        after(self, args[0]);
      },
    });
    Object.defineProperty(owner, `on${type}`, { ...descriptor, set });
  };
  for (const owner of [HTMLElement.prototype, SVGElement.prototype]) {
    for (const type of EVENT_TYPES) {
      wrapHandler(owner, type, (self, handler) => {
        if (!(self instanceof Element)) return;
        if (typeof handler === 'function') listen(self, `${type} on`, null);
        else forget(self, `${type} on`, () => true);
      });
    }
  }
  for (const owner of [HTMLElement.prototype, Document.prototype, view]) {
    for (const key of KEYS) {
      wrapHandler(owner, key, () => {
        hearsKeys = true;
      });
    }
  }

  const tellAll = (): void => {
    const ranges = new Map<number, StaticRange[]>();
    const tell = (node: Node, kinds: number): void => {
      if ((told.get(node) ?? 0) === kinds) return;
      told.set(node, kinds);
      if (node.getRootNode() === document) {
        const alike = ranges.get(kinds) ?? [];
        alike.push(rangeAt(node));
        ranges.set(kinds, alike);
      }
      // A range does not take a node out of a shadow root. What is in a closed one is heard there.
      else apply(dispatchAt, node, [new UIEvent(names.answer, { composed: isOpen(node), detail: kinds })]);
    };
    const root: Element | null = document.documentElement;
    if (wholeListens && root !== null) tell(root, kindsOf(root));
    const byLibrary = new Map<Element, number>();
    delegated.tell((element, kinds) => byLibrary.set(element, (byLibrary.get(element) ?? 0) | kinds));
    for (const [element, kinds] of byLibrary) tell(element, kinds | kindsOf(element));
    for (const reference of found.splice(0)) {
      const node = reference.deref();
      if (node === undefined || byLibrary.has(node)) continue;
      // A node that is in no document yet is reported later.
      if (!node.isConnected) note(node);
      else tell(node, kindsOf(node));
    }
    for (const [detail, targetRanges] of ranges) dispatch(new InputEvent(names.answer, { targetRanges, detail }));
  };
  const answerWorld = (): void => {
    announced = false;
    // No change of the document tells of it; where it is, one sees by looking.
    if (anyOpened) dispatch(new InputEvent(names.answer));
    anyOpened = false;
    tellAll();
  };
  const timers = new InputTimers();
  const pageTimers = new PageTimers();
  wrap(view, 'setTimeout', (target, self, args) => {
    const id = apply(target, self, args);
    timers.set(id, args[1]);
    pageTimers.set(id, args[1], false);
    return id;
  });
  wrap(view, 'setInterval', (target, self, args) => {
    const id = apply(target, self, args);
    pageTimers.set(id, args[1], true);
    return id;
  });
  for (const name of ['clearTimeout', 'clearInterval']) {
    wrap(view, name, (target, self, args) => {
      timers.clear(args[0]);
      pageTimers.clear(args[0]);
      return apply(target, self, args);
    });
  }
  const answerPending = (event: Event): void => {
    if (event instanceof UIEvent) return;
    for (const { ms, repeats } of pageTimers.pending) {
      // An interval of 0 ms repeats, too.
      dispatch(new UIEvent(names.pending, { detail: repeats ? -Math.max(1, ms) : ms }));
    }
  };
  const answerTimers = (event: Event): void => {
    if (timers.any) apply(preventDefault, event, []);
  };
  const answerKeys = (event: Event): void => {
    if (!hearsKeys) apply(preventDefault, event, []);
  };
  /** Once only, as long as they are there. */
  const hearWorld = (): void => {
    heardIn = document;
    apply(listenAt, view, [names.question, answerWorld]);
    apply(listenAt, view, [names.keys, answerKeys]);
    apply(listenAt, view, [names.timers, answerTimers]);
    apply(listenAt, view, [names.pending, answerPending]);
    for (const type of INPUTS) apply(listenAt, view, [type, timers.hear, true]);
  };
  hearWorld();

  // A document that writes itself anew takes all listeners away from its window.
  for (const name of ['open', 'write', 'writeln']) {
    wrap(Document.prototype, name, (target, self, args) => {
      const result = apply(target, self, args);
      hearWorld();
      return result;
    });
  }
}

function rangeAt(node: Node): StaticRange {
  return new StaticRange({ startContainer: node, startOffset: 0, endContainer: node, endOffset: 0 });
}

/** Whether every shadow root around a node is open. */
function isOpen(node: Node): boolean {
  for (let root = node.getRootNode(); 'host' in root; root = (root as ShadowRoot).host.getRootNode()) {
    if ((root as ShadowRoot).mode === 'closed') return false;
  }
  return true;
}
