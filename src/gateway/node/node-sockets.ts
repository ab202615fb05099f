import type { IncomingMessage } from 'node:http';
import { type ServerOptions, WebSocketServer } from 'ws';
import type { SocketRoute } from '../http/http-server.js';
import { NodeSocket, type Topics } from './node-socket.js';
import { refuse, type Upgrade } from './node-upgrade-request.js';

const CHECK_INTERVAL_MS = 5_000;
/** How long a client may take to close its side. */
const CLOSE_MS = 2_000;

/** A kind of WebSocket and the server for its handshakes. */
interface Kind {
  readonly route: SocketRoute;
  readonly segments: readonly string[];
  readonly server: WebSocketServer;
}

/** The WebSockets of a node:http server, with the ws package. */
export class NodeSockets {
  readonly #kinds: readonly Kind[];
  readonly #topics: Topics = new Map();
  readonly #open = new Set<NodeSocket<unknown>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(routes: readonly SocketRoute[]) {
    this.#kinds = routes.map((route) => ({ route, segments: route.path.split('/'), server: makeServer(route) }));
  }

  /** The route of a WebSocket request; null for any other request. */
  find({ method, url = '', headers }: IncomingMessage): { readonly kind: Kind; readonly param: string } | null {
    const isHandshake =
      method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && headers['sec-websocket-key']?.length === 24;
    if (!isHandshake) return null;
    const [path = ''] = url.split('?', 1);
    const segments = path.split('/');
    for (const kind of this.#kinds) {
      const param = paramOf(kind.segments, segments);
      if (param !== null) return { kind, param };
    }
    return null;
  }

  /** Turns a connection into a WebSocket. False if ws rejects the handshake; ws has answered the client then. */
  open({ route, server }: Kind, { req, socket, rest }: Upgrade, state: unknown): boolean {
    let opened = false;
    server.handleUpgrade(req, socket, rest, (ws) => {
      opened = true;
      const open = new NodeSocket({ ws, socket, state }, route, this.#topics);
      this.#open.add(open);
      this.#timer ??= setInterval(() => this.#checkIdle(), CHECK_INTERVAL_MS);
      socket.once('close', () => this.#closed(open));
      route.open(open);
    });
    return opened;
  }

  publish(topic: string, message: Uint8Array): void {
    for (const socket of this.#topics.get(topic) ?? []) socket.send(message, false);
  }

  /** Cuts every connection. */
  close(): void {
    for (const socket of this.#open) socket.cut();
  }

  #closed(socket: NodeSocket<unknown>): void {
    this.#open.delete(socket);
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #checkIdle(): void {
    const now = performance.now();
    for (const socket of this.#open) socket.checkIdle(now);
  }
}

function makeServer({ maxMessageBytes }: SocketRoute): WebSocketServer {
  const options: ServerOptions & { readonly closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    closeTimeout: CLOSE_MS,
    // Of several offered protocols one is answered (RFC 6455, section 4.2.2).
    handleProtocols: (offered) => offered.values().next().value ?? false,
  };
  const server = new WebSocketServer(options);
  server.on('wsClientError', (error, _socket, { socket }) => refuse(socket, error.message));
  return server;
}

function paramOf(pattern: readonly string[], segments: readonly string[]): string | null {
  if (pattern.length !== segments.length) return null;
  let param = '';
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (expected.startsWith(':')) param = segment;
    else if (segment !== expected) return null;
  }
  return param;
}
