import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LineEvents, ReplyLine } from '../http/http-server.js';
import { eachHeader, type ReplyHead } from '../http/reply-head.js';

const NO_BYTES = new Uint8Array(0);

/** One request and its response, of node:http. */
export class NodeLine implements ReplyLine {
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** The client sends its body after `100 Continue`, and not before. */
  #holdsBodyBack: boolean;
  #events: LineEvents | null = null;
  #onData: ((chunk: Uint8Array, last: boolean) => void) | null = null;
  #sent = 0;
  #isOver = false;
  #isStreaming = false;
  #closes = false;

  /** @param options.closes the connection is closed after the answer, whoever asks */
  constructor(
    req: IncomingMessage,
    res: ServerResponse,
    { holdsBodyBack, closes }: { readonly holdsBodyBack: boolean; readonly closes: boolean },
  ) {
    this.#req = req;
    this.#res = res;
    this.#holdsBodyBack = holdsBodyBack;
    this.#closes = closes;
    // A connection that breaks is reported by its own end.
    res.on('error', ignore);
    req.on('error', ignore);
  }

  get remoteAddress(): string {
    return this.#req.socket.remoteAddress ?? '';
  }

  /** Nothing more is written to it by its user. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The head of its answer is on its way. */
  get isStreaming(): boolean {
    return this.#isStreaming;
  }

  /** The connection is closed after this answer. */
  get closes(): boolean {
    return this.#closes;
  }

  listen(events: LineEvents): void {
    this.#events = events;
  }

  /** A request whose body nobody reads: it is thrown away, as it comes. */
  discardUnread(): void {
    if (this.#onData === null) this.#req.resume();
  }

  /** The connection is over. */
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
      // What is left of a chunk that was kept is nothing: there is nothing to wait for twice.
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

  /** A connection that waits for its reader has no other deadline than its user's. */
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
    // A body that was not asked for may come or not: nobody knows where the next request begins.
    this.#closes ||= closes || this.#holdsBodyBack;
    if (this.#closes) headers.push('Connection', 'close');
    this.#res.writeHead(head.status, headers);
  }

  /** What is still to come of the body is thrown away. */
  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onData = ignore;
    if (!this.#req.complete) this.#req.resume();
  }
}

function ignore(): void {}
