import { parseLocator } from '../locator.js';
import {
  isProblem,
  type PageCallName,
  type PageCalls,
  type PageLook,
  type PageProblem,
  type PageState,
  WORLD,
} from '../page-calls.js';
import { drawnText } from './accessible-name.js';
import { Changes } from './changes.js';
import { collectControls, locatorsOf } from './controls.js';
import { describe } from './descriptor.js';
import { fieldValue, fingerprint } from './field.js';
import { frameOf, isHtml } from './flat-tree.js';
import { Guard } from './guard.js';
import { nextChange } from './next-change.js';
import { dropPoint, ready } from './ready.js';
import { matchesOf, nameFor, resolve } from './resolve.js';
import { checkedState } from './roles.js';

/** A hidden change of style is noticed this late. */
const LOOK_AGAIN_MS = 250;
/** A longer text is cut. */
const MAX_TEXT = 1_000_000;

type Calls = {
  [N in PageCallName]: (args: PageCalls[N][0]) => PageCalls[N][1] | Promise<PageCalls[N][1]>;
};

/** What stands in the isolated world of every frame. */
interface World {
  readonly guard: Guard;
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
export function install(): void {
  if (WORLD in globalThis) return;
  const guard = new Guard();
  let action: Action | null = null;

  const begin = (element: Element): void => {
    action?.changes.stop();
    action = { element, before: fingerprint(element), changes: new Changes() };
    for (
      let inner: Document | undefined = element.ownerDocument;
      inner !== undefined;
      inner = frameOf(inner)?.ownerDocument
    ) {
      guardOf(inner)?.arm(inner === element.ownerDocument ? element : null);
    }
  };

  const calls: Calls = {
    state,
    look: ({ within }) => look(within),
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
      let missed: Element | null = null;
      for (
        let inner: Document | undefined = element.ownerDocument;
        inner !== undefined;
        inner = frameOf(inner)?.ownerDocument
      ) {
        missed = guardOf(inner)?.disarm() ?? missed;
      }
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
    call: async (name, args) => {
      const value = await calls[name](args);
      return JSON.stringify({ title: document.title, value });
    },
    target: () => action?.element ?? null,
  };
  Object.defineProperty(globalThis, WORLD, { value: world });
}

function state(): PageState {
  return { url: location.href, title: document.title };
}

function look(within: string | null): PageLook | PageProblem {
  const root = within === null ? undefined : resolve(within);
  if (root !== undefined && isProblem(root)) return root;
  const controls = collectControls();
  const locators = locatorsOf(controls);
  const shown = root === undefined ? controls : controls.filter(({ element }) => root.contains(element));
  return { ...state(), elements: shown.map((control) => describe(control, locators.get(control) ?? '')) };
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

/** The guard of a frame's own world: isolated worlds of one name see each other where the documents do. */
function guardOf(inner: Document): Guard | null {
  const world: unknown = inner.defaultView === null ? undefined : Reflect.get(inner.defaultView, WORLD);
  return typeof world === 'object' && world !== null ? (world as World).guard : null;
}
