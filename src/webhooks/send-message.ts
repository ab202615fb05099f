import { type LookupAddress, lookup } from 'node:dns';
import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { portOf, type TargetRule, targetFault } from './webhook-target.js';

/** What came of a try. `refused` is for good: trying again changes nothing. */
export type SendOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string };

const GONE = 410;

/** Every address of a name. */
type LookUp = (name: string, answer: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void) => void;

const systemLookUp: LookUp = (name, answer) => lookup(name, { all: true }, answer);

export interface SendBounds {
  readonly rule: TargetRule;
  readonly signal: AbortSignal;
  /** Until the status is there. */
  readonly timeoutMs: number;
  readonly lookUp?: LookUp;
}

/**
 * Sends one message. Its receiver has taken it when it answers a status from 200 to 299; nothing else of the answer is
 * read, and a redirect is not followed. A name is checked by each address that it leads to, at the moment of the connection.
 */
export function sendMessage(
  url: URL,
  message: { readonly headers: { readonly [name: string]: string }; readonly body: string },
  { rule, signal, timeoutMs, lookUp = systemLookUp }: SendBounds,
): Promise<SendOutcome> {
  const fault = targetFault(url, rule);
  if (fault !== null) return Promise.resolve({ kind: 'refused', why: fault });
  return new Promise((resolve) => {
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
      lookup: guarded(lookUp, rule, portOf(url)),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
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
}

class RefusedAddress extends Error {}

function guarded(lookUp: LookUp, rule: TargetRule, port: number): LookupFunction {
  return (hostname, { all }, callback) => {
    lookUp(hostname, (error, addresses) => {
      const why = addresses?.map(({ address }) => rule(address, port)).find((one) => one !== null) ?? null;
      const [first] = addresses ?? [];
      if (error !== null || why !== null || first === undefined) callback(error ?? new RefusedAddress(why ?? ''), []);
      else if (all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

function outcomeOf(error: Error): SendOutcome {
  if (error instanceof RefusedAddress) return { kind: 'refused', why: error.message };
  if (error.name === 'AbortError' || error.name === 'TimeoutError')
    return { kind: 'failed', why: 'it did not answer in time' };
  return { kind: 'failed', why: `it could not be reached: ${error.message}` };
}
