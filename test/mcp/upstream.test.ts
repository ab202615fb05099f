import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { Upstream } from '#troupe/cli/mcp/upstream.js';
import { freePort } from '../support/free-ports.js';
import { guardLeaks } from '../support/leaks.js';

guardLeaks(t);

/** An HTTP server; ends with the test. */
async function listen(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers as the MCP endpoint of a service does, and keeps the methods that it was asked. */
function endpoint(asked: string[]): RequestListener {
  return async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(request.method === 'GET' ? 405 : 200).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    asked.push(method);
    const result = method === 'initialize' ? { protocolVersion: '2025-11-25' } : { content: [] };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  };
}

t.test(
  'A service that ends before a session with it began is looked for again, and the script runs once',
  async (t) => {
    const ending = {
      'it stops': await listen(t, (_, response) => response.writeHead(503).end('{"error":{"code":"UNAVAILABLE"}}')),
      'it breaks the connection': await listen(t, (request) => request.socket.destroy()),
      'nobody listens any more': `http://127.0.0.1:${await freePort()}`,
    };
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { arguments: { js: '1' } } };
    for (const [name, url] of Object.entries(ending)) {
      const asked: string[] = [];
      const urls = [url, await listen(t, endpoint(asked))];
      const upstream = new Upstream({ find: async () => urls.shift() ?? url, token: undefined });
      t.match(await upstream.request(1, call, new AbortController().signal), { id: 1, result: { content: [] } }, name);
      t.same(asked, ['initialize', 'notifications/initialized', 'tools/call'], name);
      await upstream.close();
      const never = new Upstream({ find: async () => url, token: undefined });
      await t.rejects(
        never.request(1, call, new AbortController().signal),
        { code: 'UNAVAILABLE', message: /try again/ },
        name,
      );
      await never.close();
    }
  },
);
