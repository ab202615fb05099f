/** Where something stands in a JSON text. */
export interface Place {
  readonly offset: number;
  readonly end: number;
}

/** A member or an element: `offset` is where its key begins, or its value where it has none. */
export interface Child extends Place {
  readonly key: string | null;
  readonly value: Place;
}

const SPACE = /[\s\uFEFF]*/y;
const STRUCTURE = /["[\]{}]/g;
const PLAIN = /[^\s,\]}]*/y;

/**
 * The places of the values along a path, the root first, in a text that is known to be JSON; fewer where the path ends
 * early. Of a key that is there twice it is the last, as JSON.parse has it. Goes over the characters once and keeps no tree.
 */
export function placesAlong(text: string, path: readonly (string | number)[]): readonly Place[] {
  const offset = afterSpace(text, 0);
  let place: Place = { offset, end: endOfValue(text, offset) };
  const places = [place];
  for (const step of path) {
    let found: Place | undefined;
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

/** Members or elements of what begins at `offset`, in their order; none where it is no object and no array. */
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
