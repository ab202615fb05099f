import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Answer, WireRequest } from './answer.js';
import { exchangeOverHttp1, type RoutedOptions } from './http1-exchange.js';
import { exchangeOverHttp2 } from './http2-exchange.js';
import { openSocket, type Route } from './open-socket.js';

const MAX_FREE_SOCKETS = 16;

/** The server chose HTTP/2 for a connection that was made for a request over HTTP/1.1. */
class ChoseHttp2 extends Error {}

/**
 * The open connections of one sender, of HTTP/1.1 and HTTP/2. A new connection offers both (ALPN) unless the route says
 * otherwise; one of HTTP/2 serves all further requests to its server.
 */
export class ConnectionPool {
  readonly #maxSockets: number | undefined;
  readonly #agents = new Map<string, RouteAgent>();
  readonly #sessions = new Map<string, ClientHttp2Session>();
  readonly #closing = new AbortController();

  /** @param maxSockets connections to one server; without it as many as requests */
  constructor(maxSockets?: number) {
    this.#maxSockets = maxSockets;
  }

  /** @throws the connection's error, before the beginning of an answer; later ones are the body's */
  async exchange(route: Route, request: WireRequest, signal: AbortSignal): Promise<Answer> {
    const key = keyOf(route);
    const place = `${key} ${route.target.hostname} ${route.target.port}`;
    const session = this.#sessions.get(place);
    if (session !== undefined) return await exchangeOverHttp2(session, request, signal);
    try {
      return await exchangeOverHttp1(this.#agent(key), route, request, signal);
    } catch (error) {
      const chosen = this.#sessions.get(place);
      if (!(error instanceof ChoseHttp2) || chosen === undefined) throw error;
      return await exchangeOverHttp2(chosen, request, signal);
    }
  }

  /** Ends all connections, also those in use. Idempotent. */
  close(): void {
    this.#closing.abort(new Error('The connections were closed'));
    for (const agent of this.#agents.values()) agent.destroy();
    for (const session of this.#sessions.values()) session.destroy();
    this.#agents.clear();
    this.#sessions.clear();
  }

  #agent(key: string): RouteAgent {
    const options = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS };
    const agent =
      this.#agents.get(key) ??
      new RouteAgent(
        { ...options, ...(this.#maxSockets === undefined ? {} : { maxSockets: this.#maxSockets }) },
        async ({ route, connectSignal }) => {
          const socket = await openSocket(route, AbortSignal.any([connectSignal, this.#closing.signal]));
          if (!(socket instanceof TLSSocket) || socket.alpnProtocol !== 'h2') return socket;
          this.#keep(`${key} ${route.target.hostname} ${route.target.port}`, socket);
          throw new ChoseHttp2();
        },
      );
    this.#agents.set(key, agent);
    return agent;
  }

  #keep(place: string, socket: TLSSocket): void {
    // Another request was as early.
    if (this.#sessions.has(place)) return void socket.destroy();
    const session = connectHttp2('https://unused', {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    const forget = (): void => {
      if (this.#sessions.get(place) === session) this.#sessions.delete(place);
    };
    session.once('goaway', forget);
    session.once('close', forget);
    // Its requests get the error.
    session.on('error', forget);
    this.#sessions.set(place, session);
  }
}

/** What connections have in common: others are never used for a request. */
function keyOf({ target, proxy, tunnelTo, verifyTls, protocols }: Route): string {
  const via = proxy === null ? '' : `${proxy.secure ? 'https' : 'http'}://${proxy.shown}`;
  return [target.secure, verifyTls, protocols.join(), via, tunnelTo ?? ''].join(' ');
}

class RouteAgent extends Agent {
  readonly #connect: (options: RoutedOptions) => Promise<Socket>;

  constructor(options: AgentOptions, connect: (options: RoutedOptions) => Promise<Socket>) {
    super(options);
    this.#connect = connect;
  }

  override createConnection(
    options: ClientRequestArgs & Partial<RoutedOptions>,
    done?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { route, connectSignal } = options;
    if (route === undefined || connectSignal === undefined) throw new Error('The request has no route');
    // Node's types demand a socket also with an error.
    const answer = done as ((error: Error | null, socket?: Duplex) => void) | undefined;
    this.#connect({ route, connectSignal }).then(
      (socket) => answer?.(null, socket),
      (error: unknown) => answer?.(error instanceof Error ? error : new Error(String(error))),
    );
  }
}
