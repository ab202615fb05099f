import { boxesInside } from './boxless.js';
import { frameDocument, frameOf, isHtml, isInside, parentOf, shadowOf } from './flat-tree.js';
import { frameMap } from './frame-map.js';
import { shapeOf } from './image-map.js';
import type { Point } from './point.js';
import { drawingOf } from './self-drawn.js';

/** Where an element is drawn, in the coordinates of the outermost page's viewport: the box around that, where it is turned. */
export function viewportRect(element: Element, rect: DOMRect = element.getBoundingClientRect()): DOMRect {
  let { left, top, right, bottom } = rect;
  for (let frame = frameOf(element.ownerDocument); frame !== null; frame = frameOf(frame.ownerDocument)) {
    const map = frameMap(frame);
    const corners = [map.toOuter({ x: left, y: top }), map.toOuter({ x: right, y: bottom })];
    if (map.isTurned) corners.push(map.toOuter({ x: right, y: top }), map.toOuter({ x: left, y: bottom }));
    const [across, down] = [corners.map(({ x }) => x), corners.map(({ y }) => y)];
    [left, right, top, bottom] = [Math.min(...across), Math.max(...across), Math.min(...down), Math.max(...down)];
  }
  return new DOMRect(left, top, right - left, bottom - top);
}

/** Where a point of a document is in the outermost page's viewport. */
export function viewportPoint(inner: Document, point: Point): Point {
  let outer = point;
  for (let frame = frameOf(inner); frame !== null; frame = frameOf(frame.ownerDocument))
    outer = frameMap(frame).toOuter(outer);
  return outer;
}

/** A point of the outermost page's viewport, in the coordinates of a document in it; null where that is not to be seen. */
export function pointIn(inner: Document, point: Point): Point | null {
  const frame = frameOf(inner);
  if (frame === null) return point;
  const around = pointIn(frame.ownerDocument, point);
  return around === null ? null : frameMap(frame).toInner(around);
}

/** Whether a frame that a document stands in is turned. */
function isTurned(inner: Document): boolean {
  for (let frame = frameOf(inner); frame !== null; frame = frameOf(frame.ownerDocument))
    if (frameMap(frame).isTurned) return true;
  return false;
}

/** The innermost element drawn at a point of the outermost viewport, through shadow roots and frames. */
export function elementAt({ x, y }: Point): Element | null {
  let root: Document | ShadowRoot = document;
  let found: Element | null = null;
  let [left, top] = [x, y];
  for (;;) {
    const hit: Element | null = root.elementFromPoint(left, top);
    if (hit === null || hit === found) return found;
    found = hit;
    const inner = frameDocument(hit);
    if (inner !== null) {
      const at = frameMap(hit).toInner({ x: left, y: top });
      if (at === null) return found;
      [left, top] = [at.x, at.y];
      root = inner;
    } else {
      const shadow = shadowOf(hit);
      if (shadow === null) return found;
      root = shadow;
    }
  }
}

/**
 * A point of an element in the outermost viewport, which may show another part of the page.
 *
 * @param at in CSS pixels from the corner of the element's box; null is answered for a point outside of it
 */
export function pointFromCorner(element: Element, at: Point): Point | null {
  const { x, y, width, height } = element.getBoundingClientRect();
  if (at.x < 0 || at.y < 0 || at.x >= width || at.y >= height) return null;
  return viewportPoint(element.ownerDocument, { x: x + at.x, y: y + at.y });
}

export function isInView({ x, y }: Point): boolean {
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
}

/** Parts of a box across and down, its middle first. */
const PARTS = [
  [0.5, 0.5],
  [0.2, 0.5],
  [0.8, 0.5],
  [0.5, 0.2],
  [0.5, 0.8],
] as const;

/** The same of a box in a frame that is turned. */
function pointsOfTurned({ ownerDocument }: Element, { left, top, width, height }: DOMRect): Point[] {
  if (width === 0 || height === 0) return [];
  return PARTS.map(([across, down]) =>
    viewportPoint(ownerDocument, { x: left + width * across, y: top + height * down }),
  ).filter(isInView);
}

/** Points in the visible part of an element, its middle first. Empty: none of it is in the viewport. */
export function pointsOf(element: Element): Point[] {
  if (isHtml(element, 'area')) return pointsOnPicture(element);
  const turned = isTurned(element.ownerDocument);
  for (const own of boxesOf(element)) {
    if (turned) {
      const seen = pointsOfTurned(element, own);
      if (seen.length > 0) return seen;
      continue;
    }
    const rect = viewportRect(element, own);
    const left = Math.max(rect.left, 0);
    const right = Math.min(rect.right, innerWidth);
    const top = Math.max(rect.top, 0);
    const bottom = Math.min(rect.bottom, innerHeight);
    if (right - left < 1 || bottom - top < 1) continue;
    const at = (across: number, down: number): Point => ({
      x: left + (right - left) * across,
      y: top + (bottom - top) * down,
    });
    const points = PARTS.map(([across, down]) => at(across, down));
    return 'ownerSVGElement' in element ? [...points, ...pointsOnLines(element)] : points;
  }
  return [];
}

/** Shapes of a group beyond this are not gone through. */
const MAX_SHAPES = 20;

function pointsOnLines(drawn: Element): Point[] {
  return linePoints(drawn)
    .map((at) => viewportPoint(drawn.ownerDocument, at))
    .filter(isInView);
}

/**
 * Points on the lines of a drawing, in its document's viewport: a line that turns, or a ring, is drawn in none of the points
 * of its box. Of a line of dashes, one is in the first of them.
 */
export function linePoints(drawn: Element): Point[] {
  const shapes = 'getPointAtLength' in drawn ? [drawn] : [...drawn.querySelectorAll('*')].slice(0, MAX_SHAPES);
  return shapes.flatMap((shape) => {
    const { getTotalLength, getPointAtLength, getScreenCTM } = shape as Partial<SVGGeometryElement>;
    const toScreen = getPointAtLength === undefined ? null : getScreenCTM?.call(shape as SVGGeometryElement);
    if (getTotalLength === undefined || getPointAtLength === undefined || toScreen == null) return [];
    const length = getTotalLength.call(shape as SVGGeometryElement);
    return [0.5, 0.25, 0.75, ...firstDash(shape, length)].map((part) => {
      const { x, y } = getPointAtLength.call(shape as SVGGeometryElement, length * part).matrixTransform(toScreen);
      return { x, y };
    });
  });
}

/** Where the middle of a line's first dash is, as a part of its length: the slices of a ring are drawn so. */
function firstDash(shape: Element, length: number): readonly number[] {
  const { strokeDasharray, strokeDashoffset } = getComputedStyle(shape);
  const dash = Number.parseFloat(strokeDasharray);
  if (!(dash > 0) || !(length > 0)) return [];
  const whole = Number(shape.getAttribute('pathLength')) || length;
  const middle = (dash / 2 - Number.parseFloat(strokeDashoffset)) / whole;
  return [middle - Math.floor(middle)];
}

/** The boxes in which an element is drawn; what has none of its own is drawn by what is in it. */
function boxesOf(element: Element): readonly DOMRect[] {
  const boxes = [...element.getClientRects()].map((box) => cellsOf(element) ?? withoutBranch(element, box));
  const drawn = boxes.some(({ width, height }) => width > 0 && height > 0);
  return drawn ? boxes : boxesInside(element);
}

/** Where a table's row has cells: beside them, in a row of fewer cells, a press is one on the table. */
export function cellsOf(row: Element): DOMRect | null {
  if (row.localName !== 'tr') return null;
  const [first, last] = [row.firstElementChild, row.lastElementChild].map((cell) => cell?.getBoundingClientRect());
  if (first === undefined || last === undefined) return null;
  const left = Math.min(first.left, last.left);
  const top = Math.min(first.top, last.top);
  return new DOMRect(left, top, Math.max(first.right, last.right) - left, Math.max(first.bottom, last.bottom) - top);
}

/** Of an item of a tree what is its own: a press on its branch is one on another item. */
function withoutBranch(element: Element, box: DOMRect): DOMRect {
  if (element.getAttribute('role') !== 'treeitem') return box;
  const branch = element.querySelector('[role="group"]')?.getBoundingClientRect();
  if (branch === undefined || branch.height === 0 || branch.top <= box.top || branch.top >= box.bottom) return box;
  return new DOMRect(box.x, box.y, box.width, branch.top - box.top);
}

function pointsOnPicture(area: Element): Point[] {
  return (shapeOf(area)?.points ?? []).map((point) => viewportPoint(area.ownerDocument, point)).filter(isInView);
}

/** Whether a click on `hit` is a click on `element`: inside it, on its label, or on the field that it is the label of. */
export function reaches(hit: Element, element: Element): boolean {
  if (isInside(hit, element)) return true;
  if (isHtml(element, 'label') && element.control !== null && isInside(hit, element.control)) return true;
  for (let node: Element | null = hit; node !== null; node = parentOf(node)) {
    if (isHtml(node, 'label')) return node.control === element;
  }
  const drawing = drawingOf(element);
  return drawing !== null && isInside(hit, drawing);
}

/** Whether `element` is what a person sees where `hit` is hit: what takes no pointer lies open on what is around it. */
export function isSeenAt(hit: Element, element: Element): boolean {
  return reaches(hit, element) || (isInside(element, hit) && !takesPointer(element));
}

/** By its style alone: `pointer-events`, of its own or of what is around it. */
export function takesPointer(element: Element): boolean {
  return getComputedStyle(element).pointerEvents !== 'none';
}
