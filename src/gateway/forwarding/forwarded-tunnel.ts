import type { ForwardClient, NodeSocket } from '../../cluster/forward-client.js';
import { TroupeError } from '../../protocol/errors.js';
import { SessionId } from '../../protocol/session.js';
import type { Nodes } from '../../supervisor/ports/nodes.js';
import type { FarEnd, NearEnd } from '../tunnel/tunnel-server.js';
import { type ForwardedCaller, Forwarder, type HeldRequest } from './forwarder.js';

/** Codes of RFC 6455, section 7.4. */
const GOING_AWAY = 1001;
const NO_STATUS = 1005;
const ABNORMAL = 1006;

/** A WebSocket to a session of another node: messages pass unchanged, since that node filters them. */
export class ForwardedTunnel implements FarEnd {
  readonly #client: ForwardClient;
  readonly #nodes: Nodes;
  readonly #id: string;
  readonly #held: HeldRequest;
  readonly #caller: ForwardedCaller;
  readonly #maxMessageBytes: number;
  #socket: NodeSocket | null = null;
  #closed = false;

  constructor(parts: {
    readonly client: ForwardClient;
    readonly nodes: Nodes;
    readonly id: string;
    readonly held: HeldRequest;
    readonly caller: ForwardedCaller;
    readonly maxMessageBytes: number;
  }) {
    this.#client = parts.client;
    this.#nodes = parts.nodes;
    this.#id = parts.id;
    this.#held = parts.held;
    this.#caller = parts.caller;
    this.#maxMessageBytes = parts.maxMessageBytes;
  }

  async start(near: NearEnd): Promise<void> {
    const home = await this.#nodes.homeOf(this.#id);
    if (home === null) throw new TroupeError('SESSION_ENDED', 'The session is not running');
    const headers = Forwarder.headers(this.#nodes, home, this.#held, {
      session: SessionId.parse(this.#id),
      ...this.#caller,
    }).filter(([name]) => !name.toLowerCase().startsWith('sec-websocket'));
    const socket = await this.#client.openSocket(home.url, this.#held.path, headers, this.#maxMessageBytes);
    this.#socket = socket;
    // Its `close` follows.
    socket.on('error', () => undefined);
    if (this.#closed) {
      socket.terminate();
      return;
    }
    socket.on('message', (data, isBinary) => {
      if (Buffer.isBuffer(data)) near.send(data, !isBinary);
    });
    socket.once('close', (code, reason) => {
      const isOwn = code !== NO_STATUS && code !== ABNORMAL;
      near.end(isOwn ? code : GOING_AWAY, isOwn ? reason.toString('utf8') : `The node ${home.id} is gone`);
    });
  }

  receive(message: Buffer, isText: boolean): void {
    this.#socket?.send(message, { binary: !isText });
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(): void {
    this.#closed = true;
    this.#socket?.terminate();
  }
}
