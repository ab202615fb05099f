import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TroupeError } from '../../protocol/errors.js';
import { errorAnswer } from '../error-answer.js';
import type { ServerHandlers } from '../http/http-server.js';
import { NodeLine } from './node-line.js';
import { NodeRequest } from './node-request.js';
import { answerRaw } from './raw-answer.js';

/** Requests that came in one go and wait for the answer to the one before; past them the connection is cut. */
const MAX_HELD = 64;
/** Headers of one request, as many as uWebSockets.js takes. */
const MAX_HEADERS = 98;
/** How long a client may take for the head of a request, and between two of them. */
const HEAD_MS = 10_000;
/** A body comes with 16 KiB/s at least, over so long. */
const BODY_MS = 10_000;
const BODY_BYTES = 16 * 1024 * (BODY_MS / 1000);
/** A client that takes nothing of an answer is let go of after this time, or twice that: Node looks no closer. */
const STALL_MS = 10_000;

/** A request that has arrived. */
interface Arrived {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly holdsBodyBack: boolean;
}

/**
 * One connection. Its requests are handled one after another, since nothing of a later one may happen where an earlier one
 * closes the connection; and all of its deadlines are looked at by {@link NodeConnection.look}, which its server calls
 * every second.
 */
export class NodeConnection {
  readonly #socket: Socket;
  readonly #handlers: ServerHandlers;
  #current: { readonly arrived: Arrived; readonly line: NodeLine } | null = null;
  #held: Arrived[] = [];
  /** Something came that cannot be parsed. */
  #isBroken = false;
  /** It belongs to a WebSocket, which has deadlines of its own. */
  #isHandedOver = false;
  /** Since when it waits for a request. */
  #idleSince: number | null = null;
  /** What had come, of everything, and when. */
  #bodyMark: { readonly bytes: number; readonly at: number } | null = null;
  #hasTimeout = false;

  constructor(socket: Socket, handlers: ServerHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
  }

  /** A request, whose head is complete. */
  take(arrived: Arrived): void {
    // What follows an answer that closes the connection, or what cannot be parsed, is not done.
    if (this.#isBroken || this.#current?.line.closes) return;
    if (this.#isFree) this.#serve(arrived);
    else if (this.#held.length >= MAX_HELD) this.#socket.destroy();
    else if (this.#held.push(arrived) === 1) this.#current?.arrived.res.once('finish', () => this.#next());
  }

  /** Whether it can be handed over to a WebSocket: nothing is under way on it. From then on it is the WebSocket's. */
  handOver(): boolean {
    if (!this.#isFree) return false;
    this.#isHandedOver = true;
    return true;
  }

  /** A request for something else than a WebSocket has come back. */
  takeBack(): void {
    this.#isHandedOver = false;
    this.#idleSince = null;
  }

  /** The socket is closed. */
  closed(): void {
    this.#held = [];
    this.#current?.line.gone();
  }

  /** What came cannot be parsed. */
  broken(error: Error): void {
    this.#held = [];
    this.#isBroken = true;
    if (this.#isHandedOver) {
      this.#socket.destroy();
      return;
    }
    if (this.#current === null || this.#isFree) {
      this.#answerBroken(error);
      return;
    }
    const { arrived, line } = this.#current;
    if (arrived.req.complete && !line.isStreaming) {
      // The request before it is sound, and gets its answer.
      arrived.res.once('finish', () => this.#socket.destroy());
      return;
    }
    const hasAnswer = line.isStreaming || line.isOver;
    line.gone();
    if (hasAnswer) this.#socket.destroy();
    else this.#answerBroken(error);
  }

  /** Cuts it where a deadline has passed. */
  look(now: number): void {
    if (this.#isHandedOver) return;
    if (!this.#isFree) {
      this.#idleSince = null;
      this.#lookAtCurrent(now);
    } else if (this.#idleSince === null) {
      this.#idleSince = now;
    } else if (now - this.#idleSince >= HEAD_MS) {
      this.#socket.destroy();
    }
  }

  get #isFree(): boolean {
    if (this.#current === null) return true;
    const { arrived, line } = this.#current;
    return line.isOver && arrived.res.writableFinished && arrived.req.complete;
  }

  #serve(arrived: Arrived): void {
    const { req, res, holdsBodyBack } = arrived;
    if (this.#hasTimeout) this.#socket.setTimeout(0);
    this.#hasTimeout = false;
    this.#idleSince = null;
    this.#bodyMark = null;
    // Node may lose what comes in one packet with a request that asked to leave HTTP and was not let go.
    const line = new NodeLine(req, res, { holdsBodyBack, closes: asksToLeave(req) });
    this.#current = { arrived, line };
    const refusal = refusalOf(req);
    if (refusal === null) this.#handlers.request(new NodeRequest(req), line);
    else refuse(line, refusal);
    line.discardUnread();
  }

  #next(): void {
    if (this.#isBroken || this.#current?.line.closes || this.#socket.destroyed) return;
    const arrived = this.#held.shift();
    if (arrived === undefined) return;
    this.#serve(arrived);
    if (this.#held.length > 0) arrived.res.once('finish', () => this.#next());
  }

  #answerBroken(error: Error): void {
    const { status, sentence } = readFault(error);
    const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', sentence), { INVALID_REQUEST: status });
    answerRaw(this.#socket, head, body);
  }

  #lookAtCurrent(now: number): void {
    if (this.#current === null) return;
    const { req, res } = this.#current.arrived;
    if (!req.complete) {
      const bytes = this.#socket.bytesRead;
      if (this.#bodyMark === null || req.isPaused()) this.#bodyMark = { bytes, at: now };
      else if (now - this.#bodyMark.at >= BODY_MS) {
        if (bytes - this.#bodyMark.bytes < BODY_BYTES) this.#socket.destroy();
        this.#bodyMark = { bytes, at: now };
      }
    } else if (this.#current.line.isOver && !res.writableFinished && !this.#hasTimeout) {
      // Node knows whether some of what it was given goes out.
      this.#hasTimeout = true;
      this.#socket.setTimeout(STALL_MS);
    }
  }
}

function asksToLeave({ rawHeaders }: IncomingMessage): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 7 && name.toLowerCase() === 'upgrade') return true;
  }
  return false;
}

interface Refusal {
  readonly status: number;
  readonly sentence: string;
}

/** What node:http takes and this service does not. */
function refusalOf({ httpVersion, rawHeaders }: IncomingMessage): Refusal | null {
  if (httpVersion !== '1.1') return { status: 505, sentence: `HTTP/${httpVersion} is not spoken here; use HTTP/1.1` };
  if (rawHeaders.length > 2 * MAX_HEADERS) {
    return { status: 431, sentence: `The request has more than ${MAX_HEADERS} headers; send fewer` };
  }
  return null;
}

function readFault(error: Error): Refusal {
  if (Reflect.get(error, 'code') === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, sentence: 'The head of the request is longer than 16 KiB; send fewer headers or cookies' };
  }
  const reason: unknown = Reflect.get(error, 'reason');
  const why = typeof reason === 'string' && reason !== '' ? `: ${reason}` : '';
  return { status: 400, sentence: `The request is not valid HTTP/1.1${why}` };
}

function refuse(line: NodeLine, { status, sentence }: Refusal): void {
  const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', sentence), { INVALID_REQUEST: status });
  line.end(head, body, { bodiless: false, closes: true });
}
