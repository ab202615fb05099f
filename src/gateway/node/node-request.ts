import type { IncomingMessage } from 'node:http';
import type { HttpRequest } from '../http/http-server.js';

/** A request of node:http. Headers are read as received: node:http would join or drop repeated ones. */
export class NodeRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #rawHeaders: readonly string[];

  constructor({ method = '', url = '', rawHeaders }: IncomingMessage) {
    this.method = method;
    const mark = url.indexOf('?');
    this.path = mark < 0 ? url : url.slice(0, mark);
    this.query = mark < 0 ? '' : url.slice(mark + 1);
    this.#rawHeaders = rawHeaders;
  }

  header(name: string): string {
    const raw = this.#rawHeaders;
    for (let at = 0; at < raw.length; at += 2) {
      const own = raw[at] ?? '';
      if (own.length === name.length && own.toLowerCase() === name) return raw[at + 1] ?? '';
    }
    return '';
  }

  eachHeader(read: (name: string, value: string) => void): void {
    const raw = this.#rawHeaders;
    for (let at = 0; at < raw.length; at += 2) read((raw[at] ?? '').toLowerCase(), raw[at + 1] ?? '');
  }
}
