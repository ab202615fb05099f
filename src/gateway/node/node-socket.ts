import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import { closeReason } from '../http/close-reason.js';
import type { HttpSocket, SocketRoute } from '../http/http-server.js';

/** Who has subscribed to what. */
export type Topics = Map<string, Set<NodeSocket<unknown>>>;

/** A WebSocket by the ws package. */
export class NodeSocket<Seat> implements HttpSocket<Seat> {
  readonly seat: Seat;
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #route: SocketRoute<Seat>;
  readonly #topics: Topics;
  readonly #subscribed = new Set<string>();
  #isOver = false;
  /** What had come, and when that was more than before. */
  #heard: { readonly bytes: number; readonly at: number };

  constructor(
    { ws, socket, seat }: { readonly ws: WebSocket; readonly socket: Socket; readonly seat: Seat },
    route: SocketRoute<Seat>,
    topics: Topics,
  ) {
    this.seat = seat;
    this.#ws = ws;
    this.#socket = socket;
    this.#route = route;
    this.#topics = topics;
    this.#heard = { bytes: socket.bytesRead, at: performance.now() };
    ws.on('message', (data, isBinary) => {
      if (!this.#isOver) route.message(this, bytesOf(data), !isBinary);
    });
    ws.on('close', () => this.#over());
    // Its end says the same: a message that is too long, or is none.
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

  /** Its client answers with a close frame of its own, or is cut off a little later. */
  end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#ws.close(code, closeReason(reason));
    this.#over();
  }

  /** Without a word. */
  cut(): void {
    this.#ws.terminate();
  }

  /** Asks the client for a sign of life, and cuts it off when none came. */
  look(now: number): void {
    const bytes = this.#socket.bytesRead;
    if (bytes !== this.#heard.bytes) this.#heard = { bytes, at: now };
    const silentMs = now - this.#heard.at;
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
