import type { Failure } from '../../protocol/report/failure.js';
import {
  asCounted,
  duringText,
  earlierStepLines,
  historyText,
  pendingLines,
  placeText,
  seenText,
} from '../../protocol/report/failure-context.js';
import { shorten } from '../format.js';
import { textDifference } from './text-difference.js';

/**
 * A failure as plain text, for files and annotations: the place, the message, the source frame, what was expected, and
 * what the page showed. Bounded to some 20,000 characters.
 */
export function failureText(found: Failure): string {
  const failure = asCounted(found);
  const { code, message, frame, expected, received, step } = failure;
  const url = failure.url ?? step?.url ?? '';
  const title = failure.title ?? step?.title ?? '';
  const differences = failure.differences ?? [];
  const lines = [
    `${code}: ${shorten(message, 4_000)}`,
    // A single one is in the message.
    ...(differences.length > 1 ? differences.map((one) => `  ${differenceText(one)}`) : []),
    labelled('In the test', failure.test ?? null),
    placeOf(failure),
    frame === undefined ? '' : `\n${shorten(frame, 4_000)}\n`,
    ...(expected === undefined || received === undefined ? [] : textDifference(expected, received)),
    labelled('While it waited', historyText(failure)),
    seenText(failure) ?? '',
    ...listed(
      'Most similar on the page',
      // Most messages name them.
      (failure.nearMisses ?? []).filter((near) => !message.includes(near)),
    ),
    ...pageTroubles(failure),
    ...listed('Steps before', earlierStepLines(failure)),
    step === undefined || step.before ? '' : `${stepTitle(step)} ${step.index}: ${shorten(step.js, 500)}`,
    url === '' ? '' : `Page: ${shorten(url, 500)}${title === '' ? '' : ` (${shorten(title, 200)})`}`,
    labelled('No picture', failure.noScreenshot ?? null),
  ];
  return lines.filter((text) => text !== '').join('\n');
}

/** The errors and the failed requests of the page around a failure, and what it waited for, in lines. */
export function pageTroubles(failure: Failure): readonly string[] {
  const { console = [], requests = [], waitedMs } = failure;
  // A locator that several elements match is none that a wait would help.
  const pending = failure.code === 'LOCATOR_AMBIGUOUS' ? null : pendingLines(failure);
  return [
    ...listed('Errors of the page', console.map(errorText)),
    ...listed('Failed requests', requests.map(requestText)),
    // What did not wait did not wait in vain.
    ...(pending?.length === 0 && waitedMs !== undefined ? ['Nothing was pending: no request, no timer'] : []),
    ...listed('Still pending', pending ?? []),
  ];
}

/** One error of a page, with the step during or after which it came. */
export function errorText({ text, step }: NonNullable<Failure['console']>[number]): string {
  return `${shorten(text, 500)}${duringText(step)}`;
}

/** The message of a difference begins with its path, if it is of `match`. */
function differenceText({ path, message }: { readonly path: string; readonly message: string }): string {
  return shorten(message.startsWith(path) ? message : `${path}: ${message}`, 300);
}

/** The position as editors open it; of a script, which has no file, in words. */
function placeOf(failure: Failure): string {
  const { line, column } = failure;
  if (failure.file !== undefined) return placeText(failure) ?? '';
  if (line === undefined) return '';
  return column === undefined ? `after line ${line}` : `at line ${line}, column ${column}`;
}

/** Whether the step failed, or is the last one before the failure. */
export function stepTitle({ before }: NonNullable<Failure['step']>): string {
  return before ? 'Last step' : 'Step';
}

/** One failed request of a page, such as `GET http://127.0.0.1/x 500 (step 2): {"error":"read-only"}`. */
export function requestText(request: NonNullable<Failure['requests']>[number]): string {
  const { method, url, status, error, step, body } = request;
  const answer = body === undefined ? '' : `: ${shorten(body, 500)}`;
  return `${method} ${shorten(url, 500)} ${status ?? error ?? 'no answer'}${duringText(step)}${answer}`;
}

function labelled(title: string, text: string | null): string {
  return text === null ? '' : `${title}: ${text}`;
}

function listed(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${item}`)];
}
