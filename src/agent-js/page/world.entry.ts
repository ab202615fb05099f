import { parseLocator } from '../locator.js';
import {
  isProblem,
  type MatchCounts,
  type PageCallName,
  type PageCalls,
  type PageProblem,
  type PageState,
  WORLD,
} from '../page-calls.js';
import { drawnText } from './accessible-name.js';
import { Changes } from './changes.js';
import { Discoveries, type HookNames, share } from './discoveries.js';
import { fieldValue, fingerprint } from './field.js';
import { frameOf, isHtml } from './flat-tree.js';
import { pointThroughFrame } from './frame-point.js';
import { Guard } from './guard.js';
import { JsonText, LookMemory } from './look-memory.js';
import { nextChange } from './next-change.js';
import { dropPoint, ready } from './ready.js';
import { countMatches, matchesOf, nameFor, resolve } from './resolve.js';
import { checkedState } from './roles.js';

/** A hidden change of style is noticed this late. */
const LOOK_AGAIN_MS = 250;
/** A longer text is cut. */
const MAX_TEXT = 1_000_000;

type Calls = {
  [N in PageCallName]: (args: PageCalls[N][0]) => PageCalls[N][1] | JsonText | Promise<PageCalls[N][1]>;
};

/** What stands in the isolated world of every frame. */
interface World {
  readonly guard: Guard;
  readonly discoveries: Discoveries;
  /** Names a frame of this document, or of one that it reaches. */
  nameFrame(element: Element, id: string): void;
  /** Arguments and result are JSON texts. */
  call(name: PageCallName, args: never): Promise<string>;
  /** The element of the action under way, for commands that want the node itself. */
  target(): Element | null;
}

interface Action {
  readonly element: Element;
  readonly before: string;
  readonly changes: Changes;
}

/** Runs once in each document, before its own scripts. */
export function install(names: HookNames): void {
  if (WORLD in globalThis) return;
  const guard = new Guard();
  const found = sharedDiscoveries() ?? new Discoveries(names);
  share(found);
  found.attend(window, names);
  const memory = new LookMemory();
  let action: Action | null = null;

  /** Watches over the next input: it must land in the element, or nowhere in the documents around it. */
  const arm = (inner: Document, element: Element | null): void => {
    for (const one of outward(inner)) guardOf(one)?.arm(one === inner ? element : null);
  };
  const disarm = (inner: Document): Element | null => {
    let missed: Element | null = null;
    for (const one of outward(inner)) missed = guardOf(one)?.disarm() ?? missed;
    return missed;
  };
  const begin = (element: Element): void => {
    action?.changes.stop();
    action = { element, before: fingerprint(element), changes: new Changes() };
    arm(element.ownerDocument, element);
  };
  let passed: Document | null = null;

  const calls: Calls = {
    state,
    look: ({ within, base, named }) => {
      const root = within === null ? undefined : resolve(within);
      return root !== undefined && isProblem(root) ? root : memory.look(root, base, named);
    },
    count: ({ locator }) => countOf(locator),
    through: async (point) => {
      const through = pointThroughFrame(point);
      if (isProblem(through)) return through;
      passed = through.document;
      arm(passed, null);
      return { x: through.x, y: through.y };
    },
    release: () => {
      const missed = passed === null ? null : disarm(passed);
      passed = null;
      return { missed: missed === null ? null : nameFor(missed) };
    },
    change: async ({ ms }) => {
      await nextChange(ms, 0);
      return {};
    },
    ready: async (request) => {
      const outcome = await ready(request, begin);
      return isProblem(outcome) ? outcome : outcome.ready;
    },
    point: ({ locator }) => dropPoint(locator),
    finish: async ({ graceMs, typed }) => {
      const own = action;
      action = null;
      if (own === null) return { ...state(), changed: false, missed: null, checked: null, refused: false };
      const { element, before, changes } = own;
      const missed = disarm(element.ownerDocument);
      const differs = () => changes.any || fingerprint(element) !== before;
      if (missed === null && !differs()) await changes.first(graceMs);
      changes.stop();
      const checked = checkedState(element);
      return {
        ...state(),
        changed: differs(),
        missed: missed === null ? null : nameFor(missed),
        checked: checked === 'mixed' ? null : checked,
        refused: typed !== null && typed !== '' && isHtml(element, 'input') && element.value === '',
      };
    },
    text: ({ locator }) => {
      const element =
        locator === null ? (document.body ?? document.documentElement) : resolve(locator, { hidden: true });
      if (isProblem(element)) return element;
      // biome-ignore lint/performance/useDomNodeTextContent: only what is drawn, in its lines
      const lines = (element as Partial<HTMLElement>).innerText?.trim() ?? '';
      return { text: (lines === '' ? drawnText(element) : lines).slice(0, MAX_TEXT) };
    },
    value: ({ locator }) => {
      const element = resolve(locator, { hidden: true });
      return isProblem(element) ? element : { value: fieldValue(element) };
    },
    waitFor: ({ locator, gone, ms }) => waitFor(locator, gone, ms),
  };

  const world: World = {
    guard,
    discoveries: found,
    nameFrame: (element, id) => found.nameFrame(element, id),
    call: async (name, args) => {
      const value = await calls[name](args);
      const text = value instanceof JsonText ? value.text : JSON.stringify(value);
      return `{"title":${JSON.stringify(document.title)},"value":${text}}`;
    },
    target: () => action?.element ?? null,
  };
  Object.defineProperty(globalThis, WORLD, { value: world });
}

function state(): PageState {
  return { url: location.href, title: document.title };
}

function countOf(source: string): MatchCounts | PageProblem {
  const locator = parseLocator(source);
  if (locator === undefined) return problemOf(source);
  try {
    return countMatches(locator);
  } catch {
    return problemOf(source);
  }
}

async function waitFor(source: string, gone: boolean, ms: number): Promise<{ found: boolean } | PageProblem> {
  const deadline = performance.now() + ms;
  const locator = parseLocator(source);
  // The one that explains what is wrong with it.
  if (locator === undefined) return problemOf(source);
  for (;;) {
    const startedAt = performance.now();
    let matches: Element[];
    try {
      matches = matchesOf(locator);
    } catch {
      return problemOf(source);
    }
    const index = locator.kind === 'text' ? (locator.index ?? 1) : 1;
    if (matches.length >= index !== gone) return { found: true };
    const now = performance.now();
    if (now >= deadline) return { found: false };
    await nextChange(Math.min(LOOK_AGAIN_MS, deadline - now), now - startedAt);
  }
}

function problemOf(source: string): PageProblem {
  const outcome = resolve(source);
  return isProblem(outcome) ? outcome : { problem: 'syntax', message: `${source} is not a locator` };
}

/** A document and those around it, as far as they can be reached. */
function outward(inner: Document): Document[] {
  const documents: Document[] = [];
  for (let one: Document | undefined = inner; one !== undefined; one = frameOf(one)?.ownerDocument) documents.push(one);
  return documents;
}

/** The guard of a frame's own world. */
function guardOf(inner: Document): Guard | null {
  return worldOf(inner.defaultView)?.guard ?? null;
}

/** The discoveries of the documents around this one. */
function sharedDiscoveries(): Discoveries | undefined {
  return window.parent === window ? undefined : worldOf(window.parent)?.discoveries;
}

/** Isolated worlds of one name see each other where the documents do. */
function worldOf(view: Window | null): World | null {
  try {
    const world: unknown = view === null ? undefined : Reflect.get(view, WORLD);
    return typeof world === 'object' && world !== null ? (world as World) : null;
  } catch {
    return null;
  }
}
