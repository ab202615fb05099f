import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopback } from '#troupe/net-policy/blocked-addresses.js';
import { type EgressLists, EgressRules } from '#troupe/net-policy/egress.js';
import { guardConnection, guardedLookup, type Lookup, systemLookup } from '#troupe/net-policy/guarded-connection.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { ReachBounds } from '../run/reach-bounds.js';

/** Limits for requests that scripts send from the service's own machine. Plain data, sent to another thread. */
export interface ServiceReachOptions {
  /** The port that the service actually listens on. */
  readonly ownPort: number;
  /** See `EgressSetting`. */
  readonly closedPorts?: SharedArrayBuffer | undefined;
  readonly egress: {
    readonly service: EgressLists;
    readonly session: EgressLists;
  };
}

/**
 * Blocks cloud metadata, the service itself, and everything that `egress` blocks for pages. Otherwise this machine's
 * localhost is open: servers under test often listen there.
 */
export function serviceReach({ ownPort, closedPorts, egress }: ServiceReachOptions, lookUp?: Lookup): ReachBounds {
  const rules = new EgressRules(
    { ownPort, closedPorts, ownNames: [], hostAddress: null, forward: [], egress: egress.service, loopback: 'open' },
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
    async addressFor({ hostname, port }) {
      const route = rules.route(hostname, port);
      if (route.kind === 'refused') throw refused(hostname, route.reason);
      if (route.kind === 'loopback') return null;
      const addresses = route.kind === 'address' ? [route.address] : await addressesOf(route.name, lookUp);
      for (const address of addresses) {
        const own = isOfThisMachine(address) && rules.isOwn(port, address, address);
        const why = own ? 'it is the service itself' : rules.refusal(address, hostname, port);
        if (why !== null) throw refused(hostname, why);
      }
      if (addresses.some(isLoopback)) return null;
      // A proxy may lack IPv6.
      return addresses.find((address) => isIP(address) === 4) ?? addresses[0] ?? null;
    },
    lookup: (port) =>
      guardedLookup((address, name) => {
        const why = rules.refusal(address, name, port);
        return why === null ? null : refused(name, why);
      }, lookUp),
    guard(socket, { hostname, port }) {
      guardConnection(socket, (local, remote) =>
        rules.closes(port, local, remote) ? refused(hostname, 'it is the service itself') : null,
      );
    },
  };
}

/** @throws REQUEST_FAILED if this machine cannot resolve the name */
async function addressesOf(name: string, lookUp: Lookup = systemLookup): Promise<string[]> {
  return await new Promise((resolve, reject) => {
    lookUp(name, (error, addresses) => {
      if (error === null && addresses.length > 0) resolve(addresses.map(({ address }) => address));
      else
        reject(
          refused(
            name,
            'this machine cannot resolve its name, so its address cannot be checked before a proxy gets it',
          ),
        );
    });
  });
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address));
}

function refused(host: string, why: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `${host} must not be reached from scripts: ${why}`, {
    cause: 'EGRESS',
    host,
  });
}
