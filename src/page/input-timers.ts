import { Table } from '../script/prelude/primordials.js';
import { eventType } from './dom-primordials.js';
import { realNow } from './real-time.js';

/** What begins something that a page may put off. */
export const INPUTS = [
  'keydown',
  'input',
  'change',
  'pointerdown',
  'pointerup',
  'click',
  'drop',
  'wheel',
  'focusin',
  'pointerover',
] as const;

/** A timer that is set so soon after an input, and is this short, is how a page waits for a pause in it. In milliseconds. */
const SOON_MS = 150;
const LONGEST_MS = 600;
/** A timer may be late. */
const LATE_MS = 30;
const MAX_TIMERS = 100;

/** Runs in the page's own world: the timers that an input has set. A page that sets one after the other is not followed. */
export class InputTimers {
  #heardAt = Number.NEGATIVE_INFINITY;
  #hovered = false;
  /** When each is due, and whether the pointer above something has set it. */
  readonly #timers = new Table<unknown, { readonly due: number; readonly hovered: boolean }>();

  /** A listener for {@link INPUTS}. */
  readonly hear = (event: Event): void => {
    if (!event.isTrusted) return;
    this.#heardAt = realNow();
    const type = eventType(event);
    this.#hovered = type === 'pointerover';
    if (type !== 'pointerdown') return;
    // The pointer has come to press: whoever does that waits for no hint.
    this.#timers.forEach(({ hovered }, id) => {
      if (hovered) this.#timers.delete(id);
    });
  };

  set(id: unknown, ms: number): void {
    const now = realNow();
    if (!(ms > 0 && ms <= LONGEST_MS) || now - this.#heardAt > SOON_MS) return;
    this.#timers.forEach(({ due }, known) => {
      if (due < now) this.#timers.delete(known);
    });
    if (this.#timers.size < MAX_TIMERS) this.#timers.set(id, { due: now + ms + LATE_MS, hovered: this.#hovered });
  }

  clear(id: unknown): void {
    this.#timers.delete(id);
  }

  /** Whether one is running. */
  get any(): boolean {
    const now = realNow();
    let any = false;
    this.#timers.forEach(({ due }) => {
      any ||= due > now;
    });
    return any;
  }
}
