/** A position in the pasted text. */
export interface Place {
  /** 1-based; the column counts UTF-16 units. */
  readonly line: number;
  readonly column: number;
  /** The line, truncated around the position, with a caret below it. */
  readonly excerpt: string;
}

const EXCERPT_BEFORE = 30;
const EXCERPT_LENGTH = 76;
/** UTF-8 of one character. */
const MOST_BYTES = 4;

/**
 * A pasted text as the shells and curl see it: bytes. Each character of `bytes` is one byte (0 to 255), so that `\xNN`
 * escapes and any encoding are kept; all offsets count bytes. NUL is removed, as shells do, which makes it available
 * for {@link markVariable}.
 */
export class SourceText {
  readonly bytes: string;
  #lineStarts: number[] | null = null;
  #lastPlace = { start: -1, offset: 0, column: 0 };

  constructor(text: string) {
    this.bytes = toBytes(text.replaceAll('\0', '').replace(/^\uFEFF/, ''));
  }

  placeOf(offset: number): Place {
    const starts = this.#starts();
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    const start = starts[low] ?? 0;
    const end = starts[low + 1] ?? this.bytes.length + 1;
    const column = this.#columnOf(start, offset);
    // Only what is near: a line can have a megabyte, and thousands of places.
    const near = Math.max(start, offset - EXCERPT_LENGTH * MOST_BYTES);
    const before = toText(this.bytes.slice(near, offset)).slice(-EXCERPT_BEFORE);
    const after = toText(this.bytes.slice(offset, Math.min(end - 1, offset + EXCERPT_LENGTH * MOST_BYTES)));
    const shown = (before + after).slice(0, EXCERPT_LENGTH).replace(/[\t\r]/g, ' ');
    return { line: low + 1, column: column + 1, excerpt: `${shown}\n${' '.repeat(before.length)}^` };
  }

  /** UTF-16 units between two offsets; counts on from the last place of the line, since places are mostly in order. */
  #columnOf(start: number, offset: number): number {
    const { start: lastStart, offset: last, column } = this.#lastPlace;
    const known = lastStart === start && last <= offset;
    const found = (known ? column : 0) + toText(this.bytes.slice(known ? last : start, offset)).length;
    this.#lastPlace = { start, offset, column: found };
    return found;
  }

  #starts(): number[] {
    if (this.#lineStarts !== null) return this.#lineStarts;
    const starts = [0];
    for (let at = this.bytes.indexOf('\n'); at !== -1; at = this.bytes.indexOf('\n', at + 1)) starts.push(at + 1);
    this.#lineStarts = starts;
    return starts;
  }
}

/** The text's UTF-8, one character per byte. */
export function toBytes(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}

/** The reverse; bytes that are not UTF-8 become U+FFFD. */
export function toText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Marks a shell variable in a word with NUL, which cannot occur otherwise. */
export function markVariable(name: string): string {
  return `\0${name}\0`;
}

const MARK = /\0([^\0]*)\0/g;

export function hasVariable(bytes: string): boolean {
  return bytes.includes('\0');
}

/** Bytes to text, with `{{NAME}}` for variables. */
export function variablesInBraces(bytes: string): string {
  return toText(bytes.replace(MARK, '{{$1}}'));
}

/** Applies `change` to the text around the variables. */
export function mapAroundVariables(bytes: string, change: (bytes: string) => string): string {
  return bytes
    .split(MARK)
    .map((part, index) => (index % 2 === 0 ? change(part) : markVariable(part)))
    .join('');
}

/** The names of the variables in a word. */
export function variableNames(bytes: string): string[] {
  return [...bytes.matchAll(MARK)].map(([, name = '']) => name);
}
