import { limitSignal, withDeadline } from '../../base/deadline.js';
import { serverSentEvents } from '../../client/server-sent-events.js';
import { TroupeError } from '../../protocol/errors.js';
import { asMessage, failure, type RpcId, type RpcMessage } from './rpc.js';
import { answerIn, LOST_ANSWER, plainHeaders, post, SessionGone } from './service-post.js';

/** Our MCP session at the service. */
interface Session {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** Aborted when the session is given up. */
  readonly over: AbortController;
  /** A script ran, so the client has a browser there. */
  hasBrowser: boolean;
}

const FAREWELL_MS = 1_000;
const INITIALIZE_MS = 20_000;
const CLIENT_INFO = { name: 'troupe mcp', version: '1' };

const LOST_BROWSER =
  'SESSION_ENDED: The browser session has ended (the service was restarted), and the script was not run. ' +
  'The next call gets a fresh browser: begin with agent.go';

/**
 * The service's `/mcp`, as one client of it. The session there begins with the first request, is replaced if the service is,
 * and ends with {@link Upstream.close}. If a browser was lost that way, the next script gets an error that says so, once.
 */
export class Upstream {
  /** Takes the service's messages that are not answers. */
  onMessage: (message: RpcMessage) => void = () => undefined;
  readonly #find: (signal: AbortSignal) => Promise<string>;
  readonly #token: string | undefined;
  readonly #closing = new AbortController();
  #params: object = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT_INFO };
  #session: Promise<Session> | null = null;
  #browserLost = false;

  /** @param options.find the address of a service that may be trusted with the token; called again if the service is gone */
  constructor(options: {
    readonly find: (signal: AbortSignal) => Promise<string>;
    readonly token: string | undefined;
  }) {
    this.#find = options.find;
    this.#token = options.token;
  }

  /** The client's parameters of `initialize`: the session at the service will begin with them. */
  begin(params: object): void {
    this.#params = params;
  }

  /**
   * Sends a request and returns its answer. One that the service did not process is sent again, once.
   * @param signal cancels it, also at the service
   * @throws UNAVAILABLE, UNAUTHORIZED, the signal's reason
   */
  async request(id: RpcId, message: RpcMessage, signal: AbortSignal): Promise<RpcMessage> {
    const isScript = usesOwnBrowser(message);
    for (let attempt = 1; ; attempt += 1) {
      let session: Session;
      try {
        session = await withDeadline(this.#connected(), { signal });
      } catch (error) {
        if (signal.aborted || error instanceof TroupeError) throw error;
        // The service that was found has ended, or ends; the request was not sent.
        if (attempt === 1) continue;
        throw lost(error);
      }
      if (isScript && this.#browserLost) {
        this.#browserLost = false;
        return failure(id, LOST_BROWSER);
      }
      try {
        return await this.#ask(session, id, message, signal);
      } catch (error) {
        if (signal.aborted || error instanceof TroupeError) throw error;
        this.#forget(session);
        if (error instanceof SessionGone && attempt === 1) continue;
        if (!isScript || error instanceof SessionGone) throw lost(error);
        this.#browserLost = false;
        return failure(id, LOST_ANSWER);
      }
    }
  }

  /** Passes on a notification, or an answer to a request of the service. @throws UNAVAILABLE */
  async notify(message: RpcMessage): Promise<void> {
    const { url, headers } = await this.#connected();
    const response = await post(url, headers, message, this.#closing.signal);
    await response.body?.cancel();
  }

  /** Ends the session at the service, and its browser. Waits at most a second. Idempotent. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = null;
    this.#closing.abort(new TroupeError('UNAVAILABLE', 'The client has left'));
    if (session === null) return;
    const farewell = session.then(async ({ url, headers, over }) => {
      over.abort();
      await fetch(`${url}/mcp`, { method: 'DELETE', headers, signal: limitSignal(FAREWELL_MS) });
    });
    await withDeadline(farewell, { ms: FAREWELL_MS }).catch(() => undefined);
  }

  #connected(): Promise<Session> {
    if (this.#session === null) {
      const session = this.#open();
      this.#session = session;
      session.catch(() => {
        if (this.#session === session) this.#session = null;
      });
    }
    return this.#session;
  }

  async #open(): Promise<Session> {
    const signal = this.#closing.signal;
    signal.throwIfAborted();
    const url = await this.#find(signal);
    const plain = plainHeaders(this.#token);
    const initialize = { jsonrpc: '2.0', id: 'initialize', method: 'initialize', params: this.#params };
    const limit = limitSignal(INITIALIZE_MS);
    const response = await post(url, plain, initialize, limit);
    const answer = await answerIn(response, 'initialize', () => undefined);
    const revision: unknown = Reflect.get(Object(answer.result), 'protocolVersion');
    const id = response.headers.get('mcp-session-id');
    if (id === null || typeof revision !== 'string') {
      throw new TroupeError(
        'UNAVAILABLE',
        `The service at ${url} refused the session: ${JSON.stringify(answer.error)}`,
      );
    }
    const headers = { ...plain, 'mcp-session-id': id, 'mcp-protocol-version': revision };
    const session: Session = { url, headers, over: new AbortController(), hasBrowser: false };
    const initialized = await post(url, headers, { jsonrpc: '2.0', method: 'notifications/initialized' }, limit);
    await initialized.body?.cancel();
    // It also tells the service that the client is there: without it, the browser of a client that was killed ends.
    void this.#listen(session);
    return session;
  }

  /** The stream of the service's own messages. Its end means that the service has gone. */
  async #listen(session: Session): Promise<void> {
    const { url, headers, over } = session;
    try {
      const response = await fetch(`${url}/mcp`, { headers, signal: over.signal });
      if (!response.ok || response.body === null) return;
      for await (const { data } of serverSentEvents(response.body)) this.#pass(data);
    } catch {
      // The connection broke.
    }
    this.#forget(session);
  }

  async #ask(session: Session, id: RpcId, message: RpcMessage, signal: AbortSignal): Promise<RpcMessage> {
    const { url, headers, over } = session;
    const cancel = () => {
      const params = { requestId: id, reason: 'the client cancelled it' };
      this.notify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => undefined);
    };
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const response = await post(url, headers, message, AbortSignal.any([signal, over.signal]));
      if (usesOwnBrowser(message)) session.hasBrowser = true;
      return await answerIn(response, id, (data) => this.#pass(data));
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  #pass(data: string): void {
    const message = asMessage(JSON.parse(data));
    if (message !== null) this.onMessage(message);
  }

  /** Another session begins with the next request. */
  #forget(session: Session): void {
    if (session.over.signal.aborted) return;
    session.over.abort();
    this.#session = null;
    if (session.hasBrowser) this.#browserLost = true;
  }
}

function lost(cause: unknown): TroupeError {
  return new TroupeError('UNAVAILABLE', 'The service was lost; try again', undefined, { cause });
}

/** A script in the client's own browser. */
function usesOwnBrowser({ method, params }: RpcMessage): boolean {
  const given: unknown = Reflect.get(Object(params), 'arguments');
  return method === 'tools/call' && (Reflect.get(Object(given), 'sessionId') ?? null) === null;
}
