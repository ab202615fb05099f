import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TroupeError } from '../../protocol/errors.js';
import { errorAnswer } from '../error-answer.js';
import type { HttpRequest, SocketAsk } from '../http/http-server.js';
import type { ReplyHead } from '../http/reply-head.js';
import { NodeRequest } from './node-request.js';
import { answerRaw } from './raw-answer.js';

/** A connection that node:http has let go of: what asked for it, and what came behind that. */
export interface Upgrade {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly rest: Buffer;
}

/** A request for a WebSocket. */
export class NodeSocketAsk<Seat> implements SocketAsk<Seat> {
  readonly request: HttpRequest;
  readonly param: string;
  readonly #upgrade: Upgrade;
  readonly #open: (upgrade: Upgrade, seat: Seat) => boolean;

  /** @param open false where the client does not speak WebSocket; it is answered then */
  constructor(upgrade: Upgrade, param: string, open: (upgrade: Upgrade, seat: Seat) => boolean) {
    this.request = new NodeRequest(upgrade.req);
    this.param = param;
    this.#upgrade = upgrade;
    this.#open = open;
  }

  accept(seat: Seat): boolean {
    const { req, socket } = this.#upgrade;
    if (socket.destroyed) return false;
    const { headers } = req;
    const body = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (body || headers['sec-websocket-version'] !== '13') {
      refuse(socket, body ? 'A request for a WebSocket has no body' : 'Sec-WebSocket-Version is not 13');
      return false;
    }
    return this.#open(this.#upgrade, seat);
  }

  refuse(head: ReplyHead, body: string): void {
    answerRaw(this.#upgrade.socket, head, body);
  }
}

/** Says what is wrong with a handshake. */
export function refuse(socket: Socket, sentence: string): void {
  const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', sentence));
  answerRaw(socket, head, body);
}
