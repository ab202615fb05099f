import { type AddressBytes, parseAddress } from './address.js';
import { isLoopback, isMetadata } from './blocked-addresses.js';
import { ClosedPorts } from './closed-ports.js';
import { HostPatterns } from './host-pattern.js';
import { isLocalName, readHost } from './read-host.js';

/** The lists of an operator or a session: host patterns (`shop.test`, `*.shop.test`) and address ranges. */
export interface EgressLists {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  /** Servers that the service itself uses: its database, its artifact store. Nothing opens them. */
  readonly closed?: readonly ClosedTarget[] | undefined;
}

/** One port of a server. */
export interface ClosedTarget {
  /** In lower case; null for an address. */
  readonly name: string | null;
  readonly addresses: readonly string[];
  readonly port: number;
}

/** The egress settings of the service. Plain data, sent to other threads. */
export interface EgressSetting {
  /** The port that the service actually listens on. */
  readonly ownPort: number;
  /** The memory of {@link ClosedPorts}; read at each connection. */
  readonly closedPorts?: SharedArrayBuffer | undefined;
  /** Names of the service itself. */
  readonly ownNames: readonly string[];
  /** The address of `host.docker.internal`; null if the Docker engine has none. */
  readonly hostAddress: string | null;
  /** Ports of this machine that every session reaches as localhost, if loopback is `forwarded`. */
  readonly forward: readonly number[];
  readonly egress: EgressLists;
  /**
   * `forwarded`: of loopback only the ports in `forward` are reachable, whatever the lists say; for browsers in
   * containers. `open`: all ports that are neither blocked nor denied by the lists; for browsers that are processes of
   * this machine.
   */
  readonly loopback: 'forwarded' | 'open';
}

/** What one session adds to the settings. */
export interface SessionEgress {
  readonly forward: readonly number[];
  readonly egress: EgressLists;
  /** Nothing is reached. */
  readonly closed?: true;
}

/**
 * For the browser of a service that has been killed, until its session is open again: before that, nothing answers
 * requests that are mocked.
 */
export const CLOSED: SessionEgress = { forward: [], egress: {}, closed: true };

/** Where a connection to a host may go, decided before the name is resolved. */
export type Route =
  | { readonly kind: 'refused'; readonly reason: string }
  /** Permitted addresses of this machine, in the order to try them. */
  | { readonly kind: 'loopback'; readonly addresses: readonly string[] }
  /** One address, not yet checked. */
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'name'; readonly name: string };

const HOST_NAME = 'host.docker.internal';
const LOCALHOST: readonly string[] = ['127.0.0.1', '::1'];
const OWN_SERVICE = 'it is the service itself';
const OWN_STORE = 'it is a server that the service itself uses';

/**
 * Decides what pages, scripts and webhooks may reach. Cloud metadata, the service itself, the servers that it uses, and
 * `closedPorts` of this machine are always blocked. Then everything on a deny list is blocked, and if there is an allow list, everything that
 * is not on it. A name is checked as requested and by each address that it resolves to; the spelling of a host does not
 * matter.
 */
export class EgressRules {
  readonly #setting: EgressSetting;
  readonly #forward: ReadonlySet<number>;
  readonly #closedPorts: Pick<ReadonlySet<number>, 'has'>;
  readonly #sharedPorts: ClosedPorts | null;
  readonly #denied: HostPatterns;
  readonly #closed: readonly ClosedTarget[];
  readonly #allowed: readonly HostPatterns[];
  readonly #deniesLoopback: boolean;
  readonly #refusesAll: boolean;

  /**
   * @param closedPorts further blocked ports of this machine besides `ownPort`, read at each connection: the service's
   *   internal listeners
   */
  constructor(
    setting: EgressSetting,
    session: SessionEgress,
    closedPorts: Pick<ReadonlySet<number>, 'has'> = new Set(),
  ) {
    this.#setting = setting;
    this.#refusesAll = session.closed === true;
    this.#forward = new Set([...setting.forward, ...session.forward]);
    this.#closedPorts = closedPorts;
    this.#sharedPorts = setting.closedPorts === undefined ? null : new ClosedPorts(setting.closedPorts);
    this.#closed = setting.egress.closed ?? [];
    this.#denied = new HostPatterns([...(setting.egress.deny ?? []), ...(session.egress.deny ?? [])]);
    this.#allowed = [setting.egress.allow, session.egress.allow].flatMap((list) =>
      list === undefined ? [] : [new HostPatterns(list)],
    );
    // A server on one loopback address often listens on all of them, so any of these entries denies all.
    this.#deniesLoopback =
      this.#denied.hasName('localhost') || LOCALHOST.some((address) => this.#denied.mayReach(address));
  }

  route(host: string, port: number): Route {
    if (this.#refusesAll) return refused('its session is not open again yet');
    const read = readHost(host);
    if (read === null) return refused('it is not a valid host name');
    if (read.kind === 'address') {
      return isLoopback(read.address) ? this.#local(host, port, [read.address]) : read;
    }
    const { name } = read;
    if (isLocalName(name)) return this.#local(name, port, LOCALHOST);
    if (this.#setting.ownNames.includes(name)) return refused(OWN_SERVICE);
    if (this.#closed.some((target) => target.name === name && target.port === port)) return refused(OWN_STORE);
    if (this.#denied.hasName(name)) return refused('its name is denied');
    const { hostAddress, loopback } = this.#setting;
    if (name !== HOST_NAME || loopback === 'open') return read;
    return hostAddress === null
      ? refused('the Docker engine has no address for its host')
      : { kind: 'address', address: hostAddress };
  }

  /**
   * Whether a connection goes to a blocked port of this machine. On a connection to any address of this machine, both
   * ends have the same address.
   */
  isOwn(port: number, localAddress: string | undefined, remoteAddress: string | undefined): boolean {
    if (!this.#isClosed(port)) return false;
    return localAddress === remoteAddress || (remoteAddress !== undefined && isLoopback(remoteAddress));
  }

  /**
   * Whether an open connection goes to what is always blocked: ports of this machine, other nodes, servers that the service
   * uses. They may have been blocked since it was opened.
   */
  closes(port: number, localAddress: string | undefined, remoteAddress: string | undefined): boolean {
    if (remoteAddress !== undefined && this.#isTarget(remoteAddress, port)) return true;
    return this.isOwn(port, localAddress, remoteAddress);
  }

  /** The reason why this address is blocked, or null. `host` is the requested host. */
  refusal(address: string, host: string, port: number): string | null {
    if (parseAddress(address) === null) return 'it is not an address';
    if (isMetadata(address)) return 'it is a metadata address';
    if (this.#isTarget(address, port)) return OWN_STORE;
    if (isLoopback(address)) {
      if (this.#isClosed(port)) return OWN_SERVICE;
      if (this.#setting.loopback === 'forwarded') return 'it is an address of this machine itself';
      if (this.#deniesLoopback) return 'localhost is denied';
    }
    if (this.#denied.mayReach(address)) return 'its address is denied';
    const read = readHost(host);
    const name = read?.kind === 'name' ? read.name : null;
    if (name !== null && this.#denied.hasName(name)) return 'its name is denied';
    if (this.#allowed.every((list) => (name !== null && list.hasName(name)) || list.hasAddress(address))) return null;
    return 'it is not on the allow list';
  }

  #local(host: string, port: number, addresses: readonly string[]): Route {
    if (this.#isClosed(port)) return refused(OWN_SERVICE);
    if (this.#setting.loopback === 'forwarded') {
      if (this.#forward.has(port)) return { kind: 'loopback', addresses: LOCALHOST };
      return refused(`port ${port} of localhost is not forwarded`);
    }
    const reasons = addresses.map((address) => this.refusal(address, host, port));
    const open = addresses.filter((_, at) => reasons[at] === null);
    return open.length > 0 ? { kind: 'loopback', addresses: open } : refused(reasons[0] ?? OWN_SERVICE);
  }

  #isTarget(address: string, port: number): boolean {
    const bytes = parseAddress(address);
    return this.#targetsAt(port).some((own) => isEqual(parseAddress(own), bytes));
  }

  /** The addresses of closed servers that listen at a port. */
  #targetsAt(port: number): readonly string[] {
    const own = this.#closed.flatMap((target) => (target.port === port ? target.addresses : []));
    return [...own, ...(this.#sharedPorts?.addressesAt(port) ?? [])];
  }

  #isClosed(port: number): boolean {
    // A server on one address of this machine may listen on all of them.
    if (this.#targetsAt(port).some(isLoopback)) return true;
    if (port === this.#setting.ownPort || this.#closedPorts.has(port)) return true;
    return this.#sharedPorts?.has(port) ?? false;
  }
}

function isEqual(one: AddressBytes | null, other: AddressBytes | null): boolean {
  return one !== null && other !== null && one.every((byte, at) => byte === other[at]);
}

function refused(reason: string): Route {
  return { kind: 'refused', reason };
}
