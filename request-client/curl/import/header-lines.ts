import type { HeaderEntry } from '../../engine/request.js';
import type { Given, Operation } from './operation.js';
import type { Remark } from './shell-command.js';
import { variablesInBraces } from './source-text.js';

export interface Headers {
  readonly headers: readonly HeaderEntry[];
  /** Lower-case names that `-H 'Name:'` removes from the headers sent by default. */
  readonly removed: readonly string[];
}

/** A header that curl adds by itself, unless `-H` has its name. */
type Own = readonly [name: string, value: string | null];

/** All headers of an operation as curl sends them, except Host, Accept and User-Agent with curl's own values. */
export function headersOf(operation: Operation, contentType: string | null, remarks: Remark[]): Headers {
  const custom = customHeaders(operation.headers, remarks);
  const has = (name: string): boolean => custom.names.has(name.toLowerCase());
  const own = (entries: readonly Own[]): HeaderEntry[] =>
    entries.flatMap(([name, value]) => (value === null || has(name) ? [] : [{ name, value }]));
  const text = (given: Given | null): string | null => (given === null ? null : variablesInBraces(given.text));
  const userAgent = text(operation.userAgent);
  const { json, cookies, bearer } = operation;
  const authorization = bearer === null ? null : `Bearer ${variablesInBraces(bearer.text)}`;
  const headers = [
    ...own([
      ['Authorization', authorization],
      ['Range', rangeOf(text(operation.range))],
      ['User-Agent', userAgent === '' ? null : userAgent],
      ['Accept-Encoding', operation.compressed ? 'deflate, gzip, br, zstd' : null],
      ['Referer', refererOf(text(operation.referer))],
      ['Cookie', cookies.length === 0 ? null : cookies.map((cookie) => variablesInBraces(cookie.text)).join(';')],
      conditionOf(operation.timeCondition, remarks),
    ]),
    ...custom.headers,
    ...own([
      ['Content-Type', json ? 'application/json' : contentType],
      ['Accept', json ? 'application/json' : null],
    ]),
  ];
  const [cookie] = cookies;
  if (cookie !== undefined && !has('cookie')) {
    const message = '--cookie became a Cookie header';
    remarks.push({ level: 'note', about: '--cookie', message, at: cookie.at });
  }
  const removed = userAgent === '' && !has('user-agent') ? [...custom.removed, 'user-agent'] : custom.removed;
  return { headers, removed };
}

interface Custom {
  readonly headers: HeaderEntry[];
  readonly removed: string[];
  /** Lower-case names of all headers, also of removed ones. */
  readonly names: ReadonlySet<string>;
}

/** curl's rules: `Name: value` is sent, `Name;` is sent empty, `Name:` removes a header, anything else is ignored. */
function customHeaders(lines: readonly Given[], remarks: Remark[]): Custom {
  const headers: HeaderEntry[] = [];
  const removed: string[] = [];
  const names = new Set<string>();
  for (const { text, at } of lines) {
    const [, name, value] = /^([^:]+):([\s\S]*)$/.exec(text) ?? [];
    const empty = /^([^:;]+);$/.exec(text)?.[1];
    const header = variablesInBraces((name ?? empty ?? '').trim());
    const lower = header.toLowerCase();
    if (header === '') {
      if (text.trim() !== '') remarks.push(ignored(text, at, 'curl does not send it'));
    } else if (lower === 'host' && names.has('host')) {
      remarks.push(ignored(text, at, 'curl sends only the first Host'));
    } else if (empty !== undefined) {
      headers.push({ name: header, value: '' });
    } else if (value?.trim() === '') {
      removed.push(lower);
    } else if (value !== undefined) {
      headers.push({ name: header, value: variablesInBraces(value.replace(/^[ \t]+|[ \t\r]+$/g, '')) });
    }
    if (header !== '') names.add(lower);
  }
  return { headers, removed, names };
}

function ignored(text: string, at: number, why: string): Remark {
  const about = `--header ${variablesInBraces(text)}`;
  return { level: 'warning', about, message: `${about} was left out: ${why}`, at };
}

function rangeOf(range: string | null): string | null {
  if (range === null) return null;
  return `bytes=${/^\d+$/.test(range) ? `${range}-` : range}`;
}

function refererOf(referer: string | null): string | null {
  const kept = referer?.replace(/;auto$/, '') ?? '';
  return kept === '' ? null : kept;
}

/** `-z date`; a file's date, or an unreadable one, is omitted. */
function conditionOf(condition: Given | null, remarks: Remark[]): Own {
  if (condition === null) return ['If-Modified-Since', null];
  const before = condition.text.startsWith('-');
  const date = new Date(condition.text.replace(/^[-+=]/, ''));
  if (/^[-+]?[A-Za-z]{3},? /.test(condition.text) && !Number.isNaN(date.getTime())) {
    return [before ? 'If-Unmodified-Since' : 'If-Modified-Since', date.toUTCString()];
  }
  const about = `--time-cond ${variablesInBraces(condition.text)}`;
  remarks.push({ level: 'warning', about, message: `${about} was left out: it is not a plain date`, at: condition.at });
  return ['If-Modified-Since', null];
}
