import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { DIRECT } from '#troupe/config/connection-settings.js';
import type { LiveMessage } from '#troupe/protocol/requests/live-streams.js';
import { Routes } from '#troupe/request-client/connection/routes.js';
import type { PreparedRequest } from '#troupe/request-client/run/prepared-request.js';
import { HttpSender } from '#troupe/request-client/run/send-request.js';
import type { LiveStream } from '#troupe/request-client/streams/live-watcher.js';
import { eventually } from '../../support/eventually.js';
import { guardLeaks } from '../../support/leaks.js';
import { SELF_SIGNED } from '../run/self-signed.js';
import { openWindow } from './window-fixture.js';

guardLeaks(t);

const MANY = 100_000;

/** A server of event streams that stay open until the client leaves or `end` is called. */
async function eventServer(t: Test) {
  const open: ServerResponse[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    if (request.url === '/many') {
      for (let nth = 0; nth < MANY; nth += 1) response.write(`data: {"tick":${nth}}\n\n`);
      return void response.end();
    }
    open.push(response);
  });
  const port = await listening(t, server);
  return { origin: `http://127.0.0.1:${port}`, open };
}

async function socketServer(t: Test, server: Server = createServer()) {
  const clients: { socket: WebSocket; request: IncomingMessage }[] = [];
  const sockets = new WebSocketServer({
    server,
    verifyClient: ({ req }: { req: IncomingMessage }, done) => done(req.url !== '/refused', 403, 'No entry'),
  });
  sockets.on('connection', (socket, request) => {
    clients.push({ socket, request });
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  const port = await listening(t, server);
  t.teardown(() => sockets.close());
  return { port, clients };
}

async function listening(t: Test, server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

function requestTo(url: string, headers: readonly { name: string; value: string }[] = []): PreparedRequest {
  return {
    method: 'GET',
    url,
    headers,
    withoutHeaders: [],
    body: { kind: 'none' },
    settings: { followRedirects: true, verifyTls: false, encodeUrl: true },
  };
}

/** Sends a request, and follows what it opens. */
function follow(t: Test, request: PreparedRequest, timeoutMs = 60_000, sender = new HttpSender()) {
  t.teardown(() => sender.close());
  const messages: LiveMessage[] = [];
  const opened: LiveStream[] = [];
  const left = new AbortController();
  const answer = sender.send(request, {
    folder: '.',
    timeoutMs,
    signal: left.signal,
    watcher: {
      opened: (stream) => void opened.push(stream),
      messages: (some) => void messages.push(...some),
    },
  });
  // Awaited by each test; it may fail before that.
  answer.catch(() => undefined);
  const text = async (): Promise<string> => {
    const { body, dispose } = await answer;
    const bytes = body.kind === 'memory' ? body.bytes : readFileSync(body.path);
    await dispose();
    return bytes.toString();
  };
  return { answer, messages, opened, left, text };
}

t.test('Events are told as they come, with type and id, and the body is what was received', async (t) => {
  const server = await eventServer(t);
  const { messages, opened, text } = follow(t, requestTo(server.origin));
  await eventually('the stream is open', () => opened.length === 1);
  const [response] = server.open;
  response?.write(': ping\n\ndata: one\n\n');
  await eventually('one event', () => messages.length === 1);
  const parts = Buffer.from('event: price\nid: 7\ndata: {"tea":\ndata: "3 €"}\n\ndata: cut');
  // The bytes of a character may come apart.
  const middle = parts.indexOf('€') + 1;
  response?.write(parts.subarray(0, middle));
  response?.end(parts.subarray(middle));
  t.equal(await text(), `: ping\n\ndata: one\n\n${parts}`);
  t.match(opened[0]?.head, { what: 'events', status: 200 });
  t.match(messages, [
    { from: 'server', type: 'message', data: 'one', id: '', bytes: 3 },
    { type: 'price', data: '{"tea":\n"3 €"}', id: '7' },
  ]);
  t.equal(messages.length, 2, 'what did not end is no event');
});

t.test(
  'A stream outlives the time limit, and stops with what came so far; one that leaves has no answer',
  async (t) => {
    const server = await eventServer(t);
    const { opened, messages, text } = follow(t, requestTo(server.origin), 300);
    await eventually('the stream is open', () => opened.length === 1);
    await eventually(
      'later than the limit',
      () => (server.open[0]?.write('data: tick\n\n') ?? false) && messages.length > 8,
    );
    const before = performance.now();
    opened[0]?.stop();
    t.match(await text(), /^(data: tick\n\n){8,}/);
    t.ok(performance.now() - before < 5_000);
    await eventually('the server knows', () => server.open[0]?.destroyed === true);

    const second = follow(t, requestTo(server.origin));
    await eventually('the second is open', () => second.opened.length === 1);
    second.left.abort(new Error('left'));
    await t.rejects(second.answer, { message: 'left' });
    await eventually('the server knows', () => server.open[1]?.destroyed === true);
  },
);

t.test('A time limit still holds until a stream is open, and a connection that is lost is an error', async (t) => {
  const silent = createServer(() => undefined);
  const port = await listening(t, silent);
  await t.rejects(follow(t, requestTo(`http://127.0.0.1:${port}`), 100).answer, { code: 'WAIT_TIMEOUT' });
  await t.rejects(follow(t, requestTo(`ws://127.0.0.1:${port}`), 100).answer, { code: 'WAIT_TIMEOUT' });

  const server = await eventServer(t);
  const { opened, answer } = follow(t, requestTo(server.origin));
  await eventually('the stream is open', () => opened.length === 1);
  server.open[0]?.destroy();
  await t.rejects(answer, { code: 'REQUEST_FAILED' });
});

t.test('Compressed events come one by one, too', async (t) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Encoding': 'gzip' });
    response.end(gzipSync('data: packed\n\n'));
  });
  const { messages, text } = follow(t, requestTo(`http://127.0.0.1:${await listening(t, server)}`));
  t.equal(await text(), 'data: packed\n\n');
  t.match(messages, [{ data: 'packed' }]);
});

t.test('A WebSocket carries text and binary in both directions, and its body is the conversation', async (t) => {
  const tls = createTlsServer({ key: SELF_SIGNED.key, cert: SELF_SIGNED.cert });
  const server = await socketServer(t, tls as unknown as Server);
  const headers = [
    { name: 'Authorization', value: 'Bearer tea' },
    { name: 'Sec-WebSocket-Protocol', value: 'v2.tea, v1.tea' },
  ];
  const { messages, opened, answer, text } = follow(t, requestTo(`wss://localhost:${server.port}/feed?a=1`, headers));
  await eventually('it is open', () => opened.length === 1);
  const [client] = server.clients;
  t.match(client?.request, {
    url: '/feed?a=1',
    headers: { authorization: 'Bearer tea', host: `localhost:${server.port}` },
  });
  t.equal(client?.socket.protocol, 'v2.tea');
  const send = opened[0]?.send ?? (() => Promise.reject());
  await send('Grüße');
  await send(Buffer.from([0, 1, 255]));
  await eventually('both came back', () => messages.length === 4);
  client?.socket.close(4001, 'enough');
  const { status } = await answer;
  t.equal(status, 101);
  const lines = (await text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const said = lines.map(({ from, type, data }) => `${from} ${type} ${data}`);
  t.equal(said.at(-1), 'server close 4001 enough');
  t.same(said.toSorted(), [
    'client binary AAH/',
    'client text Grüße',
    'server binary AAH/',
    'server close 4001 enough',
    'server text Grüße',
  ]);
  t.ok(said.indexOf('client text Grüße') < said.indexOf('server text Grüße'));
  t.same(messages.map(({ data }) => data).sort(), lines.map(({ data }) => data).sort());
  await t.rejects(send('late'), { code: 'REQUEST_FAILED' });
});

t.test('What the server says first is not lost, and many messages keep their order', async (t) => {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    for (let nth = 0; nth < 5_000; nth += 1) socket.send(`${nth}`);
    socket.close();
  });
  const port = await listening(t, server);
  const { messages, answer, text } = follow(t, requestTo(`ws://127.0.0.1:${port}`));
  await answer;
  t.equal(messages.length, 5_001);
  t.same(
    messages.slice(0, -1).map(({ data }) => data),
    Array.from({ length: 5_000 }, (_, nth) => `${nth}`),
  );
  t.equal((await text()).trimEnd().split('\n').length, 5_001);
});

t.test('A WebSocket is refused, lost, or asked for where nobody can follow it', async (t) => {
  const server = await socketServer(t);
  const url = `ws://127.0.0.1:${server.port}`;
  const refused = await follow(t, requestTo(`${url}/refused`)).answer;
  t.equal(refused.status, 403);
  await refused.dispose();

  const lost = follow(t, requestTo(url));
  await eventually('it is open', () => lost.opened.length === 1);
  server.clients[0]?.socket.terminate();
  await lost.answer;
  t.match(lost.messages, [{ type: 'close', data: '1006 the connection was lost' }]);

  const stopped = follow(t, requestTo(url));
  await eventually('it is open', () => stopped.opened.length === 1);
  const closed = once(server.clients[1]?.socket as WebSocket, 'close');
  stopped.opened[0]?.stop();
  t.equal((await closed)[0], 1000);
  await stopped.answer;

  const sender = new HttpSender();
  t.teardown(() => sender.close());
  await t.rejects(sender.send(requestTo(url), { folder: '.', timeoutMs: 1_000 }), {
    code: 'REQUEST_FAILED',
    message: /Runs and scripts cannot open a WebSocket/,
  });
  await t.rejects(follow(t, requestTo(url, [{ name: 'Sec-WebSocket-Protocol', value: 'a b' }])).answer, {
    code: 'REQUEST_FAILED',
  });
});

t.test('A WebSocket goes through a proxy as a tunnel, without TLS too', async (t) => {
  const server = await socketServer(t);
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }: IncomingMessage, client: Socket) => {
    asked.push(url);
    const upstream = connect(server.port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
  });
  const http = `http://127.0.0.1:${await listening(t, proxy)}`;
  const sender = new HttpSender(null, new Routes({ ...DIRECT, proxy: { http, https: '', bypass: [] } }));
  const { messages, opened, answer } = follow(t, requestTo('ws://feed.example/a'), 60_000, sender);
  await eventually('it is open', () => opened.length === 1);
  await opened[0]?.send?.('through');
  await eventually('it came back', () => messages.length === 2);
  opened[0]?.stop();
  await answer;
  t.same(asked, ['feed.example:80']);
  t.equal(server.clients[0]?.request.url, '/a');
});

t.test('The window shows events as they come, stops them, and keeps what came', async (t) => {
  const server = await eventServer(t);
  const { act, holds, shows, press, workspace, call } = await openWindow(t);
  await act('[aria-label="New request"]', 'click');
  await act('input.url', 'input', server.origin);
  await press('Control+Enter');
  await shows('Receiving events');
  await shows('Connected; no message yet.');
  server.open[0]?.write('event: price\ndata: {"tea": 3}\n\n');
  await shows('{"tea": 3}');
  await shows('1 message');
  await act('.line button.main', 'click');
  await shows('200 OK');
  await holds('document.querySelector(".line button.main").innerText === "Send"');
  t.match(workspace.history.lines[0], { status: 200, passed: true });
  await act('[role=option]', 'click');
  await shows('"tea": 3\n}');
  await act('[aria-label="Parts of the response"] [role=tab]:nth-of-type(2)', 'click');
  await shows('event: price');

  await act('input.url', 'input', `${server.origin}/many`);
  await press('Control+Enter');
  await shows(`${MANY} messages`);
  await holds('document.querySelector(".line button.main").innerText === "Send"');
  t.ok(
    Number(await call('page', 'document.querySelectorAll("[role=option]").length')) < 100,
    'what is in sight is drawn',
  );
  await act('[aria-label="Parts of the response"] [role=tab]:first-child', 'click');
  await shows(`"tick":${MANY - 1}`);
  await act('{input}Find in messages', 'input', '"tick":4711}');
  await shows('1 of 100000 messages');
});

t.test('The window connects, sends by key, and disconnects', async (t) => {
  const server = await socketServer(t);
  const { act, holds, shows, press } = await openWindow(t);
  await act('[aria-label="New request"]', 'click');
  await act('input.url', 'input', `ws://127.0.0.1:${server.port}/`);
  await holds('document.querySelector(".line button.main").innerText === "Connect"');
  await press('Control+Enter');
  await shows('Connected');
  await act('{textarea}Message to send', 'input', '{"order": "tea"}');
  await act('{textarea}Message to send', 'press', 'Control+Enter');
  await shows('2 messages');
  t.equal(server.clients.length, 1, 'the keys do not send the request again');
  server.clients[0]?.socket.send('from the server');
  await shows('from the server');
  await act('{button}Disconnect', 'click');
  await shows('101 Switching Protocols');
  await shows('1000');
  await holds('document.querySelector(".line button.main").innerText === "Connect"');
});
