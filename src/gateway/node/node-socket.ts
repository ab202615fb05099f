import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { closeReason } from '../http/close-reason.js';
import type { HttpSocket, SocketRoute } from '../http/http-server.js';

/** Subscribers by topic. */
export type Topics = Map<string, Set<NodeSocket<unknown>>>;

/** A WebSocket of the ws package. */
export class NodeSocket<State> implements HttpSocket<State> {
  readonly state: State;
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #route: SocketRoute<State>;
  readonly #topics: Topics;
  readonly #subscribed = new Set<string>();
  #isOver = false;
  /** The received bytes, and when that number last grew. */
  #lastReceived: { readonly bytes: number; readonly at: number };

  constructor(
    { ws, socket, state }: { readonly ws: WebSocket; readonly socket: Socket; readonly state: State },
    route: SocketRoute<State>,
    topics: Topics,
  ) {
    this.state = state;
    this.#ws = ws;
    this.#socket = socket;
    this.#route = route;
    this.#topics = topics;
    this.#lastReceived = { bytes: socket.bytesRead, at: performance.now() };
    ws.on('message', (data, isBinary) => {
      if (!this.#isOver) route.message(this, bytesOf(data), !isBinary);
    });
    ws.on('close', () => this.#over());
    // 'close' follows and is handled: a message was too long or malformed.
    ws.on('error', () => undefined);
    socket.on('drain', () => {
      if (!this.#isOver) route.drain(this);
    });
  }

  get bufferedBytes(): number {
    return this.#ws.bufferedAmount;
  }

  send(message: Uint8Array, isText: boolean): void {
    const { maxUnreadBytes } = this.#route;
    if (maxUnreadBytes > 0 && this.#ws.bufferedAmount > maxUnreadBytes) this.cut();
    else this.#ws.send(message, { binary: !isText });
  }

  subscribe(topic: string): void {
    const own = this.#topics.get(topic) ?? new Set();
    this.#topics.set(topic, own.add(this));
    this.#subscribed.add(topic);
  }

  unsubscribe(topic: string): void {
    this.#subscribed.delete(topic);
    const others = this.#topics.get(topic);
    others?.delete(this);
    if (others?.size === 0) this.#topics.delete(topic);
  }

  /** The client answers with its own close frame, or is disconnected a little later. */
  end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#ws.close(code, closeReason(reason));
    this.#over();
  }

  /** Closes the connection without a close frame. */
  cut(): void {
    this.#ws.terminate();
  }

  /** Pings a silent client, and disconnects it if it stays silent. */
  checkIdle(now: number): void {
    const bytes = this.#socket.bytesRead;
    if (bytes !== this.#lastReceived.bytes) this.#lastReceived = { bytes, at: now };
    const silentMs = now - this.#lastReceived.at;
    const idleMs = this.#route.idleSeconds * 1000;
    if (silentMs >= idleMs) this.cut();
    else if (silentMs >= idleMs / 2 && !this.#isOver) this.#ws.ping();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const topic of this.#subscribed) this.unsubscribe(topic);
    this.#route.close(this);
  }
}

/** With ws's default binaryType a message is one Buffer. */
function bytesOf(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
