import type { HostCallContext, HostModule } from '../../script/host-module.js';
import { boundsOf, remainingMs } from '../browser/bounds.js';
import type { BrowserPort } from '../browser/browser-port.js';
import type { CdpEvent } from '../browser/cdp.js';
import { membersOf, misuse, shown } from '../call-arguments.js';
import { type AnsweredRequest, announcedBytes, failureOf } from './request-end.js';
import { urlPattern } from './url-pattern.js';

/** Requests of a session that are remembered; the oldest go. */
const MAX_REQUESTS = 1_000;
const MAX_URL = 4_000;
/** Bytes of one request's body, and of those of all requests. */
const MAX_SENT = 64 * 1024;
const MAX_ALL_SENT = 4 * 1024 * 1024;
/** Characters of one answer's body, and answers whose bodies one call reads: the newest. */
const MAX_BODY = 256 * 1024;
const MAX_BODIES = 50;
const READ_MS = 5_000;
const TEXT = /^(text\/|application\/(.*\+)?(json|xml)|application\/(javascript|x-www-form-urlencoded|graphql))/is;

interface Remembered extends AnsweredRequest {
  readonly id: string;
  readonly session: string | undefined;
  readonly url: string;
  readonly startedAt: number;
  readonly sent: string | null;
  readonly sentType: string;
  status: number | null;
  announced: number | null;
  received: number;
  mimeType: string;
  endedAt: number | null;
  failure: string | null;
  /** A redirect's answer has no body, and its id is that of the next request. */
  redirected: boolean;
}

/** `agent.requests(filter?)`: what the pages of a session asked for, oldest first. */
export class RequestMemory {
  readonly #all: Remembered[] = [];
  /** The newest request of each id: a redirect keeps its id. */
  readonly #open = new Map<string, Remembered>();
  #sent = 0;

  /** A module with the call `requests` in addition. */
  addTo(module: HostModule, browser: BrowserPort): HostModule {
    const requests = ([filter]: readonly unknown[], context: HostCallContext) => this.#list(filter, browser, context);
    return { ...module, calls: { ...module.calls, requests } };
  }

  observe(event: CdpEvent): void {
    switch (event.method) {
      case 'Network.requestWillBeSent': {
        const { requestId, request, redirectResponse, timestamp, type = 'Other' } = event.params;
        const before = this.#open.get(requestId);
        if (redirectResponse !== undefined && before !== undefined) {
          before.status = redirectResponse.status;
          before.endedAt = timestamp;
          before.redirected = true;
        }
        if (request.url.startsWith('data:')) return;
        const { postData = null } = request;
        const sent = postData !== null && postData.length <= MAX_SENT ? postData : null;
        const contentType = Object.entries(request.headers).find(([name]) => name.toLowerCase() === 'content-type');
        this.#add({
          id: requestId,
          session: event.session,
          method: request.method,
          url: request.url.slice(0, MAX_URL),
          type,
          startedAt: timestamp,
          sent,
          sentType: String(contentType?.[1] ?? ''),
          status: null,
          announced: null,
          received: 0,
          mimeType: '',
          endedAt: null,
          failure: null,
          redirected: false,
        });
        return;
      }
      case 'Network.responseReceived': {
        const known = this.#open.get(event.params.requestId);
        if (known === undefined) return;
        known.status = event.params.response.status;
        known.announced = announcedBytes(event.params.response);
        known.mimeType = event.params.response.mimeType;
        return;
      }
      case 'Network.loadingFinished':
        this.#end(event.params.requestId, event.params.timestamp, () => null);
        return;
      case 'Network.dataReceived': {
        const known = this.#open.get(event.params.requestId);
        if (known !== undefined) known.received += event.params.dataLength;
        return;
      }
      case 'Network.loadingFailed':
        this.#end(event.params.requestId, event.params.timestamp, (known) => failureOf(known, event.params));
        return;
      default:
    }
  }

  #add(request: Remembered): void {
    this.#all.push(request);
    this.#open.set(request.id, request);
    this.#sent += request.sent?.length ?? 0;
    while (this.#all.length > MAX_REQUESTS || this.#sent > MAX_ALL_SENT) {
      const oldest = this.#all.shift();
      if (oldest === undefined) return;
      this.#sent -= oldest.sent?.length ?? 0;
      if (this.#open.get(oldest.id) === oldest) this.#open.delete(oldest.id);
    }
  }

  #end(id: string, at: number, failure: (request: Remembered) => string | null): void {
    const known = this.#open.get(id);
    if (known === undefined) return;
    known.endedAt = at;
    known.failure = failure(known);
  }

  async #list(filter: unknown, browser: BrowserPort, context: HostCallContext): Promise<object[]> {
    const matches = matcherOf(filter);
    const found = this.#all.filter(matches);
    const bounds = boundsOf(context, READ_MS);
    return Promise.all(
      found.map(async (request, index) => {
        const read = index >= found.length - MAX_BODIES && request.endedAt !== null && request.failure === null;
        const body = read ? await bodyOf(request, browser, Math.max(1, remainingMs(bounds))) : undefined;
        return described(request, body);
      }),
    );
  }
}

function described(request: Remembered, body: unknown): object {
  const { method, url, status, type, startedAt, endedAt, failure, sent, sentType } = request;
  return {
    method,
    url,
    status,
    type: type.toLowerCase(),
    durationMs: endedAt === null ? null : Math.max(0, Math.round((endedAt - startedAt) * 1000)),
    ...(sent === null ? {} : { requestBody: parsed(sent, sentType) }),
    ...(body === undefined ? {} : { body }),
    ...(failure === null ? {} : { error: failure }),
  };
}

/** Undefined if the browser does not have it any more, or it is too long or no text. */
async function bodyOf(request: Remembered, browser: BrowserPort, timeoutMs: number): Promise<unknown> {
  const { id: requestId, session, redirected, mimeType } = request;
  if (redirected || session === undefined || !TEXT.test(mimeType)) return undefined;
  try {
    const options = { session, timeoutMs };
    const { body, base64Encoded } = await browser.send('Network.getResponseBody', { requestId }, options);
    if (body.length > MAX_BODY) return undefined;
    return parsed(base64Encoded ? Buffer.from(body, 'base64').toString('utf8') : body, mimeType);
  } catch {
    return undefined;
  }
}

function parsed(text: string, type: string): unknown {
  if (!/json/i.test(type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function matcherOf(filter: unknown): (request: Remembered) => boolean {
  const given = typeof filter === 'string' ? { url: filter } : filter;
  const { url, method, type, status } = membersOf(given, 'agent.requests', ['url', 'method', 'type', 'status']);
  for (const [name, value] of Object.entries({ url, method, type })) {
    if (value !== undefined && typeof value !== 'string') throw misuse(`${name} is a text, not ${shown(value)}`);
  }
  if (status !== undefined && typeof status !== 'number') throw misuse(`status is a number, not ${shown(status)}`);
  const ofUrl = typeof url === 'string' ? urlMatcher(url) : () => true;
  return (request) =>
    ofUrl(request.url) &&
    (typeof method !== 'string' || request.method === method.toUpperCase()) &&
    (typeof type !== 'string' || request.type.toLowerCase() === type.toLowerCase()) &&
    (status === undefined || request.status === status);
}

/** As `agent.mock` and `page.route` read an address or a glob. */
function urlMatcher(glob: string): (url: string) => boolean {
  const pattern = urlPattern(glob);
  if (pattern instanceof RegExp) return (url) => pattern.test(url);
  return (url) => url === glob || url === `${glob}/`;
}
