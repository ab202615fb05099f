import type { Readable } from 'node:stream';
import type { GiveUpSignal } from '../actors/actor.js';
import type { SharedSession } from '../auth/share-links.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import type { Credentials } from './credentials.js';
import type { ServerName } from './http/http-server.js';
import type { Reply } from './http/reply.js';
import type { RouteRequest } from './route.js';

/** What was read of a request before the native one died, and its body. */
interface ReadRequest {
  readonly params: RouteRequest['params'];
  readonly headers: RouteRequest['headers'];
  /** The Host header, which was checked. */
  readonly host: string;
  /** As it stands in the address. */
  readonly query: string;
  /** Null where its address tells it from others. */
  readonly caller: string | null;
  readonly json: unknown;
  readonly bytes: Buffer;
  readonly upload: Readable | null;
}

/** What of the gateway a request is answered with. */
export interface RequestSurroundings {
  readonly credentials: Credentials;
  readonly server: ServerName;
  readonly publicBase: string | undefined;
  readonly sessions: Sessions;
  metrics(): Promise<string>;
}

/** A request that was let in, as its handler sees it. What most handlers do not ask for is made when one does. */
export class ArrivedRequest implements RouteRequest {
  readonly params: RouteRequest['params'];
  readonly headers: RouteRequest['headers'];
  readonly base: string;
  readonly json: unknown;
  readonly bytes: Buffer;
  readonly upload: Readable | null;
  readonly #read: ReadRequest;
  readonly #reply: Reply;
  readonly #around: RequestSurroundings;

  constructor(read: ReadRequest, reply: Reply, around: RequestSurroundings) {
    this.params = read.params;
    this.headers = read.headers;
    this.base = `http://${read.host}`;
    this.json = read.json;
    this.bytes = read.bytes;
    this.upload = read.upload;
    this.#read = read;
    this.#reply = reply;
    this.#around = around;
  }

  get publicBase(): string {
    return this.#around.publicBase ?? this.base;
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.#read.query);
  }

  get caller(): string {
    return this.#read.caller ?? this.#reply.remoteAddress;
  }

  get signal(): AbortSignal {
    return this.#reply.signal;
  }

  get gone(): GiveUpSignal {
    return this.#reply.gone;
  }

  get server(): ServerName {
    return this.#around.server;
  }

  get hasConfiguredAdmin(): boolean {
    return this.#around.credentials.configured;
  }

  metrics(): Promise<string> {
    return this.#around.metrics();
  }

  signIn(token: string): string {
    return this.#around.credentials.signIn(token, this.#read.host, this.#around.sessions.tokens);
  }

  signOut(): string {
    return this.#around.credentials.signOut(this.#read.host);
  }

  acceptLink(link: string, shared: SharedSession): string {
    return this.#around.credentials.acceptLink(link, shared, this.#read.host);
  }
}
