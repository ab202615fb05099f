import type { Tab } from './tab.js';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** How often the pointer is seen on its way in a drag. */
const DRAG_STEPS = 5;
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

/** Drags with the left button: by pointer, or by the browser's own drag and drop where the element asks for it. */
export async function dragBetween(
  tab: Tab,
  from: Point,
  to: Point,
  drag: { readonly native: boolean; readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<void> {
  const { timeoutMs } = drag;
  const pointer = (type: 'mouseMoved' | 'mousePressed' | 'mouseReleased', at: Point, buttons: number) =>
    tab.send('Input.dispatchMouseEvent', { type, x: at.x, y: at.y, button: 'left', buttons, clickCount: 1 }, timeoutMs);
  tab.drag = null;
  if (drag.native) await tab.send('Input.setInterceptDrags', { enabled: true }, timeoutMs);
  try {
    await hoverAt(tab, from, timeoutMs);
    await pointer('mousePressed', from, 1);
    for (let step = 1; step <= DRAG_STEPS && tab.drag === null; step++) {
      const part = step / DRAG_STEPS;
      const at = { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
      // Once the browser carries the element, the pointer's moves are not answered any more.
      const moved = pointer('mouseMoved', at, 1);
      moved.catch(() => undefined);
      if (!drag.native) await moved;
    }
    if (drag.native) {
      const bounds = { deadline: performance.now() + DRAG_START_MS, signal: drag.signal };
      await tab.until(() => tab.drag !== null, bounds);
    }
    const carried = tab.drag as { readonly data: unknown } | null;
    if (carried !== null) {
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await tab.send('Input.dispatchDragEvent', { type, x: to.x, y: to.y, data: carried.data }, timeoutMs);
      }
    }
    await pointer('mouseReleased', to, 0);
  } finally {
    tab.drag = null;
    if (drag.native) await tab.send('Input.setInterceptDrags', { enabled: false }, timeoutMs).catch(() => undefined);
  }
}
