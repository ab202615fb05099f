import type { Readable } from 'node:stream';
import { ForwardClient, type NodeAnswer } from '../../cluster/forward-client.js';
import { FORWARD_HEADER, forwardedHeaders } from '../../cluster/forward-seal.js';
import type { Role } from '../../protocol/access.js';
import { TroupeError } from '../../protocol/errors.js';
import type { SessionId } from '../../protocol/session.js';
import type { NodeAddress, Nodes } from '../../supervisor/ports/nodes.js';
import type { HttpRequest } from '../http/http-server.js';
import type { Reply } from '../http/reply.js';
import { sendStream } from '../http/send-stream.js';
import type { Route } from '../route.js';

/** How often it is checked that the other node is not lost, in milliseconds, while its answer is awaited. */
const CHECK_EVERY_MS = 1_000;
/** Every so many checks, also that it can be reached: a network that is cut does not end a connection. */
const REACHED_EVERY = 5;

/** Routes about a session that every node answers from the database. */
const FROM_DATABASE: ReadonlySet<string> = new Set([
  'GET /api/sessions/{id}',
  'GET /api/jobs/{id}',
  'GET /api/sessions/{id}/events',
  'GET /api/sessions/{id}/value',
  'GET /api/sessions/{id}/webhooks',
  'POST /api/sessions/{id}/webhooks',
  'POST /api/sessions/{id}/links',
  'GET /sessions/{id}/prompt',
]);
/** Those of WebDriver included. */
const ABOUT_A_SESSION = /^\/(?:(?:api\/)?(?:sessions|jobs)|(?:wd\/hub\/)?session)\/\{id\}/;

/** Headers of an answer that the receiving server sets by itself, or that are for one hop. */
const NOT_RETURNED: ReadonlySet<string> = new Set(['content-length', 'date', 'set-cookie', 'uwebsockets']);

/** Whether the node of the session answers. */
export function isForwarded({ method, path }: Pick<Route, 'method' | 'path'>): boolean {
  return ABOUT_A_SESSION.test(path) && !FROM_DATABASE.has(`${method} ${path}`);
}

/** A request that another node may have to answer. */
export interface Away {
  readonly nodes: Nodes;
  readonly role: Role;
  /** Null for a request that is not about a session. */
  readonly session: SessionId | null;
  /** See `ForwardedRequest.handoff`. */
  readonly handoff?: string | undefined;
  /** The node that answers; null: this one. @throws NODE_LOST if that node is gone */
  home(): Promise<NodeAddress | null>;
}

/** On whose behalf a request is passed on. */
export interface ForwardedCaller {
  readonly caller: string;
  readonly role: Role;
  /** See `ForwardedRequest.handoff`. */
  readonly handoff?: string | undefined;
}

/** What is passed on: read from the native request while it is valid. */
export interface HeldRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

export function heldRequest(request: Pick<HttpRequest, 'method' | 'path' | 'query' | 'eachHeader'>): HeldRequest {
  const { method, path, query } = request;
  const headers: [string, string][] = [];
  request.eachHeader((name, value) => headers.push([name, value]));
  return { method, path: query === '' ? path : `${path}?${query}`, headers };
}

/** Passes requests on to the nodes that have their sessions: one hop, and never a token or cookie of a client. */
export class Forwarder {
  readonly #client = new ForwardClient();

  get client(): ForwardClient {
    return this.#client;
  }

  /** The headers for a request to another node. */
  static headers(
    nodes: Nodes,
    home: NodeAddress,
    { method, path, headers }: HeldRequest,
    { session, caller, role, handoff }: ForwardedCaller & Pick<Away, 'session'>,
  ): readonly (readonly [string, string])[] {
    return [
      ...forwardedHeaders(headers),
      [FORWARD_HEADER, nodes.seal(home, { caller, role, session, handoff, method, path })],
    ];
  }

  /**
   * Answers with what the home of the session answers.
   * @throws NODE_LOST if it does not
   */
  async serve(
    reply: Reply,
    held: HeldRequest,
    {
      nodes,
      at,
      session,
      home,
      body,
      ...caller
    }: ForwardedCaller & Away & { readonly at: NodeAddress; readonly body: Readable | null },
  ): Promise<void> {
    const ended = new AbortController();
    reply.onGone(() => ended.abort());
    const answer = await whileHome(this.#client, { at, home, ended }, () => {
      const { method, path } = held;
      const headers = Forwarder.headers(nodes, at, held, { session, ...caller });
      return this.#client.send({ url: at.url, method, path, headers, body, signal: ended.signal });
    });
    await sendAnswer(reply, answer);
  }

  close(): void {
    this.#client.close();
  }
}

/** @throws NODE_LOST if the node does not answer, or is lost meanwhile */
async function whileHome<T>(
  client: ForwardClient,
  { at, home, ended }: Pick<Away, 'home'> & { readonly at: NodeAddress; readonly ended: AbortController },
  work: () => Promise<T>,
): Promise<T> {
  let checks = 0;
  const check = setInterval(() => {
    checks += 1;
    if (checks % REACHED_EVERY === 0) {
      void client.reaches(at.url).then((isReached) => {
        if (!isReached) ended.abort();
      });
    }
    home().then(
      (now) => {
        if (now !== null && now.startToken !== at.startToken) ended.abort();
      },
      (error: unknown) => {
        if (error instanceof TroupeError && error.code === 'NODE_LOST') ended.abort();
      },
    );
  }, CHECK_EVERY_MS);
  try {
    return await work();
  } catch (cause) {
    throw new TroupeError('NODE_LOST', `The node ${at.id}, which has the session, does not answer`, undefined, {
      cause,
    });
  } finally {
    clearInterval(check);
  }
}

async function sendAnswer(reply: Reply, { status, headers, bytes, body }: NodeAnswer): Promise<void> {
  const own = forwardedHeaders(headers).filter(([name]) => !NOT_RETURNED.has(name.toLowerCase()));
  const head = { status, headers: own };
  if (status === 204 || status === 304) {
    body.resume();
    reply.end(head, '');
    return;
  }
  await sendStream(reply, head, body, bytes);
}

/** The whole of a body that was received as a stream, for a request that is answered here after all. */
export async function wholeBody(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
  return Buffer.concat(chunks);
}
