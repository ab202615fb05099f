import { setTimeout as pause } from 'node:timers/promises';
import { stretched } from '../../base/deadline.js';
import { type DropPoint, PAST_MIDDLE } from '../../page/page-calls.js';
import { type Bounds, remainingMs, toAnswer, within } from '../browser/bounds.js';
import type { CdpDragData } from '../browser/cdp.js';
import type { Tab } from '../tabs/tab.js';
import { hoverAt, type Point, turn } from './pointer.js';

/** How often the pointer is seen on its way in a drag. */
const DRAG_STEPS = 5;
/** So far from its beginning the pointer is seen besides, in pixels. */
const BEGINNING = [1, 3, 6] as const;
/** A press becomes a drag once the pointer has moved so many pixels. */
const DRAG_THRESHOLD = 12;
/** The browser says soon after the first move whether the page lets the element be carried off (HTML drag and drop). */
const DRAG_START_MS = stretched(500);
/** What has moved less, in pixels, has not moved. */
const MOVED_PX = 2;
/** What the pointer carries is where it was asked to be if it is off by no more, in pixels. */
const EXACT_PX = 0.5;
/** As often a page hears where what the browser carries rests, in milliseconds; of a pointer that rests it hears nothing. */
const REST_MS = 50;
/** So far beside the very middle of its target a drag ends, in pixels: a list may know neither side of an item there. */
const BESIDE_PX = 2;
/** Of a small target, no more than this part of its size. */
const BESIDE_PART = 0.1;

interface DragToTarget {
  readonly passes: boolean;
  end(still: boolean): Promise<DropPoint>;
}

/**
 * Drags with the left button: by pointer, or by the browser's own drag and drop where it carries the element off. As a
 * hand does: to the middle of the target, and once everything there stands still, past it, which is where a sorted list
 * makes room; then it is let go, when everything stands still again.
 *
 * @param drag.native the element lets itself be carried off, unless the page forbids it
 * @param drag.holdMs so long the button is held before the pointer moves
 * @param drag.end asked once the drag is under way: where it ends now, or where once that stands still
 * @param drag.passes it goes past the middle of the target; otherwise it ends exactly there
 * @param drag.points where the pointer goes, one after the other, and nowhere else
 */
export async function dragFrom(
  tab: Tab,
  from: Point,
  drag: { readonly native: boolean; readonly holdMs: number } & (DragToTarget | { readonly points: readonly Point[] }),
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
    const carried = tab.watch(() => tab.drag !== null, within(bounds, DRAG_START_MS));
    try {
      await Promise.race([moved, carried.settled]);
    } finally {
      carried.settled.catch(() => undefined);
      carried.stop();
    }
  };
  tab.drag = null;
  await tab.send('Input.setInterceptDrags', { enabled: true }, timeoutMs);
  let last = from;
  try {
    await hoverAt(tab, from, timeoutMs);
    await pointer('mousePressed', from, 1);
    // By the press, a page may only begin to listen for what follows.
    await turn(tab, bounds);
    if (drag.holdMs > 0) await pause(drag.holdMs, undefined, { signal: bounds.signal });
    let carried: Tab['drag'] = null;
    let entered = false;
    const carry = async (to: Point): Promise<void> => {
      last = to;
      // A busy browser may say late that it carries the element off.
      carried ??= tab.drag;
      if (carried === null) return move(to);
      await dragEvent(tab, entered ? 'dragOver' : 'dragEnter', to, carried.data, timeoutMs);
      entered = true;
    };
    // A hand rests until everything stands still.
    const rest = async <T>(still: Promise<T>): Promise<T> => {
      let isOver = false;
      const over = still.finally(() => {
        isOver = true;
      });
      over.catch(() => undefined);
      for (;;) {
        await Promise.race([over, pause(REST_MS)]);
        if (isOver) return over;
        if (carried !== null || tab.drag !== null) await carry(last);
      }
    };
    const begun = async (): Promise<void> => {
      if (drag.native) await tab.until(() => tab.drag !== null, within(bounds, DRAG_START_MS));
      carried = tab.drag;
    };
    if ('points' in drag) {
      for (const [index, point] of drag.points.entries()) {
        const begins = index === 0 && !drag.native ? beginningOf(from, point) : [];
        for (const step of [...begins, ...stepsTo(last, point)]) {
          await carry(step);
          if (index === 0 && carried === null) await begun();
        }
      }
      const end = last;
      const missing = async (): Promise<Point | null> => {
        const shift = await rest(shiftOf(tab, bounds));
        return shift === null || Math.hypot(...shift) < EXACT_PX
          ? null
          : { x: end.x - from.x - shift[0], y: end.y - from.y - shift[1] };
      };
      // A page may count from where it has noticed the drag. As a hand does: on, until what it carries is there.
      const short = await missing();
      if (carried === null && short !== null && isWithin(short, end, from)) {
        await carry({ x: end.x + short.x, y: end.y + short.y });
        const still = await missing();
        // The page has rules of its own: a grid, an edge.
        if (still === null || Math.hypot(still.x, still.y) > EXACT_PX) {
          await carry(end);
          await missing();
        }
      }
    } else {
      await carry({ x: from.x + DRAG_THRESHOLD, y: from.y + DRAG_THRESHOLD });
      await begun();
      const ending = async (still: boolean) => besideMiddle(from, await drag.end(still), drag.passes);
      const target = await ending(false);
      for (const step of stepsTo(last, target)) await carry(step);
      const there = await rest(ending(true));
      const towards = direction(from, target);
      // Beside the middle of a branch is a place before or after it.
      if (!drag.passes || there.into) {
        await carry(there);
      } else if (movedAlong(target, there, from) > -MOVED_PX) {
        // One that has made room has moved against the drag, and is not followed: what is dragged stands in its place.
        await carry(there);
        await carry({
          x: there.x + towards.x * there.width * PAST_MIDDLE,
          y: there.y + towards.y * there.height * PAST_MIDDLE,
        });
        await rest(ending(true));
      }
    }
    const cargo = (carried as Tab['drag']) ?? tab.drag;
    if (cargo !== null) {
      if (!entered) for (const step of stepsTo(from, last)) await carry(step);
      await carry(last);
      await unlessDialog(tab, dragEvent(tab, 'drop', last, cargo.data, timeoutMs), bounds);
    }
  } finally {
    // The button is let go whatever happened: a page with it held down would take every later move for a drag.
    await unlessDialog(tab, pointer('mouseReleased', last, 0), bounds).catch(() => undefined);
    tab.drag = null;
    await tab.send('Input.setInterceptDrags', { enabled: false }, timeoutMs).catch(() => undefined);
  }
}

/** A dialog that the end of a drag opens holds the answer back until somebody closes it. */
async function unlessDialog(tab: Tab, sent: Promise<unknown>, bounds: Bounds): Promise<void> {
  await tab.unlessDialog(sent, toAnswer(bounds));
}

async function shiftOf(tab: Tab, bounds: Bounds): Promise<readonly [dx: number, dy: number] | null> {
  const asked = await tab.ask('dragShift', null, bounds);
  return asked.kind === 'answer' ? asked.value.shift : null;
}

/** Whether what is missing is worth a move, and no more than the whole way. */
function isWithin(short: Point, end: Point, from: Point): boolean {
  const px = Math.hypot(short.x, short.y);
  return px > EXACT_PX && px <= Math.hypot(end.x - from.x, end.y - from.y);
}

/** The way from one point to another, as the pointer is seen on it. */
function stepsTo(from: Point, to: Point): Point[] {
  return Array.from({ length: DRAG_STEPS }, (_, index) => {
    const part = (index + 1) / DRAG_STEPS;
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  });
}

/** The first pixels of a way: a page may count from where it has noticed the drag, and would miss what comes before that. */
function beginningOf(from: Point, to: Point): Point[] {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  return BEGINNING.filter((px) => px * DRAG_STEPS < length).map((px) => ({
    x: from.x + ((to.x - from.x) * px) / length,
    y: from.y + ((to.y - from.y) * px) / length,
  }));
}

/** Across its way a hand hits the middle of nothing. */
function besideMiddle(from: Point, target: DropPoint, passes: boolean): DropPoint {
  if (!passes || target.into) return target;
  const towards = direction(from, target);
  const beside = (start: number, middle: number, size: number): number => {
    const px = Math.min(BESIDE_PX, size * BESIDE_PART);
    return middle < start ? middle - px : middle + px;
  };
  return towards.x === 0
    ? { ...target, x: beside(from.x, target.x, target.width) }
    : { ...target, y: beside(from.y, target.y, target.height) };
}

/** Along the axis on which the target is further away, in its own sizes: 1, -1, or 0 on the other axis. */
function direction(from: Point, { x, y, width, height }: DropPoint): Point {
  const across = (x - from.x) / Math.max(1, width);
  const down = (y - from.y) / Math.max(1, height);
  return Math.abs(across) > Math.abs(down) ? { x: Math.sign(across), y: 0 } : { x: 0, y: Math.sign(down) };
}

/** How far a target has moved the way that the drag goes, in pixels. */
function movedAlong(before: Point, after: Point, from: Point): number {
  const [x, y] = [before.x - from.x, before.y - from.y];
  return ((after.x - before.x) * x + (after.y - before.y) * y) / Math.max(1, Math.hypot(x, y));
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
