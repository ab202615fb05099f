import { findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';

type Path = readonly (string | number)[];

/** Replaces the value at `path`, or adds it at the end of its object. Everything else stays as it is, to the character. */
export function setValue(text: string, path: Path, value: unknown): string {
  const node = nodeAt(text, path);
  if (node !== undefined)
    return splice(text, node.offset, node.offset + node.length, written(value, text, node.offset));
  const parent = nodeAt(text, path.slice(0, -1));
  const key = `${JSON.stringify(String(path.at(-1)))}: `;
  if (parent?.type !== 'object') throw new RangeError(`There is no object at ${path.slice(0, -1).join('.')}`);
  const write = (indent: string | null): string => `${key}${written(value, text, null, indent)}`;
  return addChild(text, parent, parent.children?.length ?? 0, write);
}

/** A new element before the one at `path`, or at the end of its array. */
export function insertElement(text: string, path: Path, value: unknown): string {
  return insertWritten(text, path, (indent) => written(value, text, null, indent));
}

/** The element at `from`, once more before the one at `to`, as it is written. */
export function copyElement(text: string, from: Path, to: Path): string {
  const own = sourceOf(text, from);
  return insertWritten(text, to, (indent) => indented(own, indent));
}

/** Takes the element at `from` away and puts it in before the one that is at `to` without it, as it is written. */
export function moveElement(text: string, from: Path, to: Path): string {
  const own = sourceOf(text, from);
  return insertWritten(removeValue(text, from), to, (indent) => indented(own, indent));
}

/** Takes the element or member at `path` away, with its comma. Nothing happens where there is none. */
export function removeValue(text: string, path: Path): string {
  const node = nodeAt(text, path);
  const child = node?.parent?.type === 'property' ? node.parent : node;
  const siblings = child?.parent?.children;
  if (child === undefined || siblings === undefined) return text;
  const index = siblings.indexOf(child);
  const [before, after] = [siblings[index - 1], siblings[index + 1]];
  const end = child.offset + child.length;
  if (before !== undefined) return splice(text, before.offset + before.length, end, '');
  return splice(text, child.offset, after?.offset ?? end, '');
}

function nodeAt(text: string, path: Path): Node | undefined {
  const root = parseTree(text);
  return root === undefined ? undefined : findNodeAtLocation(root, [...path]);
}

interface Source {
  readonly text: string;
  /** Of the line that it begins on. */
  readonly indent: string;
}

function sourceOf(text: string, path: Path): Source {
  const node = nodeAt(text, path);
  if (node === undefined) throw new RangeError(`There is nothing at ${path.join('.')}`);
  return { text: text.slice(node.offset, node.offset + node.length), indent: indentAt(text, node.offset) };
}

/** Strings of JSON have no line breaks in them, so that every line begins outside of one. */
function indented({ text, indent }: Source, wanted: string | null): string {
  return wanted === null ? text : text.replaceAll(`\n${indent}`, `\n${wanted}`);
}

function insertWritten(text: string, path: Path, write: (indent: string | null) => string): string {
  const parent = nodeAt(text, path.slice(0, -1));
  const index = path.at(-1);
  if (parent?.type !== 'array' || typeof index !== 'number')
    throw new RangeError(`There is no array at ${path.join('.')}`);
  return addChild(text, parent, Math.min(index, parent.children?.length ?? 0), write);
}

/** `write` is given the indent of its line; null where all stands on one. */
function addChild(text: string, parent: Node, index: number, write: (indent: string | null) => string): string {
  const children = parent.children ?? [];
  const before = children[index - 1];
  const after = children[index];
  const indent = indentAt(text, parent.offset);
  if (before === undefined && after === undefined) {
    const inner = `${newLine(text)}${indent}${unit(text)}`;
    const made = `${inner}${write(`${indent}${unit(text)}`)}${newLine(text)}${indent}`;
    return splice(text, parent.offset + 1, parent.offset + parent.length - 1, made);
  }
  // As the neighbours are set apart, so is the new one.
  const neighbour = before ?? after;
  const apart = neighbour === undefined ? '' : (/\s*$/.exec(text.slice(0, neighbour.offset))?.[0] ?? '');
  const made = write(apart.includes('\n') ? apart.slice(apart.lastIndexOf('\n') + 1) : null);
  if (after !== undefined) return splice(text, after.offset, after.offset, `${made},${apart}`);
  const end = before === undefined ? 0 : before.offset + before.length;
  return splice(text, end, end, `,${apart}${made}`);
}

/** JSON of a value: on lines of its own where `indent` is known, else on one. `at` takes the indent of its line. */
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

/** One step of the file's indentation: Postman's is a tab. */
function unit(text: string): string {
  return /\n([ \t]+)\S/.exec(text.slice(0, 4096))?.[1] ?? '\t';
}

function newLine(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function splice(text: string, from: number, to: number, insert: string): string {
  return `${text.slice(0, from)}${insert}${text.slice(to)}`;
}
