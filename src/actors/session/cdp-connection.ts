import WebSocket, { type RawData } from 'ws';
import { z } from 'zod';
import type { ConnectionEnd, SendOptions } from '../../agent-js/browser-port.js';
import type { CdpEvent, CdpMethod, CdpParams, CdpResult } from '../../agent-js/cdp.js';
import { TroupeError } from '../../protocol/errors.js';

/**
 * A longer message ends the connection; it is read whole and again as text, so this is a bound on memory. What a page
 * writes to its console comes in one, so there is room for much.
 */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024;
/** The code of the error that `ws` has for it. */
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
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

/** One WebSocket to a browser's DevTools endpoint, in flat mode: many sessions over one socket. */
export class CdpConnection {
  /** Settles once when the socket has closed, by whichever side. */
  readonly closed: Promise<ConnectionEnd>;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(event: CdpEvent) => void>();
  #lastId = 0;
  #end: ConnectionEnd | undefined;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(data));
    this.closed = new Promise((resolve) => {
      let fault: Error | undefined;
      socket.on('error', (error) => {
        fault = error;
        // What follows is the rest of a message that is not read.
        if (isTooLong(error)) socket.terminate();
      });
      socket.once('close', (code) => {
        const reason = fault?.message ?? `the connection closed (${code})`;
        resolve(this.#finish({ reason, error: isTooLong(fault) ? tooLongError() : lostError(reason) }));
      });
    });
  }

  /** @throws WORKER_LOST when nothing answers there within the bounds. */
  static async open(url: string, bounds: { signal: AbortSignal; deadlineMs: number }): Promise<CdpConnection> {
    bounds.signal.throwIfAborted();
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
      handshakeTimeout: bounds.deadlineMs,
    });
    const connection = new CdpConnection(socket);
    const abort = () => socket.terminate();
    bounds.signal.addEventListener('abort', abort, { once: true });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
        socket.once('close', () => reject(new Error('the connection closed')));
      });
      return connection;
    } catch (cause) {
      socket.terminate();
      bounds.signal.throwIfAborted();
      const text = cause instanceof Error ? cause.message : String(cause);
      throw new TroupeError('WORKER_LOST', `The browser does not answer: ${text}`, undefined, { cause });
    } finally {
      bounds.signal.removeEventListener('abort', abort);
    }
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
      this.#socket.send(
        JSON.stringify({ id, method, params, ...(session === undefined ? {} : { sessionId: session }) }),
      );
    });
  }

  listen(listener: (event: CdpEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Closes the socket; the browser lives on. Idempotent. */
  async close(): Promise<void> {
    const reason = 'the session has let go of its browser';
    this.#finish({ reason, error: lostError(reason) });
    this.#socket.close();
    // A browser that hangs does not answer the closing handshake.
    const timer = setTimeout(() => this.#socket.terminate(), 500);
    await this.closed;
    clearTimeout(timer);
  }

  #receive(data: RawData): void {
    const message = parse(data);
    if (message === undefined) return;
    if (message.id !== undefined) this.#answer(message.id, message);
    if (message.method === undefined) return;
    // Events that are not in the union reach no case of any listener's switch.
    const event = { method: message.method, params: message.params, session: message.sessionId } as CdpEvent;
    for (const listener of [...this.#listeners]) listener(event);
  }

  #answer(id: number, message: z.infer<typeof Message>): void {
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

  /** Idempotent: answers the first end. */
  #finish(end: ConnectionEnd): ConnectionEnd {
    if (this.#end !== undefined) return this.#end;
    this.#end = end;
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.reject(end.error);
    }
    this.#pending.clear();
    this.#listeners.clear();
    return end;
  }
}

function isTooLong(error: Error | undefined): boolean {
  return error !== undefined && Reflect.get(error, 'code') === TOO_LONG;
}

function tooLongError(): TroupeError {
  const megabytes = MAX_MESSAGE_BYTES / 1024 / 1024;
  return new TroupeError(
    'SESSION_RESTARTED',
    `The page sent more than ${megabytes} MiB at once, to its console for instance, so the session was restarted`,
  );
}

/** The socket hands over Buffers; a message that is none, or not of the protocol's form, is passed over. */
function parse(data: RawData): z.infer<typeof Message> | undefined {
  if (!Buffer.isBuffer(data)) return undefined;
  try {
    return Message.parse(JSON.parse(data.toString('utf8')));
  } catch {
    return undefined;
  }
}

function lostError(reason: string): TroupeError {
  return new TroupeError('WORKER_LOST', `The browser of the session is gone: ${reason}`);
}
