import { isHtml } from './flat-tree.js';
import { indexPerRoot } from './index-per-root.js';
import type { Point } from './point.js';

/** Points across and down, and corners of a polygon that triangles are laid through. */
const GRID = 7;
const MAX_CORNERS = 40;

/** Where a part of a picture is, in its document's viewport: the box around it, and points in or near it, its middle first. */
interface Shape {
  readonly box: DOMRect;
  readonly points: readonly Point[];
}

/** By their map, as they write it: `#name`. */
const pictures = indexPerRoot<string, HTMLImageElement>((root, add) => {
  for (const picture of root.querySelectorAll<HTMLImageElement>('img[usemap]')) add(picture.useMap, picture);
});

/** The picture that a part belongs to: the first that is drawn of those that use its map; null for any other element. */
export function pictureOf(element: Element): HTMLImageElement | null {
  if (!isHtml(element, 'area')) return null;
  const map = element.closest('map');
  if (map === null || map.name === '') return null;
  const users = pictures(element, `#${map.name}`);
  return users.find((picture) => picture.checkVisibility()) ?? users[0] ?? null;
}

/**
 * The shape of an `area` (https://html.spec.whatwg.org/multipage/image-maps.html#processing-model). Which points are really in
 * it, and in no part before it, is for whoever asks what is drawn there.
 */
export function shapeOf(area: Element): Shape | null {
  const picture = pictureOf(area);
  if (picture === null || !isHtml(area, 'area')) return null;
  // Chromium counts from the picture's border, not from what the border is around.
  const { x: left, y: top, width: drawnWidth, height: drawnHeight } = picture.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = picture;
  const [across, down] = [drawnWidth / width, drawnHeight / height];
  const corners = cornersOf(area, width, height);
  const xs = corners.map(({ x }) => Math.min(width, Math.max(0, x)));
  const ys = corners.map(({ y }) => Math.min(height, Math.max(0, y)));
  const [x, right] = [Math.min(...xs), Math.max(...xs)];
  const [y, bottom] = [Math.min(...ys), Math.max(...ys)];
  if (!(right > x && bottom > y)) return null;
  const onPage = (point: Point): Point => ({ x: left + point.x * across, y: top + point.y * down });
  const begin = onPage({ x, y });
  const box = new DOMRect(begin.x, begin.y, (right - x) * across, (bottom - y) * down);
  return { box, points: [...pointsIn(box), ...trianglesIn(corners).map(onPage)] };
}

/** In pixels of the picture. */
function cornersOf(area: HTMLAreaElement, width: number, height: number): readonly Point[] {
  const numbers = area.coords.split(/[\s,;]+/).map((text) => Number.parseFloat(text) || 0);
  const [a = 0, b = 0, c = 0, d = 0] = numbers;
  switch (area.shape.toLowerCase()) {
    case 'default':
      return [
        { x: 0, y: 0 },
        { x: width, y: height },
      ];
    case 'circ':
    case 'circle':
      return [
        { x: a - c, y: b - c },
        { x: a + c, y: b + c },
      ];
    case 'poly':
    case 'polygon': {
      const count = Math.min(MAX_CORNERS, Math.floor(numbers.length / 2));
      return Array.from({ length: count }, (_, nth) => ({ x: numbers[2 * nth] ?? 0, y: numbers[2 * nth + 1] ?? 0 }));
    }
    default:
      return [
        { x: a, y: b },
        { x: c, y: d },
      ];
  }
}

/** From the middle outwards. */
function pointsIn({ x, y, width, height }: DOMRect): Point[] {
  const steps = Array.from({ length: GRID }, (_, nth) => (nth + 0.5) / GRID).sort(
    (one, other) => Math.abs(one - 0.5) - Math.abs(other - 0.5),
  );
  return steps.flatMap((across) => steps.map((down) => ({ x: x + width * across, y: y + height * down })));
}

/** The middles of the triangles that neighbouring corners make: some of them are in the shape, however thin it is. */
function trianglesIn(corners: readonly Point[]): Point[] {
  if (corners.length < 3) return [];
  return corners.map((corner, nth) => {
    const next = corners[(nth + 1) % corners.length] ?? corner;
    const third = corners[(nth + 2) % corners.length] ?? corner;
    return { x: (corner.x + next.x + third.x) / 3, y: (corner.y + next.y + third.y) / 3 };
  });
}
