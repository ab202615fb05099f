import type { HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import type { GiveUpSignal } from '../../actors/actor.js';
import { ClientGone, clientGone } from './client-gone.js';

/** Status and headers of an answer. One of the headers that every answer carries is replaced by one of its name. */
export interface ReplyHead {
  readonly status: number;
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
}

/** What the request for a WebSocket says: the `Sec-WebSocket-` headers. */
export interface SocketOffer {
  readonly key: string;
  readonly protocol: string;
  readonly extensions: string;
}

/** Answers are the service's own and change with every call: no page elsewhere reads them, no cache keeps them. */
const FIXED_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
] as const;

/** A reader that takes nothing for this long is cut off, so that what is held for it is held for a bounded time. */
export const READER_STALL_MS = 60_000;

/** uWebSockets.js closes a blocked connection after 10 s by itself; touching it this often postpones that. */
const TOUCH_MS = 4_000;

/**
 * The one place that writes to a uWebSockets.js response. A native response may not be touched after it was aborted or
 * ended, and is to be written inside cork(); here every call on a reply that is over does nothing and says so.
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
  readonly #res: HttpResponse;
  #state: 'waiting' | 'streaming' | 'over' = 'waiting';
  #status = 0;
  #closeConnection = false;
  #bodyPaused = false;
  #abort: AbortController | null = null;
  #wake: ((open: boolean) => void) | null = null;
  readonly #gone = new ClientGone();
  readonly #onOver: (reply: Reply) => void;

  /** Must be made before the request's handler returns: it attaches the abort handler that uWebSockets.js demands. */
  constructor(res: HttpResponse, options: { readonly head: boolean; readonly onOver: (reply: Reply) => void }) {
    this.head = options.head;
    this.#res = res;
    this.#onOver = options.onOver;
    res.onAborted(() => this.#end('client gone'));
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
    return this.open ? Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1') : '';
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
    this.#res.cork(() => {
      this.#writeHead(head);
      if (head.status === 204) this.#res.endWithoutBody();
      else if (this.head) this.#res.endWithoutBody(Buffer.byteLength(body), this.#closeConnection);
      else this.#res.end(body, this.#closeConnection);
    });
    this.#end('answered');
  }

  /** The answer to a HEAD request for something that would be streamed. */
  endHead(head: ReplyHead, bytes: number | undefined): void {
    if (this.#state !== 'waiting') return;
    this.#res.cork(() => {
      this.#writeHead(head);
      // An undefined length would be written as a number of its own: the argument must be left out.
      if (bytes === undefined) this.#res.endWithoutBody();
      else this.#res.endWithoutBody(bytes, this.#closeConnection);
    });
    this.#end('answered');
  }

  /** Makes the connection a WebSocket, whose own events tell of its end. False when its client has gone. */
  upgrade<T>(seat: T, { key, protocol, extensions }: SocketOffer, context: us_socket_context_t): boolean {
    if (this.#state !== 'waiting') return false;
    // Of several that a client offers one is answered (RFC 6455, section 4.2.2).
    const [chosen = ''] = protocol.split(/ *, */);
    this.#end('answered');
    this.#res.cork(() => this.#res.upgrade(seat, key, chosen, extensions, context));
    return true;
  }

  /** Sends status and headers; `write` or `tryEnd` follow. */
  begin(head: ReplyHead): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'streaming';
    this.#res.onWritable(() => {
      this.#wake?.(true);
      return true;
    });
    this.#res.cork(() => this.#writeHead(head));
  }

  /** One chunk of a chunked body. False: wait for `writable` before the next one (this one is kept), or it is over. */
  write(chunk: string | Uint8Array): boolean {
    if (this.#state !== 'streaming') return false;
    let ok = false;
    this.#res.cork(() => {
      ok = this.#res.write(chunk);
    });
    return ok;
  }

  /** As much of a body of known length as the connection takes now. `taken` bytes of the chunk went out. */
  tryEnd(chunk: Uint8Array, totalBytes: number): { readonly ok: boolean; readonly taken: number } {
    if (this.#state !== 'streaming') return { ok: false, taken: 0 };
    let outcome = { ok: false, taken: 0 };
    this.#res.cork(() => {
      const before = this.#res.getWriteOffset();
      const [ok, complete] = this.#res.tryEnd(chunk, totalBytes);
      if (complete) {
        outcome = { ok: true, taken: chunk.byteLength };
        this.#end('answered');
      } else {
        outcome = { ok, taken: ok ? chunk.byteLength : this.#res.getWriteOffset() - before };
      }
    });
    return outcome;
  }

  /**
   * True when the connection takes more; false when it is over, which it also is when the reader took nothing for
   * {@link READER_STALL_MS}. uWebSockets.js sends what a failed `write` left behind only with the next write.
   */
  async writable(): Promise<boolean> {
    if (this.#state !== 'streaming') return false;
    let waitedMs = 0;
    const touch = setInterval(() => {
      waitedMs += TOUCH_MS;
      if (waitedMs >= READER_STALL_MS) this.cut();
      else this.#touch();
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

  /**
   * Ends a chunked body. Its connection is left to the server's end: told to close it, uWebSockets.js writes the header
   * that says so into the body.
   */
  finish(): void {
    if (this.#state !== 'streaming') return;
    this.#res.cork(() => this.#res.end(''));
    this.#end('answered');
  }

  /** Breaks the connection, so that the client does not take half an answer for a whole one. */
  cut(): void {
    if (this.#state === 'over') return;
    this.#end('client gone');
    this.#res.close();
  }

  /** The request's body, in pieces that are valid only during the call. */
  onData(handler: (chunk: ArrayBuffer, last: boolean) => void): void {
    if (this.#state === 'waiting') this.#res.onData(handler);
  }

  /** Lets the client wait before it sends more of its body. */
  pauseBody(): void {
    if (this.#state === 'over' || this.#bodyPaused) return;
    this.#bodyPaused = true;
    this.#res.pause();
  }

  resumeBody(): void {
    if (this.#state === 'over' || !this.#bodyPaused) return;
    this.#bodyPaused = false;
    this.#res.resume();
  }

  /** resume() arms the connection's 10 s timer anew, which nothing else does while the reader is slow. */
  #touch(): void {
    if (this.#state !== 'streaming') return;
    this.#res.pause();
    this.#res.resume();
  }

  #writeHead(head: ReplyHead): void {
    this.#status = head.status;
    this.#res.writeStatus(`${head.status} ${STATUS_CODES[head.status] ?? 'Unknown'}`);
    for (const [name, value] of FIXED_HEADERS) if (!has(head, name)) this.#res.writeHeader(name, value);
    for (const [name, value] of head.headers) this.#res.writeHeader(name, value);
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

function has({ headers }: ReplyHead, name: string): boolean {
  for (const [own] of headers) if (own === name) return true;
  return false;
}
