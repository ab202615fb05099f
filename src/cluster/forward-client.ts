import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Readable } from 'node:stream';
import WebSocket from 'ws';

type Headers = readonly (readonly [name: string, value: string])[];

/** A WebSocket to another node. */
export type NodeSocket = WebSocket;

/** Idle connections to one node that are kept. */
const KEPT_SOCKETS = 64;
/** How long they are kept: a node that runs uWebSockets.js ends them after 10 s, and a request that meets that would be lost. */
const KEPT_MS = 5_000;
const CONNECT_MS = 5_000;
/** How long a node may take to say that it is there. */
const PROBE_MS = 5_000;

/** A request for another node. */
export interface OutgoingRequest {
  /** Of the node, without a slash at the end. */
  readonly url: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: Readable | null;
  /** Ends the request and its answer. */
  readonly signal: AbortSignal;
}

/** The answer of another node. The body must be read or destroyed. */
export interface NodeAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Of the body, if known. */
  readonly bytes: number | undefined;
  readonly body: Readable;
}

/** Sends requests to other nodes, over connections that it keeps. */
export class ForwardClient {
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: KEPT_SOCKETS, timeout: KEPT_MS });
  readonly #https = new HttpsAgent({ keepAlive: true, maxFreeSockets: KEPT_SOCKETS, timeout: KEPT_MS });
  readonly #probes = new Map<string, Promise<boolean>>();

  /** Resolves with the head of the answer. @throws why there is none */
  send({ url, method, path, headers, body, signal }: OutgoingRequest): Promise<NodeAnswer> {
    const target = new URL(url);
    const isSecure = target.protocol === 'https:';
    return new Promise((resolve, reject) => {
      const options = { method, path, headers: toObject(headers), signal, agent: isSecure ? this.#https : this.#http };
      const { hostname, port } = target;
      const sent = (isSecure ? httpsRequest : httpRequest)(
        { ...options, hostname: hostname.replace(/^\[|\]$/g, ''), port },
        (answer) => resolve(toAnswer(answer)),
      );
      sent.once('error', reject);
      boundConnect(sent);
      if (body === null) sent.end();
      else {
        body.once('error', (error) => sent.destroy(error));
        body.pipe(sent);
      }
    });
  }

  /**
   * Whether a node answers at all, on a connection of its own: one that was made before may be cut without either end
   * knowing. Callers at the same time share a request.
   */
  reaches(url: string): Promise<boolean> {
    const known = this.#probes.get(url);
    if (known !== undefined) return known;
    const probe = isThere(url).finally(() => this.#probes.delete(url));
    this.#probes.set(url, probe);
    return probe;
  }

  /** Opens a WebSocket to another node. @throws why it could not */
  async openSocket(url: string, path: string, headers: Headers, maxMessageBytes: number): Promise<NodeSocket> {
    const socket = new WebSocket(url.replace(/^http/, 'ws') + path, {
      headers: toObject(headers),
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      handshakeTimeout: CONNECT_MS,
    });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
    } catch (error) {
      socket.on('error', () => undefined);
      socket.terminate();
      throw error;
    }
    return socket;
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

/** An address that swallows packets would otherwise be waited for by the system's rules: for two minutes. */
function boundConnect(sent: ClientRequest): void {
  sent.once('socket', (socket) => {
    if (!socket.connecting) return;
    const late = setTimeout(() => sent.destroy(new Error(`No connection within ${CONNECT_MS} ms`)), CONNECT_MS);
    socket.once('connect', () => clearTimeout(late));
    sent.once('close', () => clearTimeout(late));
  });
}

/** Never rejects. */
function isThere(url: string): Promise<boolean> {
  const target = new URL('/api/health', url);
  const signal = AbortSignal.timeout(PROBE_MS);
  return new Promise((resolve) => {
    const sent = (target.protocol === 'https:' ? httpsRequest : httpRequest)(target, { agent: false, signal });
    sent.once('error', () => resolve(false));
    sent.once('response', (answer) => {
      answer.destroy();
      resolve(true);
    });
    sent.end();
  });
}

function toObject(headers: Headers): { [name: string]: string } {
  return Object.fromEntries(headers);
}

function toAnswer(answer: IncomingMessage): NodeAnswer {
  const headers: [string, string][] = [];
  for (let index = 0; index < answer.rawHeaders.length; index += 2) {
    headers.push([answer.rawHeaders[index] ?? '', answer.rawHeaders[index + 1] ?? '']);
  }
  const { 'content-length': length } = answer.headers;
  return {
    status: answer.statusCode ?? 502,
    headers,
    bytes: length === undefined ? undefined : Number(length),
    body: answer,
  };
}
