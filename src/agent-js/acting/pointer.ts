import type { Tab } from '../tabs/tab.js';

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Clicks by real pointer events. They are sent together and arrive in order. */
export async function clickAt(
  tab: Tab,
  { x, y }: Point,
  click: { readonly button: 'left' | 'right'; readonly times: 1 | 2 | 3 },
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
