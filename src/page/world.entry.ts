import { Action } from './acting/action.js';
import { DragEvents } from './acting/drop-place.js';
import { fieldValue } from './acting/field.js';
import { pointThroughFrame } from './acting/frame-point.js';
import { Guard } from './acting/guard.js';
import { arm, disarm } from './acting/guards.js';
import { ready } from './acting/ready.js';
import { nextChange } from './changes.js';
import { countNodes } from './controls/count-nodes.js';
import { Discoveries, type HookNames, share } from './controls/discoveries.js';
import { JsonText, LookMemory } from './controls/look-memory.js';
import { shownLooks } from './controls/shown-looks.js';
import { drawMarks } from './draw-marks.js';
import { parseLocator } from './locator.js';
import { markdownOf } from './markdown.js';
import { maskBoxes } from './mask-boxes.js';
import { drawnText } from './names/accessible-name.js';
import { flatText } from './names/flat-text.js';
import { Observer } from './observe.js';
import {
  isProblem,
  type MatchCounts,
  type PageCallName,
  type PageCalls,
  type PageProblem,
  type PageState,
  type Sought,
  type WAITING_CALLS,
  WORLD,
} from './page-calls.js';
import { countFor, countMatches, inertReason, isRendered, movedNumbers, nameFor, resolve } from './resolve.js';
import { nextPaint, settled } from './settled.js';
import { Still } from './still.js';
import { viewportRect } from './tree/geometry.js';
import { bringIntoView } from './tree/scrolling.js';
import { isShown } from './tree/visibility.js';
import { WindowListeners } from './window-listeners.js';

/** A hidden change of style is noticed this late. */
const LOOK_AGAIN_MS = 250;
/** A page that draws nothing has had its turn by then. */
const TURN_MS = 100;
/** A longer text is cut. */
const MAX_TEXT = 1_000_000;

type Answer<N extends PageCallName> = N extends (typeof WAITING_CALLS)[number]
  ? Promise<PageCalls[N][1]>
  : PageCalls[N][1] | JsonText;
type Calls = { [N in PageCallName]: (args: PageCalls[N][0]) => Answer<N> };

/** What stands in the isolated world of every frame. */
interface World {
  readonly guard: Guard;
  readonly discoveries: Discoveries;
  readonly dragEvents: DragEvents;
  /** Names a frame of this document, or of one that it reaches. */
  nameFrame(element: Element, id: string): void;
  /** A closed shadow root that markup has made in this document. */
  adoptRoot(root: ShadowRoot): void;
  /** The answer, as JSON; a promise of it for calls that wait. */
  call(name: PageCallName, args: never): string | Promise<string>;
  /** The element of the action under way, for commands that want the node itself. */
  target(): Element | null;
}

/** Runs once in each document, before its own scripts. */
export function install(names: HookNames): void {
  if (WORLD in globalThis) return;
  const listeners = new WindowListeners();
  const guard = new Guard(listeners);
  const found = sharedDiscoveries() ?? new Discoveries(names);
  share(found);
  found.attend(window, listeners);
  const memory = new LookMemory();
  const dragEvents = new DragEvents(listeners);
  const action = new Action((inner) =>
    inner === document ? dragEvents : (worldOf(inner.defaultView)?.dragEvents ?? null),
  );
  const still = new Still();
  const observer = new Observer();
  let passed: Document | null = null;

  const calls: Calls = {
    state,
    reached: () => ({ reached: worldOf(window.parent) !== null }),
    census: () => ({ nodes: countNodes() }),
    look: ({ within, base, joined }) => {
      const root = within === null ? undefined : resolve(within);
      return root !== undefined && isProblem(root) ? root : memory.look(root, base, joined);
    },
    count: ({ locator, sifts }) => countOf(locator, sifts),
    recount: ({ locators }) => ({ moved: movedNumbers(locators) }),
    through: (point) => {
      const through = pointThroughFrame(point);
      if (isProblem(through)) return through;
      passed = through.document;
      arm(passed, null);
      return { x: through.x, y: through.y };
    },
    inert: ({ frame }) => {
      const element = found.frameElement(frame);
      return { inert: element?.isConnected === true && inertReason(element, true) !== null };
    },
    release: () => {
      const missed = passed === null ? null : disarm(passed).hit;
      passed = null;
      return { missed: missed === null ? null : nameFor(missed) };
    },
    change: async ({ ms }) => {
      await nextChange(ms, 0);
      return {};
    },
    pending: () => ({ timers: found.pendingTimers(window) }),
    settle: async ({ ms, painted }) => ({ busy: await settled(ms, painted) }),
    turn: async () => {
      await nextPaint(TURN_MS);
      return {};
    },
    ready: (request) => ready(request, action),
    dropPoint: (sought) => action.dropPoint(sought),
    dragShift: async () => ({ shift: await action.dragShift() }),
    takesDrop: () => ({ taken: action.takesDrop }),
    finish: (request) => action.finish(request),
    late: ({ ms }) => action.late(ms),
    giveUp: async () => {
      await action.giveUp();
      return {};
    },
    drawMarks: async (request) => ({ png: await drawMarks(request) }),
    text: ({ locator, markdown = false, ...shown }) => {
      const page: Element | null = document.body ?? document.documentElement;
      const element = locator === null ? page : resolve({ locator, ...shown }, { hidden: true });
      if (element === null) return { text: '' };
      if (isProblem(element)) return element;
      if (markdown) return { text: markdownOf(element) };
      const lines = flatText(element);
      return { text: (lines === '' ? drawnText(element) : lines).slice(0, MAX_TEXT) };
    },
    box: (sought) => {
      const element = resolve(sought);
      if (isProblem(element)) return element;
      if (!isShown(element)) return { problem: 'blocked', reason: 'is not visible', final: true };
      bringIntoView(element);
      const { x, y, width, height } = viewportRect(element);
      return { left: x + scrollX, top: y + scrollY, width, height };
    },
    seen: () => {
      const view = visualViewport ?? {
        pageLeft: scrollX,
        pageTop: scrollY,
        width: innerWidth,
        height: innerHeight,
        scale: 1,
      };
      const { pageLeft: left, pageTop: top, width, height, scale: zoom } = view;
      return { left, top, width, height, zoom, deviceScaleFactor: devicePixelRatio };
    },
    spot: (sought) => {
      const element = resolve(sought);
      if (isProblem(element)) return element;
      if (!isShown(element)) return { problem: 'blocked', reason: 'is not visible', final: true };
      const { x, y, width, height } = viewportRect(element);
      return { x, y, width, height, viewportWidth: innerWidth, viewportHeight: innerHeight };
    },
    boxes: ({ locators }) => maskBoxes(locators),
    still: async ({ on, ms }) => {
      if (on) return { busy: await still.hold(ms) };
      still.release();
      return { busy: null };
    },
    value: (sought) => {
      const element = resolve(sought, { hidden: true });
      return isProblem(element) ? element : { value: fieldValue(element) };
    },
    waitFor: ({ gone, ms, ...sought }) => waitFor(sought, gone, ms),
    observe: (request) => observer.observe(request),
  };

  const world: World = {
    guard,
    dragEvents,
    discoveries: found,
    nameFrame: (element, id) => found.nameFrame(element, id),
    adoptRoot: (root) => found.adoptRoot(root),
    call: (name, args) => {
      const answer = calls[name](args);
      return answer instanceof Promise ? answer.then(answerText) : answerText(answer);
    },
    target: () => action.target,
  };
  Object.defineProperty(globalThis, WORLD, { value: world });
}

function answerText(value: object): string {
  const text = value instanceof JsonText ? value.text : JSON.stringify(value);
  return `{"title":${JSON.stringify(document.title)},"value":${text}}`;
}

function state(): PageState {
  return { url: location.href, title: document.title };
}

function countOf(source: string, sifts: boolean): MatchCounts | PageProblem {
  const locator = parseLocator(source);
  if (locator === undefined) return problemOf(source);
  try {
    return countMatches(locator, sifts);
  } catch {
    return problemOf(source);
  }
}

async function waitFor(sought: Sought<string>, gone: boolean, ms: number): Promise<{ found: boolean } | PageProblem> {
  const source = sought.locator;
  const deadline = performance.now() + ms;
  const locator = parseLocator(source);
  // The one that explains what is wrong with it.
  if (locator === undefined) return problemOf(source);
  for (;;) {
    const startedAt = performance.now();
    let count: number;
    try {
      count = countFor(locator, gone);
    } catch {
      return problemOf(source);
    }
    const index = locator.kind === 'text' ? (locator.index ?? 1) : 1;
    const shown = shownLooks.find(sought);
    // What has gone for good may come again under its number, in another element.
    const counts = shown === null || (isProblem(shown) && !gone);
    const isThere = counts ? count >= index : !isProblem(shown) && isRendered(shown);
    if (isThere !== gone) return { found: true };
    const now = performance.now();
    if (now >= deadline) return { found: false };
    await nextChange(Math.min(LOOK_AGAIN_MS, deadline - now), now - startedAt);
  }
}

function problemOf(source: string): PageProblem {
  const outcome = resolve({ locator: source });
  return isProblem(outcome) ? outcome : { problem: 'syntax', message: `${source} is not a locator` };
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
