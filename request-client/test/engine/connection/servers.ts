import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Test } from 'tap';
import { CERTIFICATES } from './certificates.js';

/** What a server got: the version of HTTP, headers, body, and who the client's certificate says it is. */
export interface Seen {
  readonly httpVersion: string;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly client: string | null;
}

export interface TlsOptions {
  /** Whether it offers HTTP/1.1 to clients that do not want HTTP/2. */
  readonly allowHTTP1?: boolean;
  readonly wantsCertificate?: boolean;
}

/** A TLS server on localhost that speaks HTTP/2 and answers with what it saw. */
export async function startTls(
  t: Test,
  { allowHTTP1 = true, wantsCertificate = false }: TlsOptions = {},
): Promise<{
  readonly port: number;
  readonly seen: Seen[];
  readonly connections: () => number;
  readonly endAll: () => Promise<void>;
}> {
  const seen: Seen[] = [];
  const sockets = new Set<Socket>();
  const server = createSecureServer({
    ...CERTIFICATES.server,
    allowHTTP1,
    ...(wantsCertificate ? { ca: CERTIFICATES.authority, requestCert: true, rejectUnauthorized: true } : {}),
  });
  let connections = 0;
  server.on('secureConnection', () => {
    connections += 1;
  });
  server.on('connection', (socket: Socket) => void sockets.add(socket));
  server.on('sessionError', () => undefined);
  server.on('request', async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { httpVersion, url = '', method = '', headers } = request;
    const certificate = 'getPeerCertificate' in request.socket ? request.socket.getPeerCertificate() : null;
    const one = {
      httpVersion,
      url,
      method,
      headers: { ...headers },
      body,
      client: certificate === null ? null : String(certificate.subject?.CN),
    };
    seen.push(one);
    if (url.startsWith('/to/'))
      return void response.writeHead(302, { location: decodeURIComponent(url.slice(4)) }).end();
    response.setHeader('content-type', 'application/json');
    response.setHeader('set-cookie', ['a=1; Secure', 'b=ü']);
    response.end(url === '/large' ? Buffer.alloc(8 * 1024 * 1024, 'x') : JSON.stringify(one));
  });
  const port = await listen(t, server as unknown as Server, sockets);
  const endAll = async (): Promise<void> => {
    await Promise.all(
      [...sockets]
        .filter(({ destroyed }) => !destroyed)
        .map((socket) => {
          const closed = once(socket, 'close');
          socket.destroy();
          return closed;
        }),
    );
  };
  return { port, seen, connections: () => connections, endAll };
}

async function listen(t: Test, server: Server, sockets: ReadonlySet<Socket>): Promise<number> {
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
  return (server.address() as AddressInfo).port;
}
