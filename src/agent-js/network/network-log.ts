import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { settlesWithin, stretched } from '../../base/deadline.js';
import { appendFile } from '../../files/thread-files.js';
import { NO_ANSWER } from '../../protocol/network-log.js';
import type { BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent, CdpLoadingFailed, CdpResponse } from '../browser/cdp.js';
import { harEntry, MAX_BODY_BYTES, type SeenBody, type SeenEnd, type SeenRequest } from './har-entry.js';
import { HarPages } from './har-pages.js';
import { type AnsweredRequest, announcedBytes, failureOf } from './request-end.js';

/** Requests that are open at once and remembered. */
const MAX_OPEN = 2_000;
/** Entries of a session; later requests are not logged. */
const MAX_ENTRIES = 20_000;
/** All bodies of a session together. */
const MAX_BODIES_BYTES = 64 * 1024 * 1024;
/** What the browser keeps of a page's bodies until they are read. */
const BROWSER_BUFFER_BYTES = 16 * 1024 * 1024;
/** Bodies that are being read at once; further ones are left out. */
const MAX_READING = 100;
const READ_MS = stretched(5_000);
/** The end of a session waits this long for the bodies that are being read. */
const LAST_READ_MS = 1_000;
/** Written in pieces, at most so often. */
const FLUSH_MS = 1_000;
/** Types of answers whose bodies say what went wrong. A page of an error of 500 and up does, too. */
const SAYS_WHY = /^(?:application\/(?:[\w.+-]+\+)?json|text\/(?!css|javascript|html)|application\/xml)/;

/**
 * What the pages of a session asked of the network, as entries and pages of an HTTP archive (HAR 1.2), one line of JSON
 * each, in a file that grows while the session runs. Credentials are hidden. Bodies are kept only after {@link keepBodies};
 * the beginning of those that say why an answer is an error is kept beside, for reports.
 */
export class NetworkLog {
  readonly #file: string;
  readonly #redact: <T>(value: T) => T;
  readonly #open = new Map<string, SeenRequest>();
  readonly #pages = new HarPages();
  readonly #reading = new Set<Promise<void>>();
  #browser: BrowserPort | null = null;
  #keepsBodies = false;
  #lines: string[] = [];
  #entries = 0;
  #bodyBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The write under way; never rejects. */
  #writing: Promise<void> = Promise.resolve();

  /** @param options.redact takes out of an entry what nobody may see */
  constructor(options: { readonly file: string; readonly redact: <T>(value: T) => T }) {
    this.#file = options.file;
    this.#redact = options.redact;
  }

  /** Reads the bodies of errors from now on. */
  attach(browser: BrowserPort): void {
    this.#browser = browser;
  }

  /**
   * Keeps what requests send and are answered, up to {@link MAX_BODY_BYTES} each. Call it when the pages' own commands
   * have been sent: the browser takes the last size of its buffer that it was given. Bodies of frames that other processes
   * draw, and of workers, are not kept.
   */
  keepBodies(browser: BrowserPort): void {
    this.#browser = browser;
    this.#keepsBodies = true;
    const sizes = { maxTotalBufferSize: BROWSER_BUFFER_BYTES, maxResourceBufferSize: MAX_BODY_BYTES };
    browser.onPage(({ session }) => {
      const params = { ...sizes, maxPostDataSize: MAX_BODY_BYTES };
      browser.send('Network.enable', params, { session }).catch(() => undefined);
    });
  }

  observe(event: CdpEvent): void {
    const page = this.#pages.observe(event);
    if (page !== null) this.#write({ page: this.#redact(page) });
    switch (event.method) {
      case 'Network.requestWillBeSent': {
        const { requestId, request, wallTime, timestamp, type = 'Other', redirectResponse, frameId } = event.params;
        // A redirect has its answer in the request that follows it.
        if (redirectResponse !== undefined) this.#answered(requestId, redirectResponse, timestamp);
        if (redirectResponse !== undefined) this.#ended(requestId, { at: timestamp, failure: null });
        if (this.#open.size >= MAX_OPEN || request.url.startsWith('data:')) return;
        const at = new Date(wallTime * 1000).toISOString();
        const pageId = this.#pages.pageOf(frameId);
        const { session } = event;
        this.#open.set(requestId, { request, at, startedAt: timestamp, type, page: pageId, session, received: 0 });
        return;
      }
      case 'Network.responseReceived':
        this.#answered(event.params.requestId, event.params.response, event.params.timestamp);
        return;
      case 'Network.dataReceived': {
        const open = this.#open.get(event.params.requestId);
        if (open !== undefined) open.received += event.params.dataLength;
        return;
      }
      case 'Network.loadingFinished': {
        const { requestId, timestamp, encodedDataLength } = event.params;
        this.#finished(requestId, { at: timestamp, failure: null, bytes: encodedDataLength });
        return;
      }
      case 'Network.loadingFailed':
        this.#failed(event.params);
        return;
      default:
    }
  }

  /** Writes what is left, also of requests without an end: a page may not read the body of an answer. */
  async close(): Promise<void> {
    if (this.#reading.size > 0) await settlesWithin(Promise.all(this.#reading), LAST_READ_MS);
    for (const [requestId, { type, response, respondedAt, startedAt }] of [...this.#open]) {
      if (type === 'WebSocket') continue;
      this.#ended(requestId, { at: respondedAt ?? startedAt, failure: response === undefined ? NO_ANSWER : null });
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

  #failed(params: CdpLoadingFailed): void {
    const { requestId, timestamp: at } = params;
    const open = this.#open.get(requestId);
    if (open === undefined) return;
    const failure = failureOf(answeredRequest(open), params);
    if (failure === null && open.received > 0) this.#finished(requestId, { at, failure });
    else this.#ended(requestId, { at, failure });
  }

  /** The entry is written once its body has been read. */
  #finished(requestId: string, end: SeenEnd): void {
    const open = this.#open.get(requestId);
    const wanted = open !== undefined && (this.#keepsBodies || saysWhy(open));
    if (this.#browser === null || !wanted || this.#entries >= MAX_ENTRIES) {
      this.#ended(requestId, end);
      return;
    }
    this.#open.delete(requestId);
    const reading = this.#readBody(this.#browser, requestId, open, end).then((body) => {
      this.#reading.delete(reading);
      const why = saysWhy(open) && 'text' in body && !body.base64 ? { errorBody: body.text } : {};
      this.#entry(open, { ...end, ...why, ...(this.#keepsBodies ? { body } : {}) });
    });
    this.#reading.add(reading);
  }

  async #readBody(browser: BrowserPort, requestId: string, open: SeenRequest, end: SeenEnd): Promise<SeenBody> {
    const { bytes = 0 } = end;
    if (bytes > MAX_BODY_BYTES) return { leftOut: `${bytes} bytes, more than ${MAX_BODY_BYTES}` };
    if (this.#reading.size >= MAX_READING) return { leftOut: 'too many answers came at once' };
    if (open.session === undefined) return { leftOut: 'the browser does not have it' };
    try {
      const options = { session: open.session, timeoutMs: READ_MS };
      const { body, base64Encoded } = await browser.send('Network.getResponseBody', { requestId }, options);
      const length = base64Encoded ? Math.floor((body.length * 3) / 4) : Buffer.byteLength(body);
      if (length > MAX_BODY_BYTES) return { leftOut: `${length} bytes, more than ${MAX_BODY_BYTES}` };
      if (this.#bodyBytes + length > MAX_BODIES_BYTES)
        return { leftOut: `the session has ${MAX_BODIES_BYTES} bytes of bodies` };
      this.#bodyBytes += length;
      return { text: body, base64: base64Encoded };
    } catch {
      return { leftOut: 'the browser no longer had it' };
    }
  }

  #ended(requestId: string, end: SeenEnd): void {
    const open = this.#open.get(requestId);
    if (open !== undefined && this.#open.delete(requestId)) this.#entry(open, end);
  }

  #entry(open: SeenRequest, end: SeenEnd): void {
    if (this.#entries >= MAX_ENTRIES) return;
    this.#entries += 1;
    this.#write(harEntry(open, end, { redact: this.#redact, bodies: this.#keepsBodies }));
  }

  #write(line: object): void {
    this.#lines.push(`${JSON.stringify(line)}\n`);
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

function answeredRequest({ request, type, response, received }: SeenRequest): AnsweredRequest {
  const status = response?.status ?? null;
  const announced = response === undefined ? null : announcedBytes(response);
  return { method: request.method, type, status, announced, received };
}

function saysWhy({ response }: SeenRequest): boolean {
  if (response === undefined || response.status < 400) return false;
  return SAYS_WHY.test(response.mimeType) || (response.status >= 500 && response.mimeType === 'text/html');
}
