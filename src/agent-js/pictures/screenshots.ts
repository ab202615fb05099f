import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { stretched } from '../../base/deadline.js';
import { asAbsent, sentenceOf } from '../../base/system-fault.js';
import { writeFile } from '../../files/thread-files.js';
import { type Box, isProblem } from '../../page/page-calls.js';
import { TroupeError } from '../../protocol/errors.js';
import type { Bounds } from '../browser/bounds.js';
import { problemError } from '../locating/problem-error.js';
import type { ShownNumbers } from '../locating/shown-numbers.js';
import type { Tab } from '../tabs/tab.js';

/** A page that draws nothing for so long has no picture. */
export const CAPTURE_MS = stretched(3_000);

export interface Screenshot {
  /** A name in the screenshots folder. */
  readonly file: string;
  readonly width: number;
  readonly height: number;
}

/**
 * Where an element is drawn, scrolled into view if need be.
 * @throws what a locator that is wrong or ambiguous deserves
 */
export async function clipOf(tab: Tab, locator: string, bounds: Bounds): Promise<Box | null> {
  if (tab.dialog !== null) return null;
  const box = await tab.askAny('box', { locator }, bounds);
  if (isProblem(box)) throw problemError(box, locator, tab);
  return box;
}

/**
 * A PNG of what the tab shows now. Null where there is none to be had: a dialog holds the page, or it hangs.
 *
 * @param clip only this part
 * @param scale of what is drawn
 */
export async function captureScreenshot(
  tab: Tab,
  timeoutMs: number,
  clip: Box | null = null,
  scale = 1,
): Promise<Buffer | null> {
  if (tab.dialog !== null || tab.state !== 'open') return null;
  const part =
    clip === null ? {} : { clip: { x: clip.left, y: clip.top, width: clip.width, height: clip.height, scale } };
  try {
    const options = { format: 'png', optimizeForSpeed: true, ...part } as const;
    const { data } = await tab.send('Page.captureScreenshot', options, timeoutMs);
    return Buffer.from(data, 'base64');
  } catch {
    return null;
  }
}

/**
 * A picture on which the elements of a look are marked with their locators; those in frames of other origins are not.
 *
 * @throws ACTION_FAILED where the page does not draw them
 */
export async function markedScreenshot(
  tab: Tab,
  png: Buffer,
  clip: Box | null,
  shown: ShownNumbers,
  bounds: Bounds,
): Promise<Buffer> {
  const marks = shown.all.flatMap(({ locator, place }) =>
    place.frame === null ? [{ label: locator, locator: place.locator, look: place.look }] : [],
  );
  const { png: drawn } = await tab.askAny('drawMarks', { png: png.toString('base64'), clip, marks }, bounds);
  if (drawn !== null) return Buffer.from(drawn, 'base64');
  throw new TroupeError('ACTION_FAILED', 'The page cannot draw marks: take the screenshot without them');
}

/**
 * Writes a PNG into a folder, which is made if need be.
 * @throws a fault of the system, or ACTION_FAILED with what keeps it from being written; nothing of it is left then
 */
export async function keepScreenshot(png: Buffer, dir: string, file: string): Promise<Screenshot> {
  const path = join(dir, file);
  try {
    await mkdir(dir, { recursive: true });
    await writeFile(path, png);
    // A PNG's first chunk says its size (https://www.w3.org/TR/png/#11IHDR).
    return { file, width: png.readUInt32BE(16), height: png.readUInt32BE(20) };
  } catch (error) {
    // Half a picture is none.
    await rm(path, { force: true }).catch(() => undefined);
    asAbsent(error);
    throw new TroupeError('ACTION_FAILED', `The screenshot cannot be written: ${sentenceOf(error)}`, undefined, {
      cause: error,
    });
  }
}
