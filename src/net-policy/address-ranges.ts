import { BlockList, isIP, isIPv4 } from 'node:net';

/** Where clouds keep what a machine may know of itself, its credentials too; never a place that a page needs. */
const METADATA: readonly string[] = [
  '169.254.0.0/16', // link-local: AWS, GCP, Azure, ECS and most others
  'fe80::/10',
  'fd00:ec2::/32', // AWS over IPv6
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure's host
  '192.0.0.192', // Oracle
];
/** This machine by any of its own names for itself. */
const LOOPBACK: readonly string[] = ['127.0.0.0/8', '0.0.0.0/8', '::1', '::'];

/** `10.0.0.0/8`, `::1`: an address, or a range of them. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const kind = isIP(address);
  if (kind === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128));
}

/** A set of addresses. IPv4 rules hold for the same addresses written as IPv6, mapped or translated, too. */
export class AddressRanges {
  readonly #list = new BlockList();

  /** @param ranges each an {@link isAddressRange} */
  constructor(ranges: readonly string[]) {
    for (const range of ranges) {
      const [address = '', bits] = range.split('/');
      const family = isIPv4(address) ? 'ipv4' : 'ipv6';
      if (bits === undefined) this.#list.addAddress(address, family);
      else this.#list.addSubnet(address, Number(bits), family);
    }
  }

  has(address: string): boolean {
    const plain = withoutZone(address);
    const inner = translated(plain);
    if (inner !== null && this.#list.check(inner, 'ipv4')) return true;
    return this.#list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  }
}

const metadata = new AddressRanges(METADATA);
const loopback = new AddressRanges(LOOPBACK);

export function isMetadata(address: string): boolean {
  return metadata.has(address);
}

export function isLoopback(address: string): boolean {
  return loopback.has(address);
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

/** The IPv4 address that a NAT64 address leads to (RFC 6052, the well-known prefix), or null. */
function translated(address: string): string | null {
  const found = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (found === null) return /^64:ff9b::([\d.]+)$/i.exec(address)?.[1] ?? null;
  const [high = 0, low = 0] = found.slice(1).map((part) => Number.parseInt(part, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
