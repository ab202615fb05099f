import { z } from 'zod';
import { readBundle } from '../../script/bundle.js';
import { type Bounds, toAnswer } from '../browser/bounds.js';
import type { Tab } from '../tabs/tab.js';

/** Web Vitals of a document so far. Source: Chromium's performance timeline, by the library web-vitals. */
export interface Vitals {
  /** Milliseconds from the start of the navigation; null: the page has not shown anything, or has no such entry. */
  readonly ttfb: number | null;
  readonly fcp: number | null;
  readonly lcp: number | null;
  /** Cumulative Layout Shift, a score without a unit. */
  readonly cls: number | null;
  /** Interaction to Next Paint, in milliseconds; null: nothing that took long enough to be kept by the browser. */
  readonly inp: number | null;
}

const SOURCE = readBundle(import.meta.url, '../../page/vitals');
/** The page sees nothing of it, and its content security policy does not matter. */
const WORLD = 'troupe-vitals';
/** What the browser has kept, it tells within a few milliseconds; a page that has shown nothing, never. */
const WAIT_MS = 500;

const Answer = z.object({
  TTFB: z.number().optional(),
  FCP: z.number().optional(),
  LCP: z.number().optional(),
  CLS: z.number().optional(),
  INP: z.number().optional(),
});

/** @throws WAIT_TIMEOUT, ACTION_FAILED with an open dialog */
export async function vitalsOf(tab: Tab, bounds: Bounds): Promise<Vitals> {
  tab.throwIfGone();
  if (tab.dialog !== null) throw tab.dialogError();
  const world = { frameId: tab.targetId, worldName: WORLD };
  const { executionContextId: contextId } = await tab.command('Page.createIsolatedWorld', world, bounds);
  const params = { expression: `(${SOURCE})(${WAIT_MS})`, contextId, awaitPromise: true, returnByValue: true };
  const asked = await tab.unlessDialog(tab.command('Runtime.evaluate', params, bounds), toAnswer(bounds));
  if (asked === 'dialog') throw tab.dialogError();
  const { TTFB, FCP, LCP, CLS, INP } = Answer.parse(asked.value.result.value);
  const ms = (value: number | undefined) => (value === undefined ? null : Math.round(value));
  const score = CLS === undefined ? null : Math.round(CLS * 10_000) / 10_000;
  return { ttfb: ms(TTFB), fcp: ms(FCP), lcp: ms(LCP), cls: score, inp: ms(INP) };
}
