import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { appendFile } from '../../files/thread-files.js';
import type { CdpEvent, CdpHeaders, CdpRequest, CdpResponse } from '../browser/cdp.js';

/** Requests that are open at once and remembered. */
const MAX_OPEN = 2_000;
/** Entries of a session; later requests are not logged. */
const MAX_ENTRIES = 20_000;
/** Written in pieces, at most so often. */
const FLUSH_MS = 1_000;
/** A longer value of a header, or address, is cut. */
const MAX_TEXT = 4_000;
/** The error of a request that waits when the session ends. */
const NO_ANSWER = 'no answer when the session ended';
/** Headers that carry credentials. */
const HIDDEN = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$/i;

interface Open {
  readonly request: CdpRequest;
  /** ISO 8601. */
  readonly at: string;
  /** Seconds of the browser's own clock. */
  readonly startedAt: number;
  readonly type: string;
  response?: CdpResponse;
  respondedAt?: number;
}

/**
 * What the pages of a session asked of the network, as entries of an HTTP archive (HAR 1.2), one line of JSON each, in a
 * file that grows while the session runs. No bodies; credentials in headers are hidden.
 */
export class NetworkLog {
  readonly #file: string;
  readonly #redact: <T>(value: T) => T;
  readonly #open = new Map<string, Open>();
  #lines: string[] = [];
  #entries = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The write under way; never rejects. */
  #writing: Promise<void> = Promise.resolve();

  /** @param options.redact takes out of an entry what nobody may see */
  constructor(options: { readonly file: string; readonly redact: <T>(value: T) => T }) {
    this.#file = options.file;
    this.#redact = options.redact;
  }

  observe(event: CdpEvent): void {
    switch (event.method) {
      case 'Network.requestWillBeSent': {
        const { requestId, request, wallTime, timestamp, type = 'Other', redirectResponse } = event.params;
        // A redirect has its answer in the request that follows it.
        if (redirectResponse !== undefined) this.#answered(requestId, redirectResponse, timestamp);
        if (redirectResponse !== undefined) this.#ended(requestId, timestamp, null);
        if (this.#open.size >= MAX_OPEN || request.url.startsWith('data:')) return;
        this.#open.set(requestId, { request, at: new Date(wallTime * 1000).toISOString(), startedAt: timestamp, type });
        return;
      }
      case 'Network.responseReceived':
        this.#answered(event.params.requestId, event.params.response, event.params.timestamp);
        return;
      case 'Network.loadingFinished':
        this.#ended(event.params.requestId, event.params.timestamp, null);
        return;
      case 'Network.loadingFailed':
        this.#ended(event.params.requestId, event.params.timestamp, event.params.errorText);
        return;
      default:
    }
  }

  /** Writes what is left, also of requests without an end: a page may not read the body of an answer. */
  async close(): Promise<void> {
    for (const [requestId, open] of [...this.#open]) {
      if (open.type === 'WebSocket') continue;
      this.#ended(requestId, open.respondedAt ?? open.startedAt, open.response === undefined ? NO_ANSWER : null);
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#open.clear();
    this.#flush();
    await this.#writing;
  }

  #answered(requestId: string, response: CdpResponse, at: number): void {
    const open = this.#open.get(requestId);
    if (open === undefined) return;
    open.response = response;
    open.respondedAt = at;
  }

  #ended(requestId: string, at: number, failure: string | null): void {
    const open = this.#open.get(requestId);
    if (open === undefined || !this.#open.delete(requestId) || this.#entries >= MAX_ENTRIES) return;
    this.#entries += 1;
    // A secret that is cut would not be known as one.
    const shown = (text: string) => this.#redact(text).slice(0, MAX_TEXT);
    this.#lines.push(`${JSON.stringify(this.#redact(entryOf(open, at, failure, shown)))}\n`);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, FLUSH_MS);
  }

  #flush(): void {
    if (this.#lines.length === 0) return;
    const text = this.#lines.join('');
    this.#lines = [];
    this.#writing = this.#writing
      .then(() => mkdir(dirname(this.#file), { recursive: true }))
      .then(() => appendFile(this.#file, text))
      // A disk that is full costs the log, not the session.
      .catch(() => undefined);
  }
}

function entryOf(
  { request, at, startedAt, respondedAt, response, type }: Open,
  endedAt: number,
  failure: string | null,
  shown: (text: string) => string,
) {
  const ms = (from: number, to: number) => Math.max(0, Math.round((to - from) * 10_000) / 10);
  const wait = ms(startedAt, respondedAt ?? endedAt);
  const receive = respondedAt === undefined ? 0 : ms(respondedAt, endedAt);
  const httpVersion = response?.protocol ?? '';
  return {
    startedDateTime: at,
    time: wait + receive,
    request: {
      method: request.method,
      url: shown(request.url),
      httpVersion,
      cookies: [],
      headers: headersOf(request.headers, shown),
      queryString: queryOf(request.url, shown),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status: response?.status ?? 0,
      statusText: response?.statusText ?? '',
      httpVersion,
      cookies: [],
      headers: headersOf(response?.headers ?? {}, shown),
      content: { size: Math.max(0, response?.encodedDataLength ?? 0), mimeType: response?.mimeType ?? '' },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
      ...(failure === null ? {} : { _error: failure }),
    },
    cache: {},
    timings: { send: 0, wait, receive },
    _resourceType: type.toLowerCase(),
  };
}

function headersOf(headers: CdpHeaders, shown: (text: string) => string): { name: string; value: string }[] {
  return Object.entries(headers).map(([name, value]) => ({
    name,
    value: HIDDEN.test(name) ? '(hidden)' : shown(String(value)),
  }));
}

function queryOf(url: string, shown: (text: string) => string): { name: string; value: string }[] {
  if (!URL.canParse(url)) return [];
  return [...new URL(url).searchParams].map(([name, value]) => ({ name, value: shown(value) }));
}
