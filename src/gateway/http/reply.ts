import type { GiveUpSignal } from '../../actors/actor.js';
import { ClientGone, clientGone } from './client-gone.js';
import type { HttpExchange } from './http-server.js';
import type { ReplyHead } from './reply-head.js';

/** A client that takes nothing for this long is disconnected, so that its data is held for a bounded time. */
export const READER_STALL_MS = 60_000;

/** A server closes a blocked connection after 10 s by itself; touching it this often postpones that. */
const TOUCH_MS = 4_000;

/**
 * The answer to one request, for either server. Calls on a reply that is over do nothing, and return values say so.
 *
 * ```
 *            begin                   finish
 *   waiting -------> streaming ------------------> over
 *      |                 \  cut, client gone, stall  ^
 *      +---- end, client gone, cut ------------------+
 * ```
 */
export class Reply {
  /** True for a HEAD request: headers are sent, the body is not. */
  readonly head: boolean;
  readonly #exchange: HttpExchange;
  #state: 'waiting' | 'streaming' | 'over' = 'waiting';
  #status = 0;
  #closeConnection = false;
  #bodyPaused = false;
  #abort: AbortController | null = null;
  #wake: ((open: boolean) => void) | null = null;
  readonly #gone = new ClientGone();
  readonly #onOver: (reply: Reply) => void;

  /** Must be created before the request's handler returns. */
  constructor(exchange: HttpExchange, options: { readonly head: boolean; readonly onOver: (reply: Reply) => void }) {
    this.head = options.head;
    this.#exchange = exchange;
    this.#onOver = options.onOver;
    exchange.listen({ gone: () => this.#end('client gone'), writable: () => this.#wake?.(true) });
  }

  /** False once nothing more can be sent: the answer is complete, or the client has disconnected. */
  get open(): boolean {
    return this.#state !== 'over';
  }

  /** True until the status is sent. */
  get untouched(): boolean {
    return this.#state === 'waiting';
  }

  get status(): number {
    return this.#status;
  }

  /** The client's address; '' once the reply is over. */
  get remoteAddress(): string {
    return this.open ? this.#exchange.remoteAddress : '';
  }

  /** Aborted, with UNAVAILABLE, when the client disconnects before the answer is complete. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#gone.aborted) this.#abort.abort(clientGone());
    return this.#abort.signal;
  }

  /** The same state without an AbortSignal: cheaper than `signal`, which most requests never need. */
  get gone(): GiveUpSignal {
    return this.#gone;
  }

  /** Calls back when the client disconnects. */
  onGone(listener: () => void): void {
    if (this.#gone.aborted) listener();
    else if (this.open) this.#gone.addEventListener('abort', listener);
  }

  /** The connection is closed after this answer. */
  closeAfter(): void {
    this.#closeConnection = true;
  }

  /** Sends the complete answer. */
  end(head: ReplyHead, body: string | Buffer): void {
    if (this.#state !== 'waiting') return;
    this.#status = head.status;
    this.#exchange.end(head, body, { bodiless: this.head, closes: this.#closeConnection });
    this.#end('answered');
  }

  /** Answers a HEAD request for something that would be streamed. */
  endHead(head: ReplyHead, bytes: number | undefined): void {
    if (this.#state !== 'waiting') return;
    this.#status = head.status;
    this.#exchange.endHead(head, bytes, this.#closeConnection);
    this.#end('answered');
  }

  /** Sends status and headers; then `write`, or `tryEnd` if the number of `bytes` is known. */
  begin(head: ReplyHead, bytes?: number): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'streaming';
    this.#status = head.status;
    this.#exchange.begin(head, bytes);
  }

  /**
   * Sends one chunk of a chunked body. False: the chunk is buffered and the next one waits for `writable`, or the reply
   * is over.
   */
  write(chunk: string | Uint8Array): boolean {
    return this.#state === 'streaming' && this.#exchange.write(chunk);
  }

  /** Sends as much of a body of known length as the connection takes now: `taken` bytes of the chunk. */
  tryEnd(chunk: Uint8Array, totalBytes: number): { readonly ok: boolean; readonly taken: number } {
    if (this.#state !== 'streaming') return { ok: false, taken: 0 };
    const outcome = this.#exchange.tryEnd(chunk, totalBytes);
    if (outcome.complete) this.#end('answered');
    return outcome;
  }

  /**
   * True when the connection takes more; false when the reply is over, also because the client took nothing for {@link
   * READER_STALL_MS}. Bytes left from a failed `write` may be sent only with the next write.
   */
  async writable(): Promise<boolean> {
    if (this.#state !== 'streaming') return false;
    let waitedMs = 0;
    const touch = setInterval(() => {
      waitedMs += TOUCH_MS;
      if (waitedMs >= READER_STALL_MS) this.cut();
      else this.#exchange.touch();
    }, TOUCH_MS);
    try {
      return await new Promise<boolean>((resolve) => {
        this.#wake = resolve;
      });
    } finally {
      clearInterval(touch);
      this.#wake = null;
    }
  }

  /** Ends a chunked body. The connection stays open, even after {@link closeAfter}. */
  finish(): void {
    if (this.#state !== 'streaming') return;
    this.#exchange.finish();
    this.#end('answered');
  }

  /** Closes the connection at once, so that the client does not take an incomplete answer for a complete one. */
  cut(): void {
    if (this.#state === 'over') return;
    this.#end('client gone');
    this.#exchange.cut();
  }

  /** The request's body, in chunks that are valid only during the call. */
  onData(handler: (chunk: Uint8Array, last: boolean) => void): void {
    if (this.#state === 'waiting') this.#exchange.onData(handler);
  }

  /** Makes the client wait before it sends more of its body. */
  pauseBody(): void {
    if (this.#state === 'over' || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#exchange.pauseBody();
  }

  resumeBody(): void {
    if (this.#state === 'over' || !this.#bodyPaused) return;
    this.#bodyPaused = false;
    this.#exchange.resumeBody();
  }

  #end(how: 'answered' | 'client gone'): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    if (how === 'client gone') {
      this.#abort?.abort(clientGone());
      this.#gone.notify();
    }
    this.#wake?.(false);
    this.#onOver(this);
  }
}
