import { PNG } from 'pngjs';
import { taskFunction } from '../../threads/task-function.js';
import type { ScaledPicture, ScaleTask } from './picture-scaler.js';

/** Pixels of a picture that is read: four bytes each. */
const MAX_PIXELS = 40_000_000;
/** How often it is tried with fewer pixels, if it still has too many bytes. */
const TRIES = 8;

// Entry of the thread of `scalePicture`.
export const scale = taskFunction(scaled);

/** @throws Error for a damaged or huge picture */
function scaled({ png, maxSide, maxBytes }: ScaleTask): ScaledPicture {
  const bytes = Buffer.from(png);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  if (width * height > MAX_PIXELS) throw new Error(`${width} x ${height} pixels are too many`);
  const picture = PNG.sync.read(bytes);
  let factor = Math.min(1, maxSide / Math.max(width, height));
  if (factor === 1) factor = Math.min(1, Math.sqrt(maxBytes / bytes.length));
  for (let tries = 0; tries < TRIES; tries += 1) {
    const small = scaledBy(picture, factor);
    // Screenshots are opaque.
    const written = PNG.sync.write(small, { colorType: 2, inputHasAlpha: true });
    if (written.length <= maxBytes) return { png: written, width: small.width, height: small.height };
    factor *= Math.min(0.9, Math.sqrt(maxBytes / written.length));
  }
  throw new Error('It cannot be made small enough');
}

/** Each new pixel is the average of those that it covers. */
function scaledBy({ width, height, data }: PNG, factor: number): PNG {
  const small = new PNG({
    width: Math.max(1, Math.round(width * factor)),
    height: Math.max(1, Math.round(height * factor)),
  });
  for (let y = 0; y < small.height; y += 1) {
    const [top, bottom] = covered(y, small.height, height);
    for (let x = 0; x < small.width; x += 1) {
      const [left, right] = covered(x, small.width, width);
      const sums = [0, 0, 0];
      for (let row = top; row < bottom; row += 1) {
        for (let at = (row * width + left) * 4; at < (row * width + right) * 4; at += 4) {
          for (let color = 0; color < 3; color += 1) sums[color] = (sums[color] ?? 0) + (data[at + color] ?? 0);
        }
      }
      const target = (y * small.width + x) * 4;
      const count = (bottom - top) * (right - left);
      for (let color = 0; color < 3; color += 1) small.data[target + color] = Math.round((sums[color] ?? 0) / count);
      small.data[target + 3] = 255;
    }
  }
  return small;
}

/** The pixels of a side that the new one at `index` covers: at least one. */
function covered(index: number, count: number, side: number): readonly [from: number, to: number] {
  const from = Math.min(side - 1, Math.floor((index * side) / count));
  return [from, Math.max(from + 1, Math.floor(((index + 1) * side) / count))];
}
