import type { Failure } from './failure.js';

/** The longest value and call that a line shows, in characters. */
const MAX_VALUE = 120;
const MAX_CALL = 300;

/** How long an assertion saw nothing but the value that it received at the end; null if others came, or none is known. */
export function unchangedText({ history = [], received, waitedMs }: Failure): string | null {
  const [only, ...others] = history;
  if (only === undefined || others.length > 0 || received === undefined || waitedMs === undefined) return null;
  return received.startsWith(only.value.replace(/…$/, '')) ? `unchanged for ${timeText(waitedMs - only.fromMs)}` : null;
}

/** What the wait of an assertion saw: `"Loading" for 9.2 s, then "Total 12"`; null if that was one value, or there was no wait. */
export function historyText(failure: Failure): string | null {
  const { history = [], waitedMs } = failure;
  if (history.length === 0 || unchangedText(failure) !== null) return null;
  const parts = history.map(({ value, fromMs }, position) => {
    const until = history[position + 1]?.fromMs ?? waitedMs;
    const shown = JSON.stringify(cut(value, MAX_VALUE));
    return until === undefined ? shown : `${shown} for ${timeText(Math.max(0, until - fromMs))}`;
  });
  return parts.join(', then ');
}

/** Whether the page ever had what was expected; null if nothing is known. */
export function seenText(failure: Failure): string | null {
  const { seenAtStep, elsewhere, expected } = failure;
  const subject = expected === undefined ? 'it' : 'the expected value';
  if (seenAtStep !== undefined) return `Step ${seenAtStep} saw ${subject}: the page has lost it since`;
  if (elsewhere === true) return 'The page has the expected text, but elsewhere';
  if (elsewhere !== false) return null;
  if ((pendingLines(failure) ?? []).length > 0) {
    return 'The expected text is not on the page; it may have come later, since something was pending';
  }
  return 'The expected text is nowhere on the page, and no earlier step saw it there';
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
