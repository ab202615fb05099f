import type { ElementBox } from './element-box.js';

/** The part of a picture of the viewport that shows the element, in percent of its width and height; null if none does. */
export function partOfPicture(box: ElementBox): {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
} | null {
  const [left, right] = clipped(box.x, box.width, box.viewportWidth);
  const [top, bottom] = clipped(box.y, box.height, box.viewportHeight);
  if (!(right > left && bottom > top)) return null;
  return { left, top, width: right - left, height: bottom - top };
}

function clipped(from: number, length: number, all: number): readonly [number, number] {
  const percent = (at: number) => Math.round(Math.min(Math.max(at / all, 0), 1) * 10_000) / 100;
  return [percent(from), percent(from + length)];
}
