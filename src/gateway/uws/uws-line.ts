import type { HttpResponse } from 'uWebSockets.js';
import type { LineEvents, ReplyLine } from '../http/http-server.js';
import { eachHeader, type ReplyHead } from '../http/reply-head.js';
import { statusLine } from '../http/status-line.js';

/**
 * The one place that writes to a response of uWebSockets.js: inside cork(), and never after it was aborted or ended, which
 * `Reply` sees to. A connection that sends no 16 KiB/s, or takes nothing for 10 s, is closed by the server itself.
 */
export class UwsLine implements ReplyLine {
  readonly #res: HttpResponse;
  #events: LineEvents | null = null;

  constructor(res: HttpResponse) {
    this.#res = res;
  }

  get remoteAddress(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString('latin1');
  }

  /** During the request's handler: uWebSockets.js demands to be told what to do when the client goes. */
  listen(events: LineEvents): void {
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
      // An undefined length would be written as a number of its own: the argument must be left out.
      if (bytes === undefined) this.#res.endWithoutBody();
      else this.#res.endWithoutBody(bytes, closes);
    });
  }

  /** The length is written by `tryEnd`, which is given it each time. */
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

  /** Told to close the connection, uWebSockets.js would write the header that says so into the body. */
  finish(): void {
    this.#res.cork(() => this.#res.end(''));
  }

  cut(): void {
    this.#res.close();
  }

  /** resume() arms the connection's 10 s timer anew, which nothing else does while the reader is slow. */
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
