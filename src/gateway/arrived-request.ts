import type { Readable } from 'node:stream';
import type { GiveUpSignal } from '../actors/actor.js';
import type { LinkScope } from './credentials.js';
import type { Reply } from './http/reply.js';
import type { RouteRequest } from './route.js';

/** What was read from the native request while it was still valid, and its body. */
interface ReadRequest extends Pick<RouteRequest, 'params' | 'headers' | 'host' | 'json' | 'bytes' | 'upload'> {
  /** As it is in the URL, not decoded. */
  readonly query: string;
  /** Null if the client's address identifies it. */
  readonly caller: string | null;
  readonly scope: LinkScope | null;
}

/** An admitted request as its handler sees it. Values that few handlers use are made on first use. */
export class ArrivedRequest implements RouteRequest {
  readonly params: RouteRequest['params'];
  readonly headers: RouteRequest['headers'];
  readonly host: string;
  readonly json: unknown;
  readonly bytes: Buffer;
  readonly upload: Readable | null;
  readonly #read: ReadRequest;
  readonly #reply: Reply;

  constructor(read: ReadRequest, reply: Reply) {
    this.params = read.params;
    this.headers = read.headers;
    this.host = read.host;
    this.json = read.json;
    this.bytes = read.bytes;
    this.upload = read.upload;
    this.#read = read;
    this.#reply = reply;
  }

  get base(): string {
    return `http://${this.host}`;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#read.query);
  }

  get caller(): string {
    return this.#read.caller ?? this.#reply.remoteAddress;
  }

  get handoff(): string | null {
    return this.#read.scope?.handoffs.get(this.params.id ?? '') ?? null;
  }

  get signal(): AbortSignal {
    return this.#reply.signal;
  }

  get gone(): GiveUpSignal {
    return this.#reply.gone;
  }
}
