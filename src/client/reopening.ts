import { stretched } from '../base/deadline.js';

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5_000;
/** A stream that was open for so long worked. */
const STEADY_MS = 2_000;
/** Streams that bring nothing are given up after this time. */
const GIVE_UP_MS = stretched(30_000);

/** Says when a stream of events that has ended is asked for again, so that one that brings nothing is not asked for ever. */
export class Reopening {
  readonly #now: () => number;
  readonly #random: () => number;
  /** Since when streams bring nothing; null if the last one did. */
  #barrenSince: number | null = null;
  #pauses = 0;

  constructor(now = () => performance.now(), random = Math.random) {
    this.#now = now;
    this.#random = random;
  }

  /**
   * @param end.events whether the stream brought any
   * @param end.openMs how long it was open; 0 for one that was never
   * @param end.broke it did not end as a stream that is complete
   * @returns the pause before the next request in milliseconds; null if it is to be given up
   */
  after({ events, openMs, broke }: { events: boolean; openMs: number; broke: boolean }): number | null {
    if (events || openMs >= STEADY_MS) [this.#barrenSince, this.#pauses] = [null, 0];
    if (events && !broke) return 0;
    const now = this.#now();
    this.#barrenSince ??= now;
    if (now - this.#barrenSince > GIVE_UP_MS) return null;
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#pauses);
    this.#pauses += 1;
    // Many clients of a service that was restarted do not all come at once.
    return pauseMs * (0.5 + this.#random() / 2);
  }
}

/**
 * The pause before a record is looked at again because its events have ended, in milliseconds: none before the first look and
 * the first one after the events.
 */
export function lookAgainMs(looks: number): number {
  return looks < 2 ? 0 : Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (looks - 2)) * (0.5 + Math.random() / 2);
}
