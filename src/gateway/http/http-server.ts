import type { ReplyHead } from './reply-head.js';

/** The two HTTP servers: uWebSockets.js, and node:http with ws. */
export type ServerName = 'uws' | 'node';

/** Starts a server. @throws UNAVAILABLE if the address is not available */
export type StartServer = (address: ListenAddress, handlers: ServerHandlers) => Promise<HttpServer>;

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 chooses a free port. */
  readonly port: number;
}

/** Called by a server. No handler throws. */
export interface ServerHandlers {
  /** Called for every request that does not open a WebSocket. The request is read before this returns. */
  request(request: HttpRequest, exchange: HttpExchange): void;
  readonly sockets: readonly SocketRoute[];
}

/** A listening server. */
export interface HttpServer {
  readonly port: number;
  /** Accepts no more connections; open ones stay. Idempotent. */
  stopListening(): void;
  /** Sends a binary message to every WebSocket that is subscribed to the topic. */
  publish(topic: string, message: Uint8Array): void;
  /** Cuts every connection. Must not be called inside a handler. Idempotent. */
  close(): void;
}

/** A request. It may be invalid after the call that it was passed to. */
export interface HttpRequest {
  readonly method: string;
  /** As received, not decoded, up to the question mark. */
  readonly path: string;
  /** The part after the question mark, as received. */
  readonly query: string;
  /** A header by lower-case name: the first of several, '' for none. */
  header(name: string): string;
  /** Calls back for every header, with its name in lower case. */
  eachHeader(read: (name: string, value: string) => void): void;
}

/** Events of an exchange. */
export interface ExchangeEvents {
  /** The connection ended before the answer was complete. */
  gone(): void;
  /** The connection takes more. */
  writable(): void;
}

/**
 * One request and its response, as the HTTP server implements them. `Reply` is the only user and keeps the order: `end`
 * or `endHead`, or `begin`, then `write` or `tryEnd`, then `finish`. Nothing is called after `finish`, `cut`, or
 * `gone`.
 */
export interface HttpExchange {
  /** The client's address. */
  readonly remoteAddress: string;
  /** Called once, before anything else. */
  listen(events: ExchangeEvents): void;
  /** Sends the complete answer. @param options.bodiless the body counts for Content-Length, but is not sent */
  end(head: ReplyHead, body: string | Buffer, options: { readonly bodiless: boolean; readonly closes: boolean }): void;
  /** Sends an answer without its body, of `bytes` if known. */
  endHead(head: ReplyHead, bytes: number | undefined, closes: boolean): void;
  /** Sends the head of an answer whose body follows in chunks. @param bytes of the body; undefined for a chunked one */
  begin(head: ReplyHead, bytes: number | undefined): void;
  /** Sends a chunk. False: the chunk is buffered, and the next one waits for `writable`. */
  write(chunk: string | Uint8Array): boolean;
  /**
   * Sends part of a body of known length: `taken` bytes of the chunk were sent; not `ok`: the rest waits for
   * `writable`.
   */
  tryEnd(
    chunk: Uint8Array,
    totalBytes: number,
  ): { readonly ok: boolean; readonly taken: number; readonly complete: boolean };
  /** Ends a chunked body. */
  finish(): void;
  /** Closes the connection at once. */
  cut(): void;
  /** The reader is slow, but not stalled: restarts the server's own deadline for it. */
  touch(): void;
  /** The request's body, in chunks that are valid only during the call. Called before the request's handler returns. */
  onData(handler: (chunk: Uint8Array, last: boolean) => void): void;
  /** Stops reading the body until `resumeBody`. */
  pauseBody(): void;
  resumeBody(): void;
}

/** A kind of WebSocket. `State` is the state of one connection. Messages are never compressed. */
export interface SocketRoute<State = unknown> {
  /** `:name` stands for one segment; at most one. */
  readonly path: string;
  /** A client that sends a longer message is disconnected. */
  readonly maxMessageBytes: number;
  /** A client with more unread bytes is disconnected; 0 if the sender waits for the client by itself. */
  readonly maxUnreadBytes: number;
  /** A client that is silent is pinged, and disconnected after this time. */
  readonly idleSeconds: number;
  /** A client requests a WebSocket. The request is read, and `accept` called if at all, before this returns. */
  upgrade(upgrade: UpgradeRequest<State>): void;
  open(socket: HttpSocket<State>): void;
  /** The bytes are valid only during the call. */
  message(socket: HttpSocket<State>, message: Buffer, isText: boolean): void;
  /** The buffered messages were sent. */
  drain(socket: HttpSocket<State>): void;
  /** Called once, whichever side ended it; during `end` for that call. The socket must not be used any more. */
  close(socket: HttpSocket<State>): void;
}

/** A client's request for a WebSocket. */
export interface UpgradeRequest<State = unknown> {
  readonly request: HttpRequest;
  /** The value of `:name` in the path; '' if the path has none. */
  readonly param: string;
  /**
   * Opens the WebSocket with the first of the protocols that the client offers. False if the client has disconnected.
   */
  accept(state: State): boolean;
  /** Sends an HTTP answer instead, and closes the connection. May be called at any later time. */
  refuse(head: ReplyHead, body: string): void;
}

/** An open WebSocket. */
export interface HttpSocket<State = unknown> {
  readonly state: State;
  /** Bytes that were sent and not yet taken. */
  readonly bufferedBytes: number;
  send(message: Uint8Array, isText: boolean): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Closes the connection with a reason. @param code of RFC 6455, section 7.4 */
  end(code: number, reason: string): void;
}
