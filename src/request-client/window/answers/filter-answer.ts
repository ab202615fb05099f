import { TroupeError } from '../../../protocol/errors.js';
import type { JsonPathView } from '../../../protocol/requests/answers.js';
import { childrenAt, type Extent, extentsAlong } from '../../collection/json-places.js';
import { type HttpResponse, headerValues } from '../../run/response.js';
import { bodyPart, textIn } from './body-part.js';
import { selectByPath } from './json-path.js';

/** Larger bodies are not filtered: all of a body is parsed. */
const MAX_BYTES = 32 * 1024 * 1024;
/** Characters of a result; values beyond them are counted only. */
const MAX_CHARACTERS = 1024 * 1024;

/**
 * The parts of a JSON body that a JSONPath query selects, with numbers and texts as the server wrote them.
 * @throws INVALID_REQUEST if the query has a mistake, or the body is no JSON or too large
 */
export async function filterAnswer(response: HttpResponse, path: string): Promise<JsonPathView> {
  if (response.bodyBytes > MAX_BYTES)
    throw new TroupeError('INVALID_REQUEST', 'The body is too large for a filter; save it and use a program');
  const bytes = await bodyPart(response, 0, response.bodyBytes);
  const [contentType = ''] = headerValues(response.headers, 'content-type');
  return filterJson(textIn(bytes, contentType, false) ?? '', path);
}

/** See {@link filterAnswer}. */
export function filterJson(body: string, path: string): JsonPathView {
  const text = body.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TroupeError('INVALID_REQUEST', 'The body is no JSON');
  }
  const { locations, isSingular } = selected(path, value);
  const places = extentsOf(text, locations);
  const parts: string[] = [];
  let characters = 0;
  for (const { offset, end } of places) {
    characters += end - offset;
    if (characters > MAX_CHARACTERS && parts.length > 0) break;
    parts.push(text.slice(offset, end));
  }
  const made = isSingular ? (parts[0] ?? '') : `[${parts.join(',')}]`;
  return { text: made, count: places.length, shown: parts.length };
}

function selected(path: string, value: unknown): ReturnType<typeof selectByPath> {
  try {
    return selectByPath(path, value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TroupeError('INVALID_REQUEST', `The JSONPath is not valid: ${why}`);
  }
}

type Step = string | number;

/** The extents of many values. Each object and array on the way to them is scanned once. */
function extentsOf(text: string, locations: readonly (readonly Step[])[]): Extent[] {
  const [root] = extentsAlong(text, []);
  if (root === undefined) return [];
  const known = new Map<number, ReadonlyMap<Step, Extent>>();
  const childrenOf = ({ offset }: Extent): ReadonlyMap<Step, Extent> => {
    const found = known.get(offset) ?? childMap(text, offset);
    known.set(offset, found);
    return found;
  };
  return locations.flatMap((location) => {
    let place: Extent | undefined = root;
    for (const step of location) place = place === undefined ? undefined : childrenOf(place).get(step);
    return place === undefined ? [] : [place];
  });
}

function childMap(text: string, offset: number): ReadonlyMap<Step, Extent> {
  return new Map([...childrenAt(text, offset)].map(({ key, value }, index) => [key ?? index, value] as const));
}
