import type { Failure } from './failure.js';

/** The longest value and call that a line shows, in characters. */
const MAX_VALUE = 120;
const MAX_CALL = 300;

/**
 * The failure with its steps as people count them: each attempt from 1. `index` and the numbers in report.json count on over
 * all attempts.
 */
export function asCounted(failure: Failure): Failure {
  const { step } = failure;
  const before = step?.number === undefined ? 0 : step.index - step.number;
  if (step === undefined || before === 0) return failure;
  const counted = (one: { readonly step?: number | undefined }) =>
    one.step === undefined ? {} : { step: one.step - before };
  const { seenAtStep, earlierSteps, console, requests } = failure;
  return {
    ...failure,
    step: { ...step, index: step.index - before },
    ...(seenAtStep === undefined ? {} : { seenAtStep: seenAtStep - before }),
    ...(earlierSteps === undefined
      ? {}
      : { earlierSteps: earlierSteps.map((one) => ({ ...one, index: one.index - before })) }),
    ...(console === undefined ? {} : { console: console.map((one) => ({ ...one, ...counted(one) })) }),
    ...(requests === undefined ? {} : { requests: requests.map((one) => ({ ...one, ...counted(one) })) }),
  };
}

/** What the wait of an assertion saw: `"Loading" for 9.2 s, then "Total 12"`; null if there was no wait. */
export function historyText({ history = [], waitedMs }: Failure): string | null {
  if (history.length === 0) return null;
  const parts = history.map(({ value, fromMs }, position) => {
    const until = history[position + 1]?.fromMs ?? waitedMs;
    const shown = JSON.stringify(cut(value, MAX_VALUE));
    return until === undefined ? shown : `${shown} for ${timeText(Math.max(0, until - fromMs))}`;
  });
  return parts.join(', then ');
}

/** Whether the page ever had what was expected; null if nothing is known. */
export function seenText({ seenAtStep, elsewhere, expected }: Failure): string | null {
  const subject = expected === undefined ? 'it' : 'the expected value';
  if (seenAtStep !== undefined) return `Step ${seenAtStep} saw ${subject}: the page has lost it since`;
  if (elsewhere === true) return 'The page has the expected text, but elsewhere';
  if (elsewhere === false) return 'The expected text is nowhere on the page, and no earlier step saw it there';
  return null;
}

/** What the page waited for when the step failed, one line each; null if that is not known. */
export function pendingLines({ pending }: Failure): readonly string[] | null {
  if (pending === undefined) return null;
  const requests = pending.requests.map(
    ({ method, url, ms }) => `${method} ${cut(url, 500)}, without an answer for ${timeText(ms)}`,
  );
  const timers = pending.timers.map(({ ms, repeats }) =>
    repeats ? `a timer every ${timeText(ms)}` : `a timer, due in ${timeText(ms)}`,
  );
  return [...requests, ...timers];
}

/** The steps before the one that failed, and what came of each. */
export function earlierStepLines({ earlierSteps = [] }: Failure): readonly string[] {
  return earlierSteps.map(({ index, js, outcome }) => `${index}. ${cut(js, MAX_CALL)}: ${outcome}`);
}

/** ` (step 2)`, for what happened during or after that step. */
export function duringText(step: number | undefined): string {
  return step === undefined ? '' : ` (step ${step})`;
}

function timeText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`;
}

/** `at flows/shop/buy.js:5:3`; `after flows/shop/buy.js:5` if only the line before is known; null without a file. */
export function placeText({ file, line, column }: Pick<Failure, 'file' | 'line' | 'column'>): string | null {
  if (file === undefined) return null;
  const place = [file, line, column].filter((part) => part !== undefined).join(':');
  return `${line !== undefined && column === undefined ? 'after' : 'at'} ${place}`;
}
