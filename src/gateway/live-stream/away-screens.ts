import { onAbort, pause } from '../../base/deadline.js';
import type { ForwardClient, NodeSocket } from '../../cluster/forward-client.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionId } from '../../protocol/session.js';
import type { StreamRequest } from '../../protocol/stream.js';
import type { NodeAddress, Nodes } from '../../supervisor/ports/nodes.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { type ForwardedCaller, Forwarder } from '../forwarding/forwarder.js';

/** Screens of other nodes that one page may watch at once. */
const MAX_WATCHED = 200;
/** How often it is checked which node has a session whose screen is watched, in milliseconds. */
const CHECK_EVERY_MS = 2_000;
/** A viewer with more unread bytes is sent nothing more: the other node then skips pictures. */
const BEHIND_BYTES = 256 * 1024;
/** A picture, or the selected text of a page. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Requests that only the node of the session can serve. */
export type ScreenRequest = Extract<
  StreamRequest,
  { type: 'watchScreen' | 'unwatchScreen' | 'holdControl' | 'letControlGo' | 'input' | 'copy' }
>;

/** What they need of the connection of one viewer. */
export interface AwayScreensParts {
  readonly client: ForwardClient;
  readonly nodes: Nodes;
  readonly sessions: Pick<Sessions, 'get'>;
  readonly path: string;
  readonly caller: ForwardedCaller;
  sendPacked(message: Uint8Array): void;
  bufferedBytes(): number;
  /** Connects again, and asks again for all: the connection to another node is gone. */
  reconnect(): void;
}

/**
 * What one viewer asks about sessions of other nodes: a connection to each of these nodes, which answers as it answers
 * its own viewers. It owns the connections.
 */
export class AwayScreens {
  readonly #parts: AwayScreensParts;
  readonly #sockets = new Map<string, Promise<NodeSocket>>();
  readonly #watched = new Map<SessionId, AbortController>();
  readonly #closed = new AbortController();
  /** Requests are passed on in order. Never rejects. */
  #last: Promise<void> = Promise.resolve();

  constructor(parts: AwayScreensParts) {
    this.#parts = parts;
  }

  /** Whether another node serves the request, or may do so soon. */
  takes({ id }: ScreenRequest): boolean {
    return !this.#parts.nodes.isHere(id);
  }

  /** @throws NOT_FOUND, NODE_LOST, SESSION_ENDED; CAPACITY beyond 200 screens */
  pass(request: ScreenRequest): Promise<void> {
    if (request.type === 'watchScreen') return this.#watch(request);
    if (request.type === 'unwatchScreen') this.#watched.get(request.id)?.abort();
    const passed = this.#last.then(() => this.#send(request));
    this.#last = passed.catch(() => undefined);
    return passed;
  }

  /** The viewer takes more. */
  drain(): void {
    for (const opening of this.#sockets.values()) {
      opening.then(
        (socket) => socket.resume(),
        () => undefined,
      );
    }
  }

  /** Idempotent. */
  close(): void {
    this.#closed.abort();
    for (const watched of this.#watched.values()) watched.abort();
    for (const opening of this.#sockets.values()) {
      opening.then(
        (socket) => socket.terminate(),
        () => undefined,
      );
    }
    this.#sockets.clear();
  }

  /** Follows the session: a job waits, or goes on at another node. Ends with the session, or when it is no longer watched. */
  async #watch(request: ScreenRequest): Promise<void> {
    const { id } = request;
    if (this.#watched.size >= MAX_WATCHED && !this.#watched.has(id)) {
      throw new TroupeError('CAPACITY', `A page can show at most ${MAX_WATCHED} screens of other nodes at once`);
    }
    this.#watched.get(id)?.abort();
    const stopped = new AbortController();
    const { signal } = stopped;
    this.#watched.set(id, stopped);
    const forget = onAbort(this.#closed.signal, () => stopped.abort());
    try {
      let shownBy: string | null = null;
      while (!signal.aborted) {
        const { status } = await this.#parts.sessions.get(id);
        if (signal.aborted || isEnded(status)) return;
        const home = await this.#parts.nodes.homeOf(id).catch(() => null);
        if (signal.aborted) return;
        if (home !== null && home.startToken !== shownBy) await this.#sendTo(home, request);
        shownBy = home?.startToken ?? shownBy;
        await pause(CHECK_EVERY_MS, { signal }).catch(() => undefined);
      }
    } finally {
      forget();
      if (this.#watched.get(id) === stopped) this.#watched.delete(id);
    }
  }

  async #send(request: ScreenRequest): Promise<void> {
    const home = await this.#parts.nodes.homeOf(request.id);
    if (home !== null) return this.#sendTo(home, request);
    if (request.type === 'unwatchScreen' || request.type === 'letControlGo') return;
    throw new TroupeError('SESSION_ENDED', 'The session is not running');
  }

  async #sendTo(home: NodeAddress, request: ScreenRequest): Promise<void> {
    const socket = await this.#socketTo(home);
    if (!this.#closed.signal.aborted) socket.send(JSON.stringify(request));
  }

  #socketTo(home: NodeAddress): Promise<NodeSocket> {
    const known = this.#sockets.get(home.startToken);
    if (known !== undefined) return known;
    const opening = this.#open(home);
    this.#sockets.set(home.startToken, opening);
    opening.catch(() => this.#sockets.delete(home.startToken));
    return opening;
  }

  async #open(home: NodeAddress): Promise<NodeSocket> {
    const { client, nodes, path, caller, sendPacked, bufferedBytes, reconnect } = this.#parts;
    const headers = Forwarder.headers(nodes, home, { method: 'GET', path, headers: [] }, { session: null, ...caller });
    const socket = await client.openSocket(home.url, path, headers, MAX_MESSAGE_BYTES).catch((cause: unknown) => {
      throw new TroupeError('NODE_LOST', `The node ${home.id}, which has the session, does not answer`, undefined, {
        cause,
      });
    });
    // Its `close` follows.
    socket.on('error', () => undefined);
    if (this.#closed.signal.aborted) socket.terminate();
    let isGreeted = false;
    socket.on('message', (data) => {
      // The first message tells a page what node it has reached; this one has told its own.
      if (isGreeted && Buffer.isBuffer(data) && !this.#closed.signal.aborted) sendPacked(data);
      isGreeted = true;
      if (bufferedBytes() > BEHIND_BYTES) socket.pause();
    });
    socket.once('close', () => {
      if (!this.#closed.signal.aborted) reconnect();
    });
    return socket;
  }
}
