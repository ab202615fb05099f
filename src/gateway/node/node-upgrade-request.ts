import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { TroupeError } from '../../protocol/errors.js';
import { errorAnswer } from '../error-answer.js';
import type { HttpRequest, UpgradeRequest } from '../http/http-server.js';
import type { ReplyHead } from '../http/reply-head.js';
import { NodeRequest } from './node-request.js';
import { answerRaw } from './raw-answer.js';

/** A connection that node:http has released: the upgrade request, and the bytes after it. */
export interface Upgrade {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly rest: Buffer;
}

/** A request for a WebSocket. */
export class NodeUpgradeRequest<State> implements UpgradeRequest<State> {
  readonly request: HttpRequest;
  readonly param: string;
  readonly #upgrade: Upgrade;
  readonly #open: (upgrade: Upgrade, state: State) => boolean;

  /** @param open returns false for an invalid handshake, which it has then answered */
  constructor(upgrade: Upgrade, param: string, open: (upgrade: Upgrade, state: State) => boolean) {
    this.request = new NodeRequest(upgrade.req);
    this.param = param;
    this.#upgrade = upgrade;
    this.#open = open;
  }

  accept(state: State): boolean {
    const { req, socket } = this.#upgrade;
    if (socket.destroyed) return false;
    const { headers } = req;
    const body = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    if (body || headers['sec-websocket-version'] !== '13') {
      refuse(socket, body ? 'A request for a WebSocket must not have a body' : 'Sec-WebSocket-Version must be 13');
      return false;
    }
    return this.#open(this.#upgrade, state);
  }

  refuse(head: ReplyHead, body: string): void {
    answerRaw(this.#upgrade.socket, head, body);
  }
}

/** Answers an invalid handshake. */
export function refuse(socket: Socket, message: string): void {
  const { head, body } = errorAnswer(new TroupeError('INVALID_REQUEST', message));
  answerRaw(socket, head, body);
}
