import type { Bounds } from '../browser/bounds.js';
import { remainingMs, within } from '../browser/bounds.js';
import type { CdpDragData } from '../browser/cdp.js';
import type { Tab } from '../tabs/tab.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How often the pointer is seen on its way in a drag. */
const DRAG_STEPS = 5;
/** A press becomes a drag once the pointer has moved so many pixels. */
const DRAG_THRESHOLD = 12;
/** The browser says soon after the first move whether the page lets the element be carried off (HTML drag and drop). */
const DRAG_START_MS = 500;

/** Clicks by real pointer events. They are sent together and arrive in order. */
export async function clickAt(
  tab: Tab,
  { x, y }: Point,
  click: { readonly button: 'left' | 'right'; readonly times: 1 | 2 },
  timeoutMs: number,
): Promise<void> {
  const { button } = click;
  const buttons = button === 'left' ? 1 : 2;
  const sent: Promise<unknown>[] = [hoverAt(tab, { x, y }, timeoutMs)];
  for (let clickCount = 1; clickCount <= click.times; clickCount++) {
    const press = { x, y, button, clickCount };
    sent.push(tab.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...press, buttons }, timeoutMs));
    sent.push(tab.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...press, buttons: 0 }, timeoutMs));
  }
  await Promise.all(sent);
}

export async function hoverAt(tab: Tab, { x, y }: Point, timeoutMs: number): Promise<void> {
  await tab.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y, button: 'none', buttons: 0 }, timeoutMs);
}

/**
 * Drags with the left button: by pointer, or by the browser's own drag and drop where it carries the element off.
 *
 * @param drag.native the element lets itself be carried off, unless the page forbids it
 * @param drag.end asked once the drag is under way: where it ends now
 */
export async function dragFrom(
  tab: Tab,
  from: Point,
  drag: { readonly native: boolean; end(): Promise<Point> },
  bounds: Bounds,
): Promise<void> {
  const timeoutMs = Math.max(1_000, remainingMs(bounds));
  const pointer = (type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', at: Point, buttons: number) =>
    tab.send('Input.dispatchMouseEvent', { type, x: at.x, y: at.y, button: 'left', buttons, clickCount: 1 }, timeoutMs);
  // Once the browser carries the element, moves of the pointer are not answered any more.
  const move = async (to: Point): Promise<void> => {
    if (tab.drag !== null) return;
    const moved = pointer('mouseMoved', to, 1);
    moved.catch(() => undefined);
    await Promise.race([moved, tab.until(() => tab.drag !== null, within(bounds, DRAG_START_MS))]);
  };
  tab.drag = null;
  await tab.send('Input.setInterceptDrags', { enabled: true }, timeoutMs);
  let last = from;
  try {
    await hoverAt(tab, from, timeoutMs);
    await pointer('mousePressed', from, 1);
    last = { x: from.x + DRAG_THRESHOLD, y: from.y + DRAG_THRESHOLD };
    await move(last);
    if (drag.native) await tab.until(() => tab.drag !== null, within(bounds, DRAG_START_MS));
    const to = await drag.end();
    const carried = tab.drag as Tab['drag'];
    const start = last;
    for (let step = 1; step <= DRAG_STEPS; step++) {
      const part = step / DRAG_STEPS;
      last = { x: start.x + (to.x - start.x) * part, y: start.y + (to.y - start.y) * part };
      if (carried === null) await move(last);
      else await dragEvent(tab, step === 1 ? 'dragEnter' : 'dragOver', last, carried.data, timeoutMs);
    }
    if (carried !== null) {
      await dragEvent(tab, 'dragOver', to, carried.data, timeoutMs);
      await dragEvent(tab, 'drop', to, carried.data, timeoutMs);
    }
  } finally {
    // The button is let go whatever happened: a page with it held down would take every later move for a drag.
    await pointer('mouseReleased', last, 0).catch(() => undefined);
    tab.drag = null;
    await tab.send('Input.setInterceptDrags', { enabled: false }, timeoutMs).catch(() => undefined);
  }
}

/**
 * Carries files over a point and lets them go there, if what is there takes them.
 *
 * @param taken asked while they are over it
 */
export async function dropFiles(
  tab: Tab,
  at: Point,
  files: readonly string[],
  drop: { taken(): Promise<boolean>; readonly timeoutMs: number },
): Promise<boolean> {
  const data = { items: [], files: [...files], dragOperationsMask: 1 };
  await dragEvent(tab, 'dragEnter', at, data, drop.timeoutMs);
  await dragEvent(tab, 'dragOver', at, data, drop.timeoutMs);
  const taken = await drop.taken();
  await dragEvent(tab, taken ? 'drop' : 'dragCancel', at, data, drop.timeoutMs);
  return taken;
}

async function dragEvent(
  tab: Tab,
  type: 'dragEnter' | 'dragOver' | 'drop' | 'dragCancel',
  { x, y }: Point,
  data: CdpDragData,
  timeoutMs: number,
): Promise<void> {
  await tab.send('Input.dispatchDragEvent', { type, x, y, data }, timeoutMs);
}
