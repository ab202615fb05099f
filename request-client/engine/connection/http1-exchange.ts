import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Answer, headerEntries, toWire, type WireRequest } from './answer.js';
import type { Route } from './open-socket.js';

const MAX_HEADER_BYTES = 256 * 1024;

/** What the agent's own `createConnection` gets. */
export interface RoutedOptions {
  readonly route: Route;
  readonly connectSignal: AbortSignal;
}

/** One request over HTTP/1.1, as written: case, order and duplicates of headers are kept. */
export async function exchangeOverHttp1(
  agent: Agent,
  route: Route,
  { method, path, headers, open }: WireRequest,
  signal: AbortSignal,
): Promise<Answer> {
  const { hostname, port } = route.target;
  const routed: RoutedOptions = { route, connectSignal: signal };
  const sent = httpRequest({
    agent,
    host: hostname,
    port,
    path,
    method,
    headers: headers.flatMap(({ name, value }) => [name, toWire(value)]),
    maxHeaderSize: MAX_HEADER_BYTES,
    // Servers whose headers violate the grammar should be testable too.
    insecureHTTPParser: true,
    signal,
    ...routed,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
  });
  if (open === null) sent.end();
  else {
    // A server may answer and close before it has read everything: then its answer counts, not the broken pipe.
    pipeline(open(), sent).catch((error: unknown) => sent.destroy(error instanceof Error ? error : undefined));
  }
  const answer = await answered;
  return {
    status: answer.statusCode ?? 0,
    statusText: answer.statusMessage ?? '',
    httpVersion: answer.httpVersion,
    headers: headerEntries(answer.rawHeaders),
    body: answer,
  };
}
