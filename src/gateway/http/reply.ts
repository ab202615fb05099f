import type { GiveUpSignal } from '../../actors/actor.js';
import { ClientGone, clientGone } from './client-gone.js';
import type { ReplyLine } from './http-server.js';
import type { ReplyHead } from './reply-head.js';

/** A reader that takes nothing for this long is cut off, so that what is held for it is held for a bounded time. */
export const READER_STALL_MS = 60_000;

/** A server closes a blocked connection after 10 s by itself; touching it this often postpones that. */
const TOUCH_MS = 4_000;

/**
 * The answer to one request, whichever server received it. Every call on a reply that is over does nothing and says so.
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
  readonly #line: ReplyLine;
  #state: 'waiting' | 'streaming' | 'over' = 'waiting';
  #status = 0;
  #closeConnection = false;
  #bodyPaused = false;
  #abort: AbortController | null = null;
  #wake: ((open: boolean) => void) | null = null;
  readonly #gone = new ClientGone();
  readonly #onOver: (reply: Reply) => void;

  /** Must be made before the request's handler returns. */
  constructor(line: ReplyLine, options: { readonly head: boolean; readonly onOver: (reply: Reply) => void }) {
    this.head = options.head;
    this.#line = line;
    this.#onOver = options.onOver;
    line.listen({ gone: () => this.#end('client gone'), writable: () => this.#wake?.(true) });
  }

  /** False once nothing more can be sent: all was sent, or the client is gone. */
  get open(): boolean {
    return this.#state !== 'over';
  }

  /** True while not even a status was sent. */
  get untouched(): boolean {
    return this.#state === 'waiting';
  }

  get status(): number {
    return this.#status;
  }

  /** Where the request came from; empty once the reply is over. */
  get remoteAddress(): string {
    return this.open ? this.#line.remoteAddress : '';
  }

  /** Aborted, with UNAVAILABLE, when the client goes away before the answer is complete. */
  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#gone.aborted) this.#abort.abort(clientGone());
    return this.#abort.signal;
  }

  /** The same for those who need no more than it says; cheaper than `signal`, which most requests never need. */
  get gone(): GiveUpSignal {
    return this.#gone;
  }

  /** Calls back when the client goes away. */
  onGone(listener: () => void): void {
    if (this.#gone.aborted) listener();
    else if (this.open) this.#gone.addEventListener('abort', listener);
  }

  /** The connection is closed after this answer. */
  closeAfter(): void {
    this.#closeConnection = true;
  }

  /** The whole answer at once. */
  end(head: ReplyHead, body: string | Buffer): void {
    if (this.#state !== 'waiting') return;
    this.#status = head.status;
    this.#line.end(head, body, { bodiless: this.head, closes: this.#closeConnection });
    this.#end('answered');
  }

  /** The answer to a HEAD request for something that would be streamed. */
  endHead(head: ReplyHead, bytes: number | undefined): void {
    if (this.#state !== 'waiting') return;
    this.#status = head.status;
    this.#line.endHead(head, bytes, this.#closeConnection);
    this.#end('answered');
  }

  /** Sends status and headers; `write` follows, or `tryEnd` where the number of `bytes` is known. */
  begin(head: ReplyHead, bytes?: number): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'streaming';
    this.#status = head.status;
    this.#line.begin(head, bytes);
  }

  /** One chunk of a chunked body. False: wait for `writable` before the next one (this one is kept), or it is over. */
  write(chunk: string | Uint8Array): boolean {
    return this.#state === 'streaming' && this.#line.write(chunk);
  }

  /** As much of a body of known length as the connection takes now. `taken` bytes of the chunk went out. */
  tryEnd(chunk: Uint8Array, totalBytes: number): { readonly ok: boolean; readonly taken: number } {
    if (this.#state !== 'streaming') return { ok: false, taken: 0 };
    const outcome = this.#line.tryEnd(chunk, totalBytes);
    if (outcome.complete) this.#end('answered');
    return outcome;
  }

  /**
   * True when the connection takes more; false when it is over, which it also is when the reader took nothing for
   * {@link READER_STALL_MS}. What a failed `write` left behind may be sent only with the next write.
   */
  async writable(): Promise<boolean> {
    if (this.#state !== 'streaming') return false;
    let waitedMs = 0;
    const touch = setInterval(() => {
      waitedMs += TOUCH_MS;
      if (waitedMs >= READER_STALL_MS) this.cut();
      else this.#line.touch();
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

  /** Ends a chunked body. Its connection is left to the server's end, whoever asked to close it. */
  finish(): void {
    if (this.#state !== 'streaming') return;
    this.#line.finish();
    this.#end('answered');
  }

  /** Breaks the connection, so that the client does not take half an answer for a whole one. */
  cut(): void {
    if (this.#state === 'over') return;
    this.#end('client gone');
    this.#line.cut();
  }

  /** The request's body, in pieces that are valid only during the call. */
  onData(handler: (chunk: Uint8Array, last: boolean) => void): void {
    if (this.#state === 'waiting') this.#line.onData(handler);
  }

  /** Lets the client wait before it sends more of its body. */
  pauseBody(): void {
    if (this.#state === 'over' || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#line.pauseBody();
  }

  resumeBody(): void {
    if (this.#state === 'over' || !this.#bodyPaused) return;
    this.#bodyPaused = false;
    this.#line.resumeBody();
  }

  #end(how: 'answered' | 'client gone'): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    if (how === 'client gone') {
      this.#abort?.abort(clientGone());
      this.#gone.tell();
    }
    this.#wake?.(false);
    this.#onOver(this);
  }
}
