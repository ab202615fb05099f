import type { Step } from './events.js';

/** The name of the picture that shows how a step left the page; null where it has none, or one that was taken too late. */
export function ownScreenshot({
  screenshot,
  screenshotStep,
}: Pick<Step, 'screenshot' | 'screenshotStep'>): string | null {
  return screenshotStep === undefined ? screenshot : null;
}
