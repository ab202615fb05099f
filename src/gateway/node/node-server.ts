import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer, type Server as Listener, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TroupeError } from '../../protocol/errors.js';
import { errorAnswer } from '../error-answer.js';
import type { HttpServer, ListenAddress, ServerHandlers } from '../http/http-server.js';
import { listenFault } from '../http/listen-fault.js';
import { NodeConnection } from './node-connection.js';
import { NodeSockets } from './node-sockets.js';
import { NodeUpgradeRequest } from './node-upgrade-request.js';
import { answerRaw } from './raw-answer.js';

/** The longest head of a request; browsers send long ones if other programs on the same host have set cookies. */
const HEAD_BYTES = 16 * 1024;
const CHECK_INTERVAL_MS = 1_000;

/**
 * Since Node 22.21 and 24.9 a callback decides which requests are upgraded; older versions upgrade all that ask for it.
 */
type Options = ServerOptions & { readonly shouldUpgradeCallback: (request: IncomingMessage) => boolean };

/**
 * Starts node:http with ws. The port is bound exclusively: a second service on it fails.
 * @throws UNAVAILABLE if the address is not available
 */
export async function startNodeServer(address: ListenAddress, handlers: ServerHandlers): Promise<HttpServer> {
  const server = new NodeServer(handlers);
  await server.listen(address);
  return server;
}

/**
 * Connections are accepted by a separate listener and passed to node:http, so that one can stop without the other:
 * node:http closes its idle connections when it stops listening, and a client that is just sending a request would get
 * no answer.
 */
class NodeServer implements HttpServer {
  readonly #listener: Listener;
  readonly #http: Server;
  readonly #handlers: ServerHandlers;
  readonly #sockets: NodeSockets;
  readonly #connections = new Map<Socket, NodeConnection>();
  #port = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(handlers: ServerHandlers) {
    this.#handlers = handlers;
    this.#sockets = new NodeSockets(handlers.sockets);
    this.#listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#http = this.#makeHttp();
  }

  get port(): number {
    return this.#port;
  }

  async listen(address: ListenAddress): Promise<void> {
    const listener = this.#listener;
    try {
      const listening = once(listener, 'listening');
      listener.listen({ host: address.host, port: address.port, exclusive: true });
      await listening;
    } catch (error) {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
      throw listenFault(address, String(code ?? 'unknown'));
    }
    // A failed accept (too many open files) does not stop the listener.
    listener.on('error', () => undefined);
    const bound = listener.address();
    this.#port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
  }

  stopListening(): void {
    if (this.#listener.listening) this.#listener.close();
  }

  publish(topic: string, message: Uint8Array): void {
    this.#sockets.publish(topic, message);
  }

  close(): void {
    this.stopListening();
    this.#sockets.close();
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  #makeHttp(): Server {
    const options: Options = {
      maxHeaderSize: HEAD_BYTES,
      insecureHTTPParser: false,
      // The gateway rejects a missing Host with the same message as a wrong one.
      requireHostHeader: false,
      keepAlive: false,
      shouldUpgradeCallback: (request) => this.#sockets.find(request) !== null,
    };
    const http = createHttpServer(options);
    // All deadlines are in NodeConnection.
    http.headersTimeout = 0;
    http.requestTimeout = 0;
    http.keepAliveTimeout = 0;
    http.timeout = 0;
    // With a limit, Node would silently drop further headers, for example a second Host.
    http.maxHeadersCount = 0;
    const handler =
      (holdsBodyBack: boolean) =>
      (req: IncomingMessage, res: ServerResponse): void =>
        this.#connections.get(req.socket)?.take({ req, res, holdsBodyBack });
    http.on('request', handler(false));
    http.on('checkContinue', handler(true));
    // Unknown expectations are ignored.
    http.on('checkExpectation', handler(false));
    http.on('upgrade', (req, socket, head) => this.#upgrade(req, socket, head));
    http.on('connect', (_req, socket) => this.#refuseTunnel(socket));
    http.on('clientError', (error, socket) => this.#connections.get(socketOf(socket))?.parseFailed(error));
    return http;
  }

  #accept(socket: Socket): void {
    const connection = new NodeConnection(socket, this.#handlers);
    this.#connections.set(socket, connection);
    // 'close' follows and is handled.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#connections.delete(socket);
      connection.closed();
      if (this.#connections.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    });
    this.#timer ??= setInterval(() => this.#checkDeadlines(), CHECK_INTERVAL_MS);
    this.#http.emit('connection', socket);
  }

  #checkDeadlines(): void {
    const now = performance.now();
    for (const connection of this.#connections.values()) connection.checkDeadlines(now);
  }

  /**
   * On an older Node this may also be an upgrade to another protocol, such as HTTP/2; then the request is handled as
   * HTTP.
   */
  #upgrade(req: IncomingMessage, duplex: Duplex, rest: Buffer): void {
    const socket = socketOf(duplex);
    const connection = this.#connections.get(socket);
    if (connection === undefined || !connection.handOver()) {
      socket.destroy();
      return;
    }
    const found = this.#sockets.find(req);
    if (found !== null) {
      const { kind, param } = found;
      kind.route.upgrade(
        new NodeUpgradeRequest({ req, socket, rest }, param, (upgrade, state) =>
          this.#sockets.open(kind, upgrade, state),
        ),
      );
      return;
    }
    connection.takeBack();
    socket.unshift(Buffer.concat([Buffer.from(headWithoutUpgrade(req), 'latin1'), rest]));
    this.#http.emit('connection', socket);
  }

  #refuseTunnel(duplex: Duplex): void {
    const socket = socketOf(duplex);
    if (!this.#connections.get(socket)?.handOver()) {
      socket.destroy();
      return;
    }
    const { head, body } = errorAnswer(
      new TroupeError('INVALID_REQUEST', 'This service is not a proxy; CONNECT is not supported'),
    );
    answerRaw(socket, head, body);
  }
}

function socketOf(duplex: Duplex): Socket {
  if (duplex instanceof Socket) return duplex;
  throw new TypeError('A connection of the listener is a socket');
}

/** The head of a request as received, without its Upgrade header. */
function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
