import { z } from 'zod';
import type { ConnectionEnd, SendOptions } from '../../../agent-js/browser/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams, CdpResult } from '../../../agent-js/browser/cdp.js';
import { deferred } from '../../../base/deferred.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { DevToolsChannel, DevToolsLink } from './devtools-channel.js';
import { MAX_MESSAGE_BYTES } from './devtools-transport.js';

/** Commands whose answer may be outstanding; a further one is refused. */
const MAX_PENDING = 10_000;
const DEFAULT_TIMEOUT_MS = 30_000;

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

/** The session's own part of a channel to its browser's DevTools, in flat mode: a DevTools session for each page. */
export class CdpConnection {
  /** Settles once when the connection is over, by whichever side. */
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

  /** @throws WORKER_LOST when the browser does not answer within the bounds. */
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
        return reject(new TroupeError('UNAVAILABLE', 'Too many commands wait for the browser'));
      }
      const id = ++this.#lastId;
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(new TroupeError('WAIT_TIMEOUT', `The page does not answer (${method}, ${Math.round(timeoutMs)} ms)`));
      }, timeoutMs);
      // The shape of an answer is the protocol's word; there is nothing here to check it against.
      this.#pending.set(id, { method, timer, resolve: (result) => resolve(result as CdpResult<M>), reject });
      const text = JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) });
      if (this.#link?.send(text, session) === false) this.#answer(id, { error: { message: 'the page is gone' } });
    });
  }

  listen(listener: (event: CdpEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Lets go of the browser, which lives on; the channel is its owner's. Idempotent. */
  close(): void {
    const reason = 'the session has let go of its browser';
    this.#finish({ reason, error: lostError(reason) });
    this.#link?.close();
  }

  #receive(text: string): void {
    const message = parse(text);
    if (message === undefined) return;
    if (message.id !== undefined) this.#answer(message.id, message);
    if (message.method === undefined) return;
    // Events that are not in the union reach no case of any listener's switch.
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
        new TroupeError('ACTION_FAILED', `The browser refuses ${pending.method}: ${message.error.message}`),
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
    `The page sent more than ${megabytes} MiB at once, to its console for instance, so the session was restarted`,
  );
}

/** A message that is not of the protocol's form is passed over. */
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
