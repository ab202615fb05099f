import type { Failure } from '../../protocol/report/failure.js';
import { failureRows, placeText } from '../../protocol/report/failure-rows.js';
import { shorten } from '../format.js';
import { textDifference } from './text-difference.js';

/**
 * A failure as plain text, for terminals, files and annotations: the place, the message, the source frame, what was expected, and
 * what the page showed. Bounded to some 20,000 characters.
 */
export function failureText(failure: Failure): string {
  const { code, message, frame, expected, received, differences = [] } = failure;
  const page = pageText(failure);
  const place = placeText(failure);
  return [
    `${code}: ${shorten(message, 4_000)}`,
    // A single one is in the message.
    ...(differences.length > 1 ? differences.map((one) => `  ${differenceText(one)}`) : []),
    ...(place === null ? [] : [place]),
    ...(frame === undefined ? [] : [`\n${shorten(frame, 4_000)}\n`]),
    ...(expected === undefined || received === undefined ? [] : textDifference(expected, received)),
    ...contextLines(failure),
    ...(page === null ? [] : [`Page: ${page}`]),
  ].join('\n');
}

/** What is known around a failure, in lines. */
export function contextLines(failure: Failure): readonly string[] {
  return failureRows(failure).flatMap((row) =>
    row.kind === 'list'
      ? [`${row.title}:`, ...row.items.map(({ text }) => `  ${text}`)]
      : [`${row.title}: ${row.text}`],
  );
}

/** The message of a difference begins with its path, if it is of `match`. */
function differenceText({ path, message }: { readonly path: string; readonly message: string }): string {
  return shorten(message.startsWith(path) ? message : `${path}: ${message}`, 300);
}

function pageText({ url: ownUrl, title: ownTitle, step }: Failure): string | null {
  const url = ownUrl ?? step?.url ?? '';
  const title = ownTitle ?? step?.title ?? '';
  return url === '' ? null : `${shorten(url, 500)}${title === '' ? '' : ` (${shorten(title, 200)})`}`;
}
