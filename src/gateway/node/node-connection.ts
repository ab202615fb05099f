import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TroupeError } from '../../protocol/errors.js';
import { errorAnswer } from '../error-answer.js';
import type { ServerHandlers } from '../http/http-server.js';
import { NodeExchange } from './node-exchange.js';
import { NodeRequest } from './node-request.js';
import { answerRaw } from './raw-answer.js';

/** Pipelined requests that wait for the answer to the previous one; beyond this the connection is cut. */
const MAX_WAITING = 64;
/** Headers of one request: the same limit as that of uWebSockets.js. */
const MAX_HEADERS = 98;
/** How long a client may take for the head of a request. */
const HEAD_MS = 10_000;
/** How long a connection is kept between two requests: longer than the 60 s of most proxies, so that they end it and not the service. */
const IDLE_MS = 75_000;
/** A body must arrive with at least 16 KiB/s, averaged over this time. */
const BODY_MS = 10_000;
const BODY_BYTES = 16 * 1024 * (BODY_MS / 1000);
/**
 * A client that takes nothing of an answer is disconnected after this time, or up to twice that: Node's timer is no
 * finer.
 */
const STALL_MS = 10_000;

/** A request with a complete head. */
interface Arrived {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly holdsBodyBack: boolean;
}

/**
 * One connection. Its requests are handled one after another, because an answer may close the connection before the
 * later ones. All its deadlines are checked by {@link NodeConnection.checkDeadlines}, which the server calls every
 * second.
 */
export class NodeConnection {
  readonly #socket: Socket;
  readonly #handlers: ServerHandlers;
  #current: { readonly arrived: Arrived; readonly exchange: NodeExchange } | null = null;
  #waiting: Arrived[] = [];
  /** Something arrived that cannot be parsed. */
  #isBroken = false;
  /** The connection belongs to a WebSocket, which has its own deadlines. */
  #isHandedOver = false;
  /** The wait for a request: since when, and what the connection had received by then. `isArriving`: the client is expected to send it. */
  #idle: { readonly since: number; readonly bytes: number; readonly isArriving: boolean } | null = null;
  /** Bytes received on the connection by that time. */
  #bodyMark: { readonly bytes: number; readonly at: number } | null = null;
  #hasTimeout = false;

  constructor(socket: Socket, handlers: ServerHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
  }

  /** Handles a request whose head is complete. */
  take(arrived: Arrived): void {
    // Requests after an answer that closes the connection, or after a parse error, are dropped.
    if (this.#isBroken || this.#current?.exchange.closes) return;
    if (this.#isFree) this.#serve(arrived);
    else if (this.#waiting.length >= MAX_WAITING) this.#socket.destroy();
    else if (this.#waiting.push(arrived) === 1) this.#current?.arrived.res.once('finish', () => this.#next());
  }

  /** Hands the connection over to a WebSocket; false while a request is open. */
  handOver(): boolean {
    if (!this.#isFree) return false;
    this.#isHandedOver = true;
    return true;
  }

  /** The handed-over request was not for a WebSocket, so HTTP continues. */
  takeBack(): void {
    this.#isHandedOver = false;
    this.#idle = null;
  }

  /** The socket was closed. */
  closed(): void {
    this.#waiting = [];
    this.#current?.exchange.gone();
  }

  /** The input cannot be parsed. */
  parseFailed(error: Error): void {
    this.#waiting = [];
    this.#isBroken = true;
    if (this.#isHandedOver) {
      this.#socket.destroy();
      return;
    }
    if (this.#current === null || this.#isFree) {
      this.#answerParseError(error);
      return;
    }
    const { arrived, exchange } = this.#current;
    if (arrived.req.complete && !exchange.isStreaming) {
      // The request before it is valid and gets its answer.
      arrived.res.once('finish', () => this.#socket.destroy());
      return;
    }
    const hasAnswer = exchange.isStreaming || exchange.isOver;
    exchange.gone();
    if (hasAnswer) this.#socket.destroy();
    else this.#answerParseError(error);
  }

  /** Cuts the connection if a deadline has passed. */
  checkDeadlines(now: number): void {
    if (this.#isHandedOver) return;
    if (this.#isFree) {
      this.#checkIdle(now);
      return;
    }
    this.#idle = null;
    this.#checkCurrent(now);
  }

  get #isFree(): boolean {
    if (this.#current === null) return true;
    const { arrived, exchange } = this.#current;
    return exchange.isOver && arrived.res.writableFinished && arrived.req.complete;
  }

  #serve(arrived: Arrived): void {
    const { req, res, holdsBodyBack } = arrived;
    if (this.#hasTimeout) this.#socket.setTimeout(0);
    this.#hasTimeout = false;
    this.#idle = null;
    this.#bodyMark = null;
    // Node may lose data that came in one packet with an upgrade request that stayed HTTP, so its answer closes the
    // connection.
    const exchange = new NodeExchange(req, res, { holdsBodyBack, closes: hasUpgradeHeader(req) });
    this.#current = { arrived, exchange };
    const refusal = refusalOf(req);
    if (refusal === null) this.#handlers.request(new NodeRequest(req), exchange);
    else refuse(exchange, refusal);
    exchange.discardUnread();
  }

  #next(): void {
    if (this.#isBroken || this.#current?.exchange.closes || this.#socket.destroyed) return;
    const arrived = this.#waiting.shift();
    if (arrived === undefined) return;
    this.#serve(arrived);
    if (this.#waiting.length > 0) arrived.res.once('finish', () => this.#next());
  }

  #answerParseError(error: Error): void {
    const { status, message } = parseRefusal(error);
    const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', message), { INVALID_REQUEST: status });
    answerRaw(this.#socket, head, body);
  }

  /** A client that has been answered may stay idle; one that has connected, or has begun a request, is to send it. */
  #checkIdle(now: number): void {
    const bytes = this.#socket.bytesRead;
    const idle = this.#idle ?? { since: now, bytes, isArriving: this.#current === null };
    const hasBegun = !idle.isArriving && bytes !== idle.bytes;
    this.#idle = hasBegun ? { since: now, bytes, isArriving: true } : idle;
    const { since, isArriving } = this.#idle;
    if (now - since >= (isArriving ? HEAD_MS : IDLE_MS)) this.#socket.destroy();
  }

  #checkCurrent(now: number): void {
    if (this.#current === null) return;
    const { req, res } = this.#current.arrived;
    if (!req.complete) {
      const bytes = this.#socket.bytesRead;
      if (this.#bodyMark === null || req.isPaused()) this.#bodyMark = { bytes, at: now };
      else if (now - this.#bodyMark.at >= BODY_MS) {
        if (bytes - this.#bodyMark.bytes < BODY_BYTES) this.#socket.destroy();
        this.#bodyMark = { bytes, at: now };
      }
    } else if (this.#current.exchange.isOver && !res.writableFinished && !this.#hasTimeout) {
      // Node itself tracks whether the socket still sends data.
      this.#hasTimeout = true;
      this.#socket.setTimeout(STALL_MS);
    }
  }
}

function hasUpgradeHeader({ rawHeaders }: IncomingMessage): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 7 && name.toLowerCase() === 'upgrade') return true;
  }
  return false;
}

interface Refusal {
  readonly status: number;
  readonly message: string;
}

/** Requests that node:http accepts and this service does not. */
function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): Refusal | null {
  if (httpVersion !== '1.1') return { status: 505, message: `HTTP/${httpVersion} is not supported; use HTTP/1.1` };
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, message: `The request has more than ${MAX_HEADERS} headers; send fewer` };
  }
  return null;
}

function parseRefusal(error: Error): Refusal {
  if (Reflect.get(error, 'code') === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, message: 'The head of the request is longer than 16 KiB; send fewer headers or cookies' };
  }
  const reason: unknown = Reflect.get(error, 'reason');
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  return { status: 400, message: `The request is not valid HTTP/1.1${why}` };
}

function refuse(exchange: NodeExchange, { status, message }: Refusal): void {
  const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', message), { INVALID_REQUEST: status });
  exchange.end(head, body, { bodiless: false, closes: true });
}
