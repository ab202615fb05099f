import type { PictureBudget } from '../agent-js/pictures/picture-budget.js';
import type { Role } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { assertUseful, checkLinkScope, type Principal } from './credentials.js';
import { ForwardedTunnel } from './forwarding/forwarded-tunnel.js';
import { Forwarder, heldRequest } from './forwarding/forwarder.js';
import type { HttpRequest, SocketRoute, UpgradeRequest } from './http/http-server.js';
import { STREAM_PATH, StreamServer } from './live-stream/stream-server.js';
import { DESKTOP } from './tunnel/desktop-tunnel.js';
import { DEVTOOLS } from './tunnel/devtools-tunnel.js';
import { OWN_SESSIONS } from './tunnel/own-session-tunnel.js';
import { type FarEnd, type TunnelKind, type TunnelRequest, TunnelServer } from './tunnel/tunnel-server.js';

/** Admits or refuses requests for a WebSocket. */
export interface SocketGate {
  /**
   * Admits the request. Reads it at once: it is invalid after the first await. @throws if the request is not admitted
   */
  admit(request: HttpRequest, role: Role): { readonly sessions: Sessions; readonly principal: Principal };
  refuse(upgrade: UpgradeRequest, error: unknown, path: string): void;
}

/** Creates and discards the state of a connection. */
interface StateMaker<State> {
  /** @throws if the connection must not be opened */
  make(request: TunnelRequest, sessions: Sessions, native: HttpRequest): State;
  /** The client disconnected before the upgrade. */
  discard(state: State): void;
}

/** The service's WebSockets: the dashboard's stream, and the tunnels into sessions. */
export class Sockets {
  /** The routes for the HTTP server. */
  readonly routes: readonly SocketRoute[];
  readonly #stream: StreamServer;
  readonly #tunnels = new TunnelServer();
  /** Passes on what is about sessions of other nodes. */
  readonly forwarder = new Forwarder();
  /** Null until requests can be admitted. */
  readonly #gate: () => SocketGate | null;

  /**
   * @param gate called for each request; returns null until requests can be admitted
   * @param publish sends a message to all subscribers of a topic
   * @param pictures limits what pictures of all sessions cost
   */
  constructor(
    gate: () => SocketGate | null,
    publish: (topic: string, message: Uint8Array) => void,
    pictures: PictureBudget,
  ) {
    this.#gate = gate;
    this.#stream = new StreamServer(publish, pictures, this.forwarder.client);
    const stream = this.#upgradeHandler('view', {
      make: ({ principal }, sessions) => {
        assertUseful(principal.linkScope);
        return this.#stream.newState(sessions, principal);
      },
      discard: () => undefined,
    });
    const tunnels = [DESKTOP, DEVTOOLS, ...OWN_SESSIONS].map((kind) => {
      const upgrade = this.#upgradeHandler(kind.role, {
        make: (request, sessions, native) => {
          checkLinkScope(request.principal, kind.shared, request.id);
          const far = this.#elsewhere(kind, request, sessions, native) ?? kind.open(request, sessions);
          return this.#tunnels.newState(far, sessions, request.principal.linkScope);
        },
        discard: ({ far }) => far.close(),
      });
      return { ...this.#tunnels.socketHandlers(kind), path: kind.path, upgrade };
    });
    this.routes = [{ ...this.#stream.socketHandlers, path: STREAM_PATH, upgrade: stream }, ...tunnels];
  }

  /** Connected dashboard pages. */
  get viewers(): number {
    return this.#stream.viewers;
  }

  /** Ends every connection with code 1001. */
  close(): void {
    this.#stream.close();
    this.#tunnels.close();
  }

  /** The far end in another node that may have the session; null if this one does. */
  #elsewhere(
    { path, maxMessageBytes }: TunnelKind,
    { id, principal }: TunnelRequest,
    { nodes }: Sessions,
    native: HttpRequest,
  ): FarEnd | null {
    if (nodes === null || principal.isForwarded || !path.includes(':id') || nodes.isHere(id)) return null;
    const caller = { caller: principal.caller ?? '', role: principal.role };
    const held = heldRequest(native);
    return new ForwardedTunnel({ client: this.forwarder.client, nodes, id, held, caller, maxMessageBytes });
  }

  /** Runs without an await before the upgrade. */
  #upgradeHandler<State>(role: Role, maker: StateMaker<State>) {
    return (upgrade: UpgradeRequest<State>): void => {
      const gate = this.#gate();
      const { path, query } = upgrade.request;
      const id = upgrade.param;
      let admitted: Sessions | null = null;
      try {
        if (gate === null) throw new TroupeError('UNAVAILABLE', 'The service is starting');
        const { sessions, principal } = gate.admit(upgrade.request, role);
        admitted = sessions;
        const state = maker.make({ id, query: new URLSearchParams(query), principal }, sessions, upgrade.request);
        if (!upgrade.accept(state)) maker.discard(state);
      } catch (error) {
        void explain(error, id, admitted).then((reason) => gate?.refuse(upgrade, reason, path));
      }
    };
  }
}

/** A session that is not live may have ended (SESSION_ENDED) or never existed: the journal knows which. */
async function explain(error: unknown, id: string, sessions: Sessions | null): Promise<unknown> {
  if (sessions === null || !(error instanceof TroupeError) || error.code !== 'SESSION_ENDED') return error;
  return sessions.get(id).then(
    () => error,
    (unknown: unknown) => unknown,
  );
}
