import { z } from 'zod';
import type { ConnectionEnd, SendOptions } from '../../agent-js/browser/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams, CdpResult } from '../../agent-js/browser/cdp.js';
import { stretched } from '../../base/deadline.js';
import { deferred } from '../../base/deferred.js';
import { TroupeError } from '../../protocol/errors.js';
import type { DevToolsChannel, DevToolsLink } from './devtools-channel.js';
import { MAX_MESSAGE_BYTES } from './devtools-transport.js';

/** Unanswered commands at most; further ones are rejected. */
const MAX_PENDING = 10_000;
const DEFAULT_TIMEOUT_MS = stretched(30_000);

const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  sessionId: z.string().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});

interface Pending {
  readonly method: string;
  readonly timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The session's own connection through the DevTools channel, in flat mode: one DevTools session per page. */
export class CdpConnection {
  /** Resolves once when the connection has ended, from either side. */
  readonly closed: Promise<ConnectionEnd>;
  readonly #closed = deferred<ConnectionEnd>();
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(event: CdpEvent) => void>();
  #link: DevToolsLink | undefined;
  #lastId = 0;
  #end: ConnectionEnd | undefined;

  private constructor() {
    this.closed = this.#closed.promise;
  }

  /** @throws WORKER_LOST if the browser does not answer within the bounds */
  static async open(
    channel: DevToolsChannel,
    bounds: { signal: AbortSignal; deadlineMs: number },
  ): Promise<CdpConnection> {
    const connection = new CdpConnection();
    connection.#link = await channel.join(
      {
        message: (text) => connection.#receive(text),
        closed: (reason, tooLong) =>
          connection.#finish({ reason, error: tooLong ? tooLongError() : lostError(reason) }),
      },
      bounds,
    );
    return connection;
  }

  send<M extends CdpMethod>(method: M, params: CdpParams<M>, options: SendOptions = {}): Promise<CdpResult<M>> {
    const { session, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(this.#end.error);
      if (this.#pending.size >= MAX_PENDING) {
        return reject(new TroupeError('UNAVAILABLE', 'Too many commands are waiting for the browser; try again later'));
      }
      const id = ++this.#lastId;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new TroupeError('WAIT_TIMEOUT', `The page did not answer ${method} within ${Math.round(timeoutMs)} ms`));
      }, timeoutMs);
      // The protocol defines the shape of the result; there is no schema here to check it against.
      this.#pending.set(id, { method, timer, resolve: (result) => resolve(result as CdpResult<M>), reject });
      const text = JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) });
      if (this.#link?.send(text, session) === false) this.#answer(id, { error: { message: 'the page is gone' } });
    });
  }

  listen(listener: (event: CdpEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Disconnects from the browser, which keeps running. The channel belongs to its owner. Idempotent. */
  close(): void {
    const reason = 'the session disconnected from its browser';
    this.#finish({ reason, error: lostError(reason) });
    this.#link?.close();
  }

  #receive(text: string): void {
    const message = parse(text);
    if (message === undefined) return;
    if (message.id !== undefined) this.#answer(message.id, message);
    if (message.method === undefined) return;
    // Events outside of the union match no case of a listener's switch.
    const event = { method: message.method, params: message.params, session: message.sessionId } as CdpEvent;
    for (const listener of [...this.#listeners]) listener(event);
  }

  #answer(id: number, message: Pick<z.infer<typeof Message>, 'result' | 'error'>): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    if (message.error === undefined) pending.resolve(message.result);
    else
      pending.reject(
        new TroupeError('ACTION_FAILED', `The browser rejects ${pending.method}: ${message.error.message}`),
      );
  }

  /** Idempotent. */
  #finish(end: ConnectionEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#closed.resolve(end);
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(end.error);
    }
    this.#pending.clear();
    this.#listeners.clear();
  }
}

function tooLongError(): TroupeError {
  const megabytes = MAX_MESSAGE_BYTES / 1024 / 1024;
  return new TroupeError(
    'SESSION_RESTARTED',
    `The page sent a message of more than ${megabytes} MiB, for instance to its console, so the session was restarted`,
  );
}

/** Returns undefined for a malformed message, which is ignored. */
function parse(text: string): z.infer<typeof Message> | undefined {
  try {
    return Message.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function lostError(reason: string): TroupeError {
  return new TroupeError('WORKER_LOST', `The browser of the session is gone: ${reason}`);
}
