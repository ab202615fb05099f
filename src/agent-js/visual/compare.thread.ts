import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { taskFunction } from '../../threads/task-function.js';
import type { CompareTask, Comparison, PixelBox } from './picture-comparer.js';

/** Masked parts of a picture have this color: red, green, blue, opacity. */
const MASK = [255, 0, 255, 255] as const;

// Entry of the thread of `PictureComparer`.
export const compare = taskFunction(compared);

function compared({ received, expected, masks, threshold }: CompareTask): Comparison {
  const picture = PNG.sync.read(Buffer.from(received));
  for (const box of masks) cover(picture, box);
  const masked = masks.length === 0 ? received : PNG.sync.write(picture);
  if (expected === null) return { kind: 'new', received: masked };
  const wanted = PNG.sync.read(Buffer.from(expected));
  const width = Math.max(picture.width, wanted.width);
  const height = Math.max(picture.height, wanted.height);
  const [one, other] = [padded(picture, width, height), padded(wanted, width, height)];
  const isSameSize = picture.width === wanted.width && picture.height === wanted.height;
  if (isSameSize && one.equals(other)) return { kind: 'same' };
  const difference = new PNG({ width, height });
  // Without the detection of anti-aliasing, which passes over changes of single pixels.
  const options = { threshold, includeAA: true, alpha: 0.2 };
  const pixels = pixelmatch(one, other, difference.data, width, height, options);
  if (isSameSize && pixels === 0) return { kind: 'same' };
  return {
    kind: 'different',
    pixels,
    size: [picture.width, picture.height],
    expectedSize: [wanted.width, wanted.height],
    received: masked,
    difference: PNG.sync.write(difference),
  };
}

function cover({ width, height, data }: PNG, box: PixelBox): void {
  const left = Math.max(0, Math.min(width, Math.floor(box.left)));
  const right = Math.max(left, Math.min(width, Math.ceil(box.right)));
  const row = Buffer.from(Array.from({ length: right - left }, () => MASK).flat());
  const bottom = Math.min(height, Math.ceil(box.bottom));
  for (let y = Math.max(0, Math.floor(box.top)); y < bottom; y += 1) row.copy(data, (y * width + left) * 4);
}

/** The pixels on a transparent ground of another size, in the upper left corner. */
function padded({ width, height, data }: PNG, wide: number, high: number): Buffer {
  if (width === wide && height === high) return data;
  const ground = Buffer.alloc(wide * high * 4);
  for (let y = 0; y < height; y += 1) data.copy(ground, y * wide * 4, y * width * 4, (y + 1) * width * 4);
  return ground;
}
