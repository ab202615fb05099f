import type { HttpRequest as NativeRequest } from 'uWebSockets.js';
import type { HttpRequest } from '../http/http-server.js';

/** A request of uWebSockets.js; invalid after the call that it was passed to. */
export class UwsRequest implements HttpRequest {
  readonly #native: NativeRequest;

  constructor(native: NativeRequest) {
    this.#native = native;
  }

  get method(): string {
    return this.#native.getCaseSensitiveMethod();
  }

  get path(): string {
    return this.#native.getUrl();
  }

  get query(): string {
    return this.#native.getQuery() ?? '';
  }

  header(name: string): string {
    return this.#native.getHeader(name);
  }

  eachHeader(read: (name: string, value: string) => void): void {
    this.#native.forEach(read);
  }
}
