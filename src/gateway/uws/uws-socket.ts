import type { HttpResponse, us_socket_context_t, WebSocket, WebSocketBehavior } from 'uWebSockets.js';
import { closeReason } from '../http/close-reason.js';
import type { HttpRequest, HttpSocket, SocketRoute, UpgradeRequest } from '../http/http-server.js';
import type { ReplyHead } from '../http/reply-head.js';
import { UwsExchange } from './uws-exchange.js';
import { UwsRequest } from './uws-request.js';

/** The data that uWebSockets.js keeps with a connection. */
interface UserData<State> {
  readonly state: State;
  socket: UwsSocket<State> | null;
}

/** The uWebSockets.js handlers of a route. */
export function socketBehavior<State>(route: SocketRoute<State>): WebSocketBehavior<UserData<State>> {
  const socketOf = (native: WebSocket<UserData<State>>): UwsSocket<State> => {
    const userData = native.getUserData();
    userData.socket ??= new UwsSocket(native, userData.state);
    return userData.socket;
  };
  return {
    maxPayloadLength: route.maxMessageBytes,
    maxBackpressure: route.maxUnreadBytes,
    closeOnBackpressureLimit: route.maxUnreadBytes === 0 ? 0 : 1,
    idleTimeout: route.idleSeconds,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => route.upgrade(new UwsUpgradeRequest(res, req, context)),
    open: (native) => route.open(socketOf(native)),
    message: (native, message, isBinary) => route.message(socketOf(native), Buffer.from(message), !isBinary),
    drain: (native) => route.drain(socketOf(native)),
    close: (native) => route.close(socketOf(native)),
  };
}

/**
 * A request for a WebSocket. The upgrade happens without an await. A later one would have to be inside cork(), which
 * then takes the connection for an HTTP one and closes some of them, depending on memory contents:
 * https://github.com/uNetworking/uWebSockets/issues/1928
 */
class UwsUpgradeRequest<State> implements UpgradeRequest<State> {
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

  accept(state: State): boolean {
    if (!this.#open) return false;
    this.#open = false;
    const { key, protocol, extensions } = this.#offer;
    // Of several offered protocols one is answered (RFC 6455, section 4.2.2).
    const [chosen = ''] = protocol.split(/ *, */);
    const userData: UserData<State> = { state, socket: null };
    this.#res.cork(() => this.#res.upgrade(userData, key, chosen, extensions, this.#context));
    return true;
  }

  refuse(head: ReplyHead, body: string): void {
    if (!this.#open) return;
    this.#open = false;
    new UwsExchange(this.#res).end(head, body, { bodiless: false, closes: true });
  }
}

class UwsSocket<State> implements HttpSocket<State> {
  readonly state: State;
  readonly #native: WebSocket<UserData<State>>;

  constructor(native: WebSocket<UserData<State>>, state: State) {
    this.#native = native;
    this.state = state;
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
