import { AddressRanges, isAddressRange } from './address-ranges.js';
import { readHost } from './read-host.js';

/** The forms of a list entry, for messages. */
export const HOST_PATTERN = 'a host name, *.domain, an address or a range such as 10.0.0.0/8';

/** Whether {@link HostPatterns} supports a list entry. */
export function isHostPattern(text: string): boolean {
  if (isAddressRange(text)) return true;
  if (!/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/i.test(text)) return false;
  const host = readHost(text.replace('*.', ''));
  return host?.kind === 'name' || (host?.kind === 'address' && !text.startsWith('*.'));
}

/** A host or a `*.domain` in one spelling, for comparisons; null if it is not one. */
export function normalizedHost(text: string): string | null {
  const host = readHost(text.replace(/^\*\./, ''));
  if (host === null) return null;
  return host.kind === 'address' ? host.address : `${text.startsWith('*.') ? '*.' : ''}${host.name}`;
}

/** A list of host patterns: `shop.test`, `*.shop.test`, addresses in any spelling, ranges. */
export class HostPatterns {
  readonly #ranges: AddressRanges;
  readonly #names: ReadonlySet<string>;
  readonly #suffixes: readonly string[];

  /** @param patterns each valid by {@link isHostPattern} */
  constructor(patterns: readonly string[]) {
    const ranges: string[] = [];
    const names: string[] = [];
    for (const pattern of patterns) {
      const host = isAddressRange(pattern) ? null : readHost(pattern);
      if (host === null) ranges.push(pattern);
      else if (host.kind === 'address') ranges.push(host.address);
      else names.push(host.name);
    }
    this.#ranges = new AddressRanges(ranges);
    this.#names = new Set(names);
    this.#suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  }

  /** @param name in the form of `readHost` */
  hasName(name: string): boolean {
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  /** Whether the list contains this address. For allowing. */
  hasAddress(address: string): boolean {
    return this.#ranges.has(address);
  }

  /** Whether this address may reach an address of the list. For blocking. */
  mayReach(address: string): boolean {
    return this.#ranges.mayReach(address);
  }
}
