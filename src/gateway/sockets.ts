import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t } from 'uWebSockets.js';
import type { Role } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { checkSight, type Principal } from './credentials.js';
import { STREAM_PATH, StreamServer } from './live-stream/stream-server.js';
import { DESKTOP } from './tunnel/desktop-tunnel.js';
import { DEVTOOLS } from './tunnel/devtools-tunnel.js';
import { TunnelServer, type TunnelWish } from './tunnel/tunnel-server.js';
import { Reply } from './uws/reply.js';

/** Who decides what becomes of a request for a WebSocket. */
export interface SocketGate {
  /** Lets the request in. Reads it at once, since it is dead after the first await. @throws what keeps it out */
  admit(req: HttpRequest, role: Role): { readonly sessions: Sessions; readonly principal: Principal };
  refuse(reply: Reply, error: unknown, path: string): void;
}

/** Makes the state of a connection. @throws what keeps it from being opened */
type OpenSocket = (
  wish: TunnelWish,
  sessions: Sessions,
) => ReturnType<StreamServer['seat']> | ReturnType<TunnelServer['seat']>;

/** The service's WebSockets: the stream that dashboards listen on, and the tunnels into sessions. */
export class Sockets {
  readonly #stream: StreamServer;
  readonly #tunnels = new TunnelServer();
  /** Null until requests can be let in. */
  readonly #gate: () => SocketGate | null;

  /** @param gate asked for each request; null where there is none yet */
  constructor(app: TemplatedApp, gate: () => SocketGate | null) {
    this.#gate = gate;
    this.#stream = new StreamServer(app);
    const stream: OpenSocket = ({ principal }, sessions) => this.#stream.seat(sessions, principal);
    app.ws(STREAM_PATH, { ...this.#stream.behaviour, upgrade: this.#opening('view', stream) });
    for (const kind of [DESKTOP, DEVTOOLS]) {
      const tunnel: OpenSocket = (wish, sessions) => {
        checkSight(wish.principal, kind.shared, wish.id);
        return this.#tunnels.seat(kind.open(wish, sessions), wish.principal.sees);
      };
      app.ws(kind.path, { ...this.#tunnels.behaviour(kind), upgrade: this.#opening(kind.role, tunnel) });
    }
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

  #opening(role: Role, open: OpenSocket) {
    return (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => {
      const gate = this.#gate();
      if (gate === null) res.close();
      else this.#open({ gate, role, open }, res, req, context);
    };
  }

  /**
   * Nothing is awaited before the upgrade. One that comes later has to be inside cork(), which takes the connection for one
   * of HTTP afterwards and closes some of them, by what lies in memory: https://github.com/uNetworking/uWebSockets/issues/1928
   */
  #open(
    { gate, role, open }: { readonly gate: SocketGate; readonly role: Role; readonly open: OpenSocket },
    res: HttpResponse,
    req: HttpRequest,
    context: us_socket_context_t,
  ): void {
    const reply = new Reply(res, { head: false, onOver: () => undefined });
    const path = req.getUrl();
    const id = req.getParameter(0) ?? '';
    let entered: Sessions | null = null;
    try {
      const { sessions, principal } = gate.admit(req, role);
      entered = sessions;
      const header = (name: string) => req.getHeader(`sec-websocket-${name}`);
      const offer = { key: header('key'), protocol: header('protocol'), extensions: header('extensions') };
      const seat = open({ id, query: new URLSearchParams(req.getQuery()), principal }, sessions);
      if (reply.upgrade(seat, offer, context)) return;
      if ('far' in seat) seat.far.close();
    } catch (error) {
      void explain(error, id, entered).then((told) => gate.refuse(reply, told, path));
    }
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
