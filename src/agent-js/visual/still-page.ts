import { stretched } from '../../base/deadline.js';
import { type Box, isProblem } from '../../page/page-calls.js';
import type { Bounds } from '../browser/bounds.js';
import { remainingMs, within } from '../browser/bounds.js';
import { problemError } from '../locating/problem-error.js';
import { captureScreenshot, clipOf } from '../pictures/screenshots.js';
import type { Tab } from '../tabs/tab.js';
import type { PixelBox } from './picture-comparer.js';

/** Fonts and pictures are waited for so long before each screenshot. */
const STILL_MS = stretched(2_000);
/** A page that draws nothing for so long has no picture. */
const CAPTURE_MS = stretched(5_000);

/** A picture of a page that stands still, and what is masked in it. */
export interface StillPicture {
  readonly png: Buffer;
  readonly masks: readonly PixelBox[];
  /** What still loads or moves; null: nothing. */
  readonly busy: string | null;
}

/**
 * Stops what moves without an end: animations, the text cursor. Animations that end are at their end then. Waits for fonts and
 * pictures. Repeated for what the page has begun since.
 *
 * @returns what is still under way
 */
async function holdStill(tab: Tab, bounds: Bounds): Promise<string | null> {
  const order = { on: true, ms: Math.min(STILL_MS, remainingMs(bounds)) };
  const own = within(bounds, order.ms);
  const frames = tab.frames.apart.map((frame) => tab.frames.ask(frame, 'still', order, own));
  const [main, ...others] = await Promise.all([tab.askAny('still', order, bounds), ...frames]);
  return [main, ...others].map((one) => one?.busy ?? null).find((busy) => busy !== null) ?? null;
}

/** Lets everything move again. Never rejects. */
export async function letMove(tab: Tab, bounds: Bounds): Promise<void> {
  const order = { on: false, ms: 0 };
  const frames = tab.frames.apart.map((frame) => tab.frames.ask(frame, 'still', order, bounds).catch(() => null));
  await Promise.all([tab.ask('still', order, bounds).catch(() => null), ...frames]);
}

/**
 * A picture of the page as it stands still. {@link letMove} is to be called afterwards.
 *
 * @param locators every element that one of these means is masked
 * @returns null: the page draws nothing, or moved between the measuring and the picture
 * @throws what a locator that is wrong or ambiguous deserves
 */
export async function stillPicture(
  tab: Tab,
  part: string | null,
  locators: readonly string[],
  bounds: Bounds,
): Promise<StillPicture | null> {
  const busy = await holdStill(tab, bounds);
  const clip = part === null ? null : wholePixels(await clipOf(tab, part, bounds));
  const before = await maskBoxes(tab, locators, bounds);
  const png = await captureScreenshot(tab, Math.max(1, Math.min(CAPTURE_MS, remainingMs(bounds))), clip);
  if (png === null) return null;
  const after = await maskBoxes(tab, locators, bounds);
  if (JSON.stringify(before) !== JSON.stringify(after)) return null;
  // A PNG's first chunk says its size (https://www.w3.org/TR/png/#11IHDR).
  const across = png.readUInt32BE(16) / (clip?.width ?? after.view.width);
  const down = png.readUInt32BE(20) / (clip?.height ?? after.view.height);
  const { left: x, top: y } = clip ?? after.view;
  const masks = after.boxes.map(({ left, top, width, height }) => ({
    left: (left - x) * across,
    top: (top - y) * down,
    right: (left + width - x) * across,
    bottom: (top + height - y) * down,
  }));
  return { png, masks, busy };
}

async function maskBoxes(
  tab: Tab,
  locators: readonly string[],
  bounds: Bounds,
): Promise<{ readonly view: Box; readonly boxes: readonly Box[] }> {
  const answer = await tab.askAny('boxes', { locators }, bounds);
  if (isProblem(answer)) throw problemError(answer, locators.join(', '), tab);
  return answer;
}

/** An element that begins between two pixels would be drawn anew for its picture. */
function wholePixels(box: Box | null): Box | null {
  if (box === null) return null;
  const left = Math.floor(box.left);
  const top = Math.floor(box.top);
  return { left, top, width: Math.ceil(box.left + box.width) - left, height: Math.ceil(box.top + box.height) - top };
}
