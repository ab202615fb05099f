import { stripComments } from 'jsonc-parser';
import type { FormPart, HeaderEntry, RequestBody, RequestDraft } from '../request.js';
import { addressOf } from './address.js';
import { sendSettings } from './behaviour.js';
import { asObject, enabledPairs, type JsonObject, member, textOf } from './json-access.js';

/** Methods for which Postman sends no body by default. */
const BODILESS = /^(?:GET|COPY|HEAD|PURGE|UNLOCK)$/i;
const LANGUAGE_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  xml: 'application/xml',
  javascript: 'application/javascript',
  html: 'text/html',
  text: 'text/plain',
};

/**
 * The request of a collection's item, with `{{variables}}` not yet replaced; auth is read by `authAt`.
 * @param behaviour what `behaviourAt` says of it; by default only its own
 */
export function readRequest(
  item: unknown,
  behaviour: JsonObject = asObject(member(item, 'protocolProfileBehavior')) ?? {},
): RequestDraft {
  const request = member(item, 'request');
  const method = textOf(member(request, 'method')) ?? 'GET';
  const disabled = asObject(behaviour.disabledSystemHeaders) ?? {};
  const prunes = BODILESS.test(method) && behaviour.disableBodyPruning !== true;
  const headers = readHeaders(member(request, 'header'));
  const ownType = headers.find(isContentType)?.value;
  const { body, contentType } = prunes ? NO_BODY : readBody(member(request, 'body'), ownType);
  const typed = contentType === null || disabled['content-type'] === true || ownType !== undefined;
  return {
    name: textOf(member(item, 'name')) ?? '',
    method,
    url: addressOf(typeof request === 'string' ? request : member(request, 'url')).text,
    headers: typed ? headers : [...headers, { name: 'Content-Type', value: contentType }],
    withoutHeaders: Object.keys(disabled).filter((name) => disabled[name] === true),
    body,
    auth: null,
    settings: sendSettings(behaviour),
  };
}

function isContentType({ name }: HeaderEntry): boolean {
  return name.toLowerCase() === 'content-type';
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

function readBody(body: unknown, ownType: string | undefined): ReadBody {
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
      if (raw === '') return NO_BODY;
      return text(isJson(language, ownType) ? withoutComments(raw) : raw, LANGUAGE_TYPES[language] ?? 'text/plain');
    }
    case 'urlencoded': {
      const encoded = (part: string): string =>
        part.replace(/[^A-Za-z0-9\-._~{}$]+/gu, (piece) => encodeURIComponent(Buffer.from(piece).toString()));
      const value = member(body, 'urlencoded');
      if (typeof value === 'string') return text(value, 'application/x-www-form-urlencoded');
      const pairs = enabledPairs(value).map((pair) => `${encoded(pair.key)}=${encoded(pair.value)}`);
      return pairs.length === 0 ? NO_BODY : text(pairs.join('&'), 'application/x-www-form-urlencoded');
    }
    case 'formdata': {
      const parts = enabledPairs(member(body, 'formdata')).flatMap(readPart);
      return parts.length === 0 ? NO_BODY : { body: { kind: 'form', parts }, contentType: null };
    }
    case 'file': {
      const file = member(body, 'file');
      const path = textOf(member(file, 'src'));
      const content = textOf(member(file, 'content')) ?? '';
      if (path === undefined) return content === '' ? NO_BODY : text(content, null);
      return {
        body: { kind: 'file', path, withoutNewlines: member(file, 'withoutNewlines') === true },
        contentType: null,
      };
    }
    case 'graphql': {
      return text(graphqlBody(member(body, 'graphql')), 'application/json');
    }
    default:
      return NO_BODY;
  }
}

function isJson(language: string, contentType = ''): boolean {
  return language === 'json' || (language === '' && /^application\/(?:[^\s;]+\+)?json/i.test(contentType));
}

/** Comments in a JSON body are for its readers: Postman does not send them. */
function withoutComments(json: string): string {
  return /\/[/*]/.test(json) ? stripComments(json) : json;
}

/** Variables are JSON as a text, or, in files of other programs, a value. */
function graphqlBody(graphql: unknown): string {
  const given = member(graphql, 'variables');
  const variables = textOf(given) ?? (given === undefined || given === null ? '' : JSON.stringify(given));
  const operation = textOf(member(graphql, 'operationName')) ?? '';
  return `{${[
    `"query":${JSON.stringify(textOf(member(graphql, 'query')) ?? '')}`,
    ...(operation === '' ? [] : [`"operationName":${JSON.stringify(operation)}`]),
    ...(variables.trim() === '' ? [] : [`"variables":${variables}`]),
  ].join(',')}}`;
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
