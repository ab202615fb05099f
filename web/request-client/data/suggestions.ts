import type { SuggestionSource, Suggestions } from '../parts/suggest.js';
import { dynamicNames, type Values } from './variables.js';

const PREVIEW_CHARS = 60;

const JSON_AND_FORMS = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/xml',
  'text/plain',
  'text/html',
  'text/csv',
  'application/octet-stream',
];

/** Headers of requests that people write, with values that are common. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  Accept: ['*/*', 'application/json', 'application/xml', 'text/html', 'text/event-stream', 'text/csv'],
  'Accept-Encoding': ['gzip, deflate, br', 'identity'],
  'Accept-Language': ['en', 'de', 'fr'],
  Authorization: ['Bearer ', 'Basic '],
  'Cache-Control': ['no-cache', 'no-store', 'max-age=0'],
  Connection: ['keep-alive', 'close'],
  'Content-Disposition': [],
  'Content-Encoding': ['gzip'],
  'Content-Language': [],
  'Content-Type': JSON_AND_FORMS,
  Cookie: [],
  Date: [],
  DNT: ['1'],
  Expect: ['100-continue'],
  Forwarded: [],
  Host: [],
  'Idempotency-Key': ['{{$guid}}'],
  'If-Match': [],
  'If-Modified-Since': [],
  'If-None-Match': [],
  'If-Range': [],
  'If-Unmodified-Since': [],
  'Last-Event-ID': [],
  Origin: [],
  Pragma: ['no-cache'],
  Prefer: ['return=representation', 'return=minimal', 'respond-async'],
  'Proxy-Authorization': ['Basic '],
  Range: ['bytes=0-1023'],
  Referer: [],
  'Sec-WebSocket-Protocol': [],
  TE: ['trailers'],
  Traceparent: [],
  'User-Agent': [],
  'X-Api-Key': [],
  'X-Correlation-ID': ['{{$guid}}'],
  'X-CSRF-Token': [],
  'X-Forwarded-For': [],
  'X-Forwarded-Host': [],
  'X-Forwarded-Proto': ['https', 'http'],
  'X-HTTP-Method-Override': ['PUT', 'PATCH', 'DELETE'],
  'X-Request-ID': ['{{$guid}}'],
  'X-Requested-With': ['XMLHttpRequest'],
};

/** Variables after `{{`: those with a value first, then the dynamic ones. */
export function variablesAt(text: string, caret: number, values: Values): Suggestions | null {
  const [, typed] = /\{\{\s*([^{}]*)$/.exec(text.slice(0, caret)) ?? [];
  if (typed === undefined) return null;
  // What stands behind the caret may already close it.
  const close = /^\s*\}\}/.test(text.slice(caret)) ? '' : '}}';
  const wanted = typed.toLowerCase();
  const named = Object.entries(values).map(([name, value]) => ({ name, detail: value.slice(0, PREVIEW_CHARS) }));
  const made = dynamicNames().map((name) => ({ name, detail: 'a new value for each request' }));
  const options = [...named.sort((one, other) => one.name.localeCompare(other.name)), ...made]
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map(({ name, detail }) => ({ text: `${name}${close}`, detail }));
  return { from: caret - typed.length, options };
}

export function variableSource(values: Values): SuggestionSource {
  return (text, caret) => variablesAt(text, caret, values);
}

/** Names of headers, from their beginning. */
export function headerNameSource(values: Values): SuggestionSource {
  return (text, caret) => variablesAt(text, caret, values) ?? startingWith(Object.keys(HEADERS), text, caret);
}

/** Common values of a header. */
export function headerValueSource(header: string, values: Values): SuggestionSource {
  const known = Object.entries(HEADERS).find(([name]) => name.toLowerCase() === header.trim().toLowerCase())?.[1] ?? [];
  return (text, caret) => variablesAt(text, caret, values) ?? startingWith(known, text, caret);
}

function startingWith(all: readonly string[], text: string, caret: number): Suggestions | null {
  if (text === '' || caret !== text.length) return null;
  const wanted = text.toLowerCase();
  const options = all.filter((one) => one.toLowerCase().startsWith(wanted) && one.length > text.length);
  return { from: 0, options: options.map((one) => ({ text: one, detail: '' })) };
}
