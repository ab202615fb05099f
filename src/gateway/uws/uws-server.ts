import type { TemplatedApp, us_listen_socket } from 'uWebSockets.js';
import { createServer } from 'node:net';
import type { HttpServer, ListenAddress, ServerHandlers } from '../http/http-server.js';
import { listenFault } from '../http/listen-fault.js';
import { uws } from './native.js';
import { UwsExchange } from './uws-exchange.js';
import { UwsRequest } from './uws-request.js';
import { socketBehavior } from './uws-socket.js';

/**
 * Starts uWebSockets.js. The port is bound exclusively: a second service on it fails.
 * @throws UNAVAILABLE if the address is not available
 */
export async function startUwsServer(address: ListenAddress, handlers: ServerHandlers): Promise<HttpServer> {
  const app = uws.App();
  for (const route of handlers.sockets) app.ws(route.path, socketBehavior(route));
  app.any('/*', (res, req) => handlers.request(new UwsRequest(req), new UwsExchange(res)));
  const listening = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(address.host, address.port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve);
  });
  if (!listening) throw listenFault(address, await probe(address));
  return new UwsServer(app, listening);
}

class UwsServer implements HttpServer {
  readonly port: number;
  readonly #app: TemplatedApp;
  #listening: us_listen_socket | null;
  #closed = false;

  constructor(app: TemplatedApp, listening: us_listen_socket) {
    this.#app = app;
    this.#listening = listening;
    this.port = uws.us_socket_local_port(listening);
  }

  stopListening(): void {
    if (this.#listening !== null) uws.us_listen_socket_close(this.#listening);
    this.#listening = null;
  }

  publish(topic: string, message: Uint8Array): void {
    this.#app.publish(topic, message, true);
  }

  close(): void {
    this.stopListening();
    if (!this.#closed) this.#app.close();
    this.#closed = true;
  }
}

/** uWebSockets.js does not report why it could not listen, so Node tries the same address for its error code. */
function probe({ host, port }: ListenAddress): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(String(Reflect.get(error, 'code') ?? 'unknown')));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve('')));
  });
}
