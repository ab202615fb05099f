import { urlParts } from '../../engine/collection/address.js';
import { asObject, type JsonObject, textOf } from '../../engine/collection/json-access.js';
import { queryPairs } from '../../protocol/query.js';
import type { Findings } from './findings.js';

/** A row of an imported table. `value` is null for a query parameter without `=`. */
export interface ImportedPair {
  readonly name: string;
  readonly value: string | null;
  readonly enabled: boolean;
  readonly description?: string | undefined;
}

/** A request of another tool in the parts that a v2.1 collection has. */
export interface ImportedRequest {
  readonly name: string;
  readonly method: string;
  /** With its query, unless {@link query} has it. */
  readonly url: string;
  /** Appended to the query of the URL; disabled parameters stay in the table. */
  readonly query?: readonly ImportedPair[];
  /** Values of `:name` in the path. */
  readonly pathVariables?: readonly ImportedPair[];
  readonly headers: readonly ImportedPair[];
  /** The `body` of a v2.1 request. */
  readonly body?: JsonObject | null | undefined;
  /** The `auth` of a v2.1 request; missing if it inherits. */
  readonly auth?: JsonObject | null | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly description?: string | undefined;
  readonly behaviour?: JsonObject;
}

/** A request as an item of a v2.1 collection. */
export function requestItem(request: ImportedRequest): JsonObject {
  const { name, method, headers, body, auth, description, behaviour } = request;
  return {
    name,
    ...events(request),
    ...(behaviour === undefined || Object.keys(behaviour).length === 0 ? {} : { protocolProfileBehavior: behaviour }),
    request: {
      ...(auth == null ? {} : { auth }),
      method,
      header: headers.map(entry),
      ...(body == null ? {} : { body }),
      url: urlOf(request),
      ...described(description),
    },
    response: [],
  };
}

/** The settings of a folder for everything in it. */
export interface ImportedFolder {
  readonly name: string;
  readonly items: readonly JsonObject[];
  readonly auth?: JsonObject | null | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly description?: string | undefined;
  readonly variables?: readonly ImportedPair[];
}

export function folderItem(folder: ImportedFolder): JsonObject {
  const { name, items, auth, description, variables = [] } = folder;
  return {
    name,
    ...described(description),
    ...events(folder),
    ...(auth == null ? {} : { auth }),
    ...(variables.length === 0 ? {} : { variable: variables.map(entry) }),
    item: items,
  };
}

/** An `auth` of a v2.1 collection. Settings that are undefined are left out. */
export function authOf(type: string, settings: { readonly [key: string]: unknown } = {}): JsonObject {
  const list = Object.entries(settings).flatMap(([key, value]) => {
    const text = textOf(value);
    return text === undefined ? [] : [{ key, value: text, type: 'string' }];
  });
  return { type, ...(type === 'noauth' ? {} : { [type]: list }) };
}

/** Names settings of a login that are set, but not in `read`: the provider may want them. */
export function warnOfUnread(settings: unknown, read: readonly string[], place: string, findings: Findings): void {
  for (const [name, value] of Object.entries(asObject(settings) ?? {})) {
    if (isUnset(value) || read.includes(name)) continue;
    findings.warn(place, name, `The setting '${name}' of OAuth 2.0 is not imported`);
  }
}

/** Exports have all members of some objects. */
function isUnset(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  const object = asObject(value);
  return object === undefined
    ? value === null || value === false || value === ''
    : Object.values(object).every(isUnset);
}

/** A text as body; `language` is Postman's name, which gives the Content-Type if there is no such header. */
export function rawBody(text: string, language = 'text'): JsonObject {
  return { mode: 'raw', raw: text, options: { raw: { language } } };
}

/** Postman's name of the language of a media type. */
export function languageOf(mediaType: string): string {
  const type = mediaType.toLowerCase();
  if (/[/+]json\b/.test(type)) return 'json';
  if (/[/+]xml\b/.test(type)) return 'xml';
  if (type.includes('javascript')) return 'javascript';
  return type.startsWith('text/html') ? 'html' : 'text';
}

export function entry({ name, value, enabled, description }: ImportedPair): JsonObject {
  return { key: name, value: value ?? '', ...(enabled ? {} : { disabled: true }), ...described(description) };
}

function urlOf({ url, query = [], pathVariables = [] }: ImportedRequest): JsonObject {
  const [, base = url, own, fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(#[\s\S]*)?$/.exec(url) ?? [];
  const sent = query
    .filter(({ enabled }) => enabled)
    .map(({ name, value }) => (value === null ? name : `${name}=${value}`));
  const pairs = [...(own === undefined || own === '' ? [] : [own]), ...sent].join('&');
  const parts = urlParts(`${base}${pairs === '' ? '' : `?${pairs}`}${fragment}`);
  const fromUrl = own === undefined || own === '' ? [] : queryPairs(own);
  const rows = query.map((pair) => ({ ...entry(pair), value: pair.value }));
  return {
    ...parts,
    ...(query.length === 0 ? {} : { query: [...fromUrl, ...rows] }),
    ...(pathVariables.length === 0 ? {} : { variable: pathVariables.map(entry) }),
  };
}

function events({
  before = '',
  after = '',
}: {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}): JsonObject {
  const made = [
    ['prerequest', before],
    ['test', after],
  ].flatMap(([listen, text = '']) =>
    text.trim() === '' ? [] : [{ listen, script: { type: 'text/javascript', exec: text.split(/\r?\n/) } }],
  );
  return made.length === 0 ? {} : { event: made };
}

function described(description: string | undefined): JsonObject {
  return description === undefined || description === '' ? {} : { description };
}
