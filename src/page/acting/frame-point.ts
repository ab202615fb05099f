import { discoveries } from '../controls/discoveries.js';
import type { FramePoint, PageProblem } from '../page-calls.js';
import { nameFor } from '../resolve.js';
import { frameMap } from '../tree/frame-map.js';
import { elementAt, viewportPoint } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';

/**
 * Where a point of another origin's frame is in the viewport of the outermost document that this one reaches. Scrolls
 * the frame so that the point is in view.
 */
export function pointThroughFrame(point: FramePoint): (Point & { readonly document: Document }) | PageProblem {
  const frame = discoveries()?.frameElement(point.frame) ?? null;
  if (frame === null || !frame.isConnected) return blocked('is in a frame that is gone');
  const at = (): Point => viewportPoint(frame.ownerDocument, frameMap(frame).toOuter(point));
  if (!isOpen(at(), frame)) {
    frame.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    const { x, y } = at();
    // A frame larger than the viewport is moved until the point itself is in view.
    if (y < 0 || y >= innerHeight) scrollBy({ top: y - innerHeight / 2, behavior: 'instant' });
    if (x < 0 || x >= innerWidth) scrollBy({ left: x - innerWidth / 2, behavior: 'instant' });
  }
  const found = at();
  if (isOpen(found, frame)) return { ...found, document: frame.ownerDocument };
  const cover = elementAt(found);
  return blocked(cover === null ? 'cannot be scrolled into view' : `is covered by ${nameFor(cover)}`);
}

function isOpen(point: Point, frame: Element): boolean {
  return elementAt(point) === frame;
}

function blocked(reason: string): PageProblem {
  return { problem: 'blocked', reason, final: false };
}
