import type { Failure } from '../../protocol/failure.js';
import { shorten } from '../format.js';

/**
 * A failure as plain text, for files and annotations: the place, the message, the source frame, what was expected, and
 * what the page showed. Bounded to some 20,000 characters.
 */
export function failureText(failure: Failure): string {
  const { code, message, file, line, column, frame, expected, received, step, url } = failure;
  const place = file === undefined ? '' : `at ${[file, line, column].filter((part) => part !== undefined).join(':')}`;
  const differences = failure.differences ?? [];
  const lines = [
    `${code}: ${shorten(message, 4_000)}`,
    ...differences.map((one) => `  ${shorten(one.path, 300)}: ${shorten(one.message, 300)}`),
    place,
    frame === undefined ? '' : `\n${shorten(frame, 4_000)}\n`,
    expected === undefined ? '' : `Expected: ${shorten(expected, 2_000)}`,
    received === undefined ? '' : `Received: ${shorten(received, 2_000)}`,
    ...listed('Most alike on the page', failure.nearMisses ?? []),
    ...listed(
      'Errors of the page',
      (failure.console ?? []).map(({ text }) => shorten(text, 500)),
    ),
    ...listed('Failed requests', (failure.requests ?? []).map(requestText)),
    step === undefined ? '' : `${stepTitle(step)} ${step.index}: ${shorten(step.js, 500)}`,
    url === undefined || url === '' ? '' : `Page: ${shorten(url, 500)}`,
  ];
  return lines.filter((text) => text !== '').join('\n');
}

/** Whether the step failed, or is the last one before the failure. */
export function stepTitle({ failed }: NonNullable<Failure['step']>): string {
  return failed ? 'Step' : 'Last step';
}

/** One failed request of a page, such as `GET http://127.0.0.1/x 500`. */
export function requestText({ method, url, status, error }: NonNullable<Failure['requests']>[number]): string {
  return `${method} ${shorten(url, 500)} ${status ?? error ?? 'no answer'}`;
}

function listed(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${item}`)];
}
