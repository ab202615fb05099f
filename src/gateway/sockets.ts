import type { Role } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { checkSight, type Principal } from './credentials.js';
import type { HttpRequest, SocketAsk, SocketRoute } from './http/http-server.js';
import { STREAM_PATH, StreamServer } from './live-stream/stream-server.js';
import { DESKTOP } from './tunnel/desktop-tunnel.js';
import { DEVTOOLS } from './tunnel/devtools-tunnel.js';
import { TunnelServer, type TunnelWish } from './tunnel/tunnel-server.js';

/** Who decides what becomes of a request for a WebSocket. */
export interface SocketGate {
  /** Lets the request in. Reads it at once, since it is dead after the first await. @throws what keeps it out */
  admit(request: HttpRequest, role: Role): { readonly sessions: Sessions; readonly principal: Principal };
  refuse(ask: SocketAsk, error: unknown, path: string): void;
}

/** Makes and takes back the state of a connection. */
interface SeatMaker<Seat> {
  /** @throws what keeps the connection from being opened */
  make(wish: TunnelWish, sessions: Sessions): Seat;
  /** The client has gone before it was used. */
  giveUp(seat: Seat): void;
}

/** The service's WebSockets: the stream that dashboards listen on, and the tunnels into sessions. */
export class Sockets {
  /** What the HTTP server is to serve. */
  readonly routes: readonly SocketRoute[];
  readonly #stream: StreamServer;
  readonly #tunnels = new TunnelServer();
  /** Null until requests can be let in. */
  readonly #gate: () => SocketGate | null;

  /**
   * @param gate asked for each request; null where there is none yet
   * @param publish sends to all that have subscribed to a topic
   */
  constructor(gate: () => SocketGate | null, publish: (topic: string, message: Uint8Array) => void) {
    this.#gate = gate;
    this.#stream = new StreamServer(publish);
    const stream = this.#opening('view', {
      make: ({ principal }, sessions) => this.#stream.seat(sessions, principal),
      giveUp: () => undefined,
    });
    const tunnels = [DESKTOP, DEVTOOLS].map((kind) => {
      const opening = this.#opening(kind.role, {
        make: (wish, sessions) => {
          checkSight(wish.principal, kind.shared, wish.id);
          return this.#tunnels.seat(kind.open(wish, sessions), wish.principal.sees);
        },
        giveUp: ({ far }) => far.close(),
      });
      return { ...this.#tunnels.behaviour(kind), path: kind.path, upgrade: opening };
    });
    this.routes = [{ ...this.#stream.behaviour, path: STREAM_PATH, upgrade: stream }, ...tunnels];
  }

  /** Pages that are connected to watch. */
  get viewers(): number {
    return this.#stream.viewers;
  }

  /** Tells every client that the service goes, and lets go of it. */
  close(): void {
    this.#stream.close();
    this.#tunnels.close();
  }

  /** Nothing is awaited before the upgrade. */
  #opening<Seat>(role: Role, maker: SeatMaker<Seat>) {
    return (ask: SocketAsk<Seat>): void => {
      const gate = this.#gate();
      const { path, query } = ask.request;
      const id = ask.param;
      let entered: Sessions | null = null;
      try {
        if (gate === null) throw new TroupeError('UNAVAILABLE', 'The service is starting');
        const { sessions, principal } = gate.admit(ask.request, role);
        entered = sessions;
        const seat = maker.make({ id, query: new URLSearchParams(query), principal }, sessions);
        if (!ask.accept(seat)) maker.giveUp(seat);
      } catch (error) {
        void explain(error, id, entered).then((told) => gate?.refuse(ask, told, path));
      }
    };
  }
}

/** Of a session that does not live, the journal knows whether it ever did. */
async function explain(error: unknown, id: string, sessions: Sessions | null): Promise<unknown> {
  if (sessions === null || !(error instanceof TroupeError) || error.code !== 'SESSION_ENDED') return error;
  return sessions.get(id).then(
    () => error,
    (unknown: unknown) => unknown,
  );
}
