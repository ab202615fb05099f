import type { ReplyHead } from './reply-head.js';

/** The two HTTP servers: uWebSockets.js, and node:http with ws. */
export type ServerName = 'uws' | 'node';

/** Starts a server. @throws UNAVAILABLE, in a sentence for people, when the address cannot be had */
export type StartServer = (place: ListenPlace, handlers: ServerHandlers) => Promise<HttpServer>;

/** Where a server listens. */
export interface ListenPlace {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

/** What a server calls. None of it throws. */
export interface ServerHandlers {
  /** For every request that opens no WebSocket. What is needed of the request is read before this returns. */
  request(request: HttpRequest, line: ReplyLine): void;
  readonly sockets: readonly SocketRoute[];
}

/** A server that listens. */
export interface HttpServer {
  readonly port: number;
  /** Accepts no connection any more; those that are open stay. Idempotent. */
  stopListening(): void;
  /** Sends a binary message to every WebSocket that has subscribed to the topic. */
  publish(topic: string, message: Uint8Array): void;
  /** Cuts every connection. Not to be called from inside one of the handlers. Idempotent. */
  close(): void;
}

/** A request; it may be dead after the call that it was given to. */
export interface HttpRequest {
  readonly method: string;
  /** As it came, not decoded, up to the question mark. */
  readonly path: string;
  /** What follows the question mark, as it came. */
  readonly query: string;
  /** By its lower-case name; the first of several; empty where there is none. */
  header(name: string): string;
  /** Calls back for every header, with its name in lower case. */
  eachHeader(read: (name: string, value: string) => void): void;
}

/** What is reported to the user of a line. */
export interface LineEvents {
  /** The connection is over, and the answer was not complete. */
  gone(): void;
  /** The connection takes more. */
  writable(): void;
}

/**
 * The connection of one request, as the server has it. `Reply` is its only user, and keeps to the order: `end` or
 * `endHead`, or `begin`, then `write` or `tryEnd`, then `finish`. Nothing is called after `finish`, `cut`, or `gone`.
 */
export interface ReplyLine {
  /** Where the request came from. */
  readonly remoteAddress: string;
  /** Called once, before anything else. */
  listen(events: LineEvents): void;
  /** The whole answer. @param options.bodiless the body is counted, and not sent */
  end(head: ReplyHead, body: string | Buffer, options: { readonly bodiless: boolean; readonly closes: boolean }): void;
  /** An answer without its body, of `bytes` if that is known. */
  endHead(head: ReplyHead, bytes: number | undefined, closes: boolean): void;
  /** The head of an answer that follows in pieces. @param bytes of the body; undefined for a chunked one */
  begin(head: ReplyHead, bytes: number | undefined): void;
  /** A chunk. False: it is kept, and the next one waits for `writable`. */
  write(chunk: string | Uint8Array): boolean;
  /** Part of a body of known length: `taken` bytes of the chunk went out; not `ok`: the rest waits for `writable`. */
  tryEnd(
    chunk: Uint8Array,
    totalBytes: number,
  ): { readonly ok: boolean; readonly taken: number; readonly complete: boolean };
  /** Ends a chunked body. */
  finish(): void;
  /** Breaks the connection. */
  cut(): void;
  /** The reader is slow and that is known: the server's own deadline for it begins anew. */
  touch(): void;
  /** The request's body, in pieces that are valid only during the call. Called before the request's handler returns. */
  onData(handler: (chunk: Uint8Array, last: boolean) => void): void;
  /** Reads no more of the body until `resumeBody`. */
  pauseBody(): void;
  resumeBody(): void;
}

/** A kind of WebSocket. `Seat` is the state of one connection. No messages are compressed. */
export interface SocketRoute<Seat = unknown> {
  /** With `:name` for one segment, at most one. */
  readonly path: string;
  /** A client that sends a longer message is cut off. */
  readonly maxMessageBytes: number;
  /** A client that has not taken so much is cut off; 0 where its sender holds back by itself. */
  readonly maxUnreadBytes: number;
  /** A client is asked for a sign of life, and cut off when it has given none for so long. */
  readonly idleSeconds: number;
  /** A client asks for one. The request is read before this returns; so is `accept` called, if it is. */
  upgrade(ask: SocketAsk<Seat>): void;
  open(socket: HttpSocket<Seat>): void;
  /** The bytes are valid only during the call. */
  message(socket: HttpSocket<Seat>, message: Buffer, isText: boolean): void;
  /** What waited for the client was sent. */
  drain(socket: HttpSocket<Seat>): void;
  /** Called once, whoever ended it; during `end` where that did. The socket is not to be used any more. */
  close(socket: HttpSocket<Seat>): void;
}

/** A client that asks for a WebSocket. */
export interface SocketAsk<Seat = unknown> {
  readonly request: HttpRequest;
  /** What stands in the path for `:name`; empty where the path has none. */
  readonly param: string;
  /** False when the client has gone. Of several protocols that it offers the first is chosen. */
  accept(seat: Seat): boolean;
  /** Answers something else, and closes the connection. Any time later. */
  refuse(head: ReplyHead, body: string): void;
}

/** An open WebSocket. */
export interface HttpSocket<Seat = unknown> {
  readonly seat: Seat;
  /** What was sent and not yet taken. */
  readonly bufferedBytes: number;
  send(message: Uint8Array, isText: boolean): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Says why it ends, and ends it. @param code of RFC 6455, section 7.4 */
  end(code: number, reason: string): void;
}
