import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { linesOf } from '../base/lines.js';
import { asAbsent } from '../base/system-fault.js';
import { ERROR_BODY, NO_ANSWER } from '../protocol/network-log.js';
import type { FailedRequest, LongRequest } from './failure-evidence.js';

/** The file in which a running session collects network entries. Archives ignore the name. */
export const NETWORK_LOG = '.network.jsonl';
/** Requests of a session that reports know of, of each kind. */
const MAX_NOTED = 500;
const MAX_URL = 1_000;
const MAX_BODY = 500;
const IN_LINE = new RegExp(`,"${ERROR_BODY}":"(?:[^"\\\\]|\\\\.)*"`);
/** Requests that took at least this long, in milliseconds, may have been pending when something failed. */
const LONG_MS = 100;

const Entry = z.object({
  startedDateTime: z.string(),
  time: z.number(),
  request: z.object({ method: z.string(), url: z.string() }),
  response: z.object({
    status: z.number(),
    _error: z.string().optional(),
    [ERROR_BODY]: z.string().optional(),
    content: z.object({ mimeType: z.string() }),
  }),
  _resourceType: z.string(),
});
type Entry = z.infer<typeof Entry>;

const PageLine = z.object({ page: z.looseObject({ id: z.string() }) });

/**
 * `network.har` (HAR 1.2, http://www.softwareishard.com/blog/har-12-spec/) of a session's folder, in pieces; null if
 * there
 * are no entries. Skips a line that was truncated when the process was killed.
 */
export async function harPieces(dir: string): Promise<AsyncIterable<string> | null> {
  const file = join(dir, NETWORK_LOG);
  const stats = await stat(file).catch(asAbsent);
  return stats?.isFile() ? pieces(file) : null;
}

/** What a report takes from the network log: the newest of each. */
export interface NotedRequests {
  /** Requests that failed, or were answered with 400 and up. */
  readonly failed: readonly FailedRequest[];
  /** Requests that may have been pending when something failed. */
  readonly long: readonly LongRequest[];
}

export async function notedRequests(dir: string): Promise<NotedRequests> {
  const file = join(dir, NETWORK_LOG);
  const stats = await stat(file).catch(asAbsent);
  const failed: FailedRequest[] = [];
  const long: LongRequest[] = [];
  if (!stats?.isFile()) return { failed, long };
  for await (const line of linesOf(createReadStream(file))) {
    // Most requests succeed, and are not parsed.
    if (line === null || !/"status":[045]|"_error"|"time":\d{3}/.test(line)) continue;
    const entry = Entry.safeParse(parsed(line)).data;
    if (entry === undefined) continue;
    const request = failedOf(entry);
    if (request !== null) failed.push(request);
    if (failed.length > MAX_NOTED) failed.shift();
    const slow = longOf(entry);
    if (slow !== null) long.push(slow);
    if (long.length > MAX_NOTED) long.shift();
  }
  // An entry is written when its body has been read, which may be later than that of a request after it.
  for (const requests of [failed, long]) requests.sort((one, other) => one.at.localeCompare(other.at));
  return { failed, long };
}

/** Null for one that was answered soon, and for a stream of events, which stays open. */
function longOf({ startedDateTime: at, time, request, response, _resourceType: type }: Entry): LongRequest | null {
  const endless = response._error === NO_ANSWER;
  if (type === 'eventsource' || (!endless && time < LONG_MS)) return null;
  const until = endless ? null : new Date(Date.parse(at) + time).toISOString();
  return { at, until, method: request.method, url: request.url.slice(0, MAX_URL) };
}

function failedOf({ startedDateTime: at, request, response }: Entry): FailedRequest | null {
  const { status, _error: error } = response;
  // It was pending, and did not fail.
  if (error === NO_ANSWER) return null;
  // A page that is left cancels its requests, and browsers ask for an icon that few sites have.
  const harmless = error === 'net::ERR_ABORTED' || request.url.endsWith('/favicon.ico');
  if (harmless || (status < 400 && error === undefined)) return null;
  const shown = { method: request.method, url: request.url.slice(0, MAX_URL), status: status === 0 ? null : status };
  const body = bodyText(response.content.mimeType, response[ERROR_BODY] ?? '');
  return { at, request: { ...shown, ...(error === undefined ? {} : { error }), ...(body === '' ? {} : { body }) } };
}

/** The beginning of an error's body in one line; of a page its text. */
function bodyText(mimeType: string, text: string): string {
  const plain = mimeType === 'text/html' ? text.replace(/<(style|script|head)\b.*?(<\/\1>|$)|<[^>]*>/gis, ' ') : text;
  const line = plain.replace(/\s+/g, ' ').trim();
  return line.length > MAX_BODY ? `${line.slice(0, MAX_BODY)}…` : line;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** A line of the log as archives have it. */
export function withoutErrorBody(line: string): string {
  return line.replace(IN_LINE, '');
}

async function* pieces(file: string): AsyncGenerator<string> {
  yield '{"log":{"version":"1.2","creator":{"name":"Troupe","version":"1"},"entries":[';
  let separator = '\n';
  // A page has several lines: the last one has its times.
  const pages = new Map<string, unknown>();
  for await (const line of linesOf(createReadStream(file))) {
    const value = line === null ? null : parsed(line);
    if (line === null || typeof value !== 'object' || value === null) continue;
    const page = PageLine.safeParse(value);
    if (page.success) {
      pages.set(page.data.page.id, page.data.page);
      continue;
    }
    yield `${separator}${withoutErrorBody(line)}`;
    separator = ',\n';
  }
  yield `\n],"pages":${JSON.stringify([...pages.values()])}}}\n`;
}
