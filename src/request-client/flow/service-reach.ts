import { type EgressLists, EgressRules } from '../../net-policy/egress.js';
import { guardConnection, guardedLookup, type Lookup } from '../../net-policy/guarded-connection.js';
import { TroupeError } from '../../protocol/errors.js';
import type { ReachBounds } from '../run/send-request.js';

/** Limits for requests that scripts send from the service's own machine. Plain data, sent to another thread. */
export interface ServiceReachOptions {
  /** The port that the service actually listens on. */
  readonly ownPort: number;
  readonly egress: {
    readonly service: EgressLists;
    readonly session: EgressLists;
  };
}

/**
 * Blocks cloud metadata, the service itself, and everything that `egress` blocks for pages. Otherwise this machine's
 * localhost is open: servers under test often listen there.
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
  return new TroupeError('REQUEST_FAILED', `${host} must not be reached from scripts: ${why}`, {
    cause: 'EGRESS',
    host,
  });
}
