import { assertNever } from '../../base/assert-never.js';
import type { Failure } from '../../protocol/report/failure.js';
import { type FailureRow, failureRows, whereText } from '../../protocol/report/failure-rows.js';
import { escapeMarkup as esc } from '../escape.js';
import { shorten } from '../format.js';
import { pageLink } from './html-steps.js';

/** The longest line of what was around a failure. */
const MAX_LINE = 600;
const MAX_DIFFERENCES = 50;

/** A titled row of a card; null leaves it out. */
export type Row = readonly [title: string, html: string | null];

export interface FailureBodyOptions {
  /** The longest text, in characters. */
  readonly longest: number;
  /** Where a step is drawn on the same page, by its number in report.json. */
  readonly stepHref?: (step: number) => string;
  /** Rows after those of the failure. */
  readonly more?: readonly Row[];
}

/** What report.html and the index draw of a failure below its message: differences, source frame, and what was around it. */
export function failureBody(failure: Failure, { longest, stepHref, more = [] }: FailureBodyOptions): string {
  const { frame, differences = [], url, title = '', locator, expected, received } = failure;
  const short = (text: string, most: number) => esc(shorten(text, Math.min(longest, most)));
  const listed = differences
    .slice(0, MAX_DIFFERENCES)
    .map((one) => `<li><code>${short(one.path, 300)}</code> ${short(one.message, 1_000)}</li>`);
  const value = (text: string | undefined, kind?: string) =>
    text === undefined ? null : codeOf(shorten(text, longest), kind);
  const rows: readonly Row[] = [
    ['Location', value(whereText(failure) ?? undefined)],
    ['Locator', value(locator)],
    ['Expected', value(expected, 'expected')],
    ['Received', value(received, 'received')],
    ...failureRows(failure).map((row): Row => [row.title, rowHtml(row, Math.min(longest, MAX_LINE), stepHref)]),
    [
      'Page',
      url === undefined || url === '' ? null : `${title === '' ? '' : `${short(title, 300)}<br>`}${pageLink(url)}`,
    ],
    ['No trace', failure.noTrace === undefined ? null : short(failure.noTrace, MAX_LINE)],
    ...more,
  ];
  const drawn = rows.flatMap(([name, html]) => (html === null ? [] : [`<dt>${name}</dt><dd>${html}</dd>`]));
  return `${listed.length === 0 ? '' : `<ul class="differences">${listed.join('')}</ul>`}
${frame === undefined ? '' : `<pre class="frame">${esc(shorten(frame, longest))}</pre>`}<dl>${drawn.join('')}</dl>`;
}

function rowHtml(row: FailureRow, longest: number, stepHref: FailureBodyOptions['stepHref']): string | null {
  const linked = (text: string, step: number | undefined) => {
    const code = codeOf(shorten(text, longest));
    return stepHref === undefined || step === undefined ? code : `<a href="${stepHref(step)}">${code}</a>`;
  };
  switch (row.kind) {
    case 'text':
      return esc(shorten(row.text, longest));
    case 'code':
      return linked(row.text, row.step);
    case 'list':
      return listOf(row.items.map(({ text, step }) => linked(text, step)));
    default:
      return assertNever(row);
  }
}

/** Escaped text as code. */
export function codeOf(text: string, kind?: string): string {
  return `<code${kind === undefined ? '' : ` class="${kind}"`}>${esc(text)}</code>`;
}

/** A list of HTML items; null if there are none. */
export function listOf(items: readonly string[]): string | null {
  return items.length === 0 ? null : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}
