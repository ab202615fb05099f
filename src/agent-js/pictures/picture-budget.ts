import { availableParallelism, cpus } from 'node:os';

/** The least time between two pictures of one session: 15 a second are enough to follow a page. */
export const LIVE_MS = 66;
/** The same for viewers of many sessions. */
export const SLOW_MS = 1_000;

/** The cost of a picture in milliseconds of the browser's processor time, and of each million pixels of it. */
const PICTURE_MS = 5;
const MEGAPIXEL_MS = 15;
/** What all pictures together may cost of all cores: this fraction if the machine is busy, ... */
const BUSY_PART = 0.02;
/**
 * ... and this fraction if it is idle. In between it grows with the cube of the idle fraction, because processes of a
 * busy machine wait long for a core.
 */
const IDLE_PART = 0.2;
const LOOK_EVERY_MS = 1_000;

/** A session whose pictures are wanted. */
export interface Watched {
  /** The least time between two pictures that its viewers want, in milliseconds. */
  readonly wantsMs: number;
  /** The size of a picture in million pixels. */
  readonly megapixels: number;
  /** Its page does not change: no picture is taken until it does. */
  readonly isQuiet: boolean;
  /** A viewer controls the session with mouse and keyboard, so it is not slowed down. */
  readonly isControlled: boolean;
}

/**
 * Decides how often pictures of watched sessions are taken, so that other sessions are not slowed down. The sessions'
 * browsers draw the pictures on the cores that all share, so pictures get a fraction of the idle time. On a busy
 * machine of two cores, twenty screens get a picture every nine seconds; a single screen still gets all that it wants.
 */
export class PictureBudget {
  readonly #watched = new Set<Watched>();
  readonly #cores = availableParallelism();
  /** The idle fraction of all cores' time, when it was last measured. */
  #idlePart = 0;
  #lookedAt = 0;
  #ticks = readTicks();

  /** Undone by {@link leave}. */
  join(watched: Watched): void {
    this.#watched.add(watched);
  }

  leave(watched: Watched): void {
    this.#watched.delete(watched);
  }

  /** The milliseconds between two pictures of a session that has joined. */
  paceOf(watched: Watched): number {
    const { wantsMs, isControlled } = watched;
    const sharing = [...this.#watched].filter((one) => !one.isQuiet && !one.isControlled);
    if (isControlled || sharing.length <= 1) return wantsMs;
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

/**
 * The shortest interval at which all sessions together stay within the budget. A session that wants a longer one leaves
 * its share to the others.
 */
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

/** Ticks of all cores since the machine started. */
function readTicks(): { readonly idle: number; readonly all: number } {
  const times = cpus().map((core) => core.times);
  const idle = times.reduce((sum, one) => sum + one.idle, 0);
  const all = times.reduce((sum, { user, nice, sys, irq, idle }) => sum + user + nice + sys + irq + idle, 0);
  return { idle, all };
}
