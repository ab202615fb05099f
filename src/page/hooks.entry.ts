import {
  append,
  at,
  dataOf,
  indexOf,
  isObject,
  makeNotes,
  max,
  NumberOf,
  slice,
  Table,
  TextOf,
  toLowerCase,
  words,
} from '../script/prelude/primordials.js';
import type { HookNames } from './controls/discoveries.js';
import { Delegated } from './delegated.js';
import {
  appendTo,
  bare,
  bodyOf,
  createComment,
  dispatchAt,
  EventClass,
  hostOf,
  InputEventClass,
  isConnected,
  isDocument,
  isElement,
  isShadowRoot,
  isUIEvent,
  listenAt,
  preventDefault,
  removeNode,
  rootElement,
  rootMode,
  rootOf,
  StaticRangeClass,
  UIEventClass,
  Weak,
} from './dom-primordials.js';
import { EVENT_TYPES, kindOfEvent, PRESS, WHOLE } from './event-kinds.js';
import { INPUTS, InputTimers } from './input-timers.js';
import { PageTimers } from './page-timers.js';
import { pageValue } from './page-value.js';

/** What a key, or a text on its way into a field, makes heard. */
const KEYS = ['keydown', 'keypress', 'keyup', 'beforeinput', 'textInput'] as const;
/** In markup that declares a shadow root. */
const DECLARES = 'shadowrootmode';
type Method = (...args: unknown[]) => unknown;

/** The listeners of an element, by type and phase. */
type Heard = Table<string, unknown[]>;

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
 * Holds {@link pageValue} as a listener of `value`, where only the protocol finds it.
 *
 * Runs once in a window, which may have two documents: its first, empty one is followed by another in the same window, with
 * the functions that stand there, and without any listener. Run again, it only listens again.
 *
 * Nothing that it does after the page's scripts have begun looks up what they may have replaced, and nothing that goes wrong
 * in it is thrown at them.
 *
 * @param names unguessable, so that a page's scripts neither hear nor forge them
 */
export function install(names: HookNames): void {
  const { apply, get } = Reflect;
  const { defineProperty, getOwnPropertyDescriptor } = Object;
  const view = window;
  // Only who knows the name sees that it has run.
  const again: unknown = get(Element.prototype.attachShadow, names.question);
  if (typeof again === 'function') {
    again();
    return;
  }
  const dispatch = (event: Event): void => {
    dispatchAt(view, event);
  };
  let found: Weak<Element>[] = [];
  const listeners = makeNotes((value): value is Heard => value instanceof Table);
  /** What was sent to the other world. */
  const told = makeNotes((value): value is number => typeof value === 'number');
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
    dispatch(new EventClass(names.news));
  };
  const note = (node: Element): void => {
    if (found.length < MAX_PENDING) append(found, new Weak(node));
    announce();
  };

  /** Calls `after` when a script has called a method, which stays native to whoever looks at it. */
  const follow = (
    owner: object,
    name: string,
    after: (self: unknown, args: readonly unknown[], result: unknown) => void,
    more: { readonly before?: () => void; readonly get?: ProxyHandler<Method>['get'] } = {},
  ): void => {
    const descriptor = getOwnPropertyDescriptor(owner, name);
    if (typeof descriptor?.value !== 'function') return;
    const { before, get } = more;
    const handler = bare<ProxyHandler<Method>>({
      apply: (target, self, args: unknown[]) => {
        if (before !== undefined) quietly(before);
        const result = apply(target, self, args);
        quietly(() => after(self, args, result));
        return result;
      },
    });
    if (get !== undefined) handler.get = get;
    defineProperty(owner, name, { ...descriptor, value: new Proxy(descriptor.value as Method, handler) });
  };

  /**
   * No event takes a node out of a closed root. So the other world is given a node first, which then stands in the root
   * for a moment: it is new, and nobody watches it yet.
   */
  const hand = (root: ShadowRoot): void => {
    const probe = createComment(document, '');
    dispatch(new InputEventClass(names.answer, bare({ targetRanges: [rangeAt(probe)] })));
    appendTo(root, probe);
    dispatch(new EventClass(names.answer));
    removeNode(probe);
  };

  for (const name of ['alert', 'confirm', 'prompt']) {
    follow(view, name, () => undefined, { before: () => dispatch(new EventClass(names.dialog)) });
  }

  let anyOpened = false;
  follow(
    Element.prototype,
    'attachShadow',
    (_self, _args, root) => {
      if (!isShadowRoot(root)) return;
      if (rootMode(root) === 'closed') {
        hand(root);
        return;
      }
      anyOpened = true;
      announce();
    },
    { get: (target, key, receiver) => (key === names.question ? () => hearWorld() : get(target, key, receiver)) },
  );

  const parsers: readonly (readonly [owner: object, method: string])[] = [
    [Element.prototype, 'setHTMLUnsafe'],
    [ShadowRoot.prototype, 'setHTMLUnsafe'],
    [Document, 'parseHTMLUnsafe'],
    [Document.prototype, 'write'],
    [Document.prototype, 'writeln'],
  ];
  for (const [owner, name] of parsers) {
    follow(owner, name, (_self, args) => {
      for (let nth = 0; nth < args.length; nth++) {
        const arg = args[nth];
        // To make a text of an object is to run the page's script.
        if (!isObject(arg) && indexOf(toLowerCase(TextOf(arg)), DECLARES) < 0) continue;
        dispatch(new EventClass(names.declared));
        return;
      }
    });
  }

  const keyOf = (type: string, options: unknown): string => {
    const capture = isObject(options) ? dataOf(options, 'capture') : options;
    return capture ? words`${type} capturing` : words`${type} bubbling`;
  };
  const listen = (element: Element, key: string, listener: unknown): void => {
    let own = listeners.get(element);
    if (own === undefined) {
      own = new Table();
      listeners.set(element, own);
    }
    const same = own.get(key);
    if (same === undefined) {
      own.set(key, [listener]);
      note(element);
    } else if (without(same, listener).length === same.length) append(same, listener);
  };
  const forget = (element: Element, key: string, listener: unknown): void => {
    const own = listeners.get(element);
    const same = own?.get(key);
    if (own === undefined || same === undefined) return;
    const rest = without(same, listener);
    own.set(key, rest);
    if (rest.length > 0) return;
    own.delete(key);
    note(element);
  };
  /** The document or the window listens for presses. */
  let wholeListens = false;
  const kindsOf = (element: Element): number => {
    let kinds = 0;
    listeners.get(element)?.forEach((_, key) => {
      kinds |= kindOfEvent(slice(key, 0, indexOf(key, ' ')));
    });
    if (kinds !== 0 && delegated.isForOthers(element)) kinds = 0;
    return wholeListens && element === rootElement(document) ? kinds | WHOLE : kinds;
  };
  // In a document that is there already, scripts may have run.
  let hearsKeys = bodyOf(document) !== null;
  follow(EventTarget.prototype, 'addEventListener', (self, args) => {
    const type = at(args, 0);
    const listener = at(args, 1);
    for (let nth = 0; nth < KEYS.length; nth++) if (KEYS[nth] === type) hearsKeys = true;
    if (typeof type !== 'string' || !listener || kindOfEvent(type) === 0) return;
    const isWhole = isDocument(self) || self === view || self === undefined;
    if (isWhole && !wholeListens && (kindOfEvent(type) & PRESS) !== 0) {
      wholeListens = true;
      announce();
    }
    if (isElement(self)) listen(self, keyOf(type, at(args, 2)), listener);
    if (!isElement(self) && !isDocument(self)) return;
    delegated.heard(self);
    announce();
  });
  follow(EventTarget.prototype, 'removeEventListener', (self, args) => {
    const type = at(args, 0);
    if (typeof type !== 'string' || kindOfEvent(type) === 0 || !isElement(self)) return;
    forget(self, keyOf(type, at(args, 2)), at(args, 1));
  });
  /** Calls `after` when a script has set a handler property. */
  const followHandler = (owner: object, type: string, after: (self: unknown, handler: unknown) => void): void => {
    const descriptor = getOwnPropertyDescriptor(owner, `on${type}`);
    if (descriptor?.set === undefined) return;
    const handler = bare<ProxyHandler<(value: unknown) => void>>({
      apply: (target, self: unknown, args: unknown[]) => {
        apply(target, self, args);
        quietly(() => after(self, at(args, 0)));
      },
    });
    defineProperty(owner, `on${type}`, { ...descriptor, set: new Proxy(descriptor.set, handler) });
  };
  for (const owner of [HTMLElement.prototype, SVGElement.prototype]) {
    for (const type of EVENT_TYPES) {
      const key = `${type} on`;
      followHandler(owner, type, (self, handler) => {
        if (!isElement(self)) return;
        if (typeof handler === 'function') listen(self, key, null);
        else forget(self, key, null);
      });
    }
  }
  for (const owner of [HTMLElement.prototype, Document.prototype, view]) {
    for (const key of KEYS) {
      followHandler(owner, key, () => {
        hearsKeys = true;
      });
    }
  }

  const tellAll = (): void => {
    const ranges = new Table<number, StaticRange[]>();
    const tell = (node: Node, kinds: number): void => {
      if ((told.get(node) ?? 0) === kinds) return;
      told.set(node, kinds);
      if (rootOf(node) === document) {
        const alike = ranges.get(kinds) ?? [];
        append(alike, rangeAt(node));
        ranges.set(kinds, alike);
      }
      // A range does not take a node out of a shadow root. What is in a closed one is heard there.
      else dispatchAt(node, new UIEventClass(names.answer, bare({ composed: isOpen(node), detail: kinds })));
    };
    const root: Element | null = rootElement(document);
    if (wholeListens && root !== null) tell(root, kindsOf(root));
    const byLibrary = new Table<Element, number>();
    delegated.tell((element, kinds) => byLibrary.set(element, (byLibrary.get(element) ?? 0) | kinds));
    byLibrary.forEach((kinds, element) => {
      tell(element, kinds | kindsOf(element));
    });
    const asked = found;
    found = [];
    for (let nth = 0; nth < asked.length; nth++) {
      const node = asked[nth]?.get();
      if (node === undefined || byLibrary.has(node)) continue;
      // A node that is in no document yet is reported later.
      if (!isConnected(node)) note(node);
      else tell(node, kindsOf(node));
    }
    ranges.forEach((targetRanges, detail) => {
      dispatch(new InputEventClass(names.answer, bare({ targetRanges, detail })));
    });
  };
  const answerWorld = (): void => {
    announced = false;
    // No change of the document tells of it; where it is, one sees by looking.
    if (anyOpened) dispatch(new InputEventClass(names.answer));
    anyOpened = false;
    tellAll();
  };
  const timers = new InputTimers();
  const pageTimers = new PageTimers();
  follow(view, 'setTimeout', (_self, args, id) => {
    timers.set(id, delayIn(args));
    pageTimers.set(id, delayIn(args), false);
  });
  follow(view, 'setInterval', (_self, args, id) => pageTimers.set(id, delayIn(args), true));
  for (const name of ['clearTimeout', 'clearInterval']) {
    follow(view, name, (_self, args) => {
      timers.clear(at(args, 0));
      pageTimers.clear(at(args, 0));
    });
  }
  const answerPending = (event: Event): void => {
    if (isUIEvent(event)) return;
    pageTimers.tell((ms, repeats) => {
      // An interval of 0 ms repeats, too.
      const detail = repeats ? -max(1, ms) : ms;
      dispatch(new UIEventClass(names.pending, bare({ detail })));
    });
  };
  const answerTimers = (event: Event): void => {
    if (timers.any) preventDefault(event);
  };
  const answerKeys = (event: Event): void => {
    if (!hearsKeys) preventDefault(event);
  };
  const hearers: { readonly type: string; readonly hear: (event: Event) => void; readonly capture: boolean }[] = [];
  const hear = (type: string, work: (event: Event) => void, capture = false): void => {
    append(hearers, { type, hear: (event) => quietly(() => work(event)), capture });
  };
  hear(names.question, answerWorld);
  hear(names.keys, answerKeys);
  hear(names.timers, answerTimers);
  hear(names.pending, answerPending);
  for (const type of INPUTS) hear(type, timers.hear, true);
  /** Once only, as long as they are there. */
  const hearWorld = (): void => {
    heardIn = document;
    listenAt(view, names.value, pageValue);
    for (let nth = 0; nth < hearers.length; nth++) {
      const hearer = hearers[nth];
      if (hearer !== undefined) listenAt(view, hearer.type, hearer.hear, hearer.capture);
    }
  };
  hearWorld();

  // A document that writes itself anew takes all listeners away from its window.
  for (const name of ['open', 'write', 'writeln']) follow(Document.prototype, name, hearWorld);
}

/** What happens in here is not to be thrown at the page, whose stack may be at its end, for example. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {}
}

/** Of a timer, in milliseconds. To make a number of an object is to run the page's script. */
function delayIn(args: readonly unknown[]): number {
  const delay = at(args, 1);
  return isObject(delay) ? 0 : max(0, NumberOf(delay) || 0);
}

function without(list: readonly unknown[], item: unknown): unknown[] {
  const rest: unknown[] = [];
  for (let nth = 0; nth < list.length; nth++) if (list[nth] !== item) append(rest, list[nth]);
  return rest;
}

function rangeAt(node: Node): StaticRange {
  const range = bare({ startContainer: node, startOffset: 0, endContainer: node, endOffset: 0 });
  return new StaticRangeClass(range);
}

/** Whether every shadow root around a node is open. */
function isOpen(node: Node): boolean {
  for (let root = rootOf(node); isShadowRoot(root); root = rootOf(hostOf(root))) {
    if (rootMode(root) === 'closed') return false;
  }
  return true;
}
