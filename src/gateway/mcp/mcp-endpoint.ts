import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { newMcpSessionId } from '../forwarding/mcp-session-id.js';
import type { Reply } from '../http/reply.js';
import type { MakeMcpPeer, McpClient, StatelessPeer } from './mcp-peer.js';
import { STATELESS_REVISION } from './mcp-revisions.js';
import { type McpAnswer, McpSession } from './mcp-session.js';
import { RpcFault } from './rpc-fault.js';
import { parseBody, readMessages } from './rpc-messages.js';
import { StatelessEndpoint } from './stateless-endpoint.js';
import { writeWebAnswer } from './write-web-answer.js';

/** A request to `/mcp`. Headers are by lower-case name, '' if absent. */
export interface McpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** The service's address, as the client uses it. */
  readonly base: string;
  readonly client: McpClient;
}

export interface McpOptions {
  /** How often an idle stream sends a comment, in milliseconds; 15 s by default. */
  readonly keepAliveMs?: number | undefined;
  /** A client that had a stream, has none, and sends nothing for this time counts as gone; 2 min by default. */
  readonly goneMs?: number | undefined;
}

/** Request headers that the endpoint reads. */
export const MCP_HEADERS = [
  'accept',
  'mcp-session-id',
  'mcp-protocol-version',
  'last-event-id',
  'mcp-method',
  'mcp-name',
] as const;

const REVISION = 'mcp-protocol-version';
const MAX_SESSIONS = 500;
const KEEP_ALIVE_MS = 15_000;
const SUSPEND_MS = 120_000;
/**
 * A session that was not used for this time ends. Without its browser it costs little, and many clients handle the loss
 * of a session badly.
 */
const UNUSED_MS = 24 * 60 * 60_000;
const SERVER_ERROR = -32000;
const NO_SUCH_SESSION = -32001;

interface OpenSession {
  readonly session: McpSession;
  /** Connections whose answer is a stream or is still to come. */
  connections: number;
  /** It once had a GET stream: without one, and without requests, the client counts as gone. */
  hadStream: boolean;
  /** On the clock of `performance.now()`. */
  lastSeenMs: number;
  isSuspended: boolean;
}

/**
 * The MCP endpoint: Streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports), and the same
 * without sessions for requests of revision 2026-07-28. It owns the MCP sessions, at most 500: beyond that, the least recently used one is ended; if all are in use, a new
 * client gets 429 with Retry-After. An unknown session is a 404, at which clients initialize again.
 */
export class McpEndpoint {
  readonly #makePeer: MakeMcpPeer;
  readonly #stateless: StatelessEndpoint;
  readonly #keepAliveMs: number;
  readonly #goneMs: number;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #ending = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #closing = false;

  constructor(
    makePeer: MakeMcpPeer,
    statelessPeer: StatelessPeer,
    { keepAliveMs = KEEP_ALIVE_MS, goneMs = SUSPEND_MS }: McpOptions,
  ) {
    this.#makePeer = makePeer;
    this.#stateless = new StatelessEndpoint(statelessPeer, keepAliveMs);
    this.#keepAliveMs = keepAliveMs;
    this.#goneMs = goneMs;
  }

  async serve(reply: Reply, call: McpCall): Promise<void> {
    if (reply.head) {
      reply.endHead({ status: 200, headers: [['Content-Type', 'text/event-stream']] }, undefined);
      return;
    }
    try {
      const body = call.method === 'POST' ? parseBody(call.body) : undefined;
      if (await this.#serveStateless(reply, call, body)) return;
      const { open, answer } = await this.#answer(call, body);
      open.connections += 1;
      if (call.method === 'GET') open.hadStream = true;
      try {
        await writeWebAnswer(reply, answer);
      } finally {
        open.connections -= 1;
        open.lastSeenMs = performance.now();
      }
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      reply.end(error.head, error.body);
    }
  }

  /** Ends the idle sessions now, and the busy ones when their last answer is complete. Idempotent. */
  close(): void {
    this.#closing = true;
    this.#stateless.close();
    for (const [id, { session }] of this.#sessions) if (!session.isBusy) this.#end(id);
  }

  /** Ends all remaining sessions. Settles when their resources are released. */
  async end(): Promise<void> {
    this.#closing = true;
    for (const id of this.#sessions.keys()) this.#end(id);
    await Promise.all([this.#stateless.end(), ...this.#ending]);
  }

  /** False for a request of a revision with sessions. */
  async #serveStateless(reply: Reply, call: McpCall, body: unknown): Promise<boolean> {
    const { method, headers, client } = call;
    if (method !== 'POST') {
      if (headers[REVISION] !== STATELESS_REVISION) return false;
      throw new RpcFault(405, SERVER_ERROR, `Revision ${STATELESS_REVISION} has no sessions; send requests by POST`);
    }
    const request = new Request(`${call.base}/mcp`, { method, headers: webHeaders(call), signal: reply.signal });
    if (!(await this.#stateless.takes(request, body))) return false;
    await writeWebAnswer(reply, { response: await this.#stateless.post(request, body, client), pieces: null });
    return true;
  }

  async #answer(call: McpCall, body: unknown): Promise<{ readonly open: OpenSession; readonly answer: McpAnswer }> {
    if (call.method !== 'POST') {
      const open = this.#find(call);
      const { session } = open;
      if (call.method === 'GET')
        return { open, answer: await session.get(webRequest(call, session), lastEventId(call)) };
      const answer = await session.delete(webRequest(call, session));
      if (answer.response.ok) this.#end(session.id);
      return { open, answer };
    }
    const messages = readMessages(body);
    if (messages.initialize === null) {
      const open = this.#find(call);
      return { open, answer: await open.session.post(webRequest(call, open.session), messages) };
    }
    const open = await this.#open(call.client);
    const answer = await open.session.post(webRequest(call, open.session), messages);
    if (!answer.response.ok) this.#end(open.session.id);
    return { open, answer };
  }

  #find({ headers }: McpCall): OpenSession {
    const id = headers['mcp-session-id'] ?? '';
    if (id === '')
      throw new RpcFault(
        400,
        SERVER_ERROR,
        'The header Mcp-Session-Id is missing; send initialize first, its answer has one',
      );
    const open = this.#sessions.get(id);
    if (open === undefined)
      throw new RpcFault(404, NO_SUCH_SESSION, 'There is no such MCP session; send initialize again');
    open.lastSeenMs = performance.now();
    open.isSuspended = false;
    return open;
  }

  async #open(client: McpClient): Promise<OpenSession> {
    if (this.#closing) throw new RpcFault(503, SERVER_ERROR, 'The service is stopping', 1);
    if (this.#sessions.size >= MAX_SESSIONS && !this.#endLeastUsed()) {
      throw new RpcFault(429, SERVER_ERROR, `${MAX_SESSIONS} MCP sessions are in use; try again later`, 10);
    }
    const id = newMcpSessionId(client.sessions.nodes?.ownId);
    const onIdle = (): void => {
      if (this.#closing) this.#end(id);
    };
    const open: OpenSession = {
      session: await McpSession.open(id, this.#makePeer(client), this.#keepAliveMs, onIdle),
      connections: 0,
      hadStream: false,
      lastSeenMs: performance.now(),
      isSuspended: false,
    };
    this.#sessions.set(id, open);
    // Unreferenced: the timer alone must not keep the process alive.
    this.#timer ??= setInterval(() => this.#suspendUnused(), this.#goneMs / 4).unref();
    return open;
  }

  #suspendUnused(): void {
    const now = performance.now();
    for (const [id, open] of this.#sessions) {
      const { session, connections, hadStream, lastSeenMs, isSuspended } = open;
      if (connections > 0 || session.isBusy) continue;
      const unusedMs = now - lastSeenMs;
      if (unusedMs >= UNUSED_MS) {
        this.#end(id);
      } else if (hadStream && !isSuspended && unusedMs >= this.#goneMs) {
        open.isSuspended = true;
        session.suspend();
      }
    }
  }

  #endLeastUsed(): boolean {
    let oldest: { readonly id: string; readonly lastSeenMs: number } | null = null;
    for (const [id, { session, connections, lastSeenMs }] of this.#sessions) {
      const free = connections === 0 && !session.isBusy;
      if (free && (oldest === null || lastSeenMs < oldest.lastSeenMs)) oldest = { id, lastSeenMs };
    }
    if (oldest !== null) this.#end(oldest.id);
    return oldest !== null;
  }

  #end(id: string): void {
    const open = this.#sessions.get(id);
    if (open === undefined) return;
    this.#sessions.delete(id);
    if (this.#sessions.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    const ending = open.session.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/**
 * Makes the request for the SDK's transport: a body is JSON whatever its Content-Type, as on every route; a client that
 * accepts anything accepts both formats; and the protocol revision is the negotiated one, also for clients that do not
 * send it.
 */
function webRequest(call: McpCall, { revision }: McpSession): Request {
  const web = webHeaders(call);
  const asked = web.get(REVISION);
  if (revision !== '' && (asked === null || SUPPORTED_PROTOCOL_VERSIONS.includes(asked))) web.set(REVISION, revision);
  return new Request(`${call.base}/mcp`, { method: call.method, headers: web });
}

function webHeaders({ headers }: McpCall): Headers {
  const accept = headers.accept ?? '';
  const web = new Headers({ 'content-type': 'application/json' });
  web.set('accept', accept === '' || accept.includes('*/*') ? 'application/json, text/event-stream' : accept);
  for (const name of MCP_HEADERS) {
    const value = headers[name] ?? '';
    if (name !== 'accept' && value !== '') web.set(name, value);
  }
  return web;
}

function lastEventId({ headers }: McpCall): string {
  return headers['last-event-id'] ?? '';
}
