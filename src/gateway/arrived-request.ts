import type { Readable } from 'node:stream';
import type { GiveUpSignal } from '../actors/actor.js';
import type { SharedSession } from '../auth/share-links.js';
import type { SessionRecord } from '../protocol/session.js';
import type { TraceLink } from '../protocol/trace/trace.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import type { WebDriver } from '../webdriver/web-driver.js';
import type { Credentials, LinkScope } from './credentials.js';
import type { ServerName } from './http/http-server.js';
import type { Reply } from './http/reply.js';
import type { RouteRequest } from './route.js';
import type { TraceViewer } from './trace-viewer/trace-viewer.js';

/** What was read from the native request while it was still valid, and its body. */
interface ReadRequest {
  readonly params: RouteRequest['params'];
  readonly headers: RouteRequest['headers'];
  /** The Host header, already checked. */
  readonly host: string;
  /** As it is in the URL, not decoded. */
  readonly query: string;
  /** Null if the client's address identifies it. */
  readonly caller: string | null;
  readonly scope: LinkScope | null;
  readonly json: unknown;
  readonly bytes: Buffer;
  readonly upload: Readable | null;
}

/** Parts of the gateway that handlers use through their request. */
export interface RequestDependencies {
  readonly credentials: Credentials;
  readonly server: ServerName;
  readonly publicBase: string | undefined;
  readonly sessions: Sessions;
  readonly traceViewer: TraceViewer;
  readonly webDriver: WebDriver;
  metrics(): Promise<string>;
  prove: RouteRequest['prove'];
}

/** An admitted request as its handler sees it. Values that few handlers use are made on first use. */
export class ArrivedRequest implements RouteRequest {
  readonly params: RouteRequest['params'];
  readonly headers: RouteRequest['headers'];
  readonly base: string;
  readonly json: unknown;
  readonly bytes: Buffer;
  readonly upload: Readable | null;
  readonly #read: ReadRequest;
  readonly #reply: Reply;
  readonly #dependencies: RequestDependencies;

  constructor(read: ReadRequest, reply: Reply, dependencies: RequestDependencies) {
    this.params = read.params;
    this.headers = read.headers;
    this.base = `http://${read.host}`;
    this.json = read.json;
    this.bytes = read.bytes;
    this.upload = read.upload;
    this.#read = read;
    this.#reply = reply;
    this.#dependencies = dependencies;
  }

  get publicBase(): string {
    return this.#dependencies.publicBase ?? this.base;
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

  get webDriver(): WebDriver {
    return this.#dependencies.webDriver;
  }

  get server(): ServerName {
    return this.#dependencies.server;
  }

  get hasConfiguredAdmin(): boolean {
    return this.#dependencies.credentials.configured;
  }

  openTrace(id: SessionRecord['id']): Promise<TraceLink> {
    const { traceViewer, sessions } = this.#dependencies;
    return traceViewer.open(id, this.#read.host, sessions);
  }

  metrics(): Promise<string> {
    return this.#dependencies.metrics();
  }

  prove(challenge: string): string | null {
    return this.#dependencies.prove(challenge);
  }

  signIn(token: string): string {
    return this.#dependencies.credentials.signIn(token, this.#read.host, this.#dependencies.sessions.tokens);
  }

  signOut(): string {
    return this.#dependencies.credentials.signOut(this.#read.host);
  }

  acceptLink(link: string, shared: SharedSession): string {
    return this.#dependencies.credentials.acceptLink(link, shared, this.#read.host);
  }
}
