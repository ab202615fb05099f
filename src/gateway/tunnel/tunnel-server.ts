import type { Role } from '../../protocol/access.js';
import { encodeError } from '../../protocol/errors.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { Principal } from '../credentials.js';
import type { HttpSocket } from '../http/http-server.js';
import { endAtLinkExpiry, LINK_EXPIRED } from '../link-expiry.js';

/** Bytes buffered for a client that does not read; beyond this the other side is paused. */
const PAUSE_BYTES = 256 * 1024;
/** A client that is silent for this long, also after a ping, is disconnected. */
const IDLE_SECONDS = 60;
/** Open tunnels; each has its own connection behind it. */
const MAX_TUNNELS = 1000;
/** What a client may send before the far end is connected, in bytes. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Codes of RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001;
const FAILED = 1011;
const TRY_AGAIN_LATER = 1013;

/** The client's end of a tunnel. */
export interface NearEnd {
  send(message: Uint8Array, isText: boolean): void;
  /** @param code of RFC 6455 */
  end(code: number, reason: string): void;
}

/**
 * The other end: a part of a session. Everything but `close`, which is idempotent, is called after {@link FarEnd.start}
 * has settled.
 */
export interface FarEnd {
  /** Connects; from then on it may send. @throws if it cannot be reached */
  start(near: NearEnd): Promise<void>;
  receive(message: Buffer, isText: boolean): void;
  /** The client does not keep up: send nothing until {@link FarEnd.resume}. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** A client's request for a tunnel to a session. */
export interface TunnelRequest {
  readonly id: string;
  readonly query: URLSearchParams;
  /** The caller. */
  readonly principal: Principal;
}

/** A kind of tunnel. */
export interface TunnelKind {
  /** The session's id is its only parameter. */
  readonly path: string;
  /** The role that the client needs. */
  readonly role: Role;
  /** A share link to the session gives access. */
  readonly shared: boolean;
  readonly maxMessageBytes: number;
  /** Creates the far end, not yet connected. @throws if it is not permitted */
  open(request: TunnelRequest, sessions: Sessions): FarEnd;
}

interface TunnelState {
  readonly far: FarEnd;
  /** What the client sent before the far end was connected; null from then on. */
  queued: { readonly message: Buffer; readonly isText: boolean }[] | null;
  queuedBytes: number;
  readonly sessions: Sessions;
  readonly sees: Principal['linkScope'];
  paused: boolean;
  cancelExpiry: () => void;
}

/**
 * WebSockets that lead to a part of a session: its desktop, its browser. If a client does not read, the other side is
 * not read either, so a slow client costs at most 256 KiB here and the kernel's buffers.
 */
export class TunnelServer {
  readonly #sockets = new Set<HttpSocket<TunnelState>>();

  /** The socket handlers for a kind of tunnel, without `upgrade`: the gateway decides who is admitted. */
  socketHandlers({ maxMessageBytes }: TunnelKind) {
    return {
      maxMessageBytes,
      maxUnreadBytes: 0,
      idleSeconds: IDLE_SECONDS,
      open: (socket: HttpSocket<TunnelState>) => this.#open(socket),
      message: (socket: HttpSocket<TunnelState>, message: Buffer, isText: boolean) =>
        // Copied: the bytes are the server's and invalid after this call.
        this.#receive(socket, Buffer.from(message), isText),
      drain: (socket: HttpSocket<TunnelState>) => this.#drained(socket),
      close: (socket: HttpSocket<TunnelState>) => {
        this.#sockets.delete(socket);
        socket.state.cancelExpiry();
        socket.state.far.close();
      },
    };
  }

  /** The state of a connection that is being upgraded. */
  newState(far: FarEnd, sessions: Sessions, sees: Principal['linkScope']): TunnelState {
    const cancelExpiry = () => undefined;
    return { far, sessions, sees, queued: [], queuedBytes: 0, paused: false, cancelExpiry };
  }

  /** Ends every connection. */
  close(): void {
    for (const socket of [...this.#sockets]) socket.end(GOING_AWAY, 'The service is stopping');
  }

  #open(socket: HttpSocket<TunnelState>): void {
    if (this.#sockets.size >= MAX_TUNNELS) {
      socket.end(TRY_AGAIN_LATER, `${MAX_TUNNELS} connections are already open`);
      return;
    }
    this.#sockets.add(socket);
    const state = socket.state;
    const { sees, sessions } = state;
    state.cancelExpiry = endAtLinkExpiry(sees, sessions, () => socket.end(LINK_EXPIRED, 'The link has expired'));
    const near: NearEnd = {
      send: (message, isText) => {
        if (!this.#sockets.has(socket)) return;
        socket.send(message, isText);
        if (state.paused || socket.bufferedBytes <= PAUSE_BYTES) return;
        state.paused = true;
        state.far.pause();
      },
      end: (code, reason) => {
        if (this.#sockets.has(socket)) socket.end(code, reason);
      },
    };
    state.far.start(near).then(
      () => this.#reached(socket),
      (error) => near.end(FAILED, encodeError(error).error.slice(0, 100)),
    );
  }

  #reached(socket: HttpSocket<TunnelState>): void {
    // The client may have disconnected meanwhile.
    if (!this.#sockets.has(socket)) return;
    const state = socket.state;
    const queued = state.queued ?? [];
    state.queued = null;
    for (const { message, isText } of queued) state.far.receive(message, isText);
  }

  #receive(socket: HttpSocket<TunnelState>, message: Buffer, isText: boolean): void {
    const state = socket.state;
    if (state.queued === null) {
      state.far.receive(message, isText);
      return;
    }
    state.queued.push({ message, isText });
    state.queuedBytes += message.length;
    if (state.queuedBytes > MAX_QUEUED_BYTES) socket.end(FAILED, 'Too much data before the session was connected');
  }

  #drained(socket: HttpSocket<TunnelState>): void {
    const state = socket.state;
    if (!state.paused || socket.bufferedBytes > PAUSE_BYTES / 2) return;
    state.paused = false;
    state.far.resume();
  }
}
