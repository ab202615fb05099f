import type { HttpResponse } from 'uWebSockets.js';
import type { ExchangeEvents, HttpExchange } from '../http/http-server.js';
import { eachHeader, type ReplyHead } from '../http/reply-head.js';
import { statusLine } from '../http/status-line.js';

/**
 * The only code that writes to a response of uWebSockets.js: always inside cork(), and never after it was aborted or
 * ended, which `Reply` ensures. The server itself closes a connection that sends less than 16 KiB/s or takes nothing
 * for 10 s.
 */
export class UwsExchange implements HttpExchange {
  readonly #res: HttpResponse;
  #events: ExchangeEvents | null = null;

  constructor(res: HttpResponse) {
    this.#res = res;
  }

  get remoteAddress(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  /** Called in the request's handler: uWebSockets.js requires an onAborted handler before it returns. */
  listen(events: ExchangeEvents): void {
    this.#events = events;
    this.#res.onAborted(() => events.gone());
  }

  end(
    head: ReplyHead,
    body: string | Buffer,
    { bodiless, closes }: { readonly bodiless: boolean; readonly closes: boolean },
  ): void {
    this.#res.cork(() => {
      this.#writeHead(head);
      if (head.status === 204) this.#res.endWithoutBody();
      else if (bodiless) this.#res.endWithoutBody(Buffer.byteLength(body), closes);
      else this.#res.end(body, closes);
    });
  }

  endHead(head: ReplyHead, bytes: number | undefined, closes: boolean): void {
    this.#res.cork(() => {
      this.#writeHead(head);
      // An undefined length would be written as a number, so the argument must be left out.
      if (bytes === undefined) this.#res.endWithoutBody();
      else this.#res.endWithoutBody(bytes, closes);
    });
  }

  /** The length is written by `tryEnd`, which gets it with each call. */
  begin(head: ReplyHead): void {
    this.#res.onWritable(() => {
      this.#events?.writable();
      return true;
    });
    this.#res.cork(() => this.#writeHead(head));
  }

  write(chunk: string | Uint8Array): boolean {
    let ok = false;
    this.#res.cork(() => {
      ok = this.#res.write(chunk);
    });
    return ok;
  }

  tryEnd(chunk: Uint8Array, totalBytes: number): { ok: boolean; taken: number; complete: boolean } {
    let outcome = { ok: false, taken: 0, complete: false };
    this.#res.cork(() => {
      const before = this.#res.getWriteOffset();
      const [ok, complete] = this.#res.tryEnd(chunk, totalBytes);
      outcome =
        ok || complete
          ? { ok: true, taken: chunk.byteLength, complete }
          : { ok: false, taken: this.#res.getWriteOffset() - before, complete };
    });
    return outcome;
  }

  /** Never closes the connection: uWebSockets.js would write the Connection header into the body. */
  finish(): void {
    this.#res.cork(() => this.#res.end(''));
  }

  cut(): void {
    this.#res.close();
  }

  /** resume() restarts the connection's 10 s timer, which nothing else does while the reader is slow. */
  touch(): void {
    this.#res.pause();
    this.#res.resume();
  }

  onData(handler: (chunk: Uint8Array, last: boolean) => void): void {
    this.#res.onData((chunk, last) => handler(new Uint8Array(chunk), last));
  }

  pauseBody(): void {
    this.#res.pause();
  }

  resumeBody(): void {
    this.#res.resume();
  }

  #writeHead(head: ReplyHead): void {
    this.#res.writeStatus(statusLine(head.status));
    eachHeader(head, (name, value) => void this.#res.writeHeader(name, value));
  }
}
