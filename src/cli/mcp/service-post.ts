import { errorCode } from '../../base/system-fault.js';
import { serverSentEvents } from '../../client/server-sent-events.js';
import { TroupeError } from '../../protocol/errors.js';
import { asMessage, type RpcId, type RpcMessage } from './rpc.js';

/** The service does not know the session, or cannot be reached: the message was not processed. */
export class SessionGone extends Error {}

export const LOST_ANSWER =
  'UNAVAILABLE: The service ended while the script ran, so its outcome is not known. ' +
  'The next call gets a fresh browser: begin with agent.go';

/** The headers of each request. @param token of the service; undefined if it needs none */
export function plainHeaders(token: string | undefined): { readonly [name: string]: string } {
  return {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
}

/** @throws SessionGone; UNAUTHORIZED and others that the service answers */
export async function post(
  url: string,
  headers: { readonly [name: string]: string },
  message: RpcMessage,
  signal: AbortSignal,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message), signal });
  } catch (error) {
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    if (errorCode(cause) === 'ECONNREFUSED') throw new SessionGone('The service is not running', { cause: error });
    throw error;
  }
  if (response.ok) return response;
  const text = await response.text();
  const isRpc = /^\s*\{"jsonrpc"/.test(text);
  if (response.status === 404 && isRpc) throw new SessionGone('The service does not know the session');
  if (response.status === 503 && !isRpc) throw new SessionGone('The service is stopping');
  if (isRpc) return new Response(text, { headers: { 'content-type': 'application/json' } });
  const advice = response.status === 401 ? '; set TROUPE_TOKEN to an access token of the service' : '';
  throw new TroupeError(
    response.status === 401 ? 'UNAUTHORIZED' : 'UNAVAILABLE',
    `The service at ${url} answered ${response.status}: ${text.slice(0, 300)}${advice}`,
  );
}

/** The answer to a request in a response; other messages that come before it are passed on. @throws Error if it has none */
export async function answerIn(response: Response, id: RpcId, pass: (data: string) => void): Promise<RpcMessage> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return { ...asMessage(await response.json()), id };
  }
  if (response.body !== null) {
    for await (const { data } of serverSentEvents(response.body)) {
      // The stream begins with an event without data, from which it could be resumed.
      if (data === '') continue;
      const message = asMessage(JSON.parse(data));
      if (message !== null && message.id === id && message.method === undefined) return message;
      pass(data);
    }
  }
  throw new Error('The answer ended early');
}
