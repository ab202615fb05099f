import { type Bounds, remainingMs, within } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** How long a page may take for its turn between a press and its end. */
const TURN_MS = 1_000;

/**
 * Clicks by real pointer events. They are sent together and arrive in order. A hand lets go later than it presses: where
 * the page reacts to the press, by which it may only begin to listen for its end, it has its turn in between.
 *
 * @param at.holds the page reacts to the press
 */
export async function clickAt(
  tab: Tab,
  { x, y, holds }: Point & { readonly holds: boolean },
  click: { readonly button: 'left' | 'right'; readonly times: 1 | 2 | 3 },
  bounds: Bounds,
): Promise<void> {
  const timeoutMs = Math.max(1_000, remainingMs(bounds));
  const { button } = click;
  const buttons = button === 'left' ? 1 : 2;
  const sent: Promise<unknown>[] = [hoverAt(tab, { x, y }, timeoutMs)];
  for (let clickCount = 1; clickCount <= click.times; clickCount++) {
    const press = { x, y, button, clickCount };
    const pressed = tab.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...press, buttons }, timeoutMs);
    sent.push(pressed);
    // Whatever the press has led to, the button is let go.
    if (holds) {
      await pressed.catch(() => undefined);
      await turn(tab, bounds);
    }
    sent.push(tab.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...press, buttons: 0 }, timeoutMs));
  }
  await Promise.all(sent);
}

/** Settles when the page has had its turn after what it was sent, or does not answer. */
export async function turn(tab: Tab, bounds: Bounds): Promise<void> {
  await tab.ask('turn', null, within(bounds, TURN_MS)).catch(() => undefined);
}

/** Turns the wheel with the pointer at a point. */
export async function wheelAt(
  tab: Tab,
  { x, y }: Point,
  [deltaX, deltaY]: readonly [dx: number, dy: number],
  timeoutMs: number,
): Promise<void> {
  const turn = { type: 'mouseWheel', x, y, deltaX, deltaY } as const;
  await Promise.all([hoverAt(tab, { x, y }, timeoutMs), tab.send('Input.dispatchMouseEvent', turn, timeoutMs)]);
}

export async function hoverAt(tab: Tab, { x, y }: Point, timeoutMs: number): Promise<void> {
  await tab.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y, button: 'none', buttons: 0 }, timeoutMs);
}
