import { isHtml, parentOf } from './flat-tree.js';
import type { Point } from './point.js';

/** How the pixels of the document in a frame lie in the viewport around the frame, and the other way round. */
export interface FrameMap {
  /** Its pixels are turned, mirrored, skewed, or drawn in perspective. */
  readonly isTurned: boolean;
  toOuter(point: Point): Point;
  /** Null: the frame is seen from its edge, or a point lies behind the eye. */
  toInner(point: Point): Point | null;
}

const NOWHERE: Point = { x: Number.NaN, y: Number.NaN };
/** Of the name, pages hear nothing. */
const PROBE = 'troupe-frame-point';

/** Corners that differ by less, in pixels, lie on one line. */
const STRAIGHT = 0.1;

/** Whether a frame is, or is in, something with a transform: asked once in a task of ours. */
let transformed = new WeakMap<Element, boolean>();

export function frameMap(frame: Element): FrameMap {
  return (hasTransform(frame) ? turnedMap(frame) : null) ?? uprightMap(frame);
}

/** In the box of a frame that is moved and scaled only. */
function uprightMap(frame: Element): FrameMap {
  const { x: frameX, y: frameY, width, height } = frame.getBoundingClientRect();
  const { offsetWidth, offsetHeight } = frame as HTMLElement;
  const across = offsetWidth > 0 ? width / offsetWidth : 1;
  const down = offsetHeight > 0 ? height / offsetHeight : 1;
  const inset = insetOf(frame);
  const left = frameX + (frame.clientLeft + inset.x) * across;
  const top = frameY + (frame.clientTop + inset.y) * down;
  return {
    isTurned: false,
    toOuter: ({ x, y }) => ({ x: left + x * across, y: top + y * down }),
    toInner: ({ x, y }) => ({ x: (x - left) / across, y: (y - top) / down }),
  };
}

/**
 * The browser says where four points of the viewport lie in the frame's own box, whatever transforms it and what is around
 * it. These make the projection. Null: the frame is moved and scaled only.
 */
function turnedMap(frame: Element): FrameMap | null {
  const { x, y, width, height } = frame.getBoundingClientRect();
  const inset = insetOf(frame);
  const corners = [
    { x, y },
    { x: x + width, y },
    { x: x + width, y: y + height },
    { x, y: y + height },
  ].map((corner) => inBox(frame, corner, inset));
  if (isUpright(corners)) return null;
  const inner = multiply(toQuad(corners), [1 / width, 0, -x / width, 0, 1 / height, -y / height, 0, 0, 1]);
  const outer = inverse(inner);
  return {
    isTurned: true,
    toOuter: (point) => project(outer, point) ?? NOWHERE,
    toInner: (point) => project(inner, point),
  };
}

function insetOf(frame: Element): Point {
  const { paddingLeft, paddingTop } = getComputedStyle(frame);
  return { x: Number.parseFloat(paddingLeft), y: Number.parseFloat(paddingTop) };
}

/** By an event that nobody hears: the browser counts its offset from the corner inside the border. */
function inBox(frame: Element, { x, y }: Point, inset: Point): Point {
  const probe = new PointerEvent(PROBE, { clientX: x, clientY: y });
  frame.dispatchEvent(probe);
  return { x: probe.offsetX - inset.x, y: probe.offsetY - inset.y };
}

function isUpright([p = NOWHERE, q = NOWHERE, r = NOWHERE, s = NOWHERE]: readonly Point[]): boolean {
  const bends = [p.y - q.y, s.y - r.y, p.x - s.x, q.x - r.x];
  return bends.every((bend) => Math.abs(bend) < STRAIGHT) && q.x > p.x && s.y > p.y;
}

function hasTransform(frame: Element): boolean {
  const known = transformed.get(frame);
  if (known !== undefined) return known;
  const found = findTransform(frame);
  queueMicrotask(() => {
    transformed = new WeakMap();
  });
  transformed.set(frame, found);
  return found;
}

function findTransform(frame: Element): boolean {
  for (let node: Element | null = frame; node !== null; node = parentOf(node)) {
    if (node !== frame && isHtml(node, 'iframe')) return false;
    const { transform, rotate, scale, perspective, offsetPath } = getComputedStyle(node);
    if ([transform, rotate, scale, perspective, offsetPath].some((value) => value !== 'none' && value !== ''))
      return true;
  }
  return false;
}

/** A projection of the plane: three rows of three. */
type Projection = readonly [number, number, number, number, number, number, number, number, number];

function project([a, b, c, d, e, f, g, h, i]: Projection, { x, y }: Point): Point | null {
  const w = g * x + h * y + i;
  const point = { x: (a * x + b * y + c) / w, y: (d * x + e * y + f) / w };
  return w !== 0 && Number.isFinite(point.x) && Number.isFinite(point.y) ? point : null;
}

/** That of the unit square to four corners, in their order. */
function toQuad([p = NOWHERE, q = NOWHERE, r = NOWHERE, s = NOWHERE]: readonly Point[]): Projection {
  const [sumX, sumY] = [p.x - q.x + r.x - s.x, p.y - q.y + r.y - s.y];
  const [acrossX, acrossY, downX, downY] = [q.x - r.x, q.y - r.y, s.x - r.x, s.y - r.y];
  const area = acrossX * downY - downX * acrossY;
  const g = (sumX * downY - downX * sumY) / area;
  const h = (acrossX * sumY - sumX * acrossY) / area;
  return [q.x - p.x + g * q.x, s.x - p.x + h * s.x, p.x, q.y - p.y + g * q.y, s.y - p.y + h * s.y, p.y, g, h, 1];
}

function multiply(m: Projection, n: Projection): Projection {
  const at = (row: number, column: number): number =>
    [0, 1, 2].reduce((sum, k) => sum + (m[row * 3 + k] ?? 0) * (n[k * 3 + column] ?? 0), 0);
  return [at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 1), at(1, 2), at(2, 0), at(2, 1), at(2, 2)];
}

/** But for a factor, which a projection does not have. */
function inverse([a, b, c, d, e, f, g, h, i]: Projection): Projection {
  return [
    e * i - f * h,
    c * h - b * i,
    b * f - c * e,
    f * g - d * i,
    a * i - c * g,
    c * d - a * f,
    d * h - e * g,
    b * g - a * h,
    a * e - b * d,
  ];
}
