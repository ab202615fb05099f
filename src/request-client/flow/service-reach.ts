import { type EgressLists, EgressRules } from '../../net-policy/egress.js';
import { guardConnection, guardedLookup, type Lookup } from '../../net-policy/guarded-connection.js';
import { TroupeError } from '../../protocol/errors.js';
import type { ReachBounds } from '../run/send-request.js';

/** What holds for requests that scripts send from the service's own machine. Plain data: it goes to another thread. */
export interface ServiceReachOptions {
  /** The port that the service listens on: the one it has, not the one it asked for. */
  readonly ownPort: number;
  readonly egress: {
    readonly service: EgressLists;
    readonly session: EgressLists;
  };
}

/**
 * Cloud metadata and the service itself are closed, and what `egress` closes to pages. This machine's localhost is open but
 * for that: what is tested often listens there.
 */
export function serviceReach({ ownPort, egress }: ServiceReachOptions, lookUp?: Lookup): ReachBounds {
  const rules = new EgressRules(
    { ownPort, ownNames: [], hostAddress: null, forward: [], egress: egress.service, loopback: 'open' },
    { forward: [], egress: egress.session },
  );
  return {
    admit(_request, { hostname, port }) {
      const route = rules.route(hostname, port);
      const why =
        route.kind === 'refused'
          ? route.reason
          : route.kind === 'address'
            ? rules.refusal(route.address, hostname, port)
            : null;
      if (why !== null) throw refused(hostname, why);
    },
    lookup: (port) =>
      guardedLookup((address, name) => {
        const why = rules.refusal(address, name, port);
        return why === null ? null : refused(name, why);
      }, lookUp),
    guard(socket, { hostname, port }) {
      guardConnection(socket, (local, remote) =>
        rules.isOwn(port, local, remote) ? refused(hostname, 'it is the service itself') : null,
      );
    },
  };
}

function refused(host: string, why: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `${host} may not be reached from scripts: ${why}`, {
    cause: 'EGRESS',
    host,
  });
}
