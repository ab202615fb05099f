import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import type { McpPeer } from './mcp-peer.js';
import { ReplayMemory } from './replay-memory.js';
import { RpcFault } from './rpc-fault.js';
import type { RpcMessages } from './rpc-messages.js';

/** Requests of one MCP session that may be under way at once: a full script queue, and some. */
const MAX_IN_FLIGHT = 100;
/** The last revision with batches (https://modelcontextprotocol.io/specification/2025-06-18/changelog). */
const LAST_WITH_BATCHES = '2025-03-26';
const INVALID_REQUEST = -32600;
const SERVER_ERROR = -32000;

/** A transport's answer, and how many pieces of its body there are where it is known to end. */
export interface McpAnswer {
  readonly response: Response;
  /** A stream that repeats what is over has no end of its own. */
  readonly pieces: number | null;
}

/**
 * One client's MCP session: the SDK's transport, and what it leaves open. It refuses a request whose id is under way
 * (its answer would go to the other one), lets go of the stream of a request that was cancelled (which is never
 * answered), and bounds what is under way and what is kept for lost connections.
 */
export class McpSession {
  readonly id: string;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #peer: McpPeer;
  readonly #memory = new ReplayMemory();
  /** Requests under way; true for those that came in a batch and share its stream. */
  readonly #inFlight = new Map<RequestId, boolean>();
  readonly #onQuiet: () => void;
  /** What was negotiated; empty before. */
  #revision = '';
  #closed: Promise<void> | null = null;

  /**
   * @param id given to the client with the answer to its first request
   * @param onQuiet called whenever the last request under way was answered
   */
  static async open(id: string, peer: McpPeer, keepAliveMs: number, onQuiet: () => void): Promise<McpSession> {
    const session = new McpSession(id, peer, keepAliveMs, onQuiet);
    await peer.connect(session.#transport);
    session.#watchAnswers();
    return session;
  }

  private constructor(id: string, peer: McpPeer, keepAliveMs: number, onQuiet: () => void) {
    this.id = id;
    this.#peer = peer;
    this.#onQuiet = onQuiet;
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: this.#memory,
      keepAliveMs,
      // A client whose stream ended early comes back after so many milliseconds.
      retryInterval: 1_000,
    });
  }

  /** The protocol revision of the session; empty before its first request. */
  get revision(): string {
    return this.#revision;
  }

  get isBusy(): boolean {
    return this.#inFlight.size > 0;
  }

  /** @throws RpcFault */
  async post(request: Request, messages: RpcMessages): Promise<McpAnswer> {
    this.#admit(messages);
    const { requestIds, cancelledIds, initialize, isBatch, body } = messages;
    if (initialize !== null) {
      this.#revision = SUPPORTED_PROTOCOL_VERSIONS.includes(initialize) ? initialize : LATEST_PROTOCOL_VERSION;
    }
    for (const id of requestIds) this.#inFlight.set(id, isBatch);
    const response = await this.#transport.handleRequest(request, { parsedBody: body });
    if (!response.ok) for (const id of requestIds) this.#settle(id);
    for (const id of cancelledIds) await this.#letGo(id);
    return { response, pieces: null };
  }

  /** A stream of what the server says unasked, or the rest of one that broke. @throws RpcFault */
  async get(request: Request, lastEventId: string): Promise<McpAnswer> {
    if (lastEventId === '') return { response: await this.#transport.handleRequest(request), pieces: null };
    const rest = this.#memory.after(lastEventId);
    if (rest === null) throw new RpcFault(400, SERVER_ERROR, 'What came after this Last-Event-ID is no longer here');
    const isOver = rest.isComplete && ![...this.#inFlight.values()].includes(true);
    return {
      response: await this.#transport.handleRequest(request),
      pieces: isOver ? rest.messages : null,
    };
  }

  /** The client ends the session. */
  async delete(request: Request): Promise<McpAnswer> {
    const response = await this.#transport.handleRequest(request);
    if (response.ok) await this.close();
    return { response, pieces: null };
  }

  rest(): void {
    this.#peer.rest();
  }

  /** Ends every stream, stops what is under way and gives everything back. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#transport.close();
    this.#inFlight.clear();
    await this.#peer.close();
  }

  #admit({ requestIds, initialize, isBatch }: RpcMessages): void {
    if (isBatch && initialize === null && this.#revision > LAST_WITH_BATCHES) {
      throw new RpcFault(400, INVALID_REQUEST, `Batches ended with revision ${LAST_WITH_BATCHES}: send one message`);
    }
    for (const [index, id] of requestIds.entries()) {
      if (!this.#inFlight.has(id) && requestIds.indexOf(id) === index) continue;
      throw new RpcFault(400, INVALID_REQUEST, `A request with the id ${JSON.stringify(id)} is under way already`);
    }
    if (this.#inFlight.size + requestIds.length > MAX_IN_FLIGHT) {
      throw new RpcFault(429, SERVER_ERROR, `${MAX_IN_FLIGHT} requests are under way already`, 1);
    }
  }

  /** The transport does not tell when a request was answered; all its answers pass here. */
  #watchAnswers(): void {
    const transport = this.#transport;
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      try {
        await send(message, options);
      } finally {
        const id = answeredId(message);
        if (id !== null) this.#settle(id);
      }
    };
  }

  #settle(id: RequestId): void {
    this.#inFlight.delete(id);
    if (this.#inFlight.size === 0) this.#onQuiet();
  }

  /**
   * A cancelled request is not answered, and the transport would keep its stream for ever. The stream ends here; who
   * asks for its rest with Last-Event-ID hears that the request was cancelled, and stops asking. In a batch, whose
   * stream others share, that is said at once.
   */
  async #letGo(id: RequestId): Promise<void> {
    const isBatched = this.#inFlight.get(id);
    if (isBatched === undefined) return;
    if (!isBatched) this.#transport.closeSSEStream(id);
    const error = { code: SERVER_ERROR, message: 'The request was cancelled' };
    // It fails where nobody can come back for it.
    await this.#transport.send({ jsonrpc: '2.0', id, error }).catch(() => undefined);
  }
}

function answeredId(message: JSONRPCMessage): RequestId | null {
  const isAnswer = ('result' in message || 'error' in message) && 'id' in message;
  return isAnswer ? (message.id ?? null) : null;
}
