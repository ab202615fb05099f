import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { StatelessUpstream } from '#troupe/cli/mcp/stateless-upstream.js';
import { StdioBridge } from '#troupe/cli/mcp/stdio-bridge.js';
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

t.test('An answer and a message with U+2028 and U+2029 arrive whole', async (t) => {
  const text = 'two\u2028lines\u2029here';
  const url = await listen(t, async (request, response) => {
    if (request.method === 'DELETE') return void response.end();
    const stream = { 'content-type': 'text/event-stream', 'mcp-session-id': 'one' };
    const sse = (message: object) => `id: 1\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\r\n\r\n`;
    if (request.method === 'GET') return void response.writeHead(405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    response.writeHead(200, stream);
    if (method === 'initialize') return void response.end(sse({ id, result: { protocolVersion: '2025-11-25' } }));
    // First an event without data, as the service sends it.
    response.write('id: 0\ndata:\n\n');
    response.write(sse({ method: 'notifications/message', params: { data: text } }));
    response.end(sse({ id, result: { content: [{ type: 'text', text }] } }));
  });
  const upstream = new Upstream({ find: async () => url, token: undefined });
  const passed: unknown[] = [];
  upstream.onMessage = (message) => passed.push(message);
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { arguments: { js: '1' } } };
  t.match(await upstream.request(1, call, new AbortController().signal), { result: { content: [{ text }] } });
  t.match(passed, [{ params: { data: text } }]);
  await upstream.close();
});

t.test('A line for the client is never longer than it takes, and is one line for every reader', async (t) => {
  const answers = ['two\u2028lines\u2029', 'x'.repeat(11_000_000)];
  const url = await listen(t, async (request, response) => {
    if (request.method !== 'POST') return void response.writeHead(request.method === 'GET' ? 405 : 200).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method } = JSON.parse(body);
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    const content = [{ type: 'text', text: answers[id - 1] }];
    const result = method === 'initialize' ? { protocolVersion: '2025-11-25' } : { content };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const find = async () => url;
  const upstream = new Upstream({ find, token: undefined });
  const stateless = new StatelessUpstream({ find, token: undefined });
  const bridge = new StdioBridge({ input, output, upstream, stateless, version: '1' });
  const written = textOf(output);
  for (const id of [1, 2]) {
    const params = { name: 'agent_eval', arguments: { js: '1' } };
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\r\n`);
  }
  input.end();
  await bridge.run();
  await bridge.close();
  output.end();
  const lines = (await written).split(/\r?\n|[\u2028\u2029]/).filter((line) => line !== '');
  const byId = new Map(lines.map((line) => [JSON.parse(line).id, JSON.parse(line).result]));
  t.same(byId.get(1), { content: [{ type: 'text', text: answers[0] }] });
  t.match(byId.get(2), { isError: true, content: [{ text: /too large to send: 11\d+ bytes/ }] });
});
