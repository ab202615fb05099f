import { TroupeError } from '../protocol/errors.js';
import type { ActionName } from '../protocol/look.js';
import { type Bounds, remainingMs, within } from './bounds.js';
import { actOnDialog } from './dialog-controls.js';
import { pressChord, typeText } from './keyboard.js';
import { formatLocator } from './locator.js';
import { failureWords } from './navigation.js';
import { type Finished, isProblem, type PageCalls, type Ready } from './page-calls.js';
import { clickAt, dragBetween, hoverAt } from './pointer.js';
import { problemError } from './problem-error.js';
import type { Asked, Tab } from './tab.js';
import type { Tabs } from './tabs.js';
import { uploadPaths } from './uploads.js';
import { waitUntilLoaded } from './wait.js';

/** How long an action without any effect so far is given to have one. */
const GRACE_MS = 60;
/** How long a window that a page has asked for may take to be there. */
const WINDOW_MS = 2_000;
const CHOOSER_MS = 3_000;

export interface ActRequest {
  readonly locator: string;
  readonly action: ActionName;
  readonly value: string | readonly string[] | null;
}

export interface Acted {
  readonly changed: boolean;
  readonly url: string;
  readonly title: string;
}

interface ActOptions {
  readonly uploadsDir: string;
  /** For the element to be ready. */
  readonly bounds: Bounds;
  /** For what the action leads to. */
  readonly after: Bounds;
  /** Told as soon as it is known whether what is typed is a password. */
  onField(field: { readonly password: boolean }): void;
}

/** Carries out an action by real input, and waits for the navigation or the window that it starts. */
export async function act(tabs: Tabs, request: ActRequest, options: ActOptions): Promise<Acted> {
  const tab = tabs.active;
  const { navigation } = tab;
  navigation.mark = navigation.count;
  if (tab.dialog !== null) {
    const value = typeof request.value === 'string' ? request.value : null;
    options.onField({ password: false });
    await actOnDialog(tab, request.locator, request.action, value, options.bounds);
    return settled(tabs, tab, true, options);
  }
  const url = tab.url;
  const changed = await attempt(tab, request, options);
  return settled(tabs, tab, changed || tab.url !== url || tab.dialog !== null, options);
}

async function attempt(tab: Tab, request: ActRequest, options: ActOptions): Promise<boolean> {
  const { locator, action } = request;
  const { bounds } = options;
  for (;;) {
    const ready = await whenReady(tab, request, bounds);
    options.onField(ready);
    const { count } = tab.navigation;
    if (!ready.done) await perform(tab, ready, request, options);
    const typed = action === 'input' && typeof request.value === 'string' ? request.value : null;
    const finished = await finish(tab, { graceMs: ready.done ? 0 : GRACE_MS, typed }, options.after);
    // The page has gone on, or asks something: the action was done.
    if (finished.kind !== 'answer') return true;
    const { changed, missed, checked, refused } = finished.value;
    if (missed === null) {
      if (refused) throw failed(tab, `${locator} does not take what was typed`, locator);
      const wanted = action === 'check' || action === 'uncheck' ? action === 'check' : null;
      if (wanted !== null && checked !== wanted && tab.navigation.count === count && !isNavigating(tab)) {
        throw failed(tab, `${locator} was clicked and is still ${wanted ? 'unchecked' : 'checked'}`, locator);
      }
      if (action === 'select' && ready.tag !== 'select') {
        const text = Array.isArray(request.value) ? request.value[0] : request.value;
        const option = formatLocator({ role: 'option', text: String(text ?? '') });
        return attempt(tab, { locator: option, action: 'click', value: null }, options);
      }
      return changed;
    }
    // Something came between; nothing was clicked. Once more, while there is time.
    if (remainingMs(bounds) <= 0) throw failed(tab, `${locator} is covered by ${missed}`, locator);
  }
}

async function finish(tab: Tab, args: PageCalls['finish'][0], bounds: Bounds): Promise<Asked<Finished>> {
  try {
    return await tab.ask('finish', args, bounds);
  } catch (error) {
    if (isClosed(tab)) return { kind: 'navigated' };
    throw error;
  }
}

async function whenReady(tab: Tab, request: ActRequest, bounds: Bounds): Promise<Ready> {
  for (;;) {
    const asked = await tab.ask('ready', { ...request, ms: remainingMs(bounds) }, bounds);
    if (asked.kind === 'dialog') throw tab.dialogError();
    if (asked.kind === 'answer') {
      if (!isProblem(asked.value)) return asked.value;
      throw problemError(asked.value, request.locator, tab);
    }
    if (remainingMs(bounds) <= 0) throw new TroupeError('WAIT_TIMEOUT', 'The page does not stop navigating');
  }
}

async function perform(tab: Tab, ready: Ready, request: ActRequest, options: ActOptions): Promise<void> {
  const timeoutMs = Math.max(1_000, remainingMs(options.bounds));
  const text = typeof request.value === 'string' ? request.value : '';
  switch (request.action) {
    case 'click':
    case 'check':
    case 'uncheck':
    case 'select':
      return input(tab, options.after, clickAt(tab, ready, { button: 'left', times: 1 }, timeoutMs));
    case 'dblclick':
      return input(tab, options.after, clickAt(tab, ready, { button: 'left', times: 2 }, timeoutMs));
    case 'rightclick':
      return input(tab, options.after, clickAt(tab, ready, { button: 'right', times: 1 }, timeoutMs));
    case 'hover':
      return input(tab, options.after, hoverAt(tab, ready, timeoutMs));
    case 'input':
      if (text !== '') return input(tab, options.after, typeText(tab, text, timeoutMs));
      return input(tab, options.after, pressChord(tab, 'Delete', timeoutMs));
    case 'clear':
      return input(tab, options.after, pressChord(tab, 'Delete', timeoutMs));
    case 'press':
      return input(tab, options.after, pressChord(tab, text, timeoutMs));
    case 'upload':
      return upload(tab, ready, request, options);
    case 'drag':
      return drag(tab, ready, request, options.bounds);
    case 'focus':
    case 'scroll':
      // Done by the page's script.
      return;
  }
}

/** Waits for input to arrive. A dialog that it opens holds the answer back until somebody closes it. */
async function input(tab: Tab, bounds: Bounds, sent: Promise<void>): Promise<void> {
  const cut = new AbortController();
  const own = { deadline: bounds.deadline, signal: AbortSignal.any([bounds.signal, cut.signal]) };
  const dialog = tab.until(() => tab.dialog !== null, own);
  dialog.catch(() => undefined);
  sent.catch(() => undefined);
  try {
    await Promise.race([sent, dialog]);
  } catch (error) {
    // A click may close its own tab.
    if (!isClosed(tab)) throw error;
  } finally {
    cut.abort();
  }
}

async function upload(tab: Tab, ready: Ready, request: ActRequest, options: ActOptions): Promise<void> {
  const { bounds } = options;
  const names = Array.isArray(request.value) ? request.value : [String(request.value ?? '')];
  const files = await uploadPaths(options.uploadsDir, names);
  if (ready.inputType === 'file') {
    const objectId = await tab.targetNode(bounds);
    if (objectId === null) throw failed(tab, `${request.locator} has gone`, request.locator);
    await tab.send('DOM.setFileInputFiles', { files, objectId }, Math.max(1, remainingMs(bounds)));
    await tab.send('Runtime.releaseObject', { objectId }).catch(() => undefined);
    return;
  }
  // A button that opens the chooser of an input elsewhere.
  tab.fileChooser = null;
  await tab.send('Page.setInterceptFileChooserDialog', { enabled: true });
  try {
    await input(
      tab,
      options.after,
      clickAt(tab, ready, { button: 'left', times: 1 }, Math.max(1_000, remainingMs(bounds))),
    );
    await tab.until(() => tab.fileChooser !== null, within(options.after, CHOOSER_MS));
    if (tab.fileChooser === null) throw failed(tab, `${request.locator} opens no file chooser`, request.locator);
    await tab.send('DOM.setFileInputFiles', { files, backendNodeId: tab.fileChooser });
  } finally {
    await tab.send('Page.setInterceptFileChooserDialog', { enabled: false }).catch(() => undefined);
  }
}

async function drag(tab: Tab, ready: Ready, request: ActRequest, bounds: Bounds): Promise<void> {
  const locator = typeof request.value === 'string' ? request.value : '';
  const target = await tab.askAny('point', { locator }, bounds);
  if (isProblem(target)) throw problemError(target, locator, tab);
  // Looking for the end may have scrolled the beginning.
  const start = await tab.askAny('point', { locator: request.locator }, bounds);
  const from = isProblem(start) ? ready : start;
  const timeoutMs = Math.max(1_000, remainingMs(bounds));
  await dragBetween(tab, from, target, { native: ready.draggable, signal: bounds.signal, timeoutMs });
}

/** Waits for the window or the page that the action has asked for. */
async function settled(tabs: Tabs, tab: Tab, changed: boolean, options: ActOptions): Promise<Acted> {
  const { after: bounds } = options;
  if (tab.state === 'open' && tab.openingWindows > 0) {
    await tab
      .until(() => tab.openingWindows === 0 || tab.state === 'closed', within(bounds, WINDOW_MS))
      .catch(() => false);
    tab.openingWindows = 0;
  }
  const front = tabs.active;
  if (front !== tab || isNavigating(front)) {
    if (!(await waitUntilLoaded(front, bounds))) {
      throw new TroupeError('WAIT_TIMEOUT', `The page that this led to did not load in time`);
    }
  }
  // An error page may stand there before anybody has looked.
  const { failure } = front.navigation;
  if (failure !== null && front.navigation.count > front.navigation.mark) {
    throw failed(
      front,
      `This led to ${failure.url}, which cannot be reached: ${failureWords(failure.errorText)}`,
      undefined,
    );
  }
  return { changed: changed || front !== tab, ...(await front.place(bounds)) };
}

function isNavigating(tab: Tab): boolean {
  const { pending, count, mark } = tab.navigation;
  return pending !== null || (count > mark && !tab.navigation.isSettled('load'));
}

/** Asked through a call, because the compiler does not see that it changes. */
function isClosed(tab: Tab): boolean {
  return tab.state === 'closed';
}

function failed(tab: Tab, message: string, locator: string | undefined): TroupeError {
  return new TroupeError('ACTION_FAILED', message, {
    url: tab.url,
    title: tab.title,
    ...(locator === undefined ? {} : { locator }),
  });
}
