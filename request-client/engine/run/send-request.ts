import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, constants as zlib } from 'node:zlib';
import { limitSignal } from '#troupe/base/deadline.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { basic } from '../basic-auth.js';
import type { Answer } from '../connection/answer.js';
import { ConnectionPool } from '../connection/connection-pool.js';
import type { Route } from '../connection/open-socket.js';
import { Routes } from '../connection/routes.js';
import type { HeaderEntry, RequestBody, SendSettings } from '../request.js';
import type { FilePlace } from './body-files.js';
import { keepBody } from './body-store.js';
import type { CookieJar } from './cookie-jar.js';
import { DigestTurns } from './digest-turns.js';
import { networkFault } from './network-fault.js';
import { NtlmTurns } from './ntlm-turns.js';
import type { PreparedRequest } from './prepared-request.js';
import type { ReachBounds } from './reach-bounds.js';
import { contentOf, type RequestContent } from './request-content.js';
import { type RequestTarget, requestTarget } from './request-target.js';
import { type HttpResponse, headerValues, type RedirectStep } from './response.js';

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
const USER_AGENT = 'Troupe';

/**
 * Sends requests as written: over HTTP/1.1, case, order and duplicates of headers are kept (but a method in lower case
 * becomes upper case, since Node cannot send it). By itself it adds Host, User-Agent, Accept, Connection and the
 * length, each unless the request has it. Keeps connections open between requests; {@link close} ends them.
 */
export class HttpSender {
  readonly #pool = new ConnectionPool();
  readonly #bounds: ReachBounds | null;
  readonly #routes: Routes;

  /**
   * @param bounds limits that also apply to redirects; none by default
   * @param routes proxies and certificates; none by default
   */
  constructor(bounds: ReachBounds | null = null, routes: Routes = new Routes()) {
    this.#bounds = bounds;
    this.#routes = routes;
  }

  /**
   * @returns the answer, whatever its status; the caller disposes of it
   * @throws REQUEST_FAILED if there is no answer or its body is too long, with `details.cause`; WAIT_TIMEOUT after the
   *   time limit; the signal's reason if it was aborted
   */
  async send(request: PreparedRequest, bounds: SendBounds): Promise<HttpResponse> {
    const timeout = limitSignal(bounds.timeoutMs);
    const signal = bounds.signal === undefined ? timeout : AbortSignal.any([bounds.signal, timeout]);
    const startedAt = performance.now();
    const redirects: RedirectStep[] = [];
    const { maxRedirects = MAX_REDIRECTS } = request.settings;
    let current = request;
    const digest = new DigestTurns();
    const ntlm = new NtlmTurns();
    const own = request.auth?.kind === 'ntlm' ? new ConnectionPool(1) : null;
    try {
      const content = await contentOf(request.body, bounds);
      for (;;) {
        const sentContent = current.body.kind === 'none' ? null : content;
        const url = absolute(current.url);
        const sent = await withCookies(ntlm.authorized(digest.authorized(current)), url, bounds.cookies);
        const answer = await this.#exchange(sent, sentContent, signal, own ?? this.#pool);
        await bounds.cookies?.take(url, headerValues(answer.headers, 'set-cookie'));
        if (digest.asked(current, answer) || ntlm.asked(current, answer)) {
          discardBody(answer);
          continue;
        }
        const next = request.settings.followRedirects ? redirected(current, answer) : null;
        const { maxBodyBytes = MAX_BODY_BYTES } = bounds;
        if (next === null) return await finish(current, answer, { signal, startedAt, redirects, maxBodyBytes });
        discardBody(answer);
        redirects.push({ status: answer.status, url: next.url });
        if (redirects.length > maxRedirects) {
          throw new TroupeError('REQUEST_FAILED', `More than ${maxRedirects} redirects, the last one to ${next.url}`, {
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
      own?.close();
    }
  }

  /** Ends all connections, also those in use. Idempotent. */
  close(): void {
    this.#pool.close();
  }

  async #exchange(
    request: PreparedRequest,
    content: RequestContent | null,
    signal: AbortSignal,
    pool: ConnectionPool,
  ): Promise<Answer> {
    const target = requestTarget(request.url, request.settings.encodeUrl);
    this.#bounds?.admit(request, target);
    const route = await this.#routes.find(target, settingsOf(request), this.#bounds);
    const headers = [...headerLines(request, target, content), ...proxyLogin(route)];
    const path = toProxy(route) ? `http://${target.host}${target.path}` : target.path;
    const wire = { method: request.method, path, headers, open: content === null ? null : () => content.open() };
    return await pool.exchange(route, wire, signal);
  }
}

/** NTLM logs in a connection of HTTP/1.1. */
function settingsOf({ auth, settings }: PreparedRequest): SendSettings {
  return auth?.kind === 'ntlm' ? { ...settings, httpVersion: 'http1' } : settings;
}

/** Whether the proxy gets the request itself, not only a connection to the server. */
function toProxy({ proxy, tunnelTo }: Route): boolean {
  return proxy !== null && tunnelTo === null;
}

function proxyLogin(route: Route): readonly HeaderEntry[] {
  const value = route.proxy?.authorization ?? null;
  return value === null || !toProxy(route) ? [] : [{ name: 'Proxy-Authorization', value }];
}

function headerLines(request: PreparedRequest, target: RequestTarget, content: RequestContent | null): HeaderEntry[] {
  const { method, headers, withoutHeaders, body, auth = null, jarCookies } = request;
  const written = jarCookies === undefined ? headers : headers.filter(({ name }) => name.toLowerCase() !== 'cookie');
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
  lines.push(...written.map((header) => withBoundary(header, body, content)));
  if (jarCookies !== undefined) lines.push(...cookieLine(request));
  if (content?.contentType) add('Content-Type', content.contentType);
  if (content === null) {
    // For all other methods Node would send an empty body in chunks.
    if (!/^(?:GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/i.test(method)) add('Content-Length', '0');
  } else if (!has('Transfer-Encoding')) add('Content-Length', String(content.length));
  return lines;
}

/** A Content-Type that the user set for a form still needs the boundary. */
function withBoundary(header: HeaderEntry, body: RequestBody, content: RequestContent | null): HeaderEntry {
  const boundary = body.kind === 'form' ? /;\s*boundary=.*$/s.exec(content?.contentType ?? '')?.[0] : undefined;
  if (boundary === undefined || header.name.toLowerCase() !== 'content-type') return header;
  return { name: header.name, value: `${header.value.replace(/;\s*boundary=[^;]*/i, '')}${boundary}` };
}

/**
 * As Postman redirects: every method but HEAD becomes GET, unless the status is 307 or 308, or the request keeps its method.
 * Cookies are never sent to another origin, authorization only if the request says so.
 */
function redirected(request: PreparedRequest, { status, headers }: Answer): PreparedRequest | null {
  const [location] = headerValues(headers, 'location');
  if (location === undefined || ![301, 302, 303, 307, 308].includes(status)) return null;
  const base = absolute(request.url);
  if (!URL.canParse(location, base)) return null;
  const to = new URL(location, base);
  const { method, settings } = request;
  const keepsMethod = settings.keepMethod === true || status === 307 || status === 308;
  const toGet = !keepsMethod && method !== 'HEAD';
  const sameOrigin = new URL(base).origin === to.origin;
  const keepsAuthorization = sameOrigin || settings.keepAuthorization === true;
  const dropped = [
    'host',
    ...(toGet ? ['content-type', 'content-length', 'transfer-encoding', 'content-encoding'] : []),
    ...(sameOrigin ? [] : ['cookie', 'proxy-authorization']),
    ...(keepsAuthorization ? [] : ['authorization']),
    ...(settings.addReferer === true ? ['referer'] : []),
  ];
  const kept = request.headers.filter(({ name }) => !dropped.includes(name.toLowerCase()));
  return {
    ...request,
    url: to.href,
    method: toGet ? 'GET' : method,
    headers: settings.addReferer === true ? [...kept, { name: 'Referer', value: refererOf(base) }] : kept,
    withoutHeaders: request.withoutHeaders.filter((name) => name !== 'host'),
    body: toGet ? { kind: 'none' } : request.body,
    auth: keepsAuthorization ? (request.auth ?? null) : null,
  };
}

function refererOf(address: string): string {
  const url = new URL(address);
  return `${url.origin}${url.pathname}${url.search}`;
}

function absolute(url: string): string {
  return url.includes('://') ? url : `http://${url}`;
}

async function withCookies(
  request: PreparedRequest,
  url: string,
  jar: CookieJar | undefined,
): Promise<PreparedRequest> {
  const kept = (await jar?.header(url)) ?? '';
  return kept === '' ? request : { ...request, jarCookies: kept };
}

/** Cookies that the request brings itself come first, and replace those of the jar. */
function cookieLine({ headers, jarCookies = '' }: PreparedRequest): HeaderEntry[] {
  const own = headerValues(headers, 'cookie');
  const names = new Set(own.flatMap((line) => line.split(';').map((pair) => pair.split('=')[0]?.trim())));
  const added = jarCookies.split('; ').filter((pair) => pair !== '' && !names.has(pair.split('=')[0]));
  return [{ name: 'Cookie', value: [...own, ...added].join('; ') }];
}

/** Discards the body of a redirect. */
function discardBody({ body }: Answer): void {
  let bytes = 0;
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) body.destroy();
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
  { status, statusText, httpVersion, headers, body: arriving }: Answer,
  { signal, startedAt, redirects, maxBodyBytes }: Exchange,
): Promise<HttpResponse> {
  const empty = method === 'HEAD' || status === 204 || status === 304;
  const decoded = empty ? arriving : decodedBody(arriving, headerValues(headers, 'content-encoding'));
  const { body, bytes, dispose } = await keepBody(decoded, maxBodyBytes, signal).catch((error: unknown) => {
    // Otherwise the connection would stay open, with the rest of the body in it.
    arriving.destroy();
    throw error;
  });
  return {
    url,
    method,
    status,
    statusText,
    httpVersion,
    headers,
    body,
    bodyBytes: bytes,
    durationMs: performance.now() - startedAt,
    redirects,
    dispose,
  };
}

/** An unknown encoding, or several, are not decoded. A truncated stream returns what was received. */
function decodedBody(body: Readable, encodings: readonly string[]): Readable {
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
  if (through === null) return body;
  const stream = body.pipe(through);
  body.once('error', (error) => stream.destroy(error));
  return stream;
}
