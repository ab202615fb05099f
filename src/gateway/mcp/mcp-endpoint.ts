import { randomUUID } from 'node:crypto';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Reply } from '../http/reply.js';
import type { MakeMcpPeer, McpAsker } from './mcp-peer.js';
import { type McpAnswer, McpSession } from './mcp-session.js';
import { RpcFault } from './rpc-fault.js';
import { readMessages } from './rpc-messages.js';
import { writeWebAnswer } from './write-web-answer.js';

/** A request to `/mcp`. Headers are by their lower-case names, empty where there is none. */
export interface McpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
  /** What the client calls this service. */
  readonly base: string;
  readonly asker: McpAsker;
}

export interface McpOptions {
  /** A silent stream says something so often, in milliseconds; 15 s where it is left out. */
  readonly keepAliveMs?: number | undefined;
  /** A client that had a stream open and has none, and asks nothing for so long, is gone; 2 min by default. */
  readonly goneMs?: number | undefined;
}

/** Request headers that the endpoint reads. */
export const MCP_HEADERS = ['accept', 'mcp-session-id', 'mcp-protocol-version', 'last-event-id'] as const;

const REVISION = 'mcp-protocol-version';
const MAX_SESSIONS = 500;
const KEEP_ALIVE_MS = 15_000;
const GONE_MS = 120_000;
/** A session that was not used for so long ends. Without its browser it costs little, and clients begin anew badly. */
const FORGOTTEN_MS = 24 * 60 * 60_000;
const SERVER_ERROR = -32000;
const NO_SUCH_SESSION = -32001;

interface Held {
  readonly session: McpSession;
  /** Connections whose answer is a stream or is still to come. */
  connections: number;
  /** It had a stream of its own once: when that is gone, so is the client. */
  hadStream: boolean;
  /** On the clock of `performance.now()`. */
  lastSeenMs: number;
  resting: boolean;
}

/**
 * The MCP endpoint: Streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports). It owns
 * the MCP sessions, 500 at most: past them the one that was not used for longest makes room, and where all are in use a
 * new client is told to come later. A session that it does not know is a 404, at which clients begin anew.
 */
export class McpEndpoint {
  readonly #makePeer: MakeMcpPeer;
  readonly #keepAliveMs: number;
  readonly #goneMs: number;
  readonly #sessions = new Map<string, Held>();
  readonly #ending = new Set<Promise<void>>();
  #sweep: NodeJS.Timeout | null = null;
  #closing = false;

  constructor(makePeer: MakeMcpPeer, { keepAliveMs = KEEP_ALIVE_MS, goneMs = GONE_MS }: McpOptions) {
    this.#makePeer = makePeer;
    this.#keepAliveMs = keepAliveMs;
    this.#goneMs = goneMs;
  }

  async serve(reply: Reply, call: McpCall): Promise<void> {
    if (reply.head) {
      reply.endHead({ status: 200, headers: [['Content-Type', 'text/event-stream']] }, undefined);
      return;
    }
    try {
      const { held, answer } = await this.#answer(call);
      held.connections += 1;
      if (call.method === 'GET') held.hadStream = true;
      try {
        await writeWebAnswer(reply, answer);
      } finally {
        held.connections -= 1;
        held.lastSeenMs = performance.now();
      }
    } catch (error) {
      if (!(error instanceof RpcFault)) throw error;
      reply.end(error.head, error.body);
    }
  }

  /** Ends the sessions: those at work when their last answer is ready. Idempotent. */
  close(): void {
    this.#closing = true;
    for (const [id, { session }] of this.#sessions) if (!session.isBusy) this.#end(id);
  }

  /** Ends what is left. Settles when everything was given back. */
  async end(): Promise<void> {
    this.#closing = true;
    for (const id of this.#sessions.keys()) this.#end(id);
    await Promise.all(this.#ending);
  }

  async #answer(call: McpCall): Promise<{ readonly held: Held; readonly answer: McpAnswer }> {
    if (call.method !== 'POST') {
      const held = this.#find(call);
      const { session } = held;
      if (call.method === 'GET')
        return { held, answer: await session.get(webRequest(call, session), lastEventId(call)) };
      const answer = await session.delete(webRequest(call, session));
      if (answer.response.ok) this.#end(session.id);
      return { held, answer };
    }
    const messages = readMessages(call.body);
    if (messages.initialize === null) {
      const held = this.#find(call);
      return { held, answer: await held.session.post(webRequest(call, held.session), messages) };
    }
    const held = await this.#open(call.asker);
    const answer = await held.session.post(webRequest(call, held.session), messages);
    if (!answer.response.ok) this.#end(held.session.id);
    return { held, answer };
  }

  #find({ headers }: McpCall): Held {
    const id = headers['mcp-session-id'] ?? '';
    if (id === '') throw new RpcFault(400, SERVER_ERROR, 'The header Mcp-Session-Id is missing; initialize gives one');
    const held = this.#sessions.get(id);
    if (held === undefined) throw new RpcFault(404, NO_SUCH_SESSION, 'There is no such MCP session: initialize anew');
    held.lastSeenMs = performance.now();
    held.resting = false;
    return held;
  }

  async #open(asker: McpAsker): Promise<Held> {
    if (this.#closing) throw new RpcFault(503, SERVER_ERROR, 'The service is stopping', 1);
    if (this.#sessions.size >= MAX_SESSIONS && !this.#endLeastUsed()) {
      throw new RpcFault(429, SERVER_ERROR, `${MAX_SESSIONS} MCP sessions are in use`, 10);
    }
    const id = randomUUID();
    const onQuiet = (): void => {
      if (this.#closing) this.#end(id);
    };
    const held: Held = {
      session: await McpSession.open(id, this.#makePeer(asker), this.#keepAliveMs, onQuiet),
      connections: 0,
      hadStream: false,
      lastSeenMs: performance.now(),
      resting: false,
    };
    this.#sessions.set(id, held);
    // The service's own parts keep the process alive, not the looking.
    this.#sweep ??= setInterval(() => this.#lookForGone(), this.#goneMs / 4).unref();
    return held;
  }

  #lookForGone(): void {
    const now = performance.now();
    for (const [id, held] of this.#sessions) {
      const { session, connections, hadStream, lastSeenMs, resting } = held;
      if (connections > 0 || session.isBusy) continue;
      const unusedMs = now - lastSeenMs;
      if (unusedMs >= FORGOTTEN_MS) {
        this.#end(id);
      } else if (hadStream && !resting && unusedMs >= this.#goneMs) {
        held.resting = true;
        session.rest();
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
    const held = this.#sessions.get(id);
    if (held === undefined) return;
    this.#sessions.delete(id);
    if (this.#sessions.size === 0 && this.#sweep !== null) {
      clearInterval(this.#sweep);
      this.#sweep = null;
    }
    const ending = held.session.close().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/**
 * A body is JSON whatever its Content-Type, as on every route; who accepts anything accepts both kinds; and the revision
 * is the one that was negotiated, also for clients that do not repeat it.
 */
function webRequest({ method, headers, base }: McpCall, { revision }: McpSession): Request {
  const accept = headers.accept ?? '';
  const web = new Headers({ 'content-type': 'application/json' });
  web.set('accept', accept === '' || accept.includes('*/*') ? 'application/json, text/event-stream' : accept);
  for (const name of MCP_HEADERS) {
    const value = headers[name] ?? '';
    if (name !== 'accept' && value !== '') web.set(name, value);
  }
  const asked = web.get(REVISION);
  if (revision !== '' && (asked === null || SUPPORTED_PROTOCOL_VERSIONS.includes(asked))) web.set(REVISION, revision);
  return new Request(`${base}/mcp`, { method, headers: web });
}

function lastEventId({ headers }: McpCall): string {
  return headers['last-event-id'] ?? '';
}
