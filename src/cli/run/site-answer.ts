import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { boundedWait, startLimit, stretched, unstretched } from '../../base/deadline.js';
import { errorCode } from '../../base/system-fault.js';

/** A host of this machine, or a name that does not exist, is known at once; an address that drops packets is not. */
const CONNECT_MS = 1_000;
const REDIRECTS = 5;

/** What is at the address of a site. */
export type SiteAnswer =
  /** It answered with this status at `url`: the address that was asked for, or where its redirects lead. */
  | { readonly kind: 'answer'; readonly status: number; readonly url: string }
  /** Nothing accepts connections there. */
  | { readonly kind: 'nothing' }
  /** Something accepts connections, but does not answer HTTP: `why`, as a predicate. */
  | { readonly kind: 'deaf'; readonly why: string };

/** Whether pages can be expected there. A login that is asked for, or a redirect to one, is an answer. */
export function isUsable(answer: SiteAnswer): boolean {
  return answer.kind === 'answer' && answer.status !== 404 && answer.status < 500;
}

/**
 * Asks a site for its page once. Redirects are followed while they stay on the site: where they lead away, or in a circle
 * as with a cookie, the site has answered. Whether its certificate is trusted is decided by the browsers of the flows.
 * @param ms how long it may take to answer
 * @throws the signal's reason
 */
export async function askSite(
  url: string,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
): Promise<SiteAnswer> {
  const end = performance.now() + stretched(ms);
  let at = new URL(url);
  for (let redirects = 0; ; redirects++) {
    const left = unstretched(Math.max(1, end - performance.now()));
    const reply = await askOnce(at, left, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      return { kind: 'deaf' as const, why: error instanceof Error ? error.message : String(error) };
    });
    if (!('location' in reply)) return reply;
    const next = reply.location === null ? null : redirectOn(at, reply.location);
    if (next === null || redirects === REDIRECTS) return { kind: 'answer', status: reply.status, url: at.href };
    at = next;
  }
}

type Reply = Exclude<SiteAnswer, { kind: 'answer' }> | { readonly status: number; readonly location: string | null };

function askOnce(url: URL, ms: number, signal: AbortSignal): Promise<Reply> {
  const seconds = Math.round(ms / 100) / 10;
  return boundedWait<Reply>(
    { signal, ms, late: () => new Error(`accepts connections, but does not answer within ${seconds} s`) },
    (resolve) => {
      let connected = false;
      const options: RequestOptions & { rejectUnauthorized: boolean } = {
        agent: false,
        rejectUnauthorized: false,
        ...(isLocalhost(url) ? { lookup: lookupLoopback } : {}),
      };
      const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options);
      const cancelTimer = startLimit(CONNECT_MS, () => connected || resolve({ kind: 'nothing' }));
      request.on('socket', (socket) => {
        socket.once('connect', () => {
          connected = true;
        });
      });
      request.on('response', ({ statusCode = 0, headers }) => {
        const isRedirect = statusCode >= 300 && statusCode < 400;
        resolve({ status: statusCode, location: isRedirect ? (headers.location ?? null) : null });
      });
      // Also after the wait: destroying it makes it fail.
      request.on('error', (error) =>
        resolve(connected ? { kind: 'deaf', why: whyDeaf(error, url) } : { kind: 'nothing' }),
      );
      request.end();
      return () => {
        cancelTimer();
        request.destroy();
      };
    },
  );
}

/** Where a redirect leads on the same site; null where it leads away. */
function redirectOn(from: URL, location: string): URL | null {
  if (!URL.canParse(location, from.href)) return null;
  const to = new URL(location, from.href);
  return to.origin === from.origin ? to : null;
}

function whyDeaf(error: Error, { protocol }: URL): string {
  const code = errorCode(error) ?? '';
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'accepts connections, but closes them without an answer';
  const language = protocol === 'https:' ? 'HTTPS' : 'HTTP';
  return `accepts connections, but does not answer in ${language} (${code === '' ? error.message : code})`;
}

function isLocalhost({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}

/** Both addresses of localhost, as browsers have it; what the system says of it often is only one. */
const lookupLoopback: NonNullable<RequestOptions['lookup']> = (_, { all }, found) => {
  if (all === true) {
    found(null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ]);
  } else found(null, '127.0.0.1', 4);
};
