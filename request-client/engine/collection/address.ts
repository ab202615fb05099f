import { queryPairs, queryPart, splitOutside } from '../../protocol/query.js';
import { asObject, enabledPairs, type JsonObject, listOf, member, textOf } from './json-access.js';

/** An address of a collection as text, with `{{variables}}` not yet replaced. */
export interface Address {
  readonly text: string;
  /** The whole address (`raw`) that the file has beside the parts, if it is another one; else null. */
  readonly otherwise: string | null;
  /** Path variables without a value, which are kept as they are written. */
  readonly unfilled: readonly string[];
}

/**
 * The address that a request is sent to: a text, or Postman's object. Of an object, the parts count, as in Newman; `raw`
 * only where they name no host. Path variables (`:id`) get their values, and disabled query parameters are left out.
 */
export function addressOf(url: unknown): Address {
  const raw = textOf(url) ?? textOf(member(url, 'raw')) ?? '';
  const values = pathVariables(url);
  const unfilled = [...values].flatMap(([name, value]) => (value === '' ? [name] : []));
  const sent = withoutDisabled(raw, member(url, 'query'));
  const parts = partsOf(url);
  if (parts === null || isOfEarlierVersion(url, raw)) {
    const { start, path, end } = aroundPath(sent);
    return { text: `${start}${filledPath(path, values)}${end}`, otherwise: null, unfilled };
  }
  const { start, path, query, end } = parts;
  const like = [query, plainQuery(url)].map((own) => comparable(`${start}${path}${own}${end}`));
  return {
    text: `${start}${filledPath(path, values)}${query}${end}`,
    otherwise: raw === '' || like.includes(comparable(sent)) ? null : raw,
    unfilled,
  };
}

/**
 * The address as it is edited: that of {@link addressOf} with `:id` in place of values, and as it is written in `raw` if
 * that is the same.
 */
export function editedAddress(url: unknown): string {
  const raw = textOf(url) ?? textOf(member(url, 'raw')) ?? '';
  const { text } = addressOf(asObject(url) === undefined ? url : { ...asObject(url), variable: [] });
  return comparable(raw) === comparable(text) ? raw : text;
}

/** An address as Postman stores it: whole and in parts. */
export function urlParts(raw: string): JsonObject {
  const [, before = '', query, hash] = FORM.exec(raw) ?? [];
  const [, protocol, authority = '', path = ''] = BEFORE_QUERY.exec(before) ?? [];
  const at = authority.lastIndexOf('@');
  const [user = '', ...password] = at === -1 ? [] : splitOutside(authority.slice(0, at), ':');
  const [, host = '', port] = HOST_AND_PORT.exec(authority.slice(at + 1)) ?? [];
  return {
    raw,
    ...(protocol === undefined ? {} : { protocol }),
    ...(at === -1 ? {} : { auth: { user, ...(password.length === 0 ? {} : { password: password.join(':') }) } }),
    host: host.startsWith('[') || host.includes('{{') ? [host] : host.split('.'),
    ...(port === undefined ? {} : { port }),
    ...(path === '' ? {} : { path: splitOutside(path.slice(1), '/') }),
    ...(query === undefined ? {} : { query: queryPairs(query) }),
    ...(hash === undefined ? {} : { hash }),
  };
}

/** A variable is never split, whatever its name contains. */
const FORM = /^((?:\{\{[^{}]*\}\}|[^?#])*)(?:\?((?:\{\{[^{}]*\}\}|[^#])*))?(?:#([\s\S]*))?$/;
const BEFORE_QUERY = /^(?:(\{\{[^{}]*\}\}|[a-z][a-z0-9+.-]*):\/\/)?((?:\{\{[^{}]*\}\}|[^/])*)(\/[\s\S]*)?$/i;
const HOST_AND_PORT = /^((?:\{\{[^{}]*\}\}|\[[^\]]*\]|[^:])*)(?::([\s\S]*))?$/;

interface Parts {
  readonly start: string;
  readonly path: string;
  /** With its question mark. */
  readonly query: string;
  /** With its `#`. */
  readonly end: string;
}

/** Null if the parts name no host. */
function partsOf(url: unknown): Parts | null {
  const host = joined(member(url, 'host'), '.');
  if (host === '') return null;
  const protocol = textOf(member(url, 'protocol'))?.replace(/:(?:\/\/)?$/, '') ?? '';
  const port = textOf(member(url, 'port')) ?? '';
  const path = joined(member(url, 'path'), '/').replace(/^\//, '');
  const hash = textOf(member(url, 'hash'));
  return {
    start: `${protocol === '' ? '' : `${protocol}://`}${loginOf(member(url, 'auth'))}${host}${port === '' ? '' : `:${port}`}`,
    path: hasPath(url) ? `/${path}` : '',
    query: queryOf(url, queryPart),
    end: hash === undefined ? '' : `#${hash}`,
  };
}

function joined(value: unknown, separator: string): string {
  const text = (part: unknown): string => textOf(part) ?? textOf(member(part, 'value')) ?? '';
  return textOf(value) ?? listOf(value).map(text).join(separator);
}

function hasPath(url: unknown): boolean {
  const path = member(url, 'path');
  return (textOf(path) ?? '') !== '' || listOf(path).length > 0;
}

function loginOf(auth: unknown): string {
  const encoded = (text: string, reserved: RegExp): string =>
    text.replace(reserved, (one) => (one.startsWith('{{') ? one : encodeURIComponent(one)));
  const user = textOf(member(auth, 'user'));
  const password = textOf(member(auth, 'password'));
  if (user === undefined && password === undefined) return '';
  const name = encoded(user ?? '', /\{\{[^{}]*\}\}|[:/?#]/g);
  return `${name}${password === undefined ? '' : `:${encoded(password, /\{\{[^{}]*\}\}|[/?#]/g)}`}@`;
}

/** A list; older files also have a text, or an object of names and values. */
function queryOf(url: unknown, part: (key: string, value: string | null) => string): string {
  const query = member(url, 'query');
  const object = asObject(query);
  const list = object === undefined ? listOf(query) : Object.entries(object).map(([key, value]) => ({ key, value }));
  if (typeof query === 'string') return query === '' ? '' : `?${query}`;
  const on = list.filter((entry) => member(entry, 'disabled') !== true && member(entry, 'enabled') !== false);
  if (on.length === 0) return '';
  const parts = on.map((entry) => part(textOf(member(entry, 'key')) ?? '', textOf(member(entry, 'value')) ?? null));
  return `?${parts.join('&')}`;
}

function plainQuery(url: unknown): string {
  return queryOf(url, (key, value) => (value === null ? key : `${key}=${value}`));
}

/** The values of path variables; those that are switched off are not there. Older files have `id` in place of `key`. */
function pathVariables(url: unknown): ReadonlyMap<string, string> {
  const variables = listOf(member(url, 'variable')).map((entry) => ({ key: member(entry, 'id'), ...asObject(entry) }));
  return new Map(enabledPairs(variables).flatMap(({ key, value }) => (key === '' ? [] : [[key, value] as const])));
}

/**
 * `:name` is a variable at the beginning of a segment and after a punctuation mark, if the request has one of that name:
 * all of `:id.json` if there is such a name, else `:id`.
 */
function filledPath(path: string, values: ReadonlyMap<string, string>): string {
  const names = [...values.keys()].sort((one, other) => other.length - one.length);
  if (names.length === 0) return path;
  const known = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|');
  const place = new RegExp(`(\\{\\{[^{}]*\\}\\})|(?<![\\p{L}\\p{N}_}-]):(${known})(?![\\p{L}\\p{N}_-])`, 'gu');
  return path.replace(place, (all, variable: string | undefined, name: string) =>
    variable === undefined ? values.get(name) || all : all,
  );
}

function aroundPath(text: string): { readonly start: string; readonly path: string; readonly end: string } {
  const [, start = '', path = '', end = ''] = /^((?:[^:/?#]+:\/\/)?[^/?#]*)([^?#]*)([\s\S]*)$/.exec(text) ?? [];
  return { start, path, end };
}

/** A whole URL without the parameters of its query that are switched off: files that programs write may have both. */
function withoutDisabled(raw: string, query: unknown): string {
  const off = listOf(query).filter((entry) => member(entry, 'disabled') === true);
  const [, start = '', own, end = ''] = /^([^?#]*)\?([^#]*)([\s\S]*)$/.exec(raw) ?? [];
  if (off.length === 0 || own === undefined) return raw;
  const pieces = own.split('&');
  const pair = (entry: unknown): string =>
    bare(`${textOf(member(entry, 'key')) ?? ''}=${textOf(member(entry, 'value')) ?? ''}`);
  const on = listOf(query).flatMap((entry) => (off.includes(entry) ? [] : [pair(entry)]));
  for (const entry of off) {
    const piece = pair(entry);
    const places = pieces.flatMap((one, at) => (bare(one) === piece ? [at] : []));
    const last = places.at(-1);
    if (last !== undefined && places.length > on.filter((one) => one === piece).length) pieces.splice(last, 1);
  }
  return `${start}${pieces.length === 0 ? '' : `?${pieces.join('&')}`}${end}`;
}

/** A parameter without a value is written with or without an equals sign. */
function bare(parameter: string): string {
  return parameter.replace(/=$/, '');
}

/** What two ways to write an address have in common if they mean the same request. */
function comparable(address: string): string {
  const [, before = '', query] = FORM.exec(address.trim().replace(/^http:\/\//i, '')) ?? [];
  const parameters =
    query === undefined
      ? []
      : query
          .split('&')
          .map(bare)
          .filter((one) => one !== '');
  return `${before.replace(/^((?:[^/]*:\/\/)?[^/]*)\/$/, '$1')}?${parameters.join('&')}`;
}

/**
 * Whether the parts are those that earlier versions wrote for an address with a user name, or with a variable as its port:
 * they could not split these, and sent `raw`.
 */
function isOfEarlierVersion(url: unknown, raw: string): boolean {
  const [, protocol, host = '', port, path = ''] =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?((?:\{\{[^}]*\}\}|\[[^\]]*\]|[^/?#:])*)(?::(\d+))?([^?#]*)/i.exec(raw) ?? [];
  if (!/^[^/]/.test(path)) return false;
  const written = [
    protocol,
    host.startsWith('[') || host.includes('{{') ? [host] : host.split('.'),
    port,
    path.slice(1).split('/'),
  ];
  const stored = ['protocol', 'host', 'port', 'path'].map((name) => member(url, name));
  return JSON.stringify(stored) === JSON.stringify(written);
}
