import type { WebSocket } from 'uWebSockets.js';
import type { Role } from '../../protocol/access.js';
import type { Sessions } from '../../supervisor/sessions.js';
import type { Principal } from '../credentials.js';
import { LINK_OVER, untilOver } from '../link-time.js';

/** What is held for a client that does not read; then the other side waits. */
const PAUSE_BYTES = 256 * 1024;
/** Seconds without a sign of life, after a ping, until a client counts as gone. */
const IDLE_SECONDS = 60;
/** Tunnels at once: each has a connection of its own behind it. */
const MAX_TUNNELS = 1000;
/** Codes of RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

/** The client's end of a tunnel. */
export interface NearEnd {
  send(message: Uint8Array, isText: boolean): void;
  /** @param code of RFC 6455 */
  end(code: number, reason: string): void;
}

/** The other end: a part of a session. All calls come after {@link FarEnd.start}, but `close`, which is idempotent. */
export interface FarEnd {
  /** It may send from now on. */
  start(near: NearEnd): void;
  receive(message: Buffer, isText: boolean): void;
  /** The client does not keep up: it is to send nothing until {@link FarEnd.resume}. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Which session a client wants a tunnel to. */
export interface TunnelWish {
  readonly id: string;
  readonly query: URLSearchParams;
  /** Who asks. */
  readonly principal: Principal;
}

/** A kind of tunnel. */
export interface TunnelKind {
  /** As uWebSockets.js has it; the session's id is its one parameter. */
  readonly path: string;
  /** What its client must be allowed to. */
  readonly role: Role;
  /** Opened by a link to its session. */
  readonly shared: boolean;
  readonly maxMessageBytes: number;
  /** Settles when the far end can be used. @throws what keeps it from being */
  open(wish: TunnelWish, sessions: Sessions): Promise<FarEnd>;
}

interface Seat {
  readonly far: FarEnd;
  readonly sees: Principal['sees'];
  paused: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * WebSockets that lead to a part of a session: its desktop, its browser. What a client does not read is not read on the
 * other side either, so a slow client costs what waits for it in the kernel and 256 KiB here.
 */
export class TunnelServer {
  readonly #sockets = new Set<WebSocket<Seat>>();

  /** How the server is to treat a kind's connections; `upgrade` is the gateway's, who decides who may enter. */
  behaviour({ maxMessageBytes }: TunnelKind) {
    return {
      maxPayloadLength: maxMessageBytes,
      maxBackpressure: 0,
      idleTimeout: IDLE_SECONDS,
      sendPingsAutomatically: true,
      open: (socket: WebSocket<Seat>) => this.#open(socket),
      message: (socket: WebSocket<Seat>, message: ArrayBuffer, isBinary: boolean) =>
        // The bytes are the server's own, and gone after this call.
        socket.getUserData().far.receive(Buffer.from(Buffer.from(message)), !isBinary),
      drain: (socket: WebSocket<Seat>) => this.#drained(socket),
      close: (socket: WebSocket<Seat>) => {
        this.#sockets.delete(socket);
        clearTimeout(socket.getUserData().timer);
        socket.getUserData().far.close();
      },
    };
  }

  /** The state of a connection that is being upgraded. */
  seat(far: FarEnd, sees: Principal['sees']): Seat {
    return { far, sees, paused: false, timer: undefined };
  }

  /** Lets go of every client. */
  close(): void {
    for (const socket of [...this.#sockets]) socket.end(GOING_AWAY, 'The service is stopping');
  }

  #open(socket: WebSocket<Seat>): void {
    if (this.#sockets.size >= MAX_TUNNELS) {
      socket.end(TRY_AGAIN_LATER, `${MAX_TUNNELS} connections are open already`);
      return;
    }
    this.#sockets.add(socket);
    const seat = socket.getUserData();
    seat.timer = untilOver(seat.sees, () => socket.end(LINK_OVER, 'The time of the link is over'));
    seat.far.start({
      send: (message, isText) => {
        if (!this.#sockets.has(socket)) return;
        socket.send(message, !isText);
        if (seat.paused || socket.getBufferedAmount() <= PAUSE_BYTES) return;
        seat.paused = true;
        seat.far.pause();
      },
      end: (code, reason) => {
        if (this.#sockets.has(socket)) socket.end(code, reason);
      },
    });
  }

  #drained(socket: WebSocket<Seat>): void {
    const seat = socket.getUserData();
    if (!seat.paused || socket.getBufferedAmount() > PAUSE_BYTES / 2) return;
    seat.paused = false;
    seat.far.resume();
  }
}
