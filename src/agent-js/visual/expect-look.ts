import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import { TroupeError } from '../../protocol/errors.js';
import type { HostCallContext } from '../../script/host-module.js';
import { boundsOf, remainingMs } from '../browser/bounds.js';
import { pageChange } from '../checks/page-change.js';
import { Looks } from '../look/look.js';
import { renderElements } from '../look/render.js';
import { stir } from '../look/settled.js';
import type { Tabs } from '../tabs/tabs.js';
import type { Baseline, Baselines } from './baselines.js';
import type { ScreenshotOutcome } from './expect-screenshot.js';

/** The page is looked at again after this time. */
const AGAIN_MS = 250;
/** Lines of a baseline; a longer list says how many are left out. */
const MAX_LINES = 5_000;
/** Characters of the difference in a message. */
const MAX_DIFFERENCE = 4_000;

/**
 * Compares what a look of the page lists with a baseline, a text, until they are the same or the time is over.
 *
 * @param request.timeoutMs how long the page may take
 * @throws MATCH_FAILED with the lines that differ
 */
export async function expectLook(
  tabs: Tabs,
  baselines: Baselines,
  request: { readonly baseline: Baseline; readonly within: string | null; readonly timeoutMs: number },
  context: HostCallContext,
): Promise<ScreenshotOutcome> {
  const { baseline, within } = request;
  const { path } = baseline;
  const bounds = boundsOf(context, request.timeoutMs);
  const expected = (await baselines.read(baseline))?.toString('utf8').replaceAll('\r\n', '\n') ?? null;
  // Numbers of locators that scripts use stay those of the script's own looks.
  const looks = new Looks();
  let before: string | null = null;
  for (;;) {
    stir(tabs.active);
    const look = await looks.look(tabs, { full: true, within }, bounds);
    // Where the page is scrolled to is nothing of its structure.
    const elements = look.elements.map(({ offscreen: _, ...element }) => element);
    const text = `${renderElements(elements, { maxLines: MAX_LINES, maxRun: MAX_LINES })}\n`;
    if (text === expected) return { baseline: path, status: 'matched' };
    const isLast = remainingMs(bounds) <= 0;
    const isSteady = text === before && look.unsettled === undefined && !tabs.active.network.isLoading;
    if (baselines.updating && (isSteady || isLast)) {
      await baselines.write(baseline, Buffer.from(text));
      return { baseline: path, status: 'written' };
    }
    if (isLast || (expected === null && isSteady)) throw failure(path, expected, text, request.timeoutMs);
    before = text;
    await pageChange(tabs.active, AGAIN_MS, bounds);
  }
}

function failure(path: string, expected: string | null, received: string, timeoutMs: number): TroupeError {
  if (expected === null) {
    const message = `There is no baseline ${path}: store what the page shows now with troupe run --update-baselines`;
    return new TroupeError('MATCH_FAILED', message, { baseline: path, received });
  }
  const patch = createTwoFilesPatch('', '', expected, received, '', '', { context: 2, headerOptions: OMIT_HEADERS });
  const lines = patch.split('\n').filter((line) => !/^(@@|\\)/.test(line));
  const shown = lines.join('\n').trimEnd();
  const difference = shown.length > MAX_DIFFERENCE ? `${shown.slice(0, MAX_DIFFERENCE)}\n…` : shown;
  const message = `The page does not have the structure of ${path} (waited ${timeoutMs} ms; - expected, + received):\n${difference}\nIf the page is right, store it with troupe run --update-baselines`;
  return new TroupeError('MATCH_FAILED', message, { baseline: path, expected, received });
}
