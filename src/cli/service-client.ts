import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { limitSignal } from '../base/deadline.js';
import { Connection } from '../client/connection.js';
import { TroupeError } from '../protocol/errors.js';
import { ErrorBodySchema } from '../protocol/session.js';

const ANSWER_MS = 60_000;
const UPLOAD_MS = 300_000;
const HELLO_MS = 3_000;

/** An event as a stream tells it. */
export interface StreamedEvent {
  readonly type: string;
  readonly sessionId: string;
  readonly data: unknown;
}

/** A running service as commands talk to it. Every call rejects with what the service answered, or UNAVAILABLE. */
export class ServiceClient {
  readonly url: string;
  readonly #token: string | null;
  readonly #fetch: typeof globalThis.fetch;
  #version: string | null = null;

  /**
   * @param options.token the access token; null for none
   * @param options.fetch in place of the global one
   */
  constructor(
    url: string,
    options: { readonly token: string | null; readonly fetch?: typeof globalThis.fetch | undefined },
  ) {
    this.url = url.replace(/\/+$/, '');
    this.#token = options.token;
    this.#fetch = options.fetch ?? fetch;
  }

  /** The service's version once it has answered; null before, and where it says so only to those with a token. */
  get version(): string | null {
    return this.#version;
  }

  /** Whether a Troupe service listens there: one that wants a token says so in our words. */
  async answers(): Promise<boolean> {
    try {
      const response = await this.#ask('GET', '/api/health', { signal: limitSignal(HELLO_MS) });
      const body: unknown = await response.json();
      if (!response.ok) return ErrorBodySchema.safeParse(body).success;
      if (!hasMember(body, 'capacity')) return false;
      this.#version = versionOf(body);
      return true;
    } catch {
      return false;
    }
  }

  /** Whether it answers, but serves nothing yet. One that fails says more than that. */
  async isStarting(): Promise<boolean> {
    try {
      const response = await this.#ask('GET', '/api/health', { signal: limitSignal(HELLO_MS) });
      const body = ErrorBodySchema.safeParse(await response.json()).data;
      return !response.ok && body?.code === 'UNAVAILABLE' && body.details?.status === undefined;
    } catch {
      return false;
    }
  }

  async json(method: string, path: string, body?: unknown): Promise<unknown> {
    return (await this.#answer(method, path, body)).json();
  }

  /** Sends bytes. */
  async put(path: string, body: Buffer<ArrayBuffer>): Promise<void> {
    await (await checked(await this.#ask('PUT', path, { body, signal: limitSignal(UPLOAD_MS) }))).arrayBuffer();
  }

  async text(path: string): Promise<string> {
    return (await this.#answer('GET', path)).text();
  }

  /** The bytes of a GET as they come; whoever takes it reads or destroys it. */
  async download(path: string): Promise<Readable> {
    const { body } = await this.#answer('GET', path);
    // The same stream, which the types of the page and of Node call by two names.
    return body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream);
  }

  /**
   * A stream of events from its beginning to its end, without gap or repeat; a connection that breaks is made again.
   * @throws UNAVAILABLE when the service is gone for 30 s; the signal's reason
   */
  async *events(path: string, signal: AbortSignal): AsyncGenerator<StreamedEvent, void> {
    const connection = new Connection({ url: this.url, token: this.#token, fetch: this.#fetch });
    for await (const event of connection.events(path, { signal })) if (isEvent(event)) yield event;
  }

  async #answer(method: string, path: string, body?: unknown): Promise<Response> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    return checked(await this.#ask(method, path, { ...sent, signal: limitSignal(ANSWER_MS) }));
  }

  async #ask(method: string, path: string, init: RequestInit): Promise<Response> {
    const authorization = this.#token === null ? {} : { authorization: `Bearer ${this.#token}` };
    try {
      return await this.#fetch(this.url + path, { ...init, method, headers: { ...authorization, ...init.headers } });
    } catch (error) {
      init.signal?.throwIfAborted();
      const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new TroupeError('UNAVAILABLE', `No service answers at ${this.url}: ${why}`, undefined, { cause: error });
    }
  }
}

/** @throws what an answer that is no success says */
async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const text = await response.text();
  const body = ErrorBodySchema.safeParse(parsed(text));
  if (!body.success) {
    throw new TroupeError('UNAVAILABLE', `${response.url} answered ${response.status}: ${text.slice(0, 200)}`);
  }
  const { error, code, details } = body.data;
  const hint = code === 'UNAUTHORIZED' ? ' (this command sends the token in TROUPE_TOKEN)' : '';
  throw new TroupeError(code, error + hint, details);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isEvent(value: unknown): value is StreamedEvent {
  return hasMember(value, 'type') && hasMember(value, 'sessionId') && hasMember(value, 'data');
}

function versionOf(body: unknown): string | null {
  const version: unknown = Reflect.get(Object(body), 'version');
  return typeof version === 'string' ? version : null;
}

function hasMember(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}
