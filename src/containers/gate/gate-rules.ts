import { isIP } from 'node:net';
import { AddressRanges, isAddressRange, isLoopback, isMetadata } from '../../net-policy/address-ranges.js';

/** Which places an operator or a session names: host patterns (`shop.test`, `*.shop.test`) and address ranges. */
export interface EgressLists {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

/** What holds for every browser of a service. Plain data: it goes to another thread. */
export interface GateSetting {
  /** The port that the service listens on. */
  readonly ownPort: number;
  /** Names under which people reach the service. */
  readonly ownNames: readonly string[];
  /** The address that `host.docker.internal` stands for; null where the engine has none. */
  readonly hostAddress: string | null;
  /** Ports of this machine that every session reaches as localhost. */
  readonly forward: readonly number[];
  readonly egress: EgressLists;
  readonly loopback?: 'open';
}

/** What one session adds. */
export interface GateWish {
  readonly forward: readonly number[];
  readonly egress: EgressLists;
}

/** Where a request to a name may go, before the name is looked up. */
export type Route =
  | { readonly kind: 'refused'; readonly why: string }
  /** A port of this machine's loopback. */
  | { readonly kind: 'loopback' }
  /** One address; it is still to be admitted. */
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'name'; readonly name: string };

const HOST_NAME = 'host.docker.internal';

/** Whether an entry of `allow` or `deny` is one that {@link GateRules} understands. */
export function isHostPattern(text: string): boolean {
  return isAddressRange(text) || /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(text);
}

/**
 * What the pages of one browser may reach. Cloud metadata, the service itself and this machine's loopback are closed
 * whatever the lists say; ports that are forwarded are open on loopback. Then a denied place is closed, and where there
 * is an `allow` only what it names is open. A name is checked as it was asked for and by each address it leads to.
 */
export class GateRules {
  readonly #setting: GateSetting;
  readonly #wish: GateWish;
  readonly #denied: Places;
  readonly #allowed: readonly Places[];

  constructor(setting: GateSetting, wish: GateWish) {
    this.#setting = setting;
    this.#wish = wish;
    this.#denied = new Places([...(setting.egress.deny ?? []), ...(wish.egress.deny ?? [])]);
    this.#allowed = [setting.egress.allow, wish.egress.allow].flatMap((list) =>
      list === undefined ? [] : [new Places(list)],
    );
  }

  route(host: string, port: number): Route {
    const name = host.toLowerCase().replace(/\.$/, '');
    const address = isIP(name) === 0 ? null : name;
    if (name === 'localhost' || name.endsWith('.localhost') || (address !== null && isLoopback(address))) {
      if (port === this.#setting.ownPort) return { kind: 'refused', why: 'it is the service itself' };
      if (this.#setting.loopback === 'open') return { kind: 'loopback' };
      if ([...this.#setting.forward, ...this.#wish.forward].includes(port)) return { kind: 'loopback' };
      return { kind: 'refused', why: `port ${port} of localhost is not forwarded` };
    }
    if (this.#setting.ownNames.includes(name)) return { kind: 'refused', why: 'it is the service itself' };
    if (this.#denied.hasName(name)) return { kind: 'refused', why: 'its name is denied' };
    if (name === HOST_NAME) {
      const { hostAddress } = this.#setting;
      if (hostAddress === null) return { kind: 'refused', why: 'the Docker engine has no address for its host' };
      return { kind: 'address', address: hostAddress };
    }
    return address === null ? { kind: 'name', name } : { kind: 'address', address };
  }

  /** Whether a connection leads to the service: at its port, from this machine to the same address of this machine. */
  isOwn(port: number, localAddress: string | undefined, remoteAddress: string | undefined): boolean {
    return port === this.#setting.ownPort && localAddress === remoteAddress;
  }

  /** Why this address may not be reached, or null. `host` is what was asked for. */
  refusal(address: string, host: string): string | null {
    if (isMetadata(address)) return 'it is a metadata address';
    if (isLoopback(address)) return 'it leads to this machine itself';
    if (this.#denied.hasAddress(address)) return 'its address is denied';
    const name = host.toLowerCase().replace(/\.$/, '');
    if (this.#allowed.every((places) => places.hasName(name) || places.hasAddress(address))) return null;
    return 'it is not among what is allowed';
  }
}

/** What a list of patterns names. */
class Places {
  readonly #ranges: AddressRanges;
  readonly #names: ReadonlySet<string>;
  readonly #suffixes: readonly string[];

  constructor(patterns: readonly string[]) {
    const lower = patterns.map((pattern) => pattern.toLowerCase());
    const names = lower.filter((pattern) => !isAddressRange(pattern));
    this.#ranges = new AddressRanges(lower.filter(isAddressRange));
    this.#names = new Set(names);
    this.#suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  }

  hasName(name: string): boolean {
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  hasAddress(address: string): boolean {
    return this.#ranges.has(address);
  }
}
