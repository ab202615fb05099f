import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { withSignal } from '../base/deadline.js';
import { guardConnection, guardedLookup, type Lookup } from '../net-policy/guarded-connection.js';
import { portOf, type TargetRule, targetFault } from './webhook-target.js';

/** What came of a try. `refused` is for good: trying again changes nothing. */
export type SendOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

const GONE = 410;

/**
 * One sentence for everything that keeps an answer from coming: what exactly it was would tell a caller which ports of
 * which machines are open.
 */
const NO_ANSWER = 'it could not be reached, or gave no answer in time';

export interface SendBounds {
  readonly rule: TargetRule;
  readonly signal: AbortSignal;
  /** Until the status is there. */
  readonly timeoutMs: number;
  readonly lookUp?: Lookup;
}

/**
 * Sends one message. Its receiver has taken it when it answers a status from 200 to 299; nothing else of the answer is
 * read, and a redirect is not followed. A name is checked by each address that it leads to, at the moment of the connection, and the connection by where it ends.
 */
export function sendMessage(
  url: URL,
  message: { readonly headers: { readonly [name: string]: string }; readonly body: string },
  { rule, signal, timeoutMs, lookUp }: SendBounds,
): Promise<SendOutcome> {
  const fault = targetFault(url, rule);
  if (fault !== null) return Promise.resolve({ kind: 'refused', why: fault });
  const port = portOf(url);
  const refused = (why: string | null): RefusedTarget | null => (why === null ? null : new RefusedTarget(why));
  const sending = (cut: AbortSignal) =>
    new Promise<SendOutcome>((resolve) => {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp;
      const sent: ClientRequest = send(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(message.body),
          'user-agent': 'troupe',
          ...message.headers,
        },
        // A connection of its own: one that is kept might be of a name that leads elsewhere now.
        agent: false,
        lookup: guardedLookup((address, name) => refused(rule.refusal(address, port, name)), lookUp),
        signal: cut,
      });
      sent.on('socket', (socket) =>
        guardConnection(socket, (local, remote) =>
          refused(rule.isOwn(port, local, remote) ? 'it is the service itself' : null),
        ),
      );
      sent.on('response', (response) => {
        const { statusCode: status = 0 } = response;
        response.destroy();
        if (status >= 200 && status < 300) resolve({ kind: 'taken' });
        else if (status === GONE) resolve({ kind: 'refused', why: 'it answered 410: it wants no more' });
        else resolve({ kind: 'failed', why: `it answered ${status}` });
      });
      sent.on('error', (error) => resolve(outcomeOf(error)));
      sent.end(message.body);
    });
  return withSignal({ signals: [signal], ms: timeoutMs }, sending);
}

class RefusedTarget extends Error {}

function outcomeOf(error: Error): SendOutcome {
  return error instanceof RefusedTarget ? { kind: 'refused', why: error.message } : { kind: 'failed', why: NO_ANSWER };
}
