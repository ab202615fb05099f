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
import type { HttpServer, ListenPlace, ServerHandlers } from '../http/http-server.js';
import { listenFault } from '../http/listen-fault.js';
import { NodeConnection } from './node-connection.js';
import { NodeSocketAsk } from './node-socket-ask.js';
import { NodeSockets } from './node-sockets.js';
import { answerRaw } from './raw-answer.js';

/** What the head of a request may have; browsers send long ones when other programs on the same host have set cookies. */
const HEAD_BYTES = 16 * 1024;
const LOOK_EVERY_MS = 1_000;

/** Since Node 22.21 and 24.9 it can be said which requests leave HTTP; before, all do that ask for it. */
type Options = ServerOptions & { readonly shouldUpgradeCallback: (request: IncomingMessage) => boolean };

/**
 * Starts node:http with ws. The port is taken for this process alone: a second service on it fails.
 * @throws UNAVAILABLE, in a sentence for people, when the address cannot be had
 */
export async function startNodeServer(place: ListenPlace, handlers: ServerHandlers): Promise<HttpServer> {
  const server = new NodeServer(handlers);
  await server.listen(place);
  return server;
}

/**
 * Connections are accepted by a listener of their own and given to node:http, so that one can stop without the other:
 * node:http would close its idle connections when it stops listening, and a client that just sends a request would get no
 * answer.
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

  async listen(place: ListenPlace): Promise<void> {
    const listener = this.#listener;
    try {
      const listening = once(listener, 'listening');
      listener.listen({ host: place.host, port: place.port, exclusive: true });
      await listening;
    } catch (error) {
      const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined;
      throw listenFault(place, String(code ?? 'unknown'));
    }
    // One that cannot accept a connection (too many open files) goes on with the next.
    listener.on('error', () => undefined);
    const address = listener.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : place.port;
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
      // Refused by the gateway, in the same words as a wrong one.
      requireHostHeader: false,
      keepAlive: false,
      shouldUpgradeCallback: (request) => this.#sockets.find(request) !== null,
    };
    const http = createHttpServer(options);
    // Every deadline is NodeConnection's.
    http.headersTimeout = 0;
    http.requestTimeout = 0;
    http.keepAliveTimeout = 0;
    http.timeout = 0;
    // It would drop the others silently, a second Host among them.
    http.maxHeadersCount = 0;
    const take =
      (holdsBodyBack: boolean) =>
      (req: IncomingMessage, res: ServerResponse): void =>
        this.#connections.get(req.socket)?.take({ req, res, holdsBodyBack });
    http.on('request', take(false));
    http.on('checkContinue', take(true));
    // What else a client may expect it does not get; nobody ever did.
    http.on('checkExpectation', take(false));
    http.on('upgrade', (req, socket, head) => this.#upgrade(req, socket, head));
    http.on('connect', (_req, socket) => this.#refuseTunnel(socket));
    http.on('clientError', (error, socket) => this.#connections.get(socketOf(socket))?.broken(error));
    return http;
  }

  #accept(socket: Socket): void {
    const connection = new NodeConnection(socket, this.#handlers);
    this.#connections.set(socket, connection);
    // Its end says the same.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#connections.delete(socket);
      connection.closed();
      if (this.#connections.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    });
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#http.emit('connection', socket);
  }

  #look(): void {
    const now = performance.now();
    for (const connection of this.#connections.values()) connection.look(now);
  }

  /** On an older Node this is also a request for something else than a WebSocket, such as HTTP/2: nobody has to get it. */
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
        new NodeSocketAsk({ req, socket, rest }, param, (upgrade, seat) => this.#sockets.open(kind, upgrade, seat)),
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
    const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', 'This service is no proxy'));
    answerRaw(socket, head, body);
  }
}

function socketOf(duplex: Duplex): Socket {
  if (duplex instanceof Socket) return duplex;
  throw new TypeError('A connection of the listener is a socket');
}

/** The head of a request as it came, but for what asks to leave HTTP. */
function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.toLowerCase() !== 'upgrade') lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}
