import { parseLocator } from '../../page/locator.js';
import { locatorOf, membersOf, misuse, shown, textOf, timeoutOf } from '../call-arguments.js';

/** Masks of one picture. */
const MAX_MASKS = 50;
/** What the eye does not see: about 5 of 255 in one color. */
const THRESHOLD = 0.02;

export interface ScreenshotExpectation {
  readonly within: string | null;
  readonly masks: readonly string[];
  /** 0 to 1: how much the color of a pixel may differ. */
  readonly threshold: number;
  readonly timeoutMs: number | undefined;
}

/** Options of `agent.expectScreenshot`. @throws SCRIPT_ERROR that says how they are written */
export function screenshotExpectation(options: unknown): ScreenshotExpectation {
  const known = ['within', 'mask', 'threshold', 'timeout'] as const;
  const { within, mask, threshold = THRESHOLD, timeout } = membersOf(options, 'agent.expectScreenshot', known);
  if (typeof threshold !== 'number' || !(threshold >= 0 && threshold <= 1)) {
    throw misuse(`threshold is a number from 0 to 1, not ${shown(threshold)}`);
  }
  const list: readonly unknown[] = mask === undefined || mask === null ? [] : Array.isArray(mask) ? mask : [mask];
  if (list.length > MAX_MASKS) throw misuse(`mask takes at most ${MAX_MASKS} locators`);
  const masks = list.map((one) => textOf(one, 'mask takes a locator or a list of locators'));
  const wrong = masks.find((one) => parseLocator(one) === undefined);
  if (wrong !== undefined) throw misuse(`mask takes locators, not ${shown(wrong)}`);
  return { within: locatorOf(within, 'expectScreenshot'), masks, threshold, timeoutMs: timeoutOf(timeout) };
}

/** Options of `agent.expectLook`. @throws SCRIPT_ERROR that says how they are written */
export function lookExpectation(options: unknown): { within: string | null; timeoutMs: number | undefined } {
  const { within, timeout } = membersOf(options, 'agent.expectLook', ['within', 'timeout']);
  return { within: locatorOf(within, 'expectLook'), timeoutMs: timeoutOf(timeout) };
}
