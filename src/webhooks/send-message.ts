import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { withSignal } from '../base/deadline.js';
import { guardConnection, guardedLookup, type Lookup } from '../net-policy/guarded-connection.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import { portOf, type TargetRule, targetFault } from './webhook-target.js';

/** The outcome of an attempt. `refused` is permanent: another attempt would not help. */
export type SendOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

const GONE = 410;

/**
 * One message for everything that prevents a response: the exact reason would reveal to a caller which ports of which
 * machines are open.
 */
const NO_ANSWER = 'it could not be reached, or gave no answer in time';

export interface SendBounds {
  readonly rule: TargetRule;
  readonly signal: AbortSignal;
  /** The time limit until the response's status. */
  readonly timeoutMs: number;
  readonly lookUp?: Lookup;
}

/**
 * Sends one message. It is delivered if the response's status is 200 to 299; the rest of the response is not read, and
 * redirects are not followed. Each address of a host name is checked when connecting, and the connection's actual
 * endpoints afterwards.
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
          'user-agent': PRODUCT_NAME,
          ...message.headers,
        },
        // A new connection: the name of a kept one may have another address now.
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
        else if (status === GONE) resolve({ kind: 'refused', why: 'it answered 410: it accepts no more messages' });
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
