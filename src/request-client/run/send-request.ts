import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib';
import { TroupeError } from '../../protocol/errors.js';
import { basic } from '../basic-auth.js';
import type { HeaderEntry, RequestBody } from '../request.js';
import type { FilePlace } from './body-files.js';
import { keepBody } from './body-store.js';
import type { CookieJar } from './cookie-jar.js';
import { DigestTurns } from './digest-turns.js';
import { networkFault } from './network-fault.js';
import { NtlmTurns } from './ntlm-turns.js';
import type { PreparedRequest } from './prepared-request.js';
import { contentOf, type RequestContent } from './request-content.js';
import { type RequestTarget, requestTarget } from './request-target.js';
import { type HttpResponse, headerValues, type RedirectStep } from './response.js';

/** Limits for requests: which hosts they may reach, and with what content. */
export interface ReachBounds {
  /** Called before each exchange, also for redirects. @throws REQUEST_FAILED if it is not permitted */
  admit(request: PreparedRequest, target: RequestTarget): void;
  /** Resolves a name for a connection to this port, and rejects blocked addresses. */
  lookup(port: number): LookupFunction;
  /** Ends a connection to a blocked address before any byte is sent. */
  guard(socket: Socket, target: RequestTarget): void;
}

export interface SendBounds extends FilePlace {
  readonly signal?: AbortSignal;
  /** From the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Cookies to send, and where those of answers are kept; none by default. */
  readonly cookies?: CookieJar;
  /** The largest decoded body; {@link MAX_BODY_BYTES} by default. */
  readonly maxBodyBytes?: number | undefined;
}

/** Longer bodies are always rejected: they would fill the disk. */
const MAX_BODY_BYTES = 1024 * 1024 * 1024;

const MAX_REDIRECTS = 10;
/** The body of a redirect is read up to this size, so that its connection can be reused; then it is cut. */
const DISCARD_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 256 * 1024;
const USER_AGENT = 'Troupe';

/**
 * Sends requests over HTTP/1.1 as written: case, order and duplicates of headers are kept (but a method in lower case
 * becomes upper case, since Node cannot send it). By itself it adds Host, User-Agent, Accept, Connection and the
 * length, each unless the request has it. Keeps connections open between requests; {@link close} ends them.
 */
export class HttpSender {
  readonly #agents = agents();
  readonly #bounds: ReachBounds | null;

  /** @param bounds limits that also apply to redirects; none by default */
  constructor(bounds: ReachBounds | null = null) {
    this.#bounds = bounds;
  }

  /**
   * @returns the answer, whatever its status; the caller disposes of it
   * @throws REQUEST_FAILED if there is no answer or its body is too long, with `details.cause`; WAIT_TIMEOUT after the
   *   time limit; the signal's reason if it was aborted
   */
  async send(request: PreparedRequest, bounds: SendBounds): Promise<HttpResponse> {
    const timeout = AbortSignal.timeout(bounds.timeoutMs);
    const signal = bounds.signal === undefined ? timeout : AbortSignal.any([bounds.signal, timeout]);
    const startedAt = performance.now();
    const redirects: RedirectStep[] = [];
    let current = request;
    const digest = new DigestTurns();
    const ntlm = new NtlmTurns();
    const own = request.auth?.kind === 'ntlm' ? agents(1) : null;
    try {
      const content = await contentOf(request.body, bounds);
      for (;;) {
        const sentContent = current.body.kind === 'none' ? null : content;
        const url = absolute(current.url);
        const sent = await withCookies(ntlm.authorized(digest.authorized(current)), url, bounds.cookies);
        const answer = await this.#exchange(sent, sentContent, signal, own ?? this.#agents);
        await bounds.cookies?.take(url, answer.headers['set-cookie'] ?? []);
        if (digest.asked(current, answer) || ntlm.asked(current, answer)) {
          discardBody(answer);
          continue;
        }
        const next = request.settings.followRedirects ? redirected(current, answer) : null;
        const { maxBodyBytes = MAX_BODY_BYTES } = bounds;
        if (next === null) return await finish(current, answer, { signal, startedAt, redirects, maxBodyBytes });
        discardBody(answer);
        redirects.push({ status: answer.statusCode ?? 0, url: next.url });
        if (redirects.length > MAX_REDIRECTS) {
          throw new TroupeError('REQUEST_FAILED', `More than ${MAX_REDIRECTS} redirects, the last one to ${next.url}`, {
            cause: 'TOO_MANY_REDIRECTS',
          });
        }
        current = next;
      }
    } catch (error) {
      if (bounds.signal?.aborted === true) throw bounds.signal.reason;
      if (timeout.aborted) {
        throw new TroupeError('WAIT_TIMEOUT', `No complete answer from ${current.url} within ${bounds.timeoutMs} ms`);
      }
      throw networkFault(error, current.url);
    } finally {
      if (own !== null) end(own);
    }
  }

  /** Ends all connections, also those in use. Idempotent. */
  close(): void {
    end(this.#agents);
  }

  async #exchange(
    request: PreparedRequest,
    content: RequestContent | null,
    signal: AbortSignal,
    { http, https }: Agents,
  ): Promise<IncomingMessage> {
    const target = requestTarget(request.url, request.settings.encodeUrl);
    const reach = this.#bounds;
    reach?.admit(request, target);
    const options: RequestOptions = {
      host: target.hostname,
      port: target.port,
      path: target.path,
      method: request.method,
      headers: flat(headerLines(request, target, content)),
      maxHeaderSize: MAX_HEADER_BYTES,
      // Servers whose headers violate the grammar should be testable too.
      insecureHTTPParser: true,
      signal,
      ...(reach === null ? {} : { lookup: reach.lookup(target.port) }),
    };
    const { verifyTls } = request.settings;
    const sent = target.secure
      ? httpsRequest({ ...options, agent: https, rejectUnauthorized: verifyTls })
      : httpRequest({ ...options, agent: http });
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      sent.on('error', reject);
    });
    sent.once('socket', (socket) => reach?.guard(socket, target));
    if (content === null) sent.end();
    else {
      // A server may answer and close before it has read everything: then its answer counts, not the broken pipe.
      pipeline(content.open(), sent).catch((error: unknown) =>
        sent.destroy(error instanceof Error ? error : undefined),
      );
    }
    return await answered;
  }
}

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** @param maxSockets connections to one server; without it as many as requests */
function agents(maxSockets?: number): Agents {
  const options = { keepAlive: true, maxFreeSockets: 16, ...(maxSockets === undefined ? {} : { maxSockets }) };
  return { http: new HttpAgent(options), https: new HttpsAgent(options) };
}

function end({ http, https }: Agents): void {
  http.destroy();
  https.destroy();
}

function headerLines(
  { method, headers, withoutHeaders, body, auth = null }: PreparedRequest,
  target: RequestTarget,
  content: RequestContent | null,
): HeaderEntry[] {
  const has = (name: string): boolean =>
    withoutHeaders.includes(name.toLowerCase()) || headerValues(headers, name).length > 0;
  const lines: HeaderEntry[] = [];
  const add = (name: string, value: string): void => {
    if (!has(name)) lines.push({ name, value });
  };
  add('Host', target.host);
  const user = auth ?? target.user;
  if (user !== null && auth?.kind !== 'digest' && auth?.kind !== 'ntlm') add('Authorization', basic(user));
  add('User-Agent', USER_AGENT);
  add('Accept', '*/*');
  lines.push(...headers.map((header) => withBoundary(header, body, content)));
  if (content?.contentType) add('Content-Type', content.contentType);
  if (content === null) {
    // For all other methods Node would send an empty body in chunks.
    if (!/^(?:GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/i.test(method)) add('Content-Length', '0');
  } else if (!has('Transfer-Encoding')) add('Content-Length', String(content.length));
  return lines;
}

/** A Content-Type that the user set for a form still needs the boundary. */
function withBoundary(header: HeaderEntry, body: RequestBody, content: RequestContent | null): HeaderEntry {
  const boundary = body.kind === 'form' ? /;\s*boundary=.*$/.exec(content?.contentType ?? '')?.[0] : undefined;
  if (boundary === undefined || header.name.toLowerCase() !== 'content-type') return header;
  return { name: header.name, value: `${header.value.replace(/;\s*boundary=[^;]*/i, '')}${boundary}` };
}

/** Node takes a flat list of names and values; values are UTF-8 bytes, one character each. */
function flat(headers: readonly HeaderEntry[]): string[] {
  return headers.flatMap(({ name, value }) => [name, Buffer.from(value, 'utf8').toString('latin1')]);
}

/** RFC 9110, section 15.4, as browsers implement it. Credentials are never sent to another origin. */
function redirected(request: PreparedRequest, answer: IncomingMessage): PreparedRequest | null {
  const status = answer.statusCode ?? 0;
  const { location } = answer.headers;
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return null;
  const base = absolute(request.url);
  const led = Buffer.from(location, 'latin1').toString('utf8');
  if (!URL.canParse(led, base)) return null;
  const to = new URL(led, base);
  const { method } = request;
  const toGet = (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST');
  const sameOrigin = new URL(base).origin === to.origin;
  const dropped = [
    'host',
    ...(toGet ? ['content-type', 'content-length', 'transfer-encoding', 'content-encoding'] : []),
    ...(sameOrigin ? [] : ['authorization', 'cookie']),
  ];
  return {
    ...request,
    url: to.href,
    method: toGet ? 'GET' : method,
    headers: request.headers.filter(({ name }) => !dropped.includes(name.toLowerCase())),
    withoutHeaders: request.withoutHeaders.filter((name) => name !== 'host'),
    body: toGet ? { kind: 'none' } : request.body,
    auth: sameOrigin ? (request.auth ?? null) : null,
  };
}

function absolute(url: string): string {
  return url.includes('://') ? url : `http://${url}`;
}

/** Cookies that the request brings itself come first. */
async function withCookies(
  request: PreparedRequest,
  url: string,
  jar: CookieJar | undefined,
): Promise<PreparedRequest> {
  const kept = (await jar?.header(url)) ?? '';
  if (kept === '') return request;
  const own = headerValues(request.headers, 'cookie');
  const names = new Set(own.flatMap((line) => line.split(';').map((pair) => pair.split('=')[0]?.trim())));
  const added = kept.split('; ').filter((pair) => !names.has(pair.split('=')[0]));
  const value = [...own, ...added].join('; ');
  const others = request.headers.filter(({ name }) => name.toLowerCase() !== 'cookie');
  return { ...request, headers: [...others, { name: 'Cookie', value }] };
}

/** Discards the body of a redirect. */
function discardBody(answer: IncomingMessage): void {
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) answer.destroy();
  });
}

interface Exchange {
  readonly signal: AbortSignal;
  readonly startedAt: number;
  readonly redirects: readonly RedirectStep[];
  readonly maxBodyBytes: number;
}

async function finish(
  { method, url }: PreparedRequest,
  answer: IncomingMessage,
  { signal, startedAt, redirects, maxBodyBytes }: Exchange,
): Promise<HttpResponse> {
  const headers: HeaderEntry[] = [];
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) {
    const value = Buffer.from(answer.rawHeaders[i + 1] ?? '', 'latin1');
    headers.push({ name: answer.rawHeaders[i] ?? '', value: value.toString('utf8') });
  }
  const empty = method === 'HEAD' || answer.statusCode === 204 || answer.statusCode === 304;
  const decoded = empty ? answer : decodedBody(answer, headerValues(headers, 'content-encoding'));
  const { body, bytes, dispose } = await keepBody(decoded, maxBodyBytes, signal).catch((error: unknown) => {
    // Otherwise the connection would stay open, with the rest of the body in it.
    answer.destroy();
    throw error;
  });
  return {
    url,
    method,
    status: answer.statusCode ?? 0,
    statusText: answer.statusMessage ?? '',
    httpVersion: answer.httpVersion,
    headers,
    body,
    bodyBytes: bytes,
    durationMs: performance.now() - startedAt,
    redirects,
    dispose,
  };
}

/** An unknown encoding, or several, are not decoded. A truncated stream returns what was received. */
function decodedBody(answer: IncomingMessage, encodings: readonly string[]): Readable {
  const flush = { flush: zlib.Z_SYNC_FLUSH, finishFlush: zlib.Z_SYNC_FLUSH };
  const decoder = (): Transform | null => {
    switch (encodings.join(',').trim().toLowerCase()) {
      case 'gzip':
      case 'x-gzip':
        return createGunzip(flush);
      case 'deflate':
        return createInflate(flush);
      case 'br':
        return createBrotliDecompress();
      default:
        return null;
    }
  };
  const through = decoder();
  if (through === null) return answer;
  const stream = answer.pipe(through);
  answer.once('error', (error) => stream.destroy(error));
  return stream;
}
