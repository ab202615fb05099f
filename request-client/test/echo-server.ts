import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server like the echo services that public collections are written against. */
export class EchoServer {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<EchoServer> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => answer(request, response, Buffer.concat(chunks)));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return new EchoServer(server);
  }

  get origin(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${(address as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const BODIES: Readonly<Record<string, readonly [type: string, text: string]>> = {
  '/xml': [
    'application/xml',
    '<?xml version="1.0"?><shop open="yes"><item id="1">Tea</item><item id="2">Cup</item></shop>',
  ],
  '/html': [
    'text/html; charset=utf-8',
    '<html><head><title>Shop</title></head><body><h1 class="a">Tea</h1><a href="/x">x</a></body></html>',
  ],
  '/csv': ['text/csv', 'name,price\nTea,3\nCup,9\n'],
  '/text': ['text/plain', 'plain text'],
  '/bom': ['application/json', '\uFEFF{"bom": true}'],
  '/list': ['application/json', '[{"id":1,"name":"Tea","tags":["hot"]},{"id":2,"name":"Cup","tags":[]}]'],
  '/broken': ['application/json', '{"a": '],
  '/empty': ['text/plain', ''],
};

function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const url = new URL(request.url ?? '/', 'http://h');
  const { pathname } = url;
  const known = BODIES[pathname];
  if (known !== undefined) {
    response.writeHead(200, { 'content-type': known[0] }).end(known[1]);
    return;
  }
  const [, what = '', first = '', second = ''] = pathname.split('/');
  if (what === 'status') {
    response.writeHead(Number(first), { 'content-type': 'application/json' }).end(`{"status":${first}}`);
  } else if (what === 'cookies') {
    const set = first === 'set' ? [...url.searchParams].map(([name, value]) => `${name}=${value}; Path=/`) : [];
    const gone = first === 'delete' ? [...url.searchParams.keys()].map((name) => `${name}=; Max-Age=0; Path=/`) : [];
    response.writeHead(200, { 'content-type': 'application/json', 'set-cookie': [...set, ...gone] });
    response.end(JSON.stringify({ cookies: cookiesOf(request) }));
  } else if (what === 'redirect') {
    response
      .writeHead(302, { location: first === '' || first === '1' ? '/get' : `/redirect/${Number(first) - 1}` })
      .end();
  } else if (what === 'basic-auth') {
    const wanted = `Basic ${Buffer.from(`${first}:${second}`).toString('base64')}`;
    const ok = request.headers.authorization === wanted;
    response
      .writeHead(ok ? 200 : 401, { 'content-type': 'application/json' })
      .end(JSON.stringify({ authenticated: ok }));
  } else if (what === 'login') {
    response.writeHead(200, { 'content-type': 'application/json', 'X-Request-Id': 'r-1' });
    response.end(JSON.stringify({ token: 'tok-1', user: { id: 7, name: 'Ada' }, expires: 3600 }));
  } else echo(request, response, body, url);
}

function echo(request: IncomingMessage, response: ServerResponse, body: Buffer, url: URL): void {
  const type = request.headers['content-type'] ?? '';
  const text = body.toString('utf8');
  const isForm = type.startsWith('application/x-www-form-urlencoded');
  const { 'postman-token': _, ...headers } = request.headers;
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'X-Answer': 'yes' });
  response.end(
    JSON.stringify({
      method: request.method,
      path: url.pathname,
      args: Object.fromEntries(url.searchParams),
      headers,
      data: isForm || type.startsWith('multipart/') ? {} : text,
      form: isForm ? Object.fromEntries(new URLSearchParams(text)) : {},
      files: type.startsWith('multipart/') ? partsOf(text) : {},
      json: parsed(text),
      url: url.pathname + url.search,
    }),
  );
}

function partsOf(text: string): Record<string, string> {
  const parts = text.split(/\r\n?--+[\w-]+(?:--)?\r\n|^--+[\w-]+\r\n/);
  return Object.fromEntries(
    parts.flatMap((part) => {
      const name = /name="([^"]*)"/.exec(part)?.[1];
      return name === undefined ? [] : [[name, part.slice(part.indexOf('\r\n\r\n') + 4)] as const];
    }),
  );
}

function cookiesOf(request: IncomingMessage): Record<string, string> {
  const pairs = (request.headers.cookie ?? '').split('; ').filter((pair) => pair !== '');
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
