import { limitSignal, withDeadline } from '../../base/deadline.js';
import { SESSION_META_KEY, STATELESS_REVISION } from '../../gateway/mcp/mcp-revisions.js';
import { TroupeError } from '../../protocol/errors.js';
import { failure, type RpcId, type RpcMessage } from './rpc.js';
import { answerIn, LOST_ANSWER, plainHeaders, post, SessionGone } from './service-post.js';

const FAREWELL_MS = 1_000;

/** The service's `/mcp` for requests of the revision without sessions, and the browsers that they started. */
export class StatelessUpstream {
  readonly #find: (signal: AbortSignal) => Promise<string>;
  readonly #headers: { readonly [name: string]: string };
  readonly #closing = new AbortController();
  /** The browser sessions that were started for the client, and the address of their service. */
  readonly #started = new Map<string, string>();
  #url: Promise<string> | null = null;

  /** @param options.find the address of a service that may be trusted with the token; called again if the service is gone */
  constructor(options: {
    readonly find: (signal: AbortSignal) => Promise<string>;
    readonly token: string | undefined;
  }) {
    this.#find = options.find;
    this.#headers = plainHeaders(options.token);
  }

  /**
   * Sends a request and returns its answer. One that the service did not get is sent again, once.
   * @param pass takes the messages before the answer
   * @param signal cancels it, also at the service
   * @throws UNAVAILABLE, UNAUTHORIZED, the signal's reason
   */
  async request(
    id: RpcId,
    message: RpcMessage,
    { pass, signal }: { readonly pass: (data: string) => void; readonly signal: AbortSignal },
  ): Promise<RpcMessage> {
    for (let attempt = 1; ; attempt += 1) {
      const url = await withDeadline(this.#found(), { signal });
      try {
        const headers = { ...this.#headers, ...standardHeaders(message) };
        const response = await post(url, headers, message, AbortSignal.any([signal, this.#closing.signal]));
        const answer = await answerIn(response, id, pass);
        this.#remember(answer, url);
        return answer;
      } catch (error) {
        if (signal.aborted || error instanceof TroupeError) throw error;
        this.#url = null;
        if (error instanceof SessionGone && attempt === 1) continue;
        if (message.method === 'tools/call' && !(error instanceof SessionGone)) return failure(id, LOST_ANSWER);
        throw new TroupeError('UNAVAILABLE', 'The service was lost; try again', undefined, { cause: error });
      }
    }
  }

  /** Ends the browsers that were started. Waits at most a second. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new TroupeError('UNAVAILABLE', 'The client has left'));
    const started = [...this.#started];
    this.#started.clear();
    const { authorization } = this.#headers;
    const headers = authorization === undefined ? {} : { authorization };
    const ends = started.map(([id, url]) =>
      fetch(`${url}/api/sessions/${id}`, { method: 'DELETE', headers, signal: limitSignal(FAREWELL_MS) }),
    );
    await Promise.allSettled(ends);
  }

  #found(): Promise<string> {
    if (this.#url === null) {
      const url = this.#find(this.#closing.signal);
      this.#url = url;
      url.catch(() => {
        if (this.#url === url) this.#url = null;
      });
    }
    return this.#url;
  }

  #remember({ result }: RpcMessage, url: string): void {
    const id: unknown = Reflect.get(Object(Reflect.get(Object(result), '_meta')), SESSION_META_KEY);
    if (typeof id === 'string' && /^\w+$/.test(id)) this.#started.set(id, url);
  }
}

/** What HTTP requests of this revision repeat of their message. */
function standardHeaders({ method, params }: RpcMessage): { readonly [name: string]: string } {
  const name: unknown = Reflect.get(Object(params), method === 'tools/call' ? 'name' : 'taskId');
  return {
    'mcp-protocol-version': STATELESS_REVISION,
    'mcp-method': String(method),
    ...(typeof name === 'string' && /^[\x21-\x7e]+$/.test(name) ? { 'mcp-name': name } : {}),
  };
}
