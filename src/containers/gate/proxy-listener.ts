import { randomInt } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { onAbort, startLimit } from '../../base/deadline.js';
import { errorCode } from '../../base/system-fault.js';
import type { EgressRules } from '../../net-policy/egress.js';
import { type LookUp, type ReachFault, reach } from './reach.js';
import { readSocksRequest, SocksReply, socksReply } from './socks-request.js';

/** Connections of one browser at once; Chromium itself keeps to 256. A further one is closed. */
const MAX_CONNECTIONS = 512;
/** From a connection's first moment until it is through. */
const OPEN_MS = 30_000;

/** Where the connections of a door lead: wherever each asks for, in SOCKS 5, or all of them to one proxy. */
export type ListenerKind =
  | { readonly kind: 'socks' }
  | { readonly kind: 'fixed'; readonly host: string; readonly port: number };

/**
 * Where a door listens: on a unix socket, or at a port of 127.0.0.1, which it chooses itself when there is none. A browser
 * knows its port for life, so one that is chosen is outside of the range that outgoing connections are given.
 */
export type ListenerPlace = SocketPlace | { readonly port: number | null };

/** Where a unix socket is. */
export interface SocketPlace {
  /** In a folder that no browser reaches: a server gives its socket a mode by its path, and a link would be followed. */
  readonly madeAt: string;
  /** Where the browser finds it, in place of whatever is there. On the same file system. */
  readonly path: string;
}

const PORTS = { first: 20_000, last: 29_999 };
const TRIES = 50;

/** What decides where a door's connections may go. */
export interface ListenerRoutes {
  /** Asked anew at each connection. */
  rules(): EgressRules;
  readonly lookUp: LookUp;
}

/** One browser's way out: a server on a unix socket or a port, whose connections lead where the rules of the moment allow. */
export class ProxyListener {
  readonly #server: Server;
  readonly #connections = new Set<Socket>();
  /** The far ends of connections that are through, and the ports that they lead to. */
  readonly #reached = new Map<Socket, number>();
  readonly #ways: ListenerRoutes;
  readonly #kind: ListenerKind;

  private constructor(kind: ListenerKind, ways: ListenerRoutes) {
    this.#kind = kind;
    this.#ways = ways;
    this.#server = createServer({ allowHalfOpen: true }, (client) => void this.#serve(client));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** The port it listens at, where it is one. */
  get port(): number | undefined {
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : undefined;
  }

  /**
   * Anyone who reaches a path may connect to it: its folder is what is closed. Anyone on this machine reaches a port.
   * @throws the fault of the system, such as EADDRINUSE
   */
  static async open(place: ListenerPlace, kind: ListenerKind, ways: ListenerRoutes): Promise<ProxyListener> {
    if ('path' in place) return ProxyListener.#openAtPath(place, kind, ways);
    if (place.port !== null) return ProxyListener.#listen({ host: '127.0.0.1', port: place.port }, kind, ways);
    for (let left = TRIES; ; left -= 1) {
      try {
        const port = randomInt(PORTS.first, PORTS.last + 1);
        return await ProxyListener.#listen({ host: '127.0.0.1', port }, kind, ways);
      } catch (error) {
        if (left === 0 || errorCode(error) !== 'EADDRINUSE') throw error;
      }
    }
  }

  static async #openAtPath(
    { madeAt, path }: SocketPlace,
    kind: ListenerKind,
    ways: ListenerRoutes,
  ): Promise<ProxyListener> {
    // What a service that was killed left.
    await rm(madeAt, { force: true });
    const listener = await ProxyListener.#listen({ path: madeAt, readableAll: true, writableAll: true }, kind, ways);
    try {
      await rename(madeAt, path);
    } catch (error) {
      await listener.close();
      throw error;
    }
    return listener;
  }

  static async #listen(where: ListenOptions, kind: ListenerKind, ways: ListenerRoutes): Promise<ProxyListener> {
    const listener = new ProxyListener(kind, ways);
    await new Promise<void>((resolve, reject) => {
      listener.#server.once('error', reject);
      listener.#server.listen(where, resolve);
    });
    return listener;
  }

  /** Cuts the connections to what has been closed since they were opened. */
  recheck(): void {
    const rules = this.#ways.rules();
    for (const [remote, port] of this.#reached) {
      // The near end follows.
      if (rules.closes(port, remote.localAddress, remote.remoteAddress)) remote.destroy();
    }
  }

  /** Cuts every connection. Idempotent. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  async #serve(client: Socket): Promise<void> {
    this.#keep(client);
    const cut = new AbortController();
    const cancelTimer = startLimit(OPEN_MS, () => cut.abort());
    onAbort(cut.signal, () => client.destroy());
    client.once('close', () => cut.abort());
    try {
      const remote = await this.#reach(client, cut);
      if (remote === null) return;
      if (client.destroyed) remote.destroy();
      else this.#join(client, remote);
    } catch {
      // Who speaks no SOCKS, or leaves, is told nothing.
      client.destroy();
    } finally {
      cancelTimer();
    }
  }

  async #reach(client: Socket, cut: AbortController): Promise<Socket | null> {
    if (this.#kind.kind === 'fixed') {
      const reached = await this.#reachPlace(client, this.#kind, cut);
      if (typeof reached !== 'string') return reached;
      client.destroy();
      return null;
    }
    const reached = await this.#reachPlace(client, await readSocksRequest(client), cut);
    if (typeof reached === 'string') {
      // Two replies that Chromium tells apart.
      client.end(socksReply(SocksReply[reached]));
      return null;
    }
    client.write(socksReply(SocksReply.done));
    return reached;
  }

  async #reachPlace(
    client: Socket,
    { host, port }: { readonly host: string; readonly port: number },
    cut: AbortController,
  ): Promise<Socket | ReachFault> {
    const { rules, lookUp } = this.#ways;
    const unwatch = onDisconnect(client, () => cut.abort());
    try {
      const reached = await reach(rules(), host, port, cut.signal, lookUp);
      if (typeof reached !== 'string') {
        this.#reached.set(reached, port);
        reached.once('close', () => this.#reached.delete(reached));
      }
      return reached;
    } finally {
      unwatch();
    }
  }

  #join(client: Socket, remote: Socket): void {
    this.#keep(remote);
    for (const [one, other] of [
      [client, remote],
      [remote, client],
    ] as const) {
      one.pipe(other);
      one.once('close', () => {
        // Ended in both directions it was closed in peace, and the other one ends by itself.
        if (!one.readableEnded || !one.writableFinished) other.destroy();
      });
    }
  }

  #keep(socket: Socket): void {
    this.#connections.add(socket);
    // A fault is followed by the close, which says all that is to be done.
    socket.on('error', () => undefined);
    socket.once('close', () => this.#connections.delete(socket));
  }
}

/** A paused socket does not notice that its other end has closed. What comes early stays in its buffer. */
function onDisconnect(client: Socket, gone: () => void): () => void {
  const look = (): void => {
    // With nothing in the buffer this reads nothing, but an end that was reached is told of.
    if (client.readableLength === 0) client.read();
  };
  client.on('readable', look).once('end', gone);
  return () => void client.off('readable', look).off('end', gone);
}
