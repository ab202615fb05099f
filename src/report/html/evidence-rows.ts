import type { Failure } from '../../protocol/report/failure.js';
import {
  asCounted,
  earlierStepLines,
  historyText,
  pendingLines,
  seenText,
} from '../../protocol/report/failure-context.js';
import { escapeMarkup as esc } from '../escape.js';
import { shorten } from '../format.js';
import { errorText, requestText } from '../suite/failure-text.js';

/** The longest line of what was around a failure. */
const MAX_LINE = 600;

/** What a failure object says beyond its message, as titles and HTML; without what is not known. */
export function evidenceRows(found: Failure, longest: number): readonly (readonly [title: string, html: string])[] {
  const failure = asCounted(found);
  const { expected, received, locator, nearMisses = [], console: lines = [], requests = [] } = failure;
  const code = (text: string, kind?: string) => codeOf(shorten(text, longest), kind);
  const ofText = (text: string | null) => (text === null ? null : esc(shorten(text, longest)));
  const pending = pendingLines(failure);
  const short = (text: string) => codeOf(shorten(text, Math.min(longest, MAX_LINE)));
  const rows: readonly (readonly [string, string | null])[] = [
    ['Test', ofText(failure.test ?? null)],
    ['Locator', locator === undefined ? null : code(locator)],
    ['Expected', expected === undefined ? null : code(expected, 'expected')],
    ['Received', received === undefined ? null : code(received, 'received')],
    ['Most similar', listOf(nearMisses.map((near) => code(near)))],
    ['While it waited', ofText(historyText(failure))],
    ['Seen before', ofText(seenText(failure))],
    ['Page errors', listOf(lines.map((line) => short(errorText(line))))],
    ['Failed requests', listOf(requests.map((request) => short(requestText(request))))],
    ['Still pending', pending?.length === 0 ? 'no request, no timer' : listOf((pending ?? []).map(short))],
    ['Steps before', listOf(earlierStepLines(failure).map(short))],
    ['No picture', ofText(failure.noScreenshot ?? null)],
    ['No trace', ofText(failure.noTrace ?? null)],
  ];
  return rows.flatMap(([title, html]) => (html === null ? [] : [[title, html] as const]));
}

/** Escaped text as code. */
export function codeOf(text: string, kind?: string): string {
  return `<code${kind === undefined ? '' : ` class="${kind}"`}>${esc(text)}</code>`;
}

/** A list of HTML items; null if there are none. */
export function listOf(items: readonly string[]): string | null {
  return items.length === 0 ? null : `<ul>${items.map((item) => `<li>${item}</li>`).join('')}</ul>`;
}
