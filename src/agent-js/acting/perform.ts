import { type AwaitedInput, type DropPoint, isProblem, type Ready } from '../../page/page-calls.js';
import { type Bounds, remainingMs } from '../browser/bounds.js';
import { problemError } from '../locating/problem-error.js';
import type { Tab } from '../tabs/tab.js';
import type { ActOptions, ActRequest } from './act-request.js';
import { dragFrom } from './drag.js';
import { chord, inTurn, keys, type Typing, text, type } from './keyboard.js';
import { clickAt, hoverAt, wheelAt } from './pointer.js';
import { uploadFiles } from './uploads.js';

/** In which way an input is sent that has been tried in another one. */
export interface How {
  /** So long the button is held before a drag. */
  readonly holdMs: number;
  /** A text is typed key by key. */
  readonly byKeys: boolean;
}

/** Sends the input of an action to the element that is ready for it. Settles when it has arrived. */
export async function perform(
  tab: Tab,
  ready: Ready,
  request: ActRequest,
  { holdMs, byKeys, ...options }: ActOptions & How,
): Promise<void> {
  const timeoutMs = Math.max(1_000, remainingMs(options.bounds));
  if (ready.hovers) return arrived(tab, options.after, hoverAt(tab, ready, timeoutMs));
  switch (request.action) {
    case 'click':
    case 'check':
    case 'uncheck':
      return arrived(tab, options.after, clickAt(tab, ready, { button: 'left', times: 1 }, options.bounds));
    case 'select': {
      if (ready.presses !== null)
        return arrived(tab, options.after, type(tab, typing(request, ready, byKeys), timeoutMs));
      if (!ready.types) {
        const times = ready.doubles ? 2 : 1;
        return arrived(tab, options.after, clickAt(tab, ready, { button: 'left', times }, options.bounds));
      }
      const [sought = ''] = Array.isArray(request.value) ? request.value : [request.value ?? ''];
      return arrived(tab, options.after, type(tab, text(sought, { rich: false }), timeoutMs));
    }
    case 'dblclick':
      return arrived(tab, options.after, clickAt(tab, ready, { button: 'left', times: 2 }, options.bounds));
    case 'tripleclick':
      return arrived(tab, options.after, clickAt(tab, ready, { button: 'left', times: 3 }, options.bounds));
    case 'rightclick':
      return arrived(tab, options.after, clickAt(tab, ready, { button: 'right', times: 1 }, options.bounds));
    case 'hover':
      return arrived(tab, options.after, hoverAt(tab, ready, timeoutMs));
    case 'input':
    case 'clear':
    case 'press':
      if (ready.carries !== null) {
        const [dx, dy] = ready.carries;
        const points = [{ x: ready.x + dx, y: ready.y + dy }];
        return dragFrom(tab, ready, { native: false, holdMs: 0, points }, options.bounds);
      }
      if (ready.opens && ready.presses === null) {
        const times = ready.doubles ? 2 : 1;
        return arrived(tab, options.after, clickAt(tab, ready, { button: 'left', times }, options.bounds));
      }
      return arrived(tab, options.after, type(tab, typing(request, ready, byKeys), timeoutMs));
    case 'upload':
      return upload(tab, ready, request, options);
    case 'drag':
      return drag(tab, ready, request, holdMs, options.bounds);
    case 'wheel':
    case 'scroll':
      return arrived(tab, options.after, wheelAt(tab, ready, request.wheel ?? ready.wheel ?? [0, 0], timeoutMs));
    case 'focus':
    case 'selectText':
      // Done by the page's script.
      return;
  }
}

/** By what the page hears that the action's input is there; null where its arrival is what the browser says. */
export function awaitedInput(request: ActRequest, ready: Ready, byKeys: boolean): AwaitedInput | null {
  const { action } = request;
  if (ready.hovers || (ready.opens && ready.presses === null)) return null;
  return action === 'input' || action === 'clear' || action === 'press' ? typing(request, ready, byKeys).awaits : null;
}

/** What stands in the field is selected, or is by the keys that come first: typing replaces it. */
function typing(
  { action, value }: ActRequest,
  { rich, canvasEditor, presses, commits }: Ready,
  byKeys: boolean,
): Typing {
  const typed = typeof value === 'string' ? value : '';
  if (action === 'press') return chord(typed);
  if (presses !== null) return inTurn(...Array.from({ length: presses.times }, () => chord(presses.key)));
  if (byKeys) return keys(typed);
  const own = action === 'clear' || typed === '' ? chord('Delete') : text(typed, { rich: rich || canvasEditor });
  if (commits) return inTurn(own, chord('Enter'));
  return canvasEditor ? inTurn(chord('Control+a'), own) : own;
}

/** Waits for input to arrive. A dialog that it opens holds the answer back until somebody closes it. */
async function arrived(tab: Tab, bounds: Bounds, sent: Promise<void>): Promise<void> {
  try {
    await tab.unlessDialog(sent, bounds);
  } catch (error) {
    // A click may close its own tab.
    if (!tab.isClosed) throw error;
  }
}

async function upload(tab: Tab, ready: Ready, { locator, value }: ActRequest, options: ActOptions): Promise<void> {
  const names = Array.isArray(value) ? value : [String(value ?? '')];
  const click = () => arrived(tab, options.after, clickAt(tab, ready, { button: 'left', times: 1 }, options.bounds));
  await uploadFiles(
    tab,
    {
      names,
      dir: options.uploadsDir,
      flowsDir: options.flowsDir,
      locator,
      isInput: ready.inputType === 'file',
      point: ready,
      click,
    },
    options,
  );
}

async function drag(tab: Tab, ready: Ready, { drag: way }: ActRequest, holdMs: number, bounds: Bounds): Promise<void> {
  if (way === null) return;
  const native = ready.draggable;
  if ('by' in way) {
    const [dx, dy] = way.by;
    return dragFrom(tab, ready, { native, holdMs, points: [{ x: ready.x + dx, y: ready.y + dy }] }, bounds);
  }
  if ('path' in way) {
    const [[x, y] = [0, 0], ...rest] = way.path;
    const points = rest.map((point) => ({ x: ready.x + point[0] - x, y: ready.y + point[1] - y }));
    return dragFrom(tab, ready, { native, holdMs, points }, bounds);
  }
  const { to, at } = way;
  const end = async (named: string | null, still: boolean): Promise<DropPoint> => {
    const point = await tab.askAny('dropPoint', { locator: named, still, at }, bounds);
    if (isProblem(point)) throw problemError(point, to, tab);
    return point;
  };
  await end(to, false);
  await dragFrom(tab, ready, { native, holdMs, passes: at === null, end: (still) => end(null, still) }, bounds);
}
