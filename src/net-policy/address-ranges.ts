import { isIP } from 'node:net';
import { type AddressBytes, embeddedIPv4, isMapped, nat64Target, parseAddress } from './address.js';

/** Whether a text is an address or a range of addresses: `10.0.0.0/8`, `::1`. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const kind = isIP(address);
  if (kind === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128));
}

interface Range {
  readonly bytes: AddressBytes;
  /** The length of the prefix, of 128 bits. */
  readonly bits: number;
}

/** A set of addresses, compared as bytes, so their spelling does not matter. */
export class AddressRanges {
  readonly #ranges: readonly Range[];

  /** @param ranges each valid by {@link isAddressRange}; invalid ones are ignored */
  constructor(ranges: readonly string[]) {
    this.#ranges = ranges.flatMap((range): Range[] => {
      const [address = '', bits] = range.split('/');
      const bytes = parseAddress(address);
      if (bytes === null) return [];
      const shift = isIP(address) === 4 ? 96 : 0;
      return [{ bytes, bits: bits === undefined ? 128 : shift + Number(bits) }];
    });
  }

  /**
   * Whether the set contains this address. IPv4 is also found if mapped into IPv6 or behind the well-known NAT64
   * prefix.
   */
  has(address: string): boolean {
    const bytes = parseAddress(address);
    if (bytes === null) return false;
    const translated = nat64Target(bytes);
    return this.#holds(bytes) || (translated !== null && this.#holds(translated));
  }

  /** Whether this address may reach an address of the set in any way, also by translation or tunnels. For blocking. */
  mayReach(address: string): boolean {
    const bytes = parseAddress(address);
    if (bytes === null) return false;
    if (this.#holds(bytes)) return true;
    return !isMapped(bytes) && embeddedIPv4(bytes).some((inner) => this.#holds(inner));
  }

  #holds(address: AddressBytes): boolean {
    return this.#ranges.some(({ bytes, bits }) => sameBits(bytes, address, bits));
  }
}

function sameBits(one: AddressBytes, other: AddressBytes, bits: number): boolean {
  for (let at = 0; at * 8 < bits; at += 1) {
    const left = bits - at * 8;
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if ((((one[at] ?? 0) ^ (other[at] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}
