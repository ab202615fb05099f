import { readFile } from 'node:fs/promises';
import { asObject, enabledPairs, type JsonObject, listOf, member, textOf } from '../collection/json-access.js';
import { readRequest } from '../collection/read-request.js';
import type { VariableResolver } from '../collection/variables.js';
import type { HttpResponse } from '../run/response.js';
import type { ScriptTurn } from './script-turn.js';

/** Larger bodies are not given to scripts, which get an error instead. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

/** The request of an item as scripts see it. */
export function requestState({ id, item }: ScriptTurn, resolver: VariableResolver): JsonObject {
  const draft = readRequest(item);
  const request = requestOf(item);
  return {
    id,
    name: draft.name,
    description: textOf(member(request, 'description')) ?? textOf(member(member(request, 'description'), 'content')),
    method: draft.method,
    url: resolver.text(draft.url),
    headers: draft.headers,
    body: draft.body.kind === 'text' ? draft.body.text : null,
    data: legacyData(request),
  };
}

/** The request of an item as an object: a text is its URL. */
export function requestOf(item: unknown): JsonObject {
  const request = member(item, 'request');
  return asObject(request) ?? { method: 'GET', url: textOf(request) ?? '' };
}

/** The item with one change of its request by a script. */
export function changedItem(item: unknown, change: string, value: unknown): unknown {
  const request = requestOf(item);
  const [name = '', text = ''] = Array.isArray(value) ? value.map(String) : [String(value)];
  const others = headerList(request).filter(
    (header) => textOf(member(header, 'key'))?.toLowerCase() !== name.toLowerCase(),
  );
  const merged = (part: JsonObject): unknown => ({ ...asObject(item), request: { ...request, ...part } });
  switch (change) {
    case 'method':
    case 'url':
      return merged({ [change]: name });
    case 'body':
      return merged({ body: { ...asObject(member(request, 'body')), mode: 'raw', raw: name } });
    case 'header':
      return merged({ header: [...others, { key: name, value: text }] });
    case 'withoutHeader':
      return merged({ header: others });
    default:
      return merged(asObject(value) ?? {});
  }
}

/** The item with the variables of its request replaced: as it is sent. */
export function resolvedItem(item: unknown, resolver: VariableResolver): unknown {
  const request = requestOf(item);
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return resolver.text(value);
    if (Array.isArray(value)) return value.map(deep);
    const object = asObject(value);
    if (object === undefined || object.disabled === true) return value;
    return Object.fromEntries(
      Object.entries(object).map(([key, one]) => [key, key === 'description' ? one : deep(one)]),
    );
  };
  const { method, header, body } = request;
  return {
    ...asObject(item),
    request: {
      ...request,
      method: deep(method),
      url: resolver.text(readRequest(item).url),
      header: deep(headerList({ header })),
      ...(body === undefined ? {} : { body: deep(body) }),
    },
  };
}

/** A list; v2.0 has lines of text, too. */
function headerList(request: JsonObject): readonly unknown[] {
  if (typeof request.header !== 'string') return listOf(request.header);
  return readRequest({ request: { header: request.header } }).headers.map(({ name, value }) => ({ key: name, value }));
}

/** Postman's `request.data`: the fields of a form, else the text. */
function legacyData(request: JsonObject): unknown {
  const body = member(request, 'body');
  const mode = textOf(member(body, 'mode'));
  if (mode === 'raw') return textOf(member(body, 'raw')) ?? '';
  if (mode !== 'urlencoded' && mode !== 'formdata') return {};
  return Object.fromEntries(enabledPairs(member(body, mode)).map(({ key, value }) => [key, value]));
}

/** The answer as scripts see it; null if there is none. */
export async function responseState(response: HttpResponse | null): Promise<JsonObject | null> {
  if (response === null) return null;
  const { status, statusText, url, headers, body, bodyBytes, durationMs } = response;
  const fits = bodyBytes <= MAX_BODY_BYTES;
  const text = !fits ? null : body.kind === 'memory' ? body.bytes.toString('utf8') : await readFile(body.path, 'utf8');
  return { status, statusText, url, headers, text, bytes: bodyBytes, durationMs };
}
