import { childrenAt, type Extent, extentsAlong } from './json-places.js';

type Path = readonly (string | number)[];

/** Replaces the value at `path`, or adds it at the end of its object. The rest of the text is kept. */
export function setValue(text: string, path: Path, value: unknown): string {
  const places = extentsAlong(text, path);
  const own = places[path.length];
  if (own !== undefined) return splice(text, own.offset, own.end, written(value, text, own.offset));
  const parent = places[path.length - 1];
  if (parent === undefined || text[parent.offset] !== '{') {
    throw new RangeError(`There is no object at ${path.slice(0, -1).join('.')}`);
  }
  const key = `${JSON.stringify(String(path.at(-1)))}: `;
  return addChild(text, parent, null, (indent) => `${key}${written(value, text, null, indent)}`);
}

/** Inserts an element before the one at `path`, or at the end of its array. */
export function insertElement(text: string, path: Path, value: unknown): string {
  return insertWritten(text, path, (indent) => written(value, text, null, indent));
}

/** Copies the text of the element at `from` before the one at `to`. */
export function copyElement(text: string, from: Path, to: Path): string {
  const own = sourceOf(text, from);
  return insertWritten(text, to, (indent) => indented(own, indent));
}

/** Moves the text of the element at `from` before the one that is at `to` after its removal. */
export function moveElement(text: string, from: Path, to: Path): string {
  const own = sourceOf(text, from);
  return insertWritten(removeValue(text, from), to, (indent) => indented(own, indent));
}

/** Removes the element or member at `path`, with its comma, if there is one. */
export function removeValue(text: string, path: Path): string {
  const places = extentsAlong(text, path);
  const own = places[path.length];
  const parent = places[path.length - 1];
  if (own === undefined || parent === undefined) return text;
  const siblings = [...childrenAt(text, parent.offset)];
  const index = siblings.findIndex(({ value }) => value.offset === own.offset);
  const [before, child, after] = [siblings[index - 1], siblings[index], siblings[index + 1]];
  if (before !== undefined) return splice(text, before.end, own.end, '');
  return splice(text, child?.offset ?? own.offset, after?.offset ?? own.end, '');
}

interface Source {
  readonly text: string;
  /** The indent of the line that it begins on. */
  readonly indent: string;
}

function sourceOf(text: string, path: Path): Source {
  const own = extentsAlong(text, path)[path.length];
  if (own === undefined) throw new RangeError(`There is nothing at ${path.join('.')}`);
  return { text: text.slice(own.offset, own.end), indent: indentAt(text, own.offset) };
}

/** JSON strings contain no line breaks, so no line begins inside one. */
function indented({ text, indent }: Source, wanted: string | null): string {
  return wanted === null ? text : text.replaceAll(`\n${indent}`, `\n${wanted}`);
}

function insertWritten(text: string, path: Path, write: (indent: string | null) => string): string {
  const parent = extentsAlong(text, path.slice(0, -1))[path.length - 1];
  const index = path.at(-1);
  if (parent === undefined || text[parent.offset] !== '[' || typeof index !== 'number')
    throw new RangeError(`There is no array at ${path.join('.')}`);
  return addChild(text, parent, index, write);
}

/** `write` gets the indent of its line; null if all is on one line. `index` null or past the end: at the end. */
function addChild(
  text: string,
  parent: Extent,
  index: number | null,
  write: (indent: string | null) => string,
): string {
  const children = [...childrenAt(text, parent.offset)];
  const at = Math.min(index ?? children.length, children.length);
  const before = children[at - 1];
  const after = children[at];
  const neighbour = before ?? after;
  if (neighbour === undefined) {
    const indent = indentAt(text, parent.offset);
    const inner = `${newLine(text)}${indent}${unit(text)}`;
    const made = `${inner}${write(`${indent}${unit(text)}`)}${newLine(text)}${indent}`;
    return splice(text, parent.offset + 1, parent.end - 1, made);
  }
  // The new element gets the same spacing as its neighbour.
  const apart = blankBefore(text, neighbour.offset);
  const made = write(apart.includes('\n') ? apart.slice(apart.lastIndexOf('\n') + 1) : null);
  if (after !== undefined) return splice(text, after.offset, after.offset, `${made},${apart}`);
  return splice(text, neighbour.end, neighbour.end, `,${apart}${made}`);
}

function blankBefore(text: string, offset: number): string {
  let from = offset;
  while (from > 0 && /\s/.test(text[from - 1] ?? '')) from -= 1;
  return text.slice(from, offset);
}

/** The JSON of a value: on several lines if `indent` is known, else on one. `at` takes the indent of its line. */
function written(value: unknown, text: string, at: number | null, indent: string | null = null): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const own = at === null ? indent : indentAt(text, at);
  if (own === null || !text.includes('\n')) return JSON.stringify(value);
  return JSON.stringify(value, null, unit(text)).replaceAll('\n', `${newLine(text)}${own}`);
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset) + 1;
  return /^[ \t]*/.exec(text.slice(lineStart, offset))?.[0] ?? '';
}

/** One step of the file's indentation; Postman uses a tab. */
function unit(text: string): string {
  return /\n([ \t]+)\S/.exec(text.slice(0, 4096))?.[1] ?? '\t';
}

function newLine(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function splice(text: string, from: number, to: number, insert: string): string {
  return `${text.slice(0, from)}${insert}${text.slice(to)}`;
}
