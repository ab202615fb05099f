/** The extent of a value in a JSON text. */
export interface Extent {
  readonly offset: number;
  readonly end: number;
}

/** A member or an element: `offset` is that of its key, or of its value if it has none. */
export interface Child extends Extent {
  readonly key: string | null;
  readonly value: Extent;
}

const SPACE = /[\s\uFEFF]*/y;
const STRUCTURE = /["[\]{}]/g;
const PLAIN = /[^\s,\]}]*/y;

/**
 * The extents of the values along a path, the root first, in valid JSON text; fewer if the path ends early. Of a
 * repeated key the last one counts, as in JSON.parse. Scans the characters once, without a tree.
 */
export function extentsAlong(text: string, path: readonly (string | number)[]): readonly Extent[] {
  const offset = afterSpace(text, 0);
  let place: Extent = { offset, end: endOfValue(text, offset) };
  const places = [place];
  for (const step of path) {
    let found: Extent | undefined;
    let index = 0;
    for (const child of childrenAt(text, place.offset)) {
      if (child.key === null ? index === step : child.key === step) found = child.value;
      if (child.key === null && found !== undefined) break;
      index += 1;
    }
    if (found === undefined) break;
    places.push(found);
    place = found;
  }
  return places;
}

/** The members or elements of the value at `offset`, in their order; none if it is neither an object nor an array. */
export function* childrenAt(text: string, offset: number): Generator<Child> {
  const opening = text[offset];
  if (opening !== '{' && opening !== '[') return;
  let at = afterSpace(text, offset + 1);
  while (at < text.length && text[at] !== '}' && text[at] !== ']') {
    const start = at;
    let key: string | null = null;
    if (opening === '{') {
      const end = endOfString(text, at);
      key = String(JSON.parse(text.slice(at, end)));
      at = afterSpace(text, afterSpace(text, end) + 1);
    }
    const end = endOfValue(text, at);
    yield { key, offset: start, end, value: { offset: at, end } };
    at = afterSpace(text, end);
    if (text[at] === ',') at = afterSpace(text, at + 1);
  }
}

function afterSpace(text: string, at: number): number {
  SPACE.lastIndex = at;
  SPACE.exec(text);
  return SPACE.lastIndex;
}

function endOfValue(text: string, at: number): number {
  const opening = text[at];
  if (opening === '"') return endOfString(text, at);
  if (opening !== '{' && opening !== '[') {
    PLAIN.lastIndex = at;
    PLAIN.exec(text);
    return PLAIN.lastIndex;
  }
  let depth = 1;
  STRUCTURE.lastIndex = at + 1;
  for (let found = STRUCTURE.exec(text); found !== null; found = STRUCTURE.exec(text)) {
    const [char] = found;
    if (char === '"') STRUCTURE.lastIndex = endOfString(text, found.index);
    else depth += char === '{' || char === '[' ? 1 : -1;
    if (depth === 0) return STRUCTURE.lastIndex;
  }
  return text.length;
}

/** @param at of the opening quote */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}
