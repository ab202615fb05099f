import type { Role } from '../../protocol/access.js';
import { encodeError } from '../../protocol/errors.js';
import type { Sessions } from '../../supervisor/ports/sessions.js';
import type { Principal } from '../credentials.js';
import type { HttpSocket } from '../http/http-server.js';
import { LINK_OVER, untilOver } from '../link-time.js';

/** What is held for a client that does not read; then the other side waits. */
const PAUSE_BYTES = 256 * 1024;
/** Seconds without a sign of life, after a ping, until a client counts as gone. */
const IDLE_SECONDS = 60;
/** Tunnels at once: each has a connection of its own behind it. */
const MAX_TUNNELS = 1000;
/** What a client may send before the far end is reached. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
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

/** The other end: a part of a session. All calls come when {@link FarEnd.start} has settled, but `close`, which is idempotent. */
export interface FarEnd {
  /** Reaches it; it may send from now on. @throws what keeps it from being reached */
  start(near: NearEnd): Promise<void>;
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
  /** The session's id is its one parameter. */
  readonly path: string;
  /** What its client must be allowed to. */
  readonly role: Role;
  /** Opened by a link to its session. */
  readonly shared: boolean;
  readonly maxMessageBytes: number;
  /** The far end, which nothing has reached yet. @throws what forbids it */
  open(wish: TunnelWish, sessions: Sessions): FarEnd;
}

interface Seat {
  readonly far: FarEnd;
  /** What the client sent before the far end was reached; null from then on. */
  held: { readonly message: Buffer; readonly isText: boolean }[] | null;
  heldBytes: number;
  readonly sees: Principal['sees'];
  paused: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * WebSockets that lead to a part of a session: its desktop, its browser. What a client does not read is not read on the
 * other side either, so a slow client costs what waits for it in the kernel and 256 KiB here.
 */
export class TunnelServer {
  readonly #sockets = new Set<HttpSocket<Seat>>();

  /** How the server is to treat a kind's connections; `upgrade` is the gateway's, who decides who may enter. */
  behaviour({ maxMessageBytes }: TunnelKind) {
    return {
      maxMessageBytes,
      maxUnreadBytes: 0,
      idleSeconds: IDLE_SECONDS,
      open: (socket: HttpSocket<Seat>) => this.#open(socket),
      message: (socket: HttpSocket<Seat>, message: Buffer, isText: boolean) =>
        // The bytes are the server's own, and gone after this call.
        this.#receive(socket, Buffer.from(message), isText),
      drain: (socket: HttpSocket<Seat>) => this.#drained(socket),
      close: (socket: HttpSocket<Seat>) => {
        this.#sockets.delete(socket);
        clearTimeout(socket.seat.timer);
        socket.seat.far.close();
      },
    };
  }

  /** The state of a connection that is being upgraded. */
  seat(far: FarEnd, sees: Principal['sees']): Seat {
    return { far, sees, held: [], heldBytes: 0, paused: false, timer: undefined };
  }

  /** Lets go of every client. */
  close(): void {
    for (const socket of [...this.#sockets]) socket.end(GOING_AWAY, 'The service is stopping');
  }

  #open(socket: HttpSocket<Seat>): void {
    if (this.#sockets.size >= MAX_TUNNELS) {
      socket.end(TRY_AGAIN_LATER, `${MAX_TUNNELS} connections are open already`);
      return;
    }
    this.#sockets.add(socket);
    const seat = socket.seat;
    seat.timer = untilOver(seat.sees, () => socket.end(LINK_OVER, 'The time of the link is over'));
    const near: NearEnd = {
      send: (message, isText) => {
        if (!this.#sockets.has(socket)) return;
        socket.send(message, isText);
        if (seat.paused || socket.bufferedBytes <= PAUSE_BYTES) return;
        seat.paused = true;
        seat.far.pause();
      },
      end: (code, reason) => {
        if (this.#sockets.has(socket)) socket.end(code, reason);
      },
    };
    seat.far.start(near).then(
      () => this.#reached(socket),
      (error) => near.end(FAILED, encodeError(error).error.slice(0, 100)),
    );
  }

  #reached(socket: HttpSocket<Seat>): void {
    // The client may have gone meanwhile, and its state with it.
    if (!this.#sockets.has(socket)) return;
    const seat = socket.seat;
    const held = seat.held ?? [];
    seat.held = null;
    for (const { message, isText } of held) seat.far.receive(message, isText);
  }

  #receive(socket: HttpSocket<Seat>, message: Buffer, isText: boolean): void {
    const seat = socket.seat;
    if (seat.held === null) {
      seat.far.receive(message, isText);
      return;
    }
    seat.held.push({ message, isText });
    seat.heldBytes += message.length;
    if (seat.heldBytes > MAX_HELD_BYTES) socket.end(FAILED, 'So much cannot wait until the session is reached');
  }

  #drained(socket: HttpSocket<Seat>): void {
    const seat = socket.seat;
    if (!seat.paused || socket.bufferedBytes > PAUSE_BYTES / 2) return;
    seat.paused = false;
    seat.far.resume();
  }
}
