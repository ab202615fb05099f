import { AddressRanges } from './address-ranges.js';

type Place = 'metadata' | 'loopback';

/** Addresses that are nobody's on the network. Everything here that closes such a place reads this table. */
const TABLE: readonly (readonly [range: string, place: Place])[] = [
  // Where clouds keep what a machine may know of itself, its credentials too. No page, script or webhook needs these.
  ['169.254.0.0/16', 'metadata'], // link-local: AWS, GCP, Azure, ECS, EKS, OpenStack, Oracle, DigitalOcean, Hetzner
  ['fe80::/10', 'metadata'], // link-local over IPv6: OpenStack's fe80::a9fe:a9fe
  ['fd00:ec2::/32', 'metadata'], // AWS over IPv6
  ['fd20:ce::254', 'metadata'], // GCP over IPv6
  ['fd00:42::42', 'metadata'], // Scaleway over IPv6
  ['100.100.100.200', 'metadata'], // Alibaba
  ['168.63.129.16', 'metadata'], // Azure's host
  ['192.0.0.192', 'metadata'], // Oracle
  // This machine by its own names for itself. A connection to 0.0.0.0 or :: is one to loopback.
  ['127.0.0.0/8', 'loopback'],
  ['::1', 'loopback'],
  ['0.0.0.0/8', 'loopback'],
  ['::', 'loopback'],
];

const rangesOf = (place: Place): AddressRanges =>
  new AddressRanges(TABLE.filter(([, kind]) => kind === place).map(([range]) => range));
const metadata = rangesOf('metadata');
const loopback = rangesOf('loopback');

/** Whether a cloud's metadata service may be behind this address. Closed to everybody, whatever lists say. */
export function isMetadata(address: string): boolean {
  return metadata.leadsInto(address);
}

/** Whether this address may lead to this machine itself. */
export function isLoopback(address: string): boolean {
  return loopback.leadsInto(address);
}
