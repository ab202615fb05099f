import { type LookupAddress, lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { type EgressLists, GateRules } from '../../containers/gate/gate-rules.js';
import { isLoopback, isMetadata } from '../../net-policy/address-ranges.js';
import { TroupeError } from '../../protocol/errors.js';
import type { ReachBounds } from '../run/send-request.js';

/** What holds for requests that scripts send from the service's own machine. */
export interface ServiceReachOptions {
  /** The port that the service listens on. */
  readonly ownPort: number;
  /** Of the service, and of the session. */
  readonly egress: readonly EgressLists[];
}

/**
 * Cloud metadata and the service itself are closed, and what `egress` closes to pages. This machine's localhost is open but
 * for that: what is tested often listens there.
 */
export function serviceReach({ ownPort, egress }: ServiceReachOptions): ReachBounds {
  const rules = egress.map(
    (lists) =>
      new GateRules(
        { ownPort, ownNames: [], hostAddress: null, forward: [], egress: {} },
        { forward: [], egress: lists },
      ),
  );
  const refusal = (address: string, host: string): string | null => {
    if (isMetadata(address)) return 'it is a metadata address';
    if (isLoopback(address)) return null;
    return rules.map((rule) => rule.refusal(address, host)).find((why) => why !== null) ?? null;
  };
  const lookup: LookupFunction = (hostname, options, done) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error !== null) return done(error, '', 0);
      const why = addresses.map(({ address }) => refusal(address, hostname)).find((one) => one !== null);
      const [first] = addresses;
      if (why !== undefined || first === undefined) return done(refused(hostname, why ?? 'it has no address'), '', 0);
      if (options.all === true) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
  return {
    lookup,
    admit(hostname, port) {
      const host = hostname.toLowerCase().replace(/\.$/, '');
      const local = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && isLoopback(host));
      if (local && port === ownPort) throw refused(hostname, 'it is the service itself');
      if (local) return;
      for (const rule of rules) {
        const route = rule.route(host, port);
        if (route.kind === 'refused') throw refused(hostname, route.why);
      }
      const why = isIP(host) === 0 ? null : refusal(host, host);
      if (why !== null) throw refused(hostname, why);
    },
  };
}

function refused(host: string, why: string): TroupeError {
  return new TroupeError('REQUEST_FAILED', `${host} may not be reached from scripts: ${why}`, {
    cause: 'EGRESS',
    host,
  });
}
