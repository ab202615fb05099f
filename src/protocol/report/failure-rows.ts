import type { Failure } from './failure.js';

/** A titled part of what a failure says beyond its message: a sentence, a line of code, or a list of such lines. */
export type FailureRow =
  | { readonly title: string; readonly kind: 'text'; readonly text: string }
  | { readonly title: string; readonly kind: 'code'; readonly text: string; readonly step: number }
  | { readonly title: string; readonly kind: 'list'; readonly items: readonly RowItem[] };

/** A line of a list. */
export interface RowItem {
  readonly text: string;
  /** The session's step that it belongs to: `index` in report.json. */
  readonly step?: number | undefined;
}

/** The longest value, call, and other text that a line shows, in characters. */
const MAX_VALUE = 120;
const MAX_CALL = 300;
const MAX_TEXT = 500;
const NOTHING_PENDING = 'no request, no timer';

/**
 * The failure with its steps as people count them: each attempt from 1. `index` and the numbers in report.json count on over
 * all attempts.
 */
function asCounted(failure: Failure): Failure {
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

/**
 * What is known around a failure, in the order of its use to a reader; a part of which nothing is known is left out. Place, message,
 * source frame, expected and received are not in it: each reader draws them in its own way.
 */
export function failureRows(found: Failure): readonly FailureRow[] {
  const failure = asCounted(found);
  const { message, nearMisses = [], console = [], requests = [] } = failure;
  const said = (title: string, text: string | null | undefined): FailureRow[] =>
    text === null || text === undefined ? [] : [{ title, kind: 'text', text }];
  const listed = (
    title: string,
    lines: readonly string[],
    steps: readonly (number | undefined)[] = [],
  ): FailureRow[] =>
    lines.length === 0 ? [] : [{ title, kind: 'list', items: lines.map((text, at) => ({ text, step: steps[at] })) }];
  return [
    ...said('Test', failure.test),
    ...said(polledTitle(failure), historyText(failure)),
    ...said('Seen earlier', seenText(failure)),
    // Most messages name them.
    ...listed(
      'Similar on the page',
      nearMisses.filter((near) => !message.includes(near)),
    ),
    ...listed(
      'Page errors',
      console.map(errorText),
      found.console?.map(({ step }) => step),
    ),
    ...listed(
      'Failed requests',
      requests.map(requestText),
      found.requests?.map(({ step }) => step),
    ),
    ...pendingRow(failure),
    ...listed(
      'Previous steps',
      earlierStepLines(failure),
      found.earlierSteps?.map(({ index }) => index),
    ),
    ...stepRow(failure, found.step?.index),
    ...said('No screenshot', failure.noScreenshot),
  ];
}

/** The step that failed; the last one before, unless it is among the steps before. @param index of the step in report.json */
function stepRow({ step, earlierSteps }: Failure, index = 0): readonly FailureRow[] {
  if (step === undefined || (step.before && earlierSteps?.at(-1)?.index === step.index)) return [];
  const title = `${step.before ? 'Last step' : 'Step'} ${step.index}`;
  return [{ title, kind: 'code', text: cut(step.js, MAX_CALL), step: index }];
}

/** What did not wait did not wait in vain, and a locator that several elements match is none that a wait would help. */
function pendingRow(failure: Failure): readonly FailureRow[] {
  const lines = failure.code === 'LOCATOR_AMBIGUOUS' ? null : pendingLines(failure);
  if (lines === null) return [];
  if (lines.length > 0) return [{ title: 'Still pending', kind: 'list', items: lines.map((text) => ({ text })) }];
  return failure.waitedMs === undefined ? [] : [{ title: 'Still pending', kind: 'text', text: NOTHING_PENDING }];
}

function polledTitle({ waitedMs }: Failure): string {
  return waitedMs === undefined ? 'Polled' : `Polled for ${timeText(waitedMs)}`;
}

/** What the wait of an assertion saw: `"Loading"`, or `"Loading" for 9.2 s, then "Total 12"`; null if there was no wait. */
function historyText({ history = [], waitedMs }: Failure): string | null {
  if (history.length === 0) return null;
  const parts = history.map(({ value, fromMs }, position) => {
    const until = history[position + 1]?.fromMs ?? waitedMs;
    const shown = JSON.stringify(cut(value, MAX_VALUE));
    return until === undefined || history.length === 1
      ? shown
      : `${shown} for ${timeText(Math.max(0, until - fromMs))}`;
  });
  return parts.join(', then ');
}

/** Whether the page ever had what was expected; null if nothing is known. */
function seenText({ seenAtStep, elsewhere, expected }: Failure): string | null {
  const subject = expected === undefined ? 'it' : 'the expected value';
  if (seenAtStep !== undefined) return `Step ${seenAtStep} saw ${subject}: it has disappeared since`;
  if (elsewhere === true) return 'The expected text is elsewhere on the page';
  if (elsewhere === false) return 'The expected text is not on the page, and no earlier step saw it';
  return null;
}

/** What the page waited for when the step failed, one line each; null if that is not known. */
function pendingLines({ pending }: Failure): readonly string[] | null {
  if (pending === undefined) return null;
  const requests = pending.requests.map(
    ({ method, url, ms }) => `${method} ${cut(url, MAX_TEXT)}, no response for ${timeText(ms)}`,
  );
  const timers = pending.timers.map(({ ms, repeats }) =>
    repeats ? `a timer every ${timeText(ms)}` : `a timer, due in ${timeText(ms)}`,
  );
  return [...requests, ...timers];
}

/** The steps before the one that failed, and what came of each. */
function earlierStepLines({ earlierSteps = [] }: Failure): readonly string[] {
  return earlierSteps.map(({ index, js, outcome }) => `${index}. ${cut(js, MAX_CALL)}: ${outcome}`);
}

/** One error of a page, with the step during or after which it came. */
function errorText({ text, step }: NonNullable<Failure['console']>[number]): string {
  return `${cut(text, MAX_TEXT)}${duringText(step)}`;
}

/** One failed request of a page, such as `GET http://127.0.0.1/x 500 (step 2): {"error":"read-only"}`. */
function requestText(request: NonNullable<Failure['requests']>[number]): string {
  const { method, url, status, error, step, body } = request;
  const answer = body === undefined ? '' : `: ${cut(body, MAX_TEXT)}`;
  return `${method} ${cut(url, MAX_TEXT)} ${status ?? error ?? 'no response'}${duringText(step)}${answer}`;
}

/** ` (step 2)`, for what happened during or after that step. */
function duringText(step: number | undefined): string {
  return step === undefined ? '' : ` (step ${step})`;
}

function timeText(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters)}…`;
}

type Place = Pick<Failure, 'file' | 'flow' | 'line' | 'column'>;

/**
 * `at flows/shop/buy.js:5:3`; with the flow's name if its file is not known, and of a script `at line 5, column 3`; with `after` if
 * only the line before is known. Null if the place is not known.
 */
export function placeText(place: Place): string | null {
  const named = nameOfPlace(place);
  if (named === null) return null;
  return `${isAfter(place) ? 'after' : 'at'} ${named}`;
}

/** The same under a heading, without `at`. */
export function whereText(place: Place): string | null {
  const named = nameOfPlace(place);
  return named !== null && isAfter(place) ? `after ${named}` : named;
}

function nameOfPlace({ file, flow, line, column }: Place): string | null {
  const named = file ?? flow;
  if (named !== undefined) return [named, line, column].filter((part) => part !== undefined).join(':');
  if (line === undefined) return null;
  return `line ${line}${column === undefined ? '' : `, column ${column}`}`;
}

function isAfter({ line, column }: Place): boolean {
  return line !== undefined && column === undefined;
}
