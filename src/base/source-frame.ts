/** Lines shown before and after the one in question. */
const AROUND = 2;
/** Longer lines are cut, around the column in question. */
const MAX_LINE = 160;
const MARK_BEFORE = 100;

/**
 * A few lines of a source with their numbers, and a caret below a position. Several lines of text without a line break at
 * the end; '' if the source has no such line.
 *
 * @param line 1-based, like `column`; without a column there is no caret
 */
export function sourceFrame(source: string, line: number, column: number | null): string {
  const lines = source.split(/\r\n|[\n\r\u2028\u2029]/);
  if (lines[line - 1] === undefined) return '';
  const first = Math.max(1, line - AROUND);
  const last = Math.min(lines.length, line + AROUND);
  const width = String(last).length;
  const from = column !== null && column > MAX_LINE - 20 ? column - MARK_BEFORE : 0;
  const rows: string[] = [];
  for (let number = first; number <= last; number += 1) {
    const text = shown(lines[number - 1] ?? '', from);
    const sign = number === line ? '>' : ' ';
    rows.push(`${sign} ${String(number).padStart(width)} |${text === '' ? '' : ` ${text}`}`);
    if (number === line && column !== null) {
      rows.push(`  ${' '.repeat(width)} | ${' '.repeat(Math.max(0, column - 1 - from + (from > 0 ? 1 : 0)))}^`);
    }
  }
  return rows.join('\n');
}

/** A tab takes one column, as the caret counts. */
function shown(line: string, from: number): string {
  const text = line.replace(/[\t\p{Cc}]/gu, ' ');
  const cut = text.slice(from, from + MAX_LINE);
  return `${from > 0 && text.length > from ? '…' : ''}${cut}${text.length > from + MAX_LINE ? '…' : ''}`.trimEnd();
}
