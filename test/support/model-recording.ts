import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Teardown } from './service.js';

/** What went over the wire, request by request. */
export interface RecordedCall {
  readonly path: string;
  readonly request: string;
  readonly status: number;
  readonly contentType: string;
  readonly response: Buffer;
}

/** A server between a client and any provider that keeps all that passes. */
export async function startRecorder(
  t: Teardown,
  baseURL: string,
): Promise<{ readonly baseURL: string; readonly calls: readonly RecordedCall[] }> {
  const calls: RecordedCall[] = [];
  const url = await listen(t, async (request, response) => {
    const body = await bodyOf(request);
    const path = request.url ?? '/';
    const headers = { 'content-type': 'application/json', authorization: request.headers.authorization ?? '' };
    const answer = await fetch(`${new URL(baseURL).origin}${path}`, { method: 'POST', headers, body });
    const bytes = Buffer.from(await answer.arrayBuffer());
    const contentType = answer.headers.get('content-type') ?? '';
    calls.push({ path, request: body, status: answer.status, contentType, response: bytes });
    response.writeHead(answer.status, { 'content-type': contentType }).end(bytes);
  });
  return { baseURL: `${url}/v1`, calls };
}

/** A server that answers what was recorded, byte for byte, and 500 to a request that differs in one. */
export async function startReplay(
  t: Teardown,
  calls: readonly RecordedCall[],
): Promise<{ readonly baseURL: string; readonly left: number }> {
  const left = [...calls];
  const url = await listen(t, async (request, response) => {
    const body = await bodyOf(request);
    const call = left.shift();
    if (call === undefined || call.request !== body || call.path !== request.url) {
      const message = `Not as recorded:\n${body}\nbut:\n${call?.request}`;
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }));
      return;
    }
    response.writeHead(call.status, { 'content-type': call.contentType }).end(call.response);
  });
  return {
    baseURL: `${url}/v1`,
    get left() {
      return left.length;
    },
  };
}

async function listen(t: Teardown, answer: (...args: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
  // A server that listens on a port has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
