import type { HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { closeReason } from '../http/close-reason.js';
import type { HttpRequest, HttpSocket, SocketAsk, SocketRoute } from '../http/http-server.js';
import type { ReplyHead } from '../http/reply-head.js';
import { UwsLine } from './uws-line.js';
import { UwsRequest } from './uws-request.js';

/** What uWebSockets.js keeps with a connection. */
interface Kept<Seat> {
  readonly seat: Seat;
  socket: UwsSocket<Seat> | null;
}

/** How uWebSockets.js is to treat the connections of a route. */
export function behaviourOf<Seat>(route: SocketRoute<Seat>): WebSocketBehavior<Kept<Seat>> {
  const socketOf = (native: WebSocket<Kept<Seat>>): UwsSocket<Seat> => {
    const kept = native.getUserData();
    kept.socket ??= new UwsSocket(native, kept.seat);
    return kept.socket;
  };
  return {
    maxPayloadLength: route.maxMessageBytes,
    maxBackpressure: route.maxUnreadBytes,
    closeOnBackpressureLimit: route.maxUnreadBytes === 0 ? 0 : 1,
    idleTimeout: route.idleSeconds,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => route.upgrade(new UwsSocketAsk(res, req, context)),
    open: (native) => route.open(socketOf(native)),
    message: (native, message, isBinary) => route.message(socketOf(native), Buffer.from(message), !isBinary),
    drain: (native) => route.drain(socketOf(native)),
    close: (native) => route.close(socketOf(native)),
  };
}

/**
 * A request for a WebSocket. Nothing is awaited before the upgrade. One that comes later has to be inside cork(), which
 * takes the connection for one of HTTP afterwards and closes some of them, by what lies in memory:
 * https://github.com/uNetworking/uWebSockets/issues/1928
 */
class UwsSocketAsk<Seat> implements SocketAsk<Seat> {
  readonly request: HttpRequest;
  readonly param: string;
  readonly #res: HttpResponse;
  readonly #offer: { readonly key: string; readonly protocol: string; readonly extensions: string };
  readonly #context: us_socket_context_t;
  #open = true;

  constructor(res: HttpResponse, req: ConstructorParameters<typeof UwsRequest>[0], context: us_socket_context_t) {
    this.request = new UwsRequest(req);
    this.param = req.getParameter(0) ?? '';
    this.#res = res;
    this.#context = context;
    const header = (name: string) => req.getHeader(`sec-websocket-${name}`);
    this.#offer = { key: header('key'), protocol: header('protocol'), extensions: header('extensions') };
    res.onAborted(() => {
      this.#open = false;
    });
  }

  accept(seat: Seat): boolean {
    if (!this.#open) return false;
    this.#open = false;
    const { key, protocol, extensions } = this.#offer;
    // Of several that a client offers one is answered (RFC 6455, section 4.2.2).
    const [chosen = ''] = protocol.split(/ *, */);
    const kept: Kept<Seat> = { seat, socket: null };
    this.#res.cork(() => this.#res.upgrade(kept, key, chosen, extensions, this.#context));
    return true;
  }

  refuse(head: ReplyHead, body: string): void {
    if (!this.#open) return;
    this.#open = false;
    new UwsLine(this.#res).end(head, body, { bodiless: false, closes: true });
  }
}

class UwsSocket<Seat> implements HttpSocket<Seat> {
  readonly seat: Seat;
  readonly #native: WebSocket<Kept<Seat>>;

  constructor(native: WebSocket<Kept<Seat>>, seat: Seat) {
    this.#native = native;
    this.seat = seat;
  }

  get bufferedBytes(): number {
    return this.#native.getBufferedAmount();
  }

  send(message: Uint8Array, isText: boolean): void {
    this.#native.send(message, !isText);
  }

  subscribe(topic: string): void {
    this.#native.subscribe(topic);
  }

  unsubscribe(topic: string): void {
    this.#native.unsubscribe(topic);
  }

  end(code: number, reason: string): void {
    this.#native.end(code, closeReason(reason));
  }
}
