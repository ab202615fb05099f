import { realNow } from './real-time.js';

/** What begins something that a page may put off. */
export const INPUTS = ['keydown', 'input', 'change', 'pointerdown', 'click', 'drop'] as const;

/** A timer that is set so soon after an input, and is this short, is how a page waits for a pause in it. In milliseconds. */
const SOON_MS = 150;
const LONGEST_MS = 600;
/** A timer may be late. */
const LATE_MS = 30;
const MAX_TIMERS = 100;

/** Runs in the page's own world: the timers that an input has set. A page that sets one after the other is not followed. */
export class InputTimers {
  #heardAt = Number.NEGATIVE_INFINITY;
  /** When each is due. */
  readonly #due = new Map<unknown, number>();

  /** A listener for {@link INPUTS}. */
  readonly hear = (event: Event): void => {
    if (event.isTrusted) this.#heardAt = realNow();
  };

  set(id: unknown, delay: unknown): void {
    const ms = Number(delay);
    const now = realNow();
    if (!(ms > 0 && ms <= LONGEST_MS) || now - this.#heardAt > SOON_MS) return;
    for (const [known, due] of this.#due) if (due < now) this.#due.delete(known);
    if (this.#due.size < MAX_TIMERS) this.#due.set(id, now + ms + LATE_MS);
  }

  clear(id: unknown): void {
    this.#due.delete(id);
  }

  /** Whether one is running. */
  get any(): boolean {
    const now = realNow();
    for (const due of this.#due.values()) if (due > now) return true;
    return false;
  }
}
