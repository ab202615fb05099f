import { stretched } from '../../base/deadline.js';
import {
  type DragEnd,
  type DragWish,
  type Finished,
  type FinishRequest,
  isProblem,
  type Ready,
  type ReadyRequest,
  type TypedOutcome,
} from '../../page/page-calls.js';
import { TroupeError } from '../../protocol/errors.js';
import type { DialogNotice } from '../../protocol/look.js';
import { type Bounds, remainingMs, within } from '../browser/bounds.js';
import type { BegunDownload } from '../files/downloads.js';
import { problemError } from '../locating/problem-error.js';
import { actOnDialog } from '../tabs/dialog-controls.js';
import { failureWords } from '../tabs/navigation.js';
import type { Asked, Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';
import type { ActOptions, ActRequest } from './act-request.js';
import { chord } from './keyboard.js';
import { awaitedInput, type How, perform } from './perform.js';
import { waitUntilLoaded } from './wait.js';

/** How long an action without any effect so far is given to have one. */
const GRACE_MS = 60;
/** How long the requests of an action without any effect so far may take to have one. */
const LATE_MS = 1_000;
/** How long the page around a frame may take to tell that the frame's form leads it away. */
const OUTWARDS_MS = stretched(400);
/** How long a window that a page has asked for may take to be there. */
const WINDOW_MS = stretched(2_000);
/** Where nothing has followed the pointer, the button is held longer: some pages let things be dragged after a long press. */
const HOLDS_MS = [0, 700, 1_500] as const;
/** A drag takes so long, besides. */
const DRAG_MS = stretched(1_500);
/** A longer message of a dialog is cut. */
const MAX_MESSAGE = 2_000;

export interface Acted {
  readonly changed: boolean;
  readonly url: string;
  readonly title: string;
  /** What a field shows, where that is not the text that was typed; null: its page has taken the field away. */
  readonly value?: string | null;
  /** What has come of a drag, where that can be told. */
  readonly drag?: DragEnd;
  /** What asks for an answer now. */
  readonly dialog?: DialogNotice;
  /** The index of a tab that has opened, and is in front now. */
  readonly newTab?: number;
  readonly download?: BegunDownload;
  /** Of the document that has come, where it came by HTTP. */
  readonly status?: number;
}

/** What there was before an action. */
interface Before {
  readonly tabs: number;
  readonly downloads: number;
  readonly loaderId: string | undefined;
}

/** What came of an action; `place` where the page itself said it last. */
interface Outcome {
  readonly changed: boolean;
  readonly place?: { readonly url: string; readonly title: string };
  readonly value?: string | null;
  readonly drag?: DragEnd;
}

/** Carries out an action by real input, and waits for the navigation or the window that it starts. */
export async function act(tabs: Tabs, request: ActRequest, options: ActOptions): Promise<Acted> {
  const tab = tabs.active;
  const { navigation } = tab;
  navigation.mark = navigation.count;
  const { stays } = navigation;
  const before = { tabs: tabs.opened, downloads: options.downloads.begun.count, loaderId: navigation.loaderId };
  // One that is no key is told before anything is waited for.
  if (request.action === 'press') chord(String(request.value));
  if (tab.dialog !== null) {
    const { dialog } = tab;
    const value = typeof request.value === 'string' ? request.value : null;
    options.onField({ password: false });
    await actOnDialog(tab, request.locator, request.action, value, options.bounds).catch((error: unknown) => {
      if (!tab.isClosed) throw error;
    });
    if (dialog.kind === 'beforeunload' && dialog.isOutermost && navigation.stays === stays) await leaves(tab, options);
    return consequences(tabs, tab, before, options, await settled(tabs, tab, { changed: true }, options));
  }
  const url = tab.url;
  const outcome = await attempt(tab, request, options).catch(async (error: unknown) => {
    const isRefused = error instanceof TroupeError && error.code === 'ACTION_FAILED';
    if (isRefused && request.action === 'select') await tab.ask('giveUp', null, options.after).catch(() => undefined);
    throw error;
  });
  const moved = tab.url !== url || tab.dialog !== null;
  return consequences(
    tabs,
    tab,
    before,
    options,
    await settled(tabs, tab, moved ? { changed: true } : outcome, options),
  );
}

/** An answer, and in it what an action has led to. */
function consequences(tabs: Tabs, tab: Tab, before: Before, { downloads }: ActOptions, acted: Acted): Acted {
  const front = tabs.active;
  const { dialog } = front;
  const { loaderId, status } = front.navigation;
  const opened = front !== tab && tabs.opened > before.tabs;
  const download = downloads.begun.count > before.downloads ? downloads.begun.last : null;
  const came = status !== null && (front !== tab ? opened : loaderId !== before.loaderId);
  return {
    ...acted,
    ...(dialog === null ? {} : { dialog: { kind: dialog.kind, message: dialog.message.slice(0, MAX_MESSAGE) } }),
    ...(opened ? { newTab: tabs.all.indexOf(front) } : {}),
    ...(download === null ? {} : { changed: true, download }),
    ...(came ? { status } : {}),
  };
}

async function attempt(tab: Tab, request: ActRequest, options: ActOptions): Promise<Outcome> {
  const { locator, action } = request;
  const { bounds } = options;
  // Of a list that is no `select`, one option after the other is chosen.
  const wanted = action === 'select' && Array.isArray(request.value) ? [...request.value] : null;
  let list: ReadyRequest['list'] = 'closed';
  let hovered = false;
  let anyChange = false;
  let holds = 0;
  let byKeys = false;
  for (;;) {
    const sought = {
      locator,
      action,
      value: wanted ?? request.value,
      at: request.at ?? startOf(request),
      list,
      hovered,
      byKeys,
    };
    const ready = await whenReady(tab, sought, bounds);
    // A dialog holds what the page has begun: the action was done.
    if (ready === 'dialog') return { changed: true };
    options.onField(ready);
    const { count } = tab.navigation;
    const finished = await carryOut(
      tab,
      ready,
      { ...request, value: wanted ?? request.value },
      { ...options, holdMs: HOLDS_MS[holds] ?? 0, byKeys },
    );
    // The page has gone on, or asks something: the action was done.
    if (finished.kind !== 'answer') return { changed: true };
    if (ready.hovers) {
      hovered = true;
      continue;
    }
    const { changed, submitsOutwards, missed, undone, typed, dragged, url, title } = finished.value;
    if (missed === null) {
      if (submitsOutwards) {
        await tab.until(() => hasMoved(tab) || isNavigating(tab), within(options.after, OUTWARDS_MS));
      }
      anyChange ||= changed;
      const hasLed = (): boolean => tab.navigation.count !== count || isNavigating(tab);
      if (typed?.kind === 'other' && typed.again === true && !byKeys && !hasLed() && !tab.network.hasSent) {
        // A mask may have put the characters in another order than keys bring them.
        byKeys = true;
        continue;
      }
      if (typed?.kind === 'other') throw failed(tab, refusal(request, ready, typed.shown), locator);
      if (undone !== null && !hasLed()) {
        throw failed(tab, `${locator} ${undone}`, locator);
      }
      const chose = !ready.opens && !ready.types;
      if (chose) wanted?.shift();
      list = chose ? 'perhaps open' : 'open';
      const more = !chose || (ready.tag !== 'select' && wanted !== null && wanted.length > 0);
      if (more) continue;
      const failure = dragged !== null && 'failure' in dragged ? dragged : null;
      const isQuiet = !anyChange && !tab.network.hasAsked;
      const holdMs = HOLDS_MS[holds + 1];
      if (failure?.failure === 'nothing' && isQuiet && mayHold(request, ready) && hasTimeFor(holdMs, bounds)) {
        holds += 1;
        continue;
      }
      // What the page has sent may be what the drag was for, which shows later.
      const late = anyChange || !tab.network.hasAsked ? null : await changesLate(tab, options.after);
      const end = late?.changed === true ? late.dragged : dragged;
      if (end !== null && 'failure' in end && !hasLed()) {
        const isSure = end.failure === 'elsewhere' || !tab.network.hasAsked;
        if (isSure && (isToTarget(request) || end.failure !== 'nothing'))
          throw failed(tab, `${locator} ${end.reason}`, locator);
      }
      const shown = {
        ...shownBy(typed, request),
        ...(end !== null && 'outcome' in end ? { drag: end } : {}),
      };
      if (late !== null) return { changed: late.changed, ...shown };
      return { changed: anyChange, place: { url, title }, ...shown };
    } else if (remainingMs(bounds) <= 0) {
      throw failed(tab, `${locator} ${missed}`, locator);
    }
    // Otherwise something came between, and nothing was clicked or typed. Once more, while there is time.
  }
}

function choicesOf({ value }: ActRequest): readonly string[] {
  return typeof value === 'string' ? [value] : (value ?? []);
}

/** A drag along points begins at the first of them. */
function startOf({ drag }: ActRequest): ReadyRequest['at'] {
  if (drag === null || !('path' in drag)) return null;
  const [[x, y] = [0, 0]] = drag.path;
  return { x, y };
}

/** What a drag is for. */
function wishOf({ drag }: ActRequest): DragWish | null {
  if (drag === null) return null;
  if ('to' in drag) return { to: drag.to, by: null };
  if ('by' in drag) return { to: null, by: drag.by };
  const [[x, y] = [0, 0], [endX, endY] = [0, 0]] = [drag.path[0], drag.path.at(-1)];
  return { to: null, by: [endX - x, endY - y] };
}

function isToTarget({ drag }: ActRequest): boolean {
  return drag !== null && 'to' in drag;
}

/** What is drawn along a path, or on a canvas, may be kept where nobody sees it, and is not drawn again. */
function mayHold({ drag }: ActRequest, { tag }: Ready): boolean {
  return drag !== null && !('path' in drag) && tag !== 'canvas';
}

function hasTimeFor(holdMs: number | undefined, bounds: Bounds): boolean {
  return holdMs !== undefined && remainingMs(bounds) > holdMs + DRAG_MS;
}

/** What a field shows, for an answer: nothing where it is what was typed. */
function shownBy(typed: TypedOutcome | null, { value }: ActRequest): { value?: string | null } {
  if (typed === null || typed.shown === value || (typed.kind === 'same' && Array.isArray(value))) return {};
  if (typed.kind === 'same') return typed.shown === '' ? {} : { value: typed.shown };
  return { value: typed.kind === 'gone' ? null : '' };
}

function refusal({ locator, action }: ActRequest, { password }: Ready, shown: string): string {
  const what = password ? 'something else' : shown === '' ? 'nothing' : JSON.stringify(shown.slice(0, 200));
  return `${locator} does not take what was ${action === 'select' ? 'chosen' : 'typed'}: it shows ${what}`;
}

/** Sends the input and learns what came of it. */
async function carryOut(
  tab: Tab,
  ready: Ready,
  request: ActRequest,
  options: ActOptions & How,
): Promise<Asked<Finished>> {
  if (ready.finished !== null) return { kind: 'answer', value: ready.finished };
  const isLast = !ready.opens && !ready.types;
  const typed = isLast ? textOf(request, ready) : null;
  const chosen = request.action === 'select' && isLast ? choicesOf(request) : null;
  const awaits = awaitedInput(request, ready, options.byKeys);
  const drag = wishOf(request);
  const sent = perform(tab, ready, request, options);
  if (awaits !== null) {
    sent.catch(() => undefined);
    // Asked while the keys are on their way: one way there and back less.
    const asked = await finish(tab, { graceMs: GRACE_MS, typed, chosen, awaits, drag }, options.after);
    if (asked.kind !== 'answer' || asked.value.heard) return asked;
  }
  await sent;
  return finish(tab, { graceMs: GRACE_MS, typed, chosen, awaits: null, drag }, options.after);
}

/** What the element should hold afterwards; null for all but what writes. */
function textOf({ action, value }: ActRequest, { commits, canvasEditor }: Ready): string | null {
  if (action === 'clear') return commits || canvasEditor ? '' : null;
  return action === 'input' && typeof value === 'string' ? value : null;
}

async function finish(tab: Tab, request: FinishRequest, bounds: Bounds): Promise<Asked<Finished>> {
  try {
    return await tab.ask('finish', request, bounds);
  } catch (error) {
    if (tab.isClosed) return { kind: 'navigated' };
    throw error;
  }
}

/** Waits for something to come of the requests that an action has made. */
async function changesLate(
  tab: Tab,
  bounds: Bounds,
): Promise<{ readonly changed: boolean; readonly dragged: Finished['dragged'] }> {
  const limit = within(bounds, LATE_MS);
  for (let isOpen = true; isOpen && remainingMs(limit) > 0; ) {
    // Once more after the last answer: the page has yet to show it.
    isOpen = tab.network.awaited > 0;
    const asked = await tab.ask('late', { ms: GRACE_MS }, bounds);
    if (asked.kind !== 'answer') return { changed: true, dragged: null };
    if (asked.value.changed) return asked.value;
  }
  return { changed: false, dragged: null };
}

async function whenReady(tab: Tab, request: Omit<ReadyRequest, 'ms'>, bounds: Bounds): Promise<Ready | 'dialog'> {
  const { ownDialogs } = tab;
  for (;;) {
    const asked = await tab.ask('ready', { ...request, ms: remainingMs(bounds) }, bounds);
    if (asked.kind === 'dialog') {
      if (tab.ownDialogs > ownDialogs) return 'dialog';
      throw tab.dialogError();
    }
    if (asked.kind === 'answer') {
      if (!isProblem(asked.value)) return asked.value;
      const quiet = asked.value.problem === 'blocked' && asked.value.quiet === true;
      // Requests that are under way may bring what is missing.
      if (quiet && tab.network.isLoading && remainingMs(bounds) > 0) continue;
      throw problemError(asked.value, request.locator, tab);
    }
    if (remainingMs(bounds) <= 0) throw new TroupeError('WAIT_TIMEOUT', 'The page keeps navigating');
  }
}

/** Waits for the window or the page that the action has asked for. */
async function settled(tabs: Tabs, tab: Tab, outcome: Outcome, options: ActOptions): Promise<Acted> {
  const { changed, place, ...more } = outcome;
  const { after: bounds } = options;
  if (tab.state === 'open' && tab.openingWindows > 0) {
    await tab
      .until(() => tab.openingWindows === 0 || tab.state === 'closed', within(bounds, WINDOW_MS))
      .catch(() => false);
    tab.openingWindows = 0;
  }
  const front = tabs.active;
  if (place !== undefined && front === tab && tab.dialog === null && !isNavigating(tab) && !hasMoved(tab)) {
    return { changed, ...place, ...more };
  }
  if (front !== tab || isNavigating(front)) {
    if (!(await waitUntilLoaded(front, bounds))) {
      throw new TroupeError('WAIT_TIMEOUT', `The page that this led to did not load in time`);
    }
  }
  // An error page may stand there before anybody has looked.
  const { failure } = front.navigation;
  if (failure !== null && hasMoved(front)) {
    const words = failureWords(failure.errorText);
    throw failed(front, `This led to ${failure.url}, which cannot be reached: ${words}`, undefined);
  }
  return { changed: changed || front !== tab || hasMoved(front), ...(await front.place(bounds)), ...more };
}

/** What may be left goes elsewhere, which it has said by then, or its window is closed. */
async function leaves(tab: Tab, { after }: ActOptions): Promise<void> {
  const hasGone = (): boolean => tab.isClosed || isNavigating(tab) || hasMoved(tab);
  await tab.until(() => hasGone() || tab.dialog !== null, within(after, WINDOW_MS)).catch(() => false);
}

function hasMoved({ navigation }: Tab): boolean {
  return navigation.count > navigation.mark;
}

function isNavigating(tab: Tab): boolean {
  return tab.navigation.pending !== null || (hasMoved(tab) && !tab.navigation.isSettled('load'));
}

function failed(tab: Tab, message: string, locator: string | undefined): TroupeError {
  return new TroupeError('ACTION_FAILED', message, {
    url: tab.url,
    title: tab.title,
    ...(locator === undefined ? {} : { locator }),
  });
}
