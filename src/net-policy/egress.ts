import { parseAddress } from './address.js';
import { isLoopback, isMetadata } from './closed-places.js';
import { HostPatterns } from './host-pattern.js';
import { isLocalName, readHost } from './read-host.js';

/** Which places an operator or a session names: host patterns (`shop.test`, `*.shop.test`) and address ranges. */
export interface EgressLists {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** What holds for everything that a service lets out. Plain data: it goes to other threads. */
export interface EgressSetting {
  /** The port that the service listens on: the one it has, not the one it asked for. */
  readonly ownPort: number;
  /** Names under which people reach the service. */
  readonly ownNames: readonly string[];
  /** The address that `host.docker.internal` stands for; null where the engine has none. */
  readonly hostAddress: string | null;
  /** Ports of this machine that every session reaches as localhost, where loopback is `forwarded`. */
  readonly forward: readonly number[];
  readonly egress: EgressLists;
  /**
   * `forwarded`: of loopback only the ports of `forward` are open, whatever the lists say: for browsers in containers.
   * `open`: all of it but closed ports, as far as the lists leave it open: for what runs as processes of this machine.
   */
  readonly loopback: 'forwarded' | 'open';
}

/** What one session adds. */
export interface EgressWish {
  readonly forward: readonly number[];
  readonly egress: EgressLists;
}

/** Where a request to a host may go, before a name is looked up. */
export type Route =
  | { readonly kind: 'refused'; readonly why: string }
  /** Addresses of this machine itself, admitted, in the order to try them. */
  | { readonly kind: 'loopback'; readonly addresses: readonly string[] }
  /** One address; it is still to be admitted. */
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'name'; readonly name: string };

const HOST_NAME = 'host.docker.internal';
const LOCALHOST: readonly string[] = ['127.0.0.1', '::1'];
const OWN = 'it is the service itself';

/**
 * What pages, scripts and webhooks may reach. Cloud metadata and the service itself are closed whatever the lists say, and
 * so are `closedPorts` of this machine. Then a denied place is closed, and where there is an `allow` only what it names is
 * open. A name is checked as it was asked for and by each address that it leads to; how a host is spelled makes no
 * difference.
 */
export class EgressRules {
  readonly #setting: EgressSetting;
  readonly #forward: ReadonlySet<number>;
  readonly #closedPorts: Pick<ReadonlySet<number>, 'has'>;
  readonly #denied: HostPatterns;
  readonly #allowed: readonly HostPatterns[];
  readonly #deniesLoopback: boolean;

  /**
   * @param closedPorts ports of this machine that are closed beside `ownPort`, asked anew at each connection: those of
   * listeners that a service has for itself
   */
  constructor(setting: EgressSetting, wish: EgressWish, closedPorts: Pick<ReadonlySet<number>, 'has'> = new Set()) {
    this.#setting = setting;
    this.#forward = new Set([...setting.forward, ...wish.forward]);
    this.#closedPorts = closedPorts;
    this.#denied = new HostPatterns([...(setting.egress.deny ?? []), ...(wish.egress.deny ?? [])]);
    this.#allowed = [setting.egress.allow, wish.egress.allow].flatMap((list) =>
      list === undefined ? [] : [new HostPatterns(list)],
    );
    // What listens on one of its addresses often listens on all: they are one place, by any of these entries.
    this.#deniesLoopback =
      this.#denied.hasName('localhost') || LOCALHOST.some((address) => this.#denied.closesAddress(address));
  }

  route(host: string, port: number): Route {
    const read = readHost(host);
    if (read === null) return refused('it is not a host name');
    if (read.kind === 'address') {
      return isLoopback(read.address) ? this.#local(host, port, [read.address]) : read;
    }
    const { name } = read;
    if (isLocalName(name)) return this.#local(name, port, LOCALHOST);
    if (this.#setting.ownNames.includes(name)) return refused(OWN);
    if (this.#denied.hasName(name)) return refused('its name is denied');
    const { hostAddress, loopback } = this.#setting;
    if (name !== HOST_NAME || loopback === 'open') return read;
    return hostAddress === null
      ? refused('the Docker engine has no address for its host')
      : { kind: 'address', address: hostAddress };
  }

  /** Whether a connection leads to a closed port of this machine. To any address of this machine it comes from that same one. */
  isOwn(port: number, localAddress: string | undefined, remoteAddress: string | undefined): boolean {
    if (!this.#isClosed(port)) return false;
    return localAddress === remoteAddress || (remoteAddress !== undefined && isLoopback(remoteAddress));
  }

  /** Why this address may not be reached, or null. `host` is what was asked for. */
  refusal(address: string, host: string, port: number): string | null {
    if (parseAddress(address) === null) return 'it is not an address';
    if (isMetadata(address)) return 'it is a metadata address';
    if (isLoopback(address)) {
      if (this.#isClosed(port)) return OWN;
      if (this.#setting.loopback === 'forwarded') return 'it leads to this machine itself';
      if (this.#deniesLoopback) return 'localhost is denied';
    }
    if (this.#denied.closesAddress(address)) return 'its address is denied';
    const read = readHost(host);
    const name = read?.kind === 'name' ? read.name : null;
    if (name !== null && this.#denied.hasName(name)) return 'its name is denied';
    if (this.#allowed.every((list) => (name !== null && list.hasName(name)) || list.hasAddress(address))) return null;
    return 'it is not among what is allowed';
  }

  #local(host: string, port: number, addresses: readonly string[]): Route {
    if (this.#isClosed(port)) return refused(OWN);
    if (this.#setting.loopback === 'forwarded') {
      if (this.#forward.has(port)) return { kind: 'loopback', addresses: LOCALHOST };
      return refused(`port ${port} of localhost is not forwarded`);
    }
    const whys = addresses.map((address) => this.refusal(address, host, port));
    const open = addresses.filter((_, at) => whys[at] === null);
    return open.length > 0 ? { kind: 'loopback', addresses: open } : refused(whys[0] ?? OWN);
  }

  #isClosed(port: number): boolean {
    return port === this.#setting.ownPort || this.#closedPorts.has(port);
  }
}

function refused(why: string): Route {
  return { kind: 'refused', why };
}
