import { mapAroundVariables } from './source-text.js';

/** A URL split as curl does; bytes, with variables marked. */
export interface UrlParts {
  /** `http://`; empty if a variable takes its place. */
  readonly scheme: string;
  readonly user: string | null;
  readonly password: string | null;
  readonly host: string;
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
  /** With its `#`, or empty; never sent. */
  readonly fragment: string;
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/{1,3}(?=[^/]|$)/;
const REST = /^([^/?#]*)([^?#]*)(\?[^#]*)?(#[\s\S]*)?$/;

/** Null if the scheme is not HTTP. A missing scheme means http, unless the host begins with a variable. */
export function splitUrl(url: string): UrlParts | null {
  const found = SCHEME.exec(url);
  const scheme = found?.[1]?.toLowerCase() ?? (url.startsWith('\0') ? '' : 'http');
  if (!/^(?:https?)?$/.test(scheme) || (found === null && /^(?:ftps?|file|ldaps?|mailto|wss?):/i.test(url)))
    return null;
  const [, authority = '', path = '', query = '', fragment = ''] = REST.exec(url.slice(found?.[0].length ?? 0)) ?? [];
  const at = authority.lastIndexOf('@');
  const [, user = null, , password = null] =
    at === -1 ? [] : (/^([^:]*)(:([\s\S]*))?$/.exec(authority.slice(0, at)) ?? []);
  return {
    scheme: scheme === '' ? '' : `${scheme}://`,
    user: user === null ? null : percentDecoded(user),
    password: password === null ? null : percentDecoded(password),
    host: authority.slice(at + 1),
    path,
    query,
    fragment,
  };
}

export function joinUrl({ scheme, host, path, query }: UrlParts): string {
  return `${scheme}${host}${path}${query}`;
}

/** Appends to the query as curl does: with `&` if it is not empty, `%XX` in lower case. */
export function withQuery(parts: UrlParts, added: string): UrlParts {
  if (added === '') return parts;
  const addition = added.replace(/%[0-9A-Fa-f]{2}/g, (hex) => hex.toLowerCase());
  const { query } = parts;
  if (query === '' || query === '?') return { ...parts, query: `?${addition}` };
  return { ...parts, query: `${query}${query.endsWith('&') ? '' : '&'}${addition}` };
}

/** RFC 3986, section 5.2.4. */
export function withoutDotSegments(path: string): string {
  if (!/(?:^|\/)\.\.?(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    if (segment === '..') kept.pop();
    else if (segment !== '.') kept.push(segment);
    if (isLast && (segment === '.' || segment === '..')) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** Bytes outside ASCII as `%hh`, in lower case like curl. */
export function encodeNonAscii(bytes: string): string {
  return mapAroundVariables(bytes, (part) =>
    part.replace(/[\x80-\xff]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`),
  );
}

function percentDecoded(bytes: string): string {
  return bytes.replace(/%([0-9a-fA-F]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
