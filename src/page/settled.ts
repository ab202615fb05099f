import { nextChange } from './changes.js';
import { discoveries } from './controls/discoveries.js';
import { styleWrites } from './style-writes.js';

/** Timers give no sign when they end. */
const LOOK_AGAIN_MS = 50;
/** So long a frame is waited for. */
const FRAME_MS = 250;
/** Frames in which no script writes a style: what it animated has ended. */
const STILL_FRAMES = 2;

/**
 * Waits until no animation runs that will end, be it the browser's or a script's, and no timer that an input has set.
 *
 * @param ms so long at most
 * @param painted first waits for the page to draw what it has got
 * @returns what was under way then; null: nothing
 */
export async function settled(ms: number, painted: boolean): Promise<string | null> {
  const deadline = performance.now() + ms;
  if (painted) await nextPaint(Math.min(LOOK_AGAIN_MS, ms));
  let still = styleWrites.take() ? 0 : STILL_FRAMES;
  for (;;) {
    const busy = underWay() ?? (still < STILL_FRAMES ? 'an animation' : null);
    const left = deadline - performance.now();
    if (busy === null) return null;
    if (left <= 0) {
      if (still < STILL_FRAMES) styleWrites.giveUp();
      return busy;
    }
    if (still < STILL_FRAMES) {
      const drawn = await nextPaint(Math.min(FRAME_MS, left));
      if (styleWrites.take()) still = 0;
      // No frame has come on a machine that is busy: a script had no turn to write in.
      else if (drawn || document.hidden) still += 1;
    } else {
      await nextChange(Math.min(LOOK_AGAIN_MS, left), 0);
      if (styleWrites.take()) still = 0;
    }
  }
}

function underWay(): string | null {
  for (const { playState, effect, timeline } of document.getAnimations()) {
    if (playState !== 'running' || effect === null || timeline !== document.timeline) continue;
    const { endTime } = effect.getComputedTiming();
    if (endTime !== Number.POSITIVE_INFINITY) return 'an animation';
  }
  return discoveries()?.awaitsTimer(window) === true ? 'a timer' : null;
}

/**
 * Settles in the task after the next picture.
 *
 * @returns false if none came in time: a page in the background draws nothing
 */
export function nextPaint(longestMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), longestMs);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(() => resolve(true));
    });
  });
}
