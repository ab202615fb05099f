/** One edit of a source: replaces `remove` characters at `at` by `insert`. Neither contains a line break. */
export interface SourceEdit {
  readonly at: number;
  readonly remove: number;
  readonly insert: string;
}

/** A position in a source; both are 1-based. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** A source for the engine, with a mapping back to the author's positions. */
export interface EditedSource {
  readonly code: string;
  /** The author's position for a position in `code`. */
  original(position: SourcePosition): SourcePosition;
}

/**
 * Applies edits to a source, in any order; edits at the same offset are applied in the given order, from the outside in
 * for nested constructs. The code begins with an extra line, because the engine counts the columns of a first line from
 * 0 and all others from 1.
 */
export function applyEdits(source: string, edits: readonly SourceEdit[], suffix = ''): EditedSource {
  const sorted = edits.map((edit, order) => ({ edit, order }));
  sorted.sort((a, b) => a.edit.at - b.edit.at || a.order - b.order);
  let code = '\n';
  let from = 0;
  const byLine = new Map<number, { column: number; remove: number; insert: number }[]>();
  let line = 1;
  let lineStart = 0;
  for (const { edit } of sorted) {
    for (let next = source.indexOf('\n', lineStart); next !== -1 && next < edit.at; ) {
      line += 1;
      lineStart = next + 1;
      next = source.indexOf('\n', lineStart);
    }
    code += source.slice(from, edit.at) + edit.insert;
    from = edit.at + edit.remove;
    const there = byLine.get(line) ?? [];
    there.push({ column: edit.at - lineStart, remove: edit.remove, insert: edit.insert.length });
    byLine.set(line, there);
  }
  code += source.slice(from) + suffix;
  const lines = source.split('\n').length;
  return {
    code,
    original(position) {
      const line = Math.min(Math.max(1, position.line - 1), lines);
      const { column } = position;
      let shift = 0;
      for (const edit of byLine.get(line) ?? []) {
        const start = edit.column + shift;
        if (column - 1 < start) break;
        if (column - 1 < start + edit.insert) return { line, column: edit.column + 1 };
        shift += edit.insert - edit.remove;
      }
      return { line, column: column - shift };
    },
  };
}

/** The position of an offset. */
export function positionIn(source: string, offset: number): SourcePosition {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
