import { z } from 'zod';
import type { Command } from './command-step.js';
import { bodyOf, type DriverAnswer } from './driver-request.js';

type Send = (command: Pick<Command, 'method' | 'path'>, raw: string | null) => Promise<DriverAnswer>;

const STATES = /^window\/(?:maximize|minimize|fullscreen)$/;
const SCREEN = { script: 'return [screen.availWidth, screen.availHeight]', args: [] };
const Size = z.object({ value: z.tuple([z.int().positive(), z.int().positive()]) });

/** Whether the command was refused because nothing manages windows on the browser's screen, as in a container. */
export function lacksWindowManager({ method, path }: Command, { status }: DriverAnswer): boolean {
  return method === 'POST' && STATES.test(path) && status === 500;
}

/**
 * Changes a window's state on a screen without a window manager: the largest window is as large as the screen. None can
 * be minimized there, and the recommendation has an error for that (section 11.8.4).
 * @param refused the answer of chromedriver; it stays if the screen's size is not known
 */
export async function withoutWindowManager(
  { path }: Command,
  refused: DriverAnswer,
  send: Send,
): Promise<DriverAnswer> {
  if (path === 'window/minimize') {
    const message = 'The window cannot be minimized: the screen of this browser has no window manager';
    return {
      status: 500,
      text: JSON.stringify({ value: { error: 'unsupported operation', message, stacktrace: '' } }),
    };
  }
  const screen = await send({ method: 'POST', path: 'execute/sync' }, JSON.stringify(SCREEN));
  const size = Size.safeParse(bodyOf(screen));
  if (screen.status !== 200 || !size.success) return refused;
  const [width, height] = size.data.value;
  return send({ method: 'POST', path: 'window/rect' }, JSON.stringify({ x: 0, y: 0, width, height }));
}
