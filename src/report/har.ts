import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { asAbsent } from '../base/system-fault.js';
import type { FailedRequest } from './failure-evidence.js';

/** The file in which a running session collects network entries. Archives ignore the name. */
export const NETWORK_LOG = '.network.jsonl';
/** Failed requests of a session that reports know of. */
const MAX_FAILED = 500;
const MAX_URL = 1_000;

const Entry = z.object({
  startedDateTime: z.string(),
  request: z.object({ method: z.string(), url: z.string() }),
  response: z.object({ status: z.number(), _error: z.string().optional() }),
});

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

/** Requests that failed, or were answered with 400 and up; the newest. */
export async function failedRequests(dir: string): Promise<readonly FailedRequest[]> {
  const file = join(dir, NETWORK_LOG);
  const stats = await stat(file).catch(asAbsent);
  if (!stats?.isFile()) return [];
  const failed: FailedRequest[] = [];
  for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
    // Most requests succeed, and are not parsed.
    if (!/"status":[045]|"_error"/.test(line)) continue;
    const request = readFailed(line);
    if (request === null) continue;
    failed.push(request);
    if (failed.length > MAX_FAILED) failed.shift();
  }
  return failed;
}

function readFailed(line: string): FailedRequest | null {
  const entry = Entry.safeParse(parsed(line));
  if (!entry.success) return null;
  const { startedDateTime: at, request, response } = entry.data;
  const { status, _error: error } = response;
  // A page that is left cancels its requests, and browsers ask for an icon that few sites have.
  const harmless = error === 'net::ERR_ABORTED' || request.url.endsWith('/favicon.ico');
  if (harmless || (status < 400 && error === undefined)) return null;
  const shown = { method: request.method, url: request.url.slice(0, MAX_URL), status: status === 0 ? null : status };
  return { at, request: error === undefined ? shown : { ...shown, error } };
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

async function* pieces(file: string): AsyncGenerator<string> {
  yield '{"log":{"version":"1.2","creator":{"name":"Troupe","version":"1"},"entries":[';
  let separator = '\n';
  // A page has several lines: the last one has its times.
  const pages = new Map<string, unknown>();
  for await (const line of createInterface({ input: createReadStream(file, 'utf8') })) {
    const value = parsed(line);
    if (typeof value !== 'object' || value === null) continue;
    const page = PageLine.safeParse(value);
    if (page.success) {
      pages.set(page.data.page.id, page.data.page);
      continue;
    }
    yield `${separator}${line}`;
    separator = ',\n';
  }
  yield `\n],"pages":${JSON.stringify([...pages.values()])}}}\n`;
}
