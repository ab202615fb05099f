import { isLoopback } from '../net-policy/blocked-addresses.js';
import { type EgressLists, EgressRules } from '../net-policy/egress.js';
import { isLocalName, readHost } from '../net-policy/read-host.js';
import { TargetPatterns } from '../net-policy/target-pattern.js';

/** Where messages may be sent; checked at each attempt. */
export interface TargetRule {
  /** Why an address of the requested host may not be used; null if it may. */
  refusal(address: string, port: number, host: string): string | null;
  /** Whether a connection leads to the service itself. */
  isOwn(port: number, localAddress: string | undefined, remoteAddress: string | undefined): boolean;
}

export interface TargetRuleOptions {
  /** The port that the service listens on. */
  readonly ownPort: number;
  /** See `EgressSetting`. */
  readonly closedPorts?: SharedArrayBuffer | undefined;
  /** `webhooks.allow` of the configuration. */
  readonly allow: readonly string[];
  /** `egress` of the configuration. */
  readonly egress: EgressLists;
  /** Whether the service requires no token: its callers are then users of this machine. */
  isOpen(): boolean;
}

/**
 * Never allows the addresses of cloud metadata services, nor the service itself and the servers that it uses. Otherwise `allow` permits what it
 * names.
 * Of the rest, this machine's loopback addresses are closed if the service requires tokens, and so is what `egress`
 * closes.
 */
export function targetRule({ ownPort, closedPorts, allow, egress, isOpen }: TargetRuleOptions): TargetRule {
  const rulesFor = (lists: EgressLists): EgressRules =>
    new EgressRules(
      { ownPort, closedPorts, ownNames: [], hostAddress: null, forward: [], egress: lists, loopback: 'open' },
      { forward: [], egress: {} },
    );
  const always = rulesFor({ closed: egress.closed });
  const listed = rulesFor(egress);
  const named = new TargetPatterns(allow);
  return {
    refusal(address, port, host) {
      const why = always.refusal(address, host, port);
      if (why !== null) return why;
      if (named.matches(host, address, port)) return null;
      if (isLoopback(address) && !isOpen()) {
        return 'it is an address of this machine; name it in webhooks.allow of troupe.json, such as "127.0.0.1:8080"';
      }
      const closed = listed.refusal(address, host, port);
      return closed === null ? null : `egress closes it: ${closed}; name it in webhooks.allow of troupe.json`;
    },
    isOwn: (port, localAddress, remoteAddress) => always.isOwn(port, localAddress, remoteAddress),
  };
}

/** Why a target is rejected before its name is resolved; null if nothing is wrong so far. */
export function targetFault(url: URL, rule: TargetRule): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'a webhook must be an http or https URL';
  const host = readHost(url.hostname);
  if (host === null) return 'its host is not valid';
  if (host.kind === 'address') return rule.refusal(host.address, portOf(url), url.hostname);
  return isLocalName(host.name) ? rule.refusal('127.0.0.1', portOf(url), host.name) : null;
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}
