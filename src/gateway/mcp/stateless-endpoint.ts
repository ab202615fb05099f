import { createMcpHandler, isLegacyRequest, type McpHttpHandler } from '@modelcontextprotocol/server';
import type { McpClient, StatelessPeer } from './mcp-peer.js';
import { RpcFault } from './rpc-fault.js';

/** Open streams of `subscriptions/listen`; nothing changes here, so they only wait. */
const MAX_SUBSCRIPTIONS = 200;
const SERVER_ERROR = -32000;

/**
 * The part of the MCP endpoint for revision 2026-07-28, which has no sessions: each request says by itself which revision it is of
 * and what its client can do. The SDK checks that and makes the errors of that revision.
 */
export class StatelessEndpoint {
  readonly #peer: StatelessPeer;
  readonly #handler: McpHttpHandler;
  /** Who sent a request that is being answered. */
  readonly #clients = new WeakMap<Request, McpClient>();
  #closing = false;

  constructor(peer: StatelessPeer, keepAliveMs: number) {
    this.#peer = peer;
    this.#handler = createMcpHandler(
      ({ requestInfo }) => {
        const client = requestInfo === undefined ? undefined : this.#clients.get(requestInfo);
        if (client === undefined) throw new Error('The request has no client');
        return peer.serverFor(client);
      },
      { legacy: 'reject', keepAliveMs, maxSubscriptions: MAX_SUBSCRIPTIONS },
    );
  }

  /** Whether a POST is of this revision, or claims to be; the others begin with `initialize`. */
  async takes(request: Request, body: unknown): Promise<boolean> {
    return !(await isLegacyRequest(request, body));
  }

  /** @param request its signal ends the work when the client disconnects. @throws RpcFault when the service is stopping */
  async post(request: Request, body: unknown, client: McpClient): Promise<Response> {
    if (this.#closing) throw new RpcFault(503, SERVER_ERROR, 'The service is stopping', 1);
    this.#clients.set(request, client);
    return await this.#handler.fetch(request, { parsedBody: body });
  }

  /** Takes no more requests. Idempotent. */
  close(): void {
    this.#closing = true;
  }

  /** Stops the open requests and what outlives its request. Idempotent. */
  async end(): Promise<void> {
    this.#closing = true;
    await Promise.all([this.#handler.close(), this.#peer.close()]);
  }
}
