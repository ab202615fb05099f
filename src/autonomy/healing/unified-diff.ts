/** Lines around a change that a patch shows. */
const CONTEXT = 3;
/** Beyond so many lines on both sides together the comparison would take its time: all is replaced then. */
const MAX_LINES = 4_000;

interface Edit {
  readonly kind: ' ' | '-' | '+';
  readonly text: string;
}

/**
 * What changes `before` into `after`, as `patch` and `git apply` take it; '' where nothing does. A last line without its
 * line feed is marked as such.
 */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return '';
  const edits = compare(linesOf(before), linesOf(after));
  const hunks = hunksOf(edits).map((hunk) => hunkText(edits, hunk));
  return `--- a/${path}\n+++ b/${path}\n${hunks.join('')}`;
}

/** Each with its line feed, where it has one. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function compare(before: readonly string[], after: readonly string[]): readonly Edit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const keep = (text: string): Edit => ({ kind: ' ', text });
  return [
    ...before.slice(0, head).map(keep),
    ...middle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(keep),
  ];
}

/** By the longest common subsequence; the table has a row for each line of `before`. */
function middle(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const drop = (text: string): Edit => ({ kind: '-', text });
  const add = (text: string): Edit => ({ kind: '+', text });
  if (before.length + after.length > MAX_LINES) return [...before.map(drop), ...after.map(add)];
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const edits: Edit[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      edits.push({ kind: ' ', text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      edits.push(drop(old));
      row += 1;
    } else if (fresh !== undefined) {
      edits.push(add(fresh));
      column += 1;
    }
  }
  return edits;
}

/** Ranges of edits that stand together, with the lines around them. */
function hunksOf(edits: readonly Edit[]): readonly { readonly from: number; readonly to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  edits.forEach(({ kind }, index) => {
    if (kind === ' ') return;
    const last = hunks.at(-1);
    const [from, to] = [Math.max(0, index - CONTEXT), Math.min(edits.length, index + 1 + CONTEXT)];
    if (last !== undefined && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  });
  return hunks;
}

function hunkText(edits: readonly Edit[], { from, to }: { readonly from: number; readonly to: number }): string {
  const count = (list: readonly Edit[], without: '+' | '-') => list.filter(({ kind }) => kind !== without).length;
  const [before, inside] = [edits.slice(0, from), edits.slice(from, to)];
  const range = (without: '+' | '-') => {
    const length = count(inside, without);
    const start = count(before, without) + (length === 0 ? 0 : 1);
    return length === 1 ? `${start}` : `${start},${length}`;
  };
  const lines = inside.map(({ kind, text }) =>
    text.endsWith('\n') ? `${kind}${text}` : `${kind}${text}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range('+')} +${range('-')} @@\n${lines.join('')}`;
}
