import {
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  type RequestId,
  SUPPORTED_PROTOCOL_VERSIONS,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { McpPeer } from './mcp-peer.js';
import { ReplayMemory } from './replay-memory.js';
import { RpcFault } from './rpc-fault.js';
import type { RpcMessages } from './rpc-messages.js';

/** Concurrent requests of one MCP session: somewhat more than a full script queue. */
const MAX_IN_FLIGHT = 100;
/** The last revision with batches (https://modelcontextprotocol.io/specification/2025-06-18/changelog). */
const LAST_WITH_BATCHES = '2025-03-26';
const INVALID_REQUEST = -32600;
const SERVER_ERROR = -32000;

/** A transport's answer, and the number of chunks of its body, if that is known. */
export interface McpAnswer {
  readonly response: Response;
  /** Set for a replay of a completed stream, which the transport would not end. */
  readonly pieces: number | null;
}

/**
 * One client's MCP session: the SDK's transport, and what it lacks. It rejects a request whose id is already in use
 * (its answer would go to the other request), closes the stream of a cancelled request (which is never answered), and
 * limits the open requests and the messages kept for lost connections.
 */
export class McpSession {
  readonly id: string;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #peer: McpPeer;
  readonly #memory = new ReplayMemory();
  /** Open requests; true for those that came in a batch and share its stream. */
  readonly #inFlight = new Map<RequestId, boolean>();
  readonly #onIdle: () => void;
  /** The negotiated revision; empty before. */
  #revision = '';
  #closed: Promise<void> | null = null;

  /**
   * @param id sent to the client with the answer to its first request
   * @param onIdle called whenever the last open request was answered
   */
  static async open(id: string, peer: McpPeer, keepAliveMs: number, onIdle: () => void): Promise<McpSession> {
    const session = new McpSession(id, peer, keepAliveMs, onIdle);
    await peer.connect(session.#transport);
    session.#watchAnswers();
    return session;
  }

  private constructor(id: string, peer: McpPeer, keepAliveMs: number, onIdle: () => void) {
    this.id = id;
    this.#peer = peer;
    this.#onIdle = onIdle;
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: this.#memory,
      keepAliveMs,
      // How long a client waits before it reconnects, in milliseconds.
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
    for (const id of cancelledIds) await this.#cancel(id);
    return { response, pieces: null };
  }

  /** The stream for the server's own messages, or the rest of a broken stream. @throws RpcFault */
  async get(request: Request, lastEventId: string): Promise<McpAnswer> {
    if (lastEventId === '') return { response: await this.#transport.handleRequest(request), pieces: null };
    const suspend = this.#memory.after(lastEventId);
    if (suspend === null)
      throw new RpcFault(
        400,
        SERVER_ERROR,
        'The messages after this Last-Event-ID are no longer stored; open a new stream',
      );
    const isOver = suspend.isComplete && ![...this.#inFlight.values()].includes(true);
    return {
      response: await this.#transport.handleRequest(request),
      pieces: isOver ? suspend.messages : null,
    };
  }

  /** The client ends the session. */
  async delete(request: Request): Promise<McpAnswer> {
    const response = await this.#transport.handleRequest(request);
    if (response.ok) await this.close();
    return { response, pieces: null };
  }

  suspend(): void {
    this.#peer.suspend();
  }

  /** Ends every stream, stops open requests and releases everything. Idempotent. */
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
      throw new RpcFault(
        400,
        INVALID_REQUEST,
        `Batches were removed after revision ${LAST_WITH_BATCHES}; send one message`,
      );
    }
    for (const [index, id] of requestIds.entries()) {
      if (!this.#inFlight.has(id) && requestIds.indexOf(id) === index) continue;
      throw new RpcFault(
        400,
        INVALID_REQUEST,
        `A request with the id ${JSON.stringify(id)} is already open; use another id`,
      );
    }
    if (this.#inFlight.size + requestIds.length > MAX_IN_FLIGHT) {
      throw new RpcFault(
        429,
        SERVER_ERROR,
        `At most ${MAX_IN_FLIGHT} requests can be open; wait for some responses`,
        1,
      );
    }
  }

  /** The transport does not report answered requests, but all its answers pass through send(). */
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
    if (this.#inFlight.size === 0) this.#onIdle();
  }

  /**
   * A cancelled request is not answered, and the transport would keep its stream open. This closes the stream; a client
   * that resumes it with Last-Event-ID gets the error and stops asking. In a batch, whose stream other requests share,
   * the error is sent at once.
   */
  async #cancel(id: RequestId): Promise<void> {
    const isBatched = this.#inFlight.get(id);
    if (isBatched === undefined) return;
    if (!isBatched) this.#transport.closeSSEStream(id);
    const error = { code: SERVER_ERROR, message: 'The request was cancelled' };
    // It fails if the client cannot resume.
    await this.#transport.send({ jsonrpc: '2.0', id, error }).catch(() => undefined);
  }
}

function answeredId(message: JSONRPCMessage): RequestId | null {
  const isAnswer = ('result' in message || 'error' in message) && 'id' in message;
  return isAnswer ? (message.id ?? null) : null;
}
