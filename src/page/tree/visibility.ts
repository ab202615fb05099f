import { boxesInside, isBoxless } from './boxless.js';
import { isHtml, parentOf } from './flat-tree.js';
import { childrenOf } from './form-members.js';
import { pictureOf, shapeOf } from './image-map.js';
import { labelsOf } from './labels.js';
import { drawingOf } from './self-drawn.js';

const SEEN = { visibilityProperty: true } as const;
const SOLID = { visibilityProperty: true, opacityProperty: true } as const;

/** The thumb of a slider is at least of this size, in CSS pixels, and its input so deep in it. */
const THUMB_SIZE = 4;
const THUMB_DEPTH = 3;

/** What is for screen readers alone is at most of this size, in CSS pixels. */
const DOT = 1;
/** What stands among other things takes at most so much of its viewport. */
const PART = 1 / 8;

/** A box in CSS pixels of a document's viewport, in plain numbers: those of a DOMRect are asked of the browser one by one. */
export interface Rect {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

/** Drawn, and not `visibility: hidden`. */
export function isSeen(element: Element): boolean {
  return isDrawn(pictureOf(element) ?? element, SEEN);
}

/** Seen, and not drawn through: no `opacity: 0` in it or around it. */
export function isSolid(element: Element): boolean {
  return isDrawn(pictureOf(element) ?? element, SOLID);
}

function isDrawn(element: Element, wanted: CheckVisibilityOptions): boolean {
  if (element.checkVisibility(wanted)) return true;
  const { display, visibility } = getComputedStyle(element);
  if (display !== 'contents' || visibility !== 'visible') return false;
  const around = parentOf(element);
  const { opacityProperty = false } = wanted;
  return around !== null && isDrawn(around, { opacityProperty }) && boxesInside(element).length > 0;
}

/** Seen, and of some size. */
export function isShown(element: Element): boolean {
  return isSeen(element) && drawnRect(element) !== null;
}

/** Shown, and not hidden by a box of no size around it. What covers it does not count, nor whether it can be used. */
export function isVisible(element: Element): boolean {
  return isShown(element) && !isFolded(element);
}

/** Whether a box of no size around an element, which shows nothing of what flows over, hides it, as a folded panel does. */
export function isFolded(element: Element): boolean {
  if (!standsInEmpty(element)) return false;
  let { position } = getComputedStyle(element);
  for (let inner = element, node = parentOf(element); node !== null; inner = node, node = parentOf(node)) {
    if (node.ownerDocument !== inner.ownerDocument) position = 'static';
    const style = getComputedStyle(node);
    const holdsPlaced = style.position !== 'static' || style.transform !== 'none';
    if (position === 'fixed' || (position === 'absolute' && !holdsPlaced)) continue;
    if (clipsAll(node, style)) return true;
    position = style.position;
  }
  return false;
}

/** Whether a box around an element cuts it off, or has scrolled it out of sight; the page's own scrolling does not count. */
export function isCutOff(element: Element): boolean {
  const rect = drawnRect(element);
  if (rect === null) return false;
  for (let node = parentOf(element); node !== null; node = parentOf(node)) {
    if (isHtml(node, 'body') || isHtml(node, 'html')) continue;
    const { overflowX, overflowY } = getComputedStyle(node);
    if (overflowX === 'visible' && overflowY === 'visible') continue;
    const { left, right, top, bottom } = innerEdges(node);
    if (overflowX !== 'visible' && (rect.right <= left || rect.left >= right)) return true;
    if (overflowY !== 'visible' && (rect.bottom <= top || rect.top >= bottom)) return true;
  }
  return false;
}

/** The edges inside an element's border, in CSS pixels of its document's viewport: what clips cuts off there. */
export function innerEdges(element: Element): { left: number; top: number; right: number; bottom: number } {
  const { left, top, right, bottom, width, height } = element.getBoundingClientRect();
  const { offsetWidth, offsetHeight, clientLeft, clientTop, clientWidth, clientHeight } =
    element as Partial<HTMLElement> & Element;
  // A drawing has no outer size, what is inline no inner one, and the sizes of a body may be those of the viewport.
  if (!offsetWidth || !offsetHeight || clientWidth === 0 || clientHeight === 0 || isHtml(element, 'body')) {
    return { left, top, right, bottom };
  }
  const [across, down] = [width / offsetWidth, height / offsetHeight];
  const [x, y] = [left + clientLeft * across, top + clientTop * down];
  return { left: x, top: y, right: x + clientWidth * across, bottom: y + clientHeight * down };
}

function standsInEmpty(element: Element): boolean {
  for (let node = parentOf(element); node !== null; node = parentOf(node)) {
    const { offsetHeight, offsetWidth } = node as Partial<HTMLElement>;
    if (offsetHeight === 0 || offsetWidth === 0) return true;
  }
  return false;
}

/** An element whose content shows nowhere: no size of its own, and nothing may flow over. */
export function clipsAll(element: Element, { overflowX, overflowY, display }: CSSStyleDeclaration): boolean {
  if (overflowX === 'visible' && overflowY === 'visible') return false;
  const { offsetHeight, offsetWidth } = element as Partial<HTMLElement> & Element;
  if (offsetHeight === undefined || display === 'contents' || display === 'inline') return false;
  return (offsetHeight === 0 && overflowY !== 'visible') || (offsetWidth === 0 && overflowX !== 'visible');
}

/** Where an element is drawn, in its document's viewport; null where it has no size. */
export function drawnRect(element: Element): Rect | null {
  if (isHtml(element, 'area')) return shapeOf(element)?.box ?? null;
  const rect = rectOf(element);
  if (rect.width > 0 && rect.height > 0) return rect;
  const line = lineRect(element, rect);
  if (line !== null) return line;
  // A link around a floating picture has no size of its own.
  for (const child of childrenOf(element)) {
    const box = rectOf(child);
    if (box.width > 0 && box.height > 0 && isSeen(child)) return box;
  }
  const [first] = isBoxless(element) ? boxesInside(element) : [];
  return first === undefined ? null : plainRect(first);
}

/** A line of a drawing that goes straight across or down is as broad as it is drawn, though its box is not. */
function lineRect(element: Element, { left, top, right, bottom, width, height }: Rect): Rect | null {
  if (!('ownerSVGElement' in element) || width + height === 0) return null;
  const lines = 'getTotalLength' in element ? [element] : [...element.querySelectorAll('path, line, polyline')];
  const breadth = Math.max(0, ...lines.filter((line) => isSeen(line)).map(strokeOf)) / 2;
  if (breadth === 0) return null;
  const [across, down] = [width === 0 ? breadth : 0, height === 0 ? breadth : 0];
  return {
    left: left - across,
    top: top - down,
    right: right + across,
    bottom: bottom + down,
    width: width + 2 * across,
    height: height + 2 * down,
  };
}

function strokeOf(line: Element): number {
  const { stroke, strokeWidth } = getComputedStyle(line);
  return stroke === 'none' ? 0 : Number.parseFloat(strokeWidth) || 0;
}

/** The box around an element. */
export function rectOf(element: Element): Rect {
  return plainRect(element.getBoundingClientRect());
}

/** Whether an element is no whole part of the page, but takes a small part of its viewport. */
export function isPartOfPage(element: Element): boolean {
  const rect = drawnRect(element);
  return rect !== null && rect.width * rect.height <= innerWidth * innerHeight * PART;
}

function plainRect({ left, top, right, bottom, width, height }: DOMRect): Rect {
  return { left, top, right, bottom, width, height };
}

/** Whether an element is one that sites hide, to draw something of their own in its place. */
export function isPutAway(element: Element): element is HTMLInputElement | HTMLButtonElement {
  if (isHtml(element, 'button')) return /^(checkbox|radio|switch)$/.test(element.getAttribute('role') ?? '');
  if (!isHtml(element, 'input')) return false;
  return /^(checkbox|radio|file)$/.test(element.type) || (element.type === 'range' && element.checkVisibility());
}

/** Whether nothing of an element is left to point at: it, or the box around it, is cut to a dot, as what is for screen readers alone. */
export function isCutAway(element: Element, { width, height }: Rect): boolean {
  if (width <= DOT && height <= DOT) return true;
  const { clip, clipPath } = getComputedStyle(element);
  if (/^inset\((?:50|100)%/.test(clipPath) || /^rect\(0px,? 0px,? 0px,? 0px\)/.test(clip)) return true;
  const around = parentOf(element);
  if (around === null || isBoxless(around)) return false;
  const box = around.getBoundingClientRect();
  return box.width <= DOT && box.height <= DOT && getComputedStyle(around).overflowX !== 'visible';
}

/** Whether the element or what holds it says that it is out of use. */
export function isDisabled(element: Element): boolean {
  if (element.matches(':disabled')) return true;
  for (let node: Element | null = element; node !== null; node = hostOf(node)) {
    if (node.closest('[aria-disabled="true"]') !== null) return true;
  }
  return false;
}

function hostOf(element: Element): Element | null {
  const root = element.getRootNode();
  return 'host' in root ? (root as ShadowRoot).host : null;
}

/**
 * Sites draw their own check boxes, sliders, upload buttons and editors and hide the real input: what a person takes hold of
 * is its label, the slider's thumb, or the text.
 */
export function standIn(element: Element): Element | null {
  if (!isPutAway(element)) return drawingOf(element);
  for (const label of labelsOf(element)) if (isShown(label)) return label;
  const thumb = element.type === 'range' ? thumbOf(element) : null;
  return thumb ?? drawingOf(element);
}

/** What is drawn around an input that has been made too small to see. */
export function thumbOf(element: Element): Element | null {
  for (let node = parentOf(element), up = 0; node !== null && up < THUMB_DEPTH; node = parentOf(node), up++) {
    const { width, height } = node.getBoundingClientRect();
    if (width >= THUMB_SIZE && height >= THUMB_SIZE) return isSeen(node) ? node : null;
  }
  return null;
}
