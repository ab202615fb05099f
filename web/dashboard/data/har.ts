import { isObject, textIn } from './unknown.js';

/** A larger log is only offered as a file, in bytes. */
export const MAX_LOG_BYTES = 40 * 1024 * 1024;

export interface Header {
  readonly name: string;
  readonly value: string;
}

/** One request of a session's pages, as `network.har` has it. */
export interface NetworkRequest {
  /** Its place in the log, from 0. */
  readonly index: number;
  /** ISO 8601. */
  readonly at: string;
  readonly durationMs: number;
  readonly method: string;
  readonly url: string;
  /** 0 if there was no answer. */
  readonly status: number;
  /** Why there was no answer, in Chromium's words. */
  readonly error: string | null;
  /** `document`, `xhr`, `script`, ... */
  readonly type: string;
  /** Of the answer's body; -1 if it is not known. */
  readonly bytes: number;
  readonly headers: readonly Header[];
  readonly answerHeaders: readonly Header[];
  readonly body: string | null;
  readonly answerBody: string | null;
}

/** The requests of a HAR file, in its order. What is not as the format says is left out. */
export function requestsOf(har: unknown): readonly NetworkRequest[] {
  const log = isObject(har) && isObject(har.log) ? har.log : {};
  const entries: readonly unknown[] = Array.isArray(log.entries) ? log.entries : [];
  return entries.flatMap((entry, index) => {
    if (!isObject(entry) || !isObject(entry.request) || !isObject(entry.response)) return [];
    const { request, response } = entry;
    const content = isObject(response.content) ? response.content : {};
    const isText = content.encoding !== 'base64';
    return [
      {
        index,
        at: textIn(entry, 'startedDateTime') ?? '',
        durationMs: numberIn(entry, 'time') ?? 0,
        method: textIn(request, 'method') ?? '',
        url: textIn(request, 'url') ?? '',
        status: numberIn(response, 'status') ?? 0,
        error: textIn(response, '_error'),
        type: textIn(entry, '_resourceType') ?? '',
        bytes: numberIn(content, 'size') ?? -1,
        headers: headersOf(request.headers),
        answerHeaders: headersOf(response.headers),
        body: isObject(request.postData) ? textIn(request.postData, 'text') : null,
        answerBody: isText ? textIn(content, 'text') : null,
      },
    ];
  });
}

/** Whether it got no answer, or one of 400 and up. */
export function hasFailed({ status, error }: NetworkRequest): boolean {
  return error !== null || status >= 400;
}

/** The request as a curl command for a POSIX shell. */
export function curlOf({ method, url, headers, body }: NetworkRequest): string {
  const parts = [`curl ${quoted(url)}`];
  if (method !== (body === null ? 'GET' : 'POST')) parts.push(`-X ${quoted(method)}`);
  for (const { name, value } of headers) {
    // HTTP/2 has these as headers, and curl computes the length.
    if (!name.startsWith(':') && !/^(content-length|host)$/i.test(name))
      parts.push(`-H ${quoted(`${name}: ${value}`)}`);
  }
  if (body !== null) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function headersOf(list: unknown): readonly Header[] {
  const members: readonly unknown[] = Array.isArray(list) ? list : [];
  return members.flatMap((one) =>
    isObject(one) && typeof one.name === 'string' && typeof one.value === 'string'
      ? [{ name: one.name, value: one.value }]
      : [],
  );
}

function numberIn(object: { readonly [key: string]: unknown }, member: string): number | null {
  const value = object[member];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
