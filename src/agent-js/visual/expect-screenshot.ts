import { pause } from '../../base/deadline.js';
import { TroupeError } from '../../protocol/errors.js';
import type { HostCallContext } from '../../script/host-module.js';
import { type Bounds, boundsOf, cancelledError, remainingMs, toAnswer } from '../browser/bounds.js';
import { settled } from '../look/settled.js';
import { keepScreenshot } from '../pictures/screenshots.js';
import type { Tab } from '../tabs/tab.js';
import type { Baseline, Baselines } from './baselines.js';
import type { Comparison, PictureComparer } from './picture-comparer.js';
import { letMove, type StillPicture, stillPicture } from './still-page.js';
import type { ScreenshotExpectation } from './visual-arguments.js';

/** Between two screenshots of a page that may still change. */
const AGAIN_MS = 100;
/** A page is steady if it looks the same after so long, and nothing loads. */
const STEADY_MS = 500;
/** The same of a page that always loads something. */
const RESTLESS_MS = 3_000;
/** A page that never comes to rest is compared nevertheless when so little time is left. */
const LAST_MS = 50;

export interface ScreenshotCheck {
  readonly tab: Tab;
  readonly baselines: Baselines;
  readonly comparer: PictureComparer;
  readonly baseline: Baseline;
  readonly wanted: ScreenshotExpectation;
  /** How long the page may take to look as expected, in milliseconds. */
  readonly timeoutMs: number;
  /** Pictures of a difference are written here, under names that begin with `file`. */
  readonly screenshotsDir: string;
  readonly file: string;
}

/** What a comparison that passed answers. */
export interface ScreenshotOutcome {
  readonly baseline: string;
  readonly status: 'matched' | 'written';
}

/**
 * Compares the page with its baseline until they are the same or the time is over; writes the baseline if the run updates
 * them and the page differs.
 *
 * @throws MATCH_FAILED with the pictures' files in `details.pictures`; ACTION_FAILED for a page that cannot be pictured
 */
export async function expectScreenshot(check: ScreenshotCheck, context: HostCallContext): Promise<ScreenshotOutcome> {
  const { tab, baselines, baseline } = check;
  const bounds = boundsOf(context, check.timeoutMs);
  const expected = await baselines.read(baseline);
  await settled(tab, bounds);
  try {
    const seen = await seek(check, expected, bounds);
    if (seen.kind === 'same') return { baseline: baseline.path, status: 'matched' };
    if (!baselines.updating) throw await failure(check, expected, seen);
    await baselines.write(baseline, seen.received);
    return { baseline: baseline.path, status: 'written' };
  } finally {
    await letMove(tab, toAnswer(bounds));
  }
}

/** A picture, since when the page has looked like it, and how it compares; null: it was not compared. */
interface Pictured {
  readonly picture: StillPicture;
  readonly since: number;
  readonly seen: Comparison | null;
}

/** Pictures the page until it is as expected, or steady and there is nothing to wait for, or the time is over. */
async function seek(check: ScreenshotCheck, expected: Buffer | null, bounds: Bounds): Promise<Comparison> {
  const { tab, comparer, baselines, wanted } = check;
  const compare = (picture: StillPicture) =>
    comparer.compare(
      { received: picture.png, expected, masks: picture.masks, threshold: wanted.threshold },
      toAnswer(bounds),
    );
  // Without a baseline, or to replace it, the page has to be steady; otherwise it has the whole time to become as expected.
  const takesSteady = expected === null || baselines.updating;
  let last: Pictured | undefined;
  for (;;) {
    if (bounds.signal.aborted) throw cancelledError();
    const picture = await stillPicture(tab, wanted.within, wanted.masks, toAnswer(bounds));
    if (picture === null && tab.dialog !== null) throw tab.dialogError();
    const isLast = remainingMs(bounds) <= LAST_MS;
    if (picture !== null) {
      const before = sameAs(last, picture);
      const since: number = before?.since ?? performance.now();
      let seen: Comparison | null = before?.seen ?? null;
      if (expected !== null && seen === null) {
        seen = await compare(picture);
        if (seen.kind === 'same') return seen;
      }
      const sameMs = performance.now() - since;
      const isQuiet = picture.busy === null && !tab.network.isLoading;
      const isSteady = sameMs >= (isQuiet ? STEADY_MS : RESTLESS_MS);
      if (takesSteady && isSteady) return seen ?? compare(picture);
      last = { picture, since, seen };
    }
    if (isLast) {
      if (last === undefined) {
        throw new TroupeError(
          'ACTION_FAILED',
          'No screenshot of the page is possible: it draws nothing, or keeps moving',
        );
      }
      if (baselines.updating) {
        const message =
          'The page keeps changing, so there is nothing to store: mask what moves, or give a longer timeout';
        throw new TroupeError('ACTION_FAILED', message);
      }
      return last.seen ?? compare(last.picture);
    }
    await pause(Math.min(AGAIN_MS, remainingMs(bounds)), { signal: bounds.signal }).catch(() => undefined);
  }
}

/** The last picture, if the page still looks like it. */
function sameAs(last: Pictured | undefined, { png, masks }: StillPicture): Pictured | undefined {
  if (last === undefined || !last.picture.png.equals(png)) return undefined;
  return JSON.stringify(last.picture.masks) === JSON.stringify(masks) ? last : undefined;
}

async function failure(
  { baseline, screenshotsDir, file, timeoutMs }: ScreenshotCheck,
  expected: Buffer | null,
  seen: Exclude<Comparison, { readonly kind: 'same' }>,
): Promise<TroupeError> {
  const keep = async (what: string, png: Uint8Array) => {
    const name = `${file}-${what}.png`;
    return (await keepScreenshot(Buffer.from(png), screenshotsDir, name)).file;
  };
  const { path } = baseline;
  const received = await keep('received', seen.received);
  if (seen.kind === 'new' || expected === null) {
    const message = `There is no baseline ${path}: look at the picture, and store it with troupe run --update-baselines`;
    return new TroupeError('MATCH_FAILED', message, { baseline: path, pictures: { received } });
  }
  const pictures = {
    expected: await keep('expected', expected),
    received,
    difference: await keep('difference', seen.difference),
  };
  const [size, wanted] = [seen.size.join(' x '), seen.expectedSize.join(' x ')];
  const count = `${seen.pixels} ${seen.pixels === 1 ? 'pixel differs' : 'pixels differ'}`;
  const what = size === wanted ? count : `it has ${size} pixels, and its baseline ${wanted}`;
  const how = 'if the page is right, store it with troupe run --update-baselines';
  const message = `The page does not look like ${path}: ${what} (waited ${timeoutMs} ms); ${how}`;
  return new TroupeError('MATCH_FAILED', message, { baseline: path, pixels: seen.pixels, pictures });
}
