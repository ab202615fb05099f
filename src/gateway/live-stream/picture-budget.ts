import { availableParallelism, cpus } from 'node:os';

/** Two pictures of one session are so far apart at least: 15 a second are as many as the eye needs of a page. */
export const LIVE_MS = 66;
/** The same for who looks at many. */
export const SLOW_MS = 1_000;

/** Milliseconds of a browser's processor that a picture costs, and what a million pixels add to that. */
const PICTURE_MS = 5;
const MEGAPIXEL_MS = 15;
/** What all pictures together may cost of all cores: this part where the machine is busy, ... */
const BUSY_PART = 0.02;
/** ... and this part where it is idle; between the two by the cube of what is idle, since who waits then waits long. */
const IDLE_PART = 0.2;
const LOOK_EVERY_MS = 1_000;

/** A session whose pictures are wanted. */
export interface Watched {
  /** Between two pictures, at least, as its viewers want it; in milliseconds. */
  readonly wantsMs: number;
  /** A million pixels of a picture. */
  readonly megapixels: number;
  /** Its page stays as it is: no picture is taken until it changes. */
  readonly isQuiet: boolean;
  /** Somebody works on the picture with mouse and keyboard, and does not wait for others. */
  readonly isHandled: boolean;
}

/**
 * How often pictures are taken of the sessions that are watched, so that those that are not do not feel it. Pictures are
 * drawn by the sessions' own browsers, on the cores that all share: they get a part of what is idle there. On a busy
 * machine of two cores twenty screens have a picture in nine seconds, and one alone still all that it wants.
 */
export class PictureBudget {
  readonly #watched = new Set<Watched>();
  readonly #cores = availableParallelism();
  /** Of all cores' time, what was idle when it was last looked at. */
  #idlePart = 0;
  #lookedAt = 0;
  #ticks = readTicks();

  /** Give it back with {@link leave}. */
  join(watched: Watched): void {
    this.#watched.add(watched);
  }

  leave(watched: Watched): void {
    this.#watched.delete(watched);
  }

  /** Milliseconds between two pictures of one of the sessions that have joined. */
  paceOf(watched: Watched): number {
    const { wantsMs, isHandled } = watched;
    const sharing = [...this.#watched].filter((one) => !one.isQuiet && !one.isHandled);
    if (isHandled || sharing.length <= 1) return wantsMs;
    return Math.max(wantsMs, paceWithin(sharing, this.#msPerSecond()));
  }

  #msPerSecond(): number {
    const now = performance.now();
    if (now - this.#lookedAt > LOOK_EVERY_MS) {
      const { idle, all } = readTicks();
      const passed = all - this.#ticks.all;
      if (passed > 0) this.#idlePart = (idle - this.#ticks.idle) / passed;
      this.#ticks = { idle, all };
      this.#lookedAt = now;
    }
    return 1_000 * this.#cores * Math.max(BUSY_PART, IDLE_PART * this.#idlePart ** 3);
  }
}

/** The shortest time between two pictures of each with which they stay within their budget; who wants fewer leaves the rest. */
export function paceWithin(sharing: readonly Pick<Watched, 'wantsMs' | 'megapixels'>[], msPerSecond: number): number {
  const costOf = ({ megapixels }: Pick<Watched, 'megapixels'>) => PICTURE_MS + MEGAPIXEL_MS * megapixels;
  let left = msPerSecond / 1_000;
  let cost = sharing.reduce((sum, one) => sum + costOf(one), 0);
  for (const one of [...sharing].sort((a, b) => b.wantsMs - a.wantsMs)) {
    if (cost / left >= one.wantsMs) return cost / left;
    cost -= costOf(one);
    left -= costOf(one) / one.wantsMs;
  }
  return 0;
}

/** Ticks of all cores since the machine began. */
function readTicks(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((core) => core.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const all = times.reduce((sum, { user, nice, sys, irq, idle }) => sum + user + nice + sys + irq + idle, 0);
  return { idle, all };
}
