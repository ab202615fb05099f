import { roleOf } from '../names/roles.js';
import { isProblem, type PageProblem } from '../page-calls.js';
import { isHtml, parentOf } from '../tree/flat-tree.js';
import { viewportRect } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { isCutAway, isSolid, rectOf } from '../tree/visibility.js';
import { blocked, pressablePoint } from './reach.js';

const MAX_DRAGS = 8;
/** A slider has moved by then after a drag, in milliseconds. */
const MOVED_MS = 500;
/** Longer than this many times its breadth, an element is the track and not the thumb on it. */
const TRACK_SHAPE = 3;
/** The thumb of the browser's own slider, unless a page draws another. */
const THUMB_PX = 16;
/** How many elements around a thumb may be its track. */
const MAX_AROUND = 6;

/** Where the pointer presses a slider, in CSS pixels of the viewport, and how far it is dragged from there. */
export interface Carry {
  readonly from: Point;
  readonly by: readonly [dx: number, dy: number];
}

/** A slider's bounds. `vertical` and `backwards` say in which direction its value grows. */
interface Axis {
  readonly vertical: boolean;
  readonly backwards: boolean;
  readonly least: number;
  readonly most: number;
}

/**
 * Moves a slider to a value by dragging its thumb, or along it where the element is the track. How many pixels one unit
 * takes is guessed from the track at first, and then learned from what the drags before have moved.
 */
export class TrackDrag {
  #last: { readonly place: number; readonly value: number; readonly target: number; readonly at: number } | null = null;
  #drags = 0;
  #moved = false;

  /** Whether a drag has moved it. @param now what the slider shows */
  hasMoved(now: number): boolean {
    this.#moved ||= this.#last !== null && this.#last.value !== now;
    return this.#moved;
  }

  /** The drag to do next. @param now what the slider shows, which is not what is wanted */
  next(slider: Element, wanted: number, now: number): Carry | PageProblem {
    const axis = axisOf(slider);
    const box = viewportRect(slider);
    const last = this.#last;
    if (last !== null && last.value === now && performance.now() - last.at <= MOVED_MS) {
      return blocked('has not moved yet');
    }
    if (last !== null && !this.hasMoved(now))
      return blocked('does not move by the arrow keys, nor when it is dragged', true);
    if ((last !== null && last.value === now) || this.#drags >= MAX_DRAGS) {
      return blocked(`does not take ${wanted}: it was dragged and shows ${now}`, true);
    }
    const [low, high] = axis.vertical ? [box.top, box.bottom] : [box.left, box.right];
    const isTrack = high - low > TRACK_SHAPE * (axis.vertical ? box.width : box.height);
    const guess = unitOf(isTrack ? box : trackAround(slider, axis, box), axis);
    // Of a track: where the pointer was let go, or where the thumb should be.
    const origin = axis.backwards ? high : low;
    const place = isTrack ? (last?.target ?? origin + (now - axis.least) * guess) : (low + high) / 2;
    const learned = last === null ? Number.NaN : (place - last.place) / (now - last.value);
    const unit = Number.isFinite(learned) && learned !== 0 ? learned : guess;
    // At least one pixel, which is as exact as a pointer is.
    const way = (wanted - now) * unit;
    const by = Math.abs(way) < 1 ? Math.sign(way) : Math.round(way);
    const inside = (target: number): number =>
      isTrack
        ? Math.min(high - 1, Math.max(low, target))
        : Math.min((axis.vertical ? innerHeight : innerWidth) - 1, Math.max(0, target));
    const start = isTrack ? inside(place) : place;
    const from = pressablePoint(slider, isTrack ? cornerPoint(slider, box, axis, start) : null);
    if (isProblem(from)) return from;
    const target = inside(start + by);
    this.#drags += 1;
    this.#last = { place: start, value: now, target, at: performance.now() };
    return { from, by: axis.vertical ? [0, target - start] : [target - start, 0] };
  }
}

function axisOf(slider: Element): Axis {
  const [least, most] = ['aria-valuemin', 'aria-valuemax'].map((name) => slider.getAttribute(name) ?? '');
  const number = (text: string | undefined, otherwise: number): number =>
    text === undefined || text.trim() === '' || !Number.isFinite(Number(text)) ? otherwise : Number(text);
  const { width, height } = slider.getBoundingClientRect();
  const said = slider.getAttribute('aria-orientation');
  const isSeparator = roleOf(slider) === 'separator';
  // A separator that stands upright is moved to the sides.
  const vertical = isSeparator
    ? said === null
      ? width > height
      : said === 'horizontal'
    : said === null
      ? isUpright(slider)
      : said === 'vertical';
  const isRtl = getComputedStyle(slider).direction === 'rtl';
  const backwards = vertical ? !isSeparator : isRtl;
  return { vertical, backwards, least: number(least, 0), most: number(most, 100) };
}

/** Whether the track of a slider that does not say so stands upright. */
function isUpright(slider: Element): boolean {
  for (const box of boxesAround(slider)) {
    if (box.width > TRACK_SHAPE * box.height) return false;
    if (box.height > TRACK_SHAPE * box.width) return true;
  }
  return false;
}

/** The box along which a thumb moves: the first around it that is longer than the thumb by far. */
function trackAround(thumb: Element, { vertical }: Axis, own: DOMRect): DOMRect {
  const lengthOf = (box: DOMRect): number => (vertical ? box.height : box.width);
  for (const box of boxesAround(thumb)) if (lengthOf(box) > 2 * lengthOf(own)) return box;
  return own;
}

function boxesAround(element: Element): DOMRect[] {
  const boxes: DOMRect[] = [];
  for (let node: Element | null = element; node !== null && boxes.length < MAX_AROUND; node = parentOf(node)) {
    boxes.push(viewportRect(node));
  }
  return boxes;
}

/** Pixels that one unit takes on a track, with the sign of their direction. */
function unitOf(track: DOMRect, { vertical, backwards, least, most }: Axis): number {
  const length = vertical ? track.height : track.width;
  return ((backwards ? -1 : 1) * length) / (most > least ? most - least : 100);
}

/** A place along a track as a point from the corner of its element's box. */
function cornerPoint(slider: Element, box: DOMRect, { vertical }: Axis, place: number): Point {
  const { width, height } = slider.getBoundingClientRect();
  return vertical
    ? { x: width / 2, y: ((place - box.top) * height) / box.height }
    : { x: ((place - box.left) * width) / box.width, y: height / 2 };
}

/**
 * Where a hand presses the browser's own slider for a value; null for one that does not take the value, has it already, is
 * not drawn itself, or does not lie from left to right.
 */
export function trackPoint(slider: Element, value: string): Point | PageProblem | null {
  if (!isHtml(slider, 'input') || slider.type !== 'range' || value.trim() === '') return null;
  const probe = slider.cloneNode() as HTMLInputElement;
  probe.value = value;
  const [wanted, least, most] = [Number(probe.value), Number(slider.min || 0), Number(slider.max || 100)];
  if (wanted !== Number(value) || wanted === Number(slider.value) || most <= least) return null;
  const { writingMode, direction, transform, pointerEvents } = getComputedStyle(slider);
  // A page that draws a slider of its own over the browser's hears what is set.
  if (pointerEvents === 'none' || !isSolid(slider) || isCutAway(slider, rectOf(slider))) return null;
  if (writingMode !== 'horizontal-tb' || transform !== 'none') return null;
  const { width, height } = slider.getBoundingClientRect();
  if (height > width) return null;
  const part = (wanted - least) / (most - least);
  const x = THUMB_PX / 2 + (direction === 'rtl' ? 1 - part : part) * (width - THUMB_PX);
  return pressablePoint(slider, { x, y: height / 2 });
}
