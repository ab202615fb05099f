import type { Step } from './events.js';

/** The file with the picture of the page after a step; null if there is none, or if it was taken too late. */
export function ownScreenshot({
  screenshot,
  screenshotStep,
}: Pick<Step, 'screenshot' | 'screenshotStep'>): string | null {
  return screenshotStep === undefined ? screenshot : null;
}
