import { hasNumber } from '../controls/actions.js';
import { isThumb, thumbNumber } from '../controls/carried.js';
import { inputKind, roleOf } from '../names/roles.js';
import type { PageProblem, Presses } from '../page-calls.js';
import { blocked } from './reach.js';
import { type Carry, TrackDrag } from './slider-track.js';

/** Keys that are pressed before the slider is asked where it stands. */
const MAX_PRESSES = 200;
const MAX_ROUNDS = 20;
/** A slider has moved by then after a key, in milliseconds. */
const MOVED_MS = 500;
const CLOSE = 1e-9;

/**
 * Moves a slider that a page draws to a value, by the arrow keys, and learns by the first how far one moves it. One that
 * cannot be focused, or does not move by a key, is dragged.
 */
export class SliderMove {
  #pressed: (Presses & { readonly from: number; readonly at: number }) | null = null;
  #rounds = 0;
  #drag: TrackDrag | null = null;

  start(): void {
    this.#pressed = null;
    this.#rounds = 0;
    this.#drag = null;
  }

  /** Keys are of no use: it is dragged from now on. */
  drags(): void {
    this.#drag ??= new TrackDrag();
  }

  /** The keys to press, or the drag to do, next; null: it stands where it should. */
  next(slider: Element, value: string): Presses | Carry | PageProblem | null {
    const wanted = value.trim() === '' ? Number.NaN : Number(value);
    const now = numberOf(slider);
    if (!Number.isFinite(wanted)) return blocked(`takes a number, not ${JSON.stringify(value)}`, true);
    const least = slider.getAttribute('aria-valuemin');
    const most = slider.getAttribute('aria-valuemax');
    if (isBeyond(wanted, least, -1) || isBeyond(wanted, most, 1)) {
      return blocked(`does not take ${wanted}: it goes from ${least ?? 'any number'} to ${most ?? 'any number'}`, true);
    }
    if (Math.abs(now - wanted) < CLOSE) return null;
    // What is dragged stands at a pixel: it is as exact as the number that was asked for is written.
    if (this.#drag?.hasMoved(now) === true && isAsWritten(now, value)) return null;
    if (this.#drag !== null) return this.#drag.next(slider, wanted, now);
    const last = this.#pressed;
    const [more, less] = keysOf(slider);
    if (last === null) return this.#press({ key: wanted > now ? more : less, times: 1 }, now);
    if (now === last.from) {
      if (performance.now() - last.at <= MOVED_MS) return blocked('does not move by the arrow keys');
      this.drags();
      return this.next(slider, value);
    }
    const step = (now - last.from) / last.times;
    const times = Math.round((wanted - now) / step);
    if (times === 0 || ++this.#rounds > MAX_ROUNDS) {
      return blocked(`does not take ${wanted}: it moves in steps of ${Math.abs(step)} and shows ${now}`, true);
    }
    const key = times > 0 ? last.key : last.key === more ? less : more;
    return this.#press({ key, times: Math.min(Math.abs(times), MAX_PRESSES) }, now);
  }

  #press(presses: Presses, from: number): Presses {
    this.#pressed = { ...presses, from, at: performance.now() };
    return presses;
  }
}

/** Whether an element has a number that arrow keys or a drag change, and takes no text. */
export function isSlider(element: Element): boolean {
  if (inputKind(element) !== 'none') return false;
  if (isThumb(element) && element.getAttribute('aria-valuenow') === null) return thumbNumber(element) !== null;
  if (!/^(slider|spinbutton|separator)$/.test(roleOf(element))) return false;
  return hasNumber(element);
}

function isAsWritten(now: number, wanted: string): boolean {
  const decimals = /\.(\d+)$/.exec(wanted.trim())?.[1]?.length ?? 0;
  return Number(now.toFixed(Math.min(decimals, 20))) === Number(wanted);
}

/** The number that a slider shows. */
export function numberOf(element: Element): number {
  return Number(element.getAttribute('aria-valuenow') ?? thumbNumber(element) ?? Number.NaN);
}

function isBeyond(wanted: number, bound: string | null, side: 1 | -1): boolean {
  return bound !== null && bound.trim() !== '' && (wanted - Number(bound)) * side > CLOSE;
}

/** Up and to the right is more, unless the page is written from right to left. */
function keysOf(slider: Element): readonly [more: string, less: string] {
  const upright = slider.getAttribute('aria-orientation') === 'vertical' || roleOf(slider) === 'spinbutton';
  return upright ? ['ArrowUp', 'ArrowDown'] : ['ArrowRight', 'ArrowLeft'];
}
