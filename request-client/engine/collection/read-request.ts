import type { FormPart, HeaderEntry, RequestBody, RequestDraft, SendSettings } from '../request.js';
import { asObject, enabledPairs, listOf, member, textOf } from './json-access.js';

/** Methods for which Postman sends no body by default. */
const BODILESS = /^(?:GET|COPY|HEAD|PURGE|UNLOCK)$/i;
const LANGUAGE_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  xml: 'application/xml',
  javascript: 'application/javascript',
  html: 'text/html',
  text: 'text/plain',
};

/** The request of a collection's item, with `{{variables}}` not yet replaced; auth is read by `authAt`. */
export function readRequest(item: unknown): RequestDraft {
  const request = member(item, 'request');
  const behaviour = member(item, 'protocolProfileBehavior');
  const method = textOf(member(request, 'method')) ?? 'GET';
  const disabled = asObject(member(behaviour, 'disabledSystemHeaders')) ?? {};
  const prunes = BODILESS.test(method) && member(behaviour, 'disableBodyPruning') !== true;
  const { body, contentType } = prunes ? NO_BODY : readBody(member(request, 'body'));
  const headers = readHeaders(member(request, 'header'));
  const typed = contentType === null || disabled['content-type'] === true || headers.some(isContentType);
  return {
    name: textOf(member(item, 'name')) ?? '',
    method,
    url: readUrl(typeof request === 'string' ? request : member(request, 'url')),
    headers: typed ? headers : [...headers, { name: 'Content-Type', value: contentType }],
    withoutHeaders: Object.keys(disabled).filter((name) => disabled[name] === true),
    body,
    auth: null,
    settings: {
      followRedirects: member(behaviour, 'followRedirects') !== false,
      verifyTls: member(behaviour, 'strictSSL') !== false,
      encodeUrl: member(behaviour, 'disableUrlEncoding') !== true,
      ...httpVersionIn(member(behaviour, 'protocolVersion')),
    },
  };
}

/** Postman's `protocolVersion`; empty for the automatic choice. */
export function httpVersionIn(value: unknown): Pick<SendSettings, 'httpVersion'> {
  return value === 'http1' || value === 'http2' ? { httpVersion: value } : {};
}

function isContentType({ name }: HeaderEntry): boolean {
  return name.toLowerCase() === 'content-type';
}

/** A string, or Postman's object of parts. Path variables (`:id`) are replaced, disabled query parameters omitted. */
function readUrl(url: unknown): string {
  const raw = textOf(url) ?? textOf(member(url, 'raw'));
  const variables = new Map(enabledPairs(member(url, 'variable')).map(({ key, value }) => [key, value]));
  const text = raw === undefined ? composedUrl(url) : withoutDisabled(raw, member(url, 'query'));
  if (variables.size === 0) return text;
  const [, origin = '', path = '', rest = ''] = /^((?:[^:/?#]+:\/\/)?[^/?#]*)([^?#]*)([\s\S]*)$/.exec(text) ?? [];
  const filled = path.replace(/\/:([^/]+)/g, (all, key: string) => {
    const value = variables.get(key);
    return value === undefined ? all : `/${value}`;
  });
  return `${origin}${filled}${rest}`;
}

/** A whole URL without the parameters of its query that are switched off: files that programs write may have both. */
function withoutDisabled(raw: string, query: unknown): string {
  const off = listOf(query).filter((entry) => member(entry, 'disabled') === true);
  const [, start = '', own, end = ''] = /^([^?#]*)\?([^#]*)([\s\S]*)$/.exec(raw) ?? [];
  if (off.length === 0 || own === undefined) return raw;
  const pieces = own.split('&');
  const on = enabledPairs(query).map(({ key, value }) => bare(`${key}=${value}`));
  for (const entry of off) {
    const piece = bare(`${textOf(member(entry, 'key')) ?? ''}=${textOf(member(entry, 'value')) ?? ''}`);
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

/** A URL from Postman's parts, if the complete one is missing. */
export function composedUrl(url: unknown): string {
  const joined = (value: unknown, separator: string): string =>
    textOf(value) ??
    listOf(value)
      .map((part) => textOf(part) ?? textOf(member(part, 'value')) ?? '')
      .join(separator);
  const protocol = textOf(member(url, 'protocol'));
  const port = textOf(member(url, 'port'));
  const path = joined(member(url, 'path'), '/');
  const query = enabledPairs(member(url, 'query')).map(({ key, value, entry }) =>
    member(entry, 'value') === null ? key : `${key}=${value}`,
  );
  return [
    protocol === undefined ? '' : `${protocol}://`,
    joined(member(url, 'host'), '.'),
    port === undefined ? '' : `:${port}`,
    path === '' ? '' : `/${path.replace(/^\//, '')}`,
    query.length === 0 ? '' : `?${query.join('&')}`,
  ].join('');
}

/** A list, or v2.0's lines of text. */
function readHeaders(header: unknown): HeaderEntry[] {
  if (typeof header !== 'string') return enabledPairs(header).map(({ key, value }) => ({ name: key.trim(), value }));
  return header.split(/\r?\n/).flatMap((line) => {
    const [, name, value = ''] = /^\s*([^:]+):\s*(.*)$/s.exec(line) ?? [];
    return name === undefined || name.startsWith('//') ? [] : [{ name, value }];
  });
}

interface ReadBody {
  readonly body: RequestBody;
  readonly contentType: string | null;
}

const NO_BODY: ReadBody = { body: { kind: 'none' }, contentType: null };

function readBody(body: unknown): ReadBody {
  if (body === undefined || body === null || member(body, 'disabled') === true) return NO_BODY;
  const text = (content: string, contentType: string | null): ReadBody => ({
    body: { kind: 'text', text: content },
    contentType,
  });
  switch (member(body, 'mode')) {
    case 'raw': {
      const base64 = textOf(member(body, 'base64'));
      if (base64 !== undefined) return { body: { kind: 'bytes', base64 }, contentType: null };
      const raw = textOf(member(body, 'raw')) ?? '';
      const language = textOf(member(member(member(body, 'options'), 'raw'), 'language')) ?? '';
      return raw === '' ? NO_BODY : text(raw, LANGUAGE_TYPES[language] ?? null);
    }
    case 'urlencoded': {
      const encoded = (part: string): string =>
        part.replace(/[^A-Za-z0-9\-._~{}$]+/gu, (piece) => encodeURIComponent(Buffer.from(piece).toString()));
      const value = member(body, 'urlencoded');
      if (typeof value === 'string') return text(value, 'application/x-www-form-urlencoded');
      const pairs = enabledPairs(value).map((pair) => `${encoded(pair.key)}=${encoded(pair.value)}`);
      return text(pairs.join('&'), 'application/x-www-form-urlencoded');
    }
    case 'formdata':
      return {
        body: { kind: 'form', parts: enabledPairs(member(body, 'formdata')).flatMap(readPart) },
        contentType: null,
      };
    case 'file': {
      const file = member(body, 'file');
      const path = textOf(member(file, 'src'));
      if (path === undefined) return NO_BODY;
      return {
        body: { kind: 'file', path, withoutNewlines: member(file, 'withoutNewlines') === true },
        contentType: null,
      };
    }
    case 'graphql': {
      const graphql = member(body, 'graphql');
      const variables = textOf(member(graphql, 'variables')) ?? '';
      const query = JSON.stringify(textOf(member(graphql, 'query')) ?? '');
      return text(`{"query":${query},"variables":${variables.trim() === '' ? '{}' : variables}}`, 'application/json');
    }
    default:
      return NO_BODY;
  }
}

function readPart({ key, value, entry }: ReturnType<typeof enabledPairs>[number]): FormPart[] {
  const type = textOf(member(entry, 'contentType'));
  const typed = type === undefined || type === '' ? {} : { type };
  if (member(entry, 'type') !== 'file') return [{ kind: 'text', name: key, value, ...typed }];
  const source = member(entry, 'src');
  const filename = textOf(member(entry, 'fileName'));
  const named = filename === undefined ? {} : { filename };
  // An empty path is a file that was not chosen yet: sending says so, instead of leaving the part out.
  const paths = Array.isArray(source) ? source.filter((path) => path !== '') : [source];
  return paths.flatMap((path) =>
    typeof path === 'string' ? [{ kind: 'file' as const, name: key, path, ...typed, ...named }] : [],
  );
}
