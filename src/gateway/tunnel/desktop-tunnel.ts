import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { limitSignal } from '../../base/deadline.js';
import { ControlKey } from '../../protocol/control.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import { checkRole, type Principal } from '../credentials.js';
import { RfbFilter } from './rfb-filter.js';
import type { FarEnd, NearEnd, TunnelKind } from './tunnel-server.js';

const CONNECT_MS = 5_000;
/** A desktop that leaves this many bytes unread no longer responds. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** Codes of RFC 6455, section 7.4.1. */
const NORMAL = 1000;
const POLICY = 1008;
const FAILED = 1011;

/**
 * The desktop of a session, for noVNC or any other RFB client over WebSocket. Clients view it; with `?control=KEY`, or
 * after a text message with the key, a client may act while it has control. An empty text message ends control.
 */
export const DESKTOP: TunnelKind = {
  path: '/sessions/:id/desktop',
  role: 'view',
  shared: true,
  maxMessageBytes: 2 * 1024 * 1024,
  open({ id, query, principal }, sessions) {
    const tunnel = new DesktopTunnel(sessions.connections.desktop(id), id, sessions, principal);
    tunnel.useKey(query.get('control') ?? '');
    return tunnel;
  },
};

class DesktopTunnel implements FarEnd {
  /** The path of the unix socket. */
  readonly #path: string;
  readonly #id: string;
  readonly #sessions: Sessions;
  readonly #principal: Principal;
  readonly #filter = new RfbFilter();
  #socket: Socket | null = null;
  #near: NearEnd | null = null;
  #control: { readonly key: ControlKey; readonly release: () => void } | null = null;

  constructor(path: string, id: string, sessions: Sessions, principal: Principal) {
    this.#path = path;
    this.#principal = principal;
    this.#id = id;
    this.#sessions = sessions;
  }

  /** Attaches control; '' detaches it. @throws INVALID_REQUEST, SESSION_BUSY, FORBIDDEN */
  useKey(text: string): void {
    this.#control?.release();
    this.#control = null;
    if (text === '') return;
    if (!this.#principal.linkScope?.handoffs.has(this.#id)) checkRole(this.#principal, 'run');
    const key = ControlKey.safeParse(text);
    if (!key.success)
      throw new TroupeError('INVALID_REQUEST', '"control" must be the key that taking control returned');
    this.#control = { key: key.data, release: this.#sessions.connections.attachControl(this.#id, key.data) };
  }

  async start(near: NearEnd): Promise<void> {
    this.#near = near;
    const socket = connect(this.#path);
    this.#socket = socket;
    // 'close' follows and is handled.
    socket.on('error', () => undefined);
    try {
      await once(socket, 'connect', { signal: limitSignal(CONNECT_MS) });
    } catch (cause) {
      socket.destroy();
      throw new TroupeError(
        'WORKER_LOST',
        'The desktop of the session does not respond; end the session and create another',
        undefined,
        { cause },
      );
    }
    socket.on('data', (chunk) => near.send(chunk, false));
    socket.on('close', () => near.end(NORMAL, 'The desktop has ended'));
    if (socket.destroyed) near.end(NORMAL, 'The desktop has ended');
  }

  receive(message: Buffer, isText: boolean): void {
    try {
      if (isText) {
        this.useKey(message.toString('utf8'));
        return;
      }
      const socket = this.#socket;
      socket?.write(this.#filter.push(message, () => this.#mayAct()));
      if (socket !== null && socket.writableLength > MAX_UNREAD_BYTES)
        this.#near?.end(FAILED, 'The desktop does not respond');
    } catch (error) {
      this.#near?.end(POLICY, encodeError(error).error.slice(0, 100));
    }
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(): void {
    this.#control?.release();
    this.#control = null;
    this.#socket?.destroy(new Error('The client has disconnected'));
  }

  #mayAct(): boolean {
    return this.#control !== null && this.#sessions.connections.holdsControl(this.#id, this.#control.key);
  }
}
