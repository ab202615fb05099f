import { onAbort, pause, withSignal } from '../base/deadline.js';
import { decodeError, isErrorCode, TroupeError } from '../protocol/errors.js';
import { Reopening } from './reopening.js';
import { serverSentEvents } from './server-sent-events.js';

/** How a client reaches its service. */
export interface ConnectionOptions {
  /** The address of the service; `http://127.0.0.1:4444` by default. */
  readonly url?: string | undefined;
  /** The access token, if the service needs one. */
  readonly token?: string | null | undefined;
  /** How often a call that is safe to repeat is tried again; 4 by default. */
  readonly retries?: number | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** The bounds of one call. */
export interface CallOptions {
  /** Cancels the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The longest that the call may take, in milliseconds, its repetitions included. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a stream of events. */
export interface EventOptions {
  readonly signal?: AbortSignal | undefined;
  /** Only events with greater numbers. */
  readonly after?: number | undefined;
}

export interface Call extends CallOptions {
  readonly body?: unknown;
  /** Sent as it is, in place of a JSON body. */
  readonly bytes?: string | Uint8Array<ArrayBuffer> | Blob | undefined;
  readonly headers?: { readonly [name: string]: string };
  /**
   * `always` if a repetition changes nothing more, also when the first request may have arrived; `refused` if only an
   * answer that says so proves that nothing was done.
   */
  readonly retry: 'always' | 'refused';
}

const CALL_MS = 60_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** After these the same request can succeed. */
const TEMPORARY = [429, 502, 503];

/** HTTP calls to one service: errors as {@link TroupeError}, and repetition where that is safe. */
export class Connection {
  readonly url: string;
  readonly #headers: { readonly [name: string]: string };
  readonly #retries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor({ url = 'http://127.0.0.1:4444', token, retries = 4, fetch }: ConnectionOptions) {
    this.url = url.replace(/\/+$/, '');
    this.#headers = token ? { authorization: `Bearer ${token}` } : {};
    this.#retries = retries;
    // Called as a function of its own: pages refuse it as a method of another object.
    const send = fetch ?? globalThis.fetch;
    this.#fetch = (input, init) => send(input, init);
  }

  /**
   * Sends a request and reads its answer, which is a success, with `read`.
   * @throws TroupeError with the service's code, or UNAVAILABLE if none answers; the signal's reason. Without any time,
   *   nothing is sent.
   */
  async send<T>(method: string, path: string, call: Call, read: (answer: Response) => Promise<T>): Promise<T> {
    const { timeoutMs: ms = CALL_MS, signal } = call;
    signal?.throwIfAborted();
    const late = () => new TroupeError('UNAVAILABLE', `The service at ${this.url} did not answer within ${ms} ms`);
    if (ms <= 0) throw late();
    return withSignal({ signals: signal === undefined ? [] : [signal], ms, late }, async (bounded) => {
      for (let attempt = 0; ; attempt += 1) {
        const outcome = await this.#try(method, path, call, bounded);
        if (outcome instanceof Response) return read(outcome);
        const { error, isTemporary, wasRefused, retryAfterMs } = outcome;
        // It was removed by an attempt whose answer was lost.
        if (method === 'DELETE' && attempt > 0 && error.code === 'NOT_FOUND') return read(new Response('null'));
        if (!isTemporary || (call.retry === 'refused' && !wasRefused) || attempt >= this.#retries) throw error;
        const backOffMs = FIRST_PAUSE_MS * 2 ** attempt * (0.5 + Math.random() / 2);
        await pause(Math.min(MAX_PAUSE_MS, retryAfterMs ?? backOffMs), { signal: bounded });
      }
    });
  }

  /** The JSON of an answer. @throws as {@link Connection.send} */
  json(method: string, path: string, call: Call): Promise<unknown> {
    return this.send(method, path, call, (answer) => answer.json());
  }

  /** The bytes of a GET. @throws as {@link Connection.send} */
  bytes(path: string, options: CallOptions): Promise<Uint8Array> {
    const read = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());
    return this.send('GET', path, { ...options, retry: 'always' }, read);
  }

  /** The bytes of a GET as they come; the bounds hold until the first of them. @throws as {@link Connection.send} */
  stream(path: string, options: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const read = async (answer: Response) => answer.body ?? new Blob([]).stream();
    return this.send('GET', path, { ...options, retry: 'always' }, read);
  }

  /**
   * The data of a stream's events, each once and in order: a broken connection is opened again after the last event. Ends
   * with a stream that is finite.
   * @throws UNAVAILABLE if the stream cannot be reopened within 30 s, or brings nothing for as long whenever it is opened;
   *   BODY_TOO_LARGE for an event over 64 Mi characters; INVALID_JSON for one that is not JSON; the signal's reason
   */
  async *events(path: string, { signal, after }: EventOptions = {}) {
    let last = after === undefined ? '' : String(after);
    const reopening = new Reopening();
    for (;;) {
      signal?.throwIfAborted();
      // A signal of its own: `fetch` leaves its listener on the one that it is given.
      const attempt = new AbortController();
      const forget = signal === undefined ? undefined : onAbort(signal, () => attempt.abort(signal.reason));
      let openedAt: number | null = null;
      let events = false;
      let fault: unknown = null;
      try {
        const headers = last === '' ? this.#headers : { ...this.#headers, 'last-event-id': last };
        const response = await this.#fetch(this.url + path, { headers, signal: attempt.signal });
        if (response.status === 204 || response.body === null) return;
        if (!response.ok) throw await refusal(response);
        openedAt = performance.now();
        for await (const { id, data } of serverSentEvents(response.body)) {
          if (id === '') continue;
          last = id;
          events = true;
          yield parsed(data);
        }
        // The end of a finite stream: asked again, the service answers 204.
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof TroupeError && error.code !== 'UNAVAILABLE') throw error;
        fault = error;
      } finally {
        forget?.();
      }
      const openMs = openedAt === null ? 0 : performance.now() - openedAt;
      const pauseMs = reopening.after({ events, openMs, broke: fault !== null });
      if (pauseMs === null) throw fault === null ? this.#barren(path) : this.#unreachable(fault);
      if (pauseMs > 0) await pause(pauseMs, { signal });
    }
  }

  async #try(method: string, path: string, { body, bytes, headers }: Call, signal: AbortSignal) {
    const sent = bytes ?? (body === undefined ? null : JSON.stringify(body));
    let response: Response;
    try {
      const all = { ...this.#headers, ...headers };
      response = await this.#fetch(this.url + path, { method, headers: all, body: sent, signal });
    } catch (error) {
      signal.throwIfAborted();
      return { error: this.#unreachable(error), isTemporary: true, wasRefused: false, retryAfterMs: undefined };
    }
    if (response.ok) return response;
    const error = await refusal(response);
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      error,
      isTemporary: TEMPORARY.includes(response.status),
      wasRefused: error.code === 'CAPACITY',
      retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : undefined,
    };
  }

  #barren(path: string): TroupeError {
    return new TroupeError('UNAVAILABLE', `The event stream at ${this.url}${path} keeps ending without an event`);
  }

  #unreachable(error: unknown): TroupeError {
    if (error instanceof TroupeError) return error;
    const cause: unknown = error instanceof Error ? (error.cause ?? error) : error;
    const why = cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
    return new TroupeError('UNAVAILABLE', `No service answers at ${this.url}: ${why}`, undefined, { cause: error });
  }
}

/** The error that an answer other than a success says. */
async function refusal(response: Response): Promise<TroupeError> {
  const text = await response.text();
  try {
    const { error, code, details }: { readonly [name: string]: unknown } = Object(JSON.parse(text));
    if (typeof error === 'string' && isErrorCode(code)) {
      return decodeError({ error, code, ...(isObject(details) ? { details } : {}) });
    }
  } catch {
    // It does not come from Troupe.
  }
  return new TroupeError('UNAVAILABLE', `${response.url} answered ${response.status}: ${text.slice(0, 200)}`);
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new TroupeError('INVALID_JSON', 'An event of the stream is not JSON', undefined, { cause });
  }
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
