import { plainText } from '../../base/plain-text.js';
import { counted } from '../../protocol/counted.js';

/** Lines of each text that are shown, and unchanged ones around them. */
const MAX_LINES = 20;
const CONTEXT = 2;
/** Longer lines are cut. */
const MAX_LINE = 300;
const UNSEEN = 'They differ in control characters, which are not shown';
/** Characters shown before the first difference of long lines. */
const BEFORE = 60;

/**
 * What was expected beside what was received: two lines and a caret below the first difference, or for longer texts the
 * lines that differ, with `-` for expected and `+` for received.
 * What is not printed is left out before, so that the caret is below what differs.
 */
export function textDifference(expected: string, received: string): readonly string[] {
  const [wanted, had] = [plainText(expected), plainText(received)];
  const lines = shownDifference(wanted, had);
  return wanted === had && expected !== received ? [...lines, UNSEEN] : lines;
}

function shownDifference(expected: string, received: string): readonly string[] {
  if (!expected.includes('\n') && !received.includes('\n')) return lineDifference(expected, received);
  const wanted = expected.split('\n');
  const had = received.split('\n');
  let start = 0;
  while (start < wanted.length && start < had.length && wanted[start] === had[start]) start += 1;
  let end = 0;
  const most = Math.min(wanted.length, had.length) - start;
  while (end < most && wanted.at(-1 - end) === had.at(-1 - end)) end += 1;
  return [
    'Expected (-) and received (+):',
    ...marked('  ', wanted.slice(Math.max(0, start - CONTEXT), start)),
    ...marked('- ', wanted.slice(start, wanted.length - end)),
    ...marked('+ ', had.slice(start, had.length - end)),
    ...marked('  ', wanted.slice(wanted.length - end).slice(0, CONTEXT)),
  ];
}

function lineDifference(expected: string, received: string): readonly string[] {
  let at = 0;
  while (at < expected.length && expected[at] === received[at]) at += 1;
  const from = at > BEFORE && Math.max(expected.length, received.length) > MAX_LINE ? at - BEFORE : 0;
  const lines = [`Expected: ${cut(expected, from)}`, `Received: ${cut(received, from)}`];
  // Texts with nothing in common are compared at a glance.
  const caret = at > 0 && (at < expected.length || at < received.length);
  return caret ? [...lines, `${' '.repeat('Expected: '.length + at - from + (from > 0 ? 1 : 0))}^`] : lines;
}

function cut(line: string, from: number): string {
  const end = from + MAX_LINE;
  return `${from > 0 ? '…' : ''}${line.slice(from, end)}${line.length > end ? '…' : ''}`;
}

function marked(sign: string, lines: readonly string[]): readonly string[] {
  const shown = lines.slice(0, MAX_LINES).map((line) => `${sign}${cut(line, 0)}`.trimEnd());
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...shown, `${sign}… ${counted(more, 'more line')}`] : shown;
}
