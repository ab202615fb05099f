import { createServer, request as httpRequest } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { CERTIFICATES } from './certificates.js';

/** A proxy that connects to this machine whatever host it is asked for, and notes what it was asked. */
export interface ProxyServer {
  readonly url: string;
  /** Requests with a full URL, and CONNECTs: method, target, and Proxy-Authorization. */
  readonly asked: { readonly method: string; readonly target: string; readonly login: string | undefined }[];
}

/**
 * @param login as `user:password`; without it no login is needed
 * @param secure whether the connection to the proxy itself uses TLS
 */
export async function startProxy(
  t: Test,
  { login, secure = false }: { readonly login?: string; readonly secure?: boolean } = {},
): Promise<ProxyServer> {
  const asked: ProxyServer['asked'][number][] = [];
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const sockets = new Set<Socket>();
  const server = secure ? createTlsServer(CERTIFICATES.server) : createServer();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  server.on('request', (request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, target: url, login: headers['proxy-authorization'] });
    if (headers['proxy-authorization'] !== wanted) return void response.writeHead(407).end('who are you?');
    const { port, pathname, search } = new URL(url);
    const { 'proxy-authorization': _login, ...passed } = headers;
    const onward = httpRequest(
      { host: '127.0.0.1', port, path: pathname + search, method, headers: passed },
      (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(onward);
  });
  server.on('connect', (request, socket: Socket) => {
    const target = request.url ?? '';
    asked.push({ method: 'CONNECT', target, login: request.headers['proxy-authorization'] });
    if (request.headers['proxy-authorization'] !== wanted) {
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n');
    }
    if (target.startsWith('forbidden.test')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const onward = connect(Number(target.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    sockets.add(onward.on('error', () => socket.destroy()));
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of sockets) socket.destroy();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return { url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}`, asked };
}
