import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ExchangeEvents, HttpExchange } from '../http/http-server.js';
import { eachHeader, type ReplyHead } from '../http/reply-head.js';

const NO_BYTES = new Uint8Array(0);

/** One request and its response, with node:http. */
export class NodeExchange implements HttpExchange {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** The client sends its body only after `100 Continue`. */
  #holdsBodyBack: boolean;
  #events: ExchangeEvents | null = null;
  #onData: ((chunk: Uint8Array, last: boolean) => void) | null = null;
  #sent = 0;
  #isOver = false;
  #isStreaming = false;
  #closes = false;

  /** @param options.closes the connection is closed after the answer in any case */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    { holdsBodyBack, closes }: { readonly holdsBodyBack: boolean; readonly closes: boolean },
  ) {
    this.#req = req;
    this.#res = res;
    this.#holdsBodyBack = holdsBodyBack;
    this.#closes = closes;
    // A broken connection is reported by its 'close' event.
    res.on('error', ignore);
    req.on('error', ignore);
  }

  get remoteAddress(): string {
    return this.#req.socket.remoteAddress ?? '';
  }

  /** Its user writes nothing more to it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The head of the answer was sent. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** The connection is closed after this answer. */
  get closes(): boolean {
    return this.#closes;
  }

  listen(events: ExchangeEvents): void {
    this.#events = events;
  }

  /** Discards the body of a request that no handler reads. */
  discardUnread(): void {
    if (this.#onData === null) this.#req.resume();
  }

  /** The connection ended. */
  gone(): void {
    if (this.#isOver) return;
    this.#over();
    this.#events?.gone();
  }

  end(
    head: ReplyHead,
    body: string | Buffer,
    { bodiless, closes }: { readonly bodiless: boolean; readonly closes: boolean },
  ): void {
    this.#writeHead(head, head.status === 204 ? undefined : Buffer.byteLength(body), closes);
    this.#res.end(bodiless || head.status === 204 ? undefined : body);
    this.#over();
  }

  endHead(head: ReplyHead, bytes: number | undefined, closes: boolean): void {
    this.#writeHead(head, bytes, closes);
    this.#res.end();
    this.#over();
  }

  begin(head: ReplyHead, bytes: number | undefined): void {
    this.#isStreaming = true;
    this.#res.on('drain', () => {
      if (!this.#isOver) this.#events?.writable();
    });
    this.#writeHead(head, bytes, false);
    this.#res.flushHeaders();
  }

  write(chunk: string | Uint8Array): boolean {
    return this.#res.write(chunk);
  }

  tryEnd(chunk: Uint8Array, totalBytes: number): { ok: boolean; taken: number; complete: boolean } {
    const taken = chunk.byteLength;
    this.#sent += taken;
    if (this.#sent < totalBytes) {
      // An empty chunk asks again after `writable`: the previous chunk was buffered completely.
      return { ok: taken === 0 || this.#res.write(chunk), taken, complete: false };
    }
    this.#res.end(chunk);
    this.#over();
    return { ok: true, taken, complete: true };
  }

  finish(): void {
    this.#res.end();
    this.#over();
  }

  cut(): void {
    this.#req.socket.destroy();
    this.#over();
  }

  /** Nothing to do: a connection that waits for its reader has only the deadline of `Reply`. */
  touch(): void {}

  onData(handler: (chunk: Uint8Array, last: boolean) => void): void {
    this.#onData = handler;
    if (this.#holdsBodyBack) this.#res.writeContinue();
    this.#holdsBodyBack = false;
    this.#req.on('data', (chunk: Buffer) => this.#onData?.(chunk, false));
    this.#req.on('end', () => this.#onData?.(NO_BYTES, true));
  }

  pauseBody(): void {
    this.#req.pause();
  }

  resumeBody(): void {
    this.#req.resume();
  }

  #writeHead(head: ReplyHead, bytes: number | undefined, closes: boolean): void {
    const headers: string[] = [];
    eachHeader(head, (name, value) => headers.push(name, value));
    if (bytes !== undefined) headers.push('Content-Length', String(bytes));
    // The client may or may not send a body that it was not asked for, so the start of the next request would be
    // unknown.
    this.#closes ||= closes || this.#holdsBodyBack;
    if (this.#closes) headers.push('Connection', 'close');
    this.#res.writeHead(head.status, headers);
  }

  /** Discards the rest of the request's body. */
  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onData = ignore;
    if (!this.#req.complete) this.#req.resume();
  }
}

function ignore(): void {}
