import { AddressRanges } from './address-ranges.js';

type AddressKind = 'metadata' | 'loopback';

/** Special addresses that are blocked by kind. All checks use this table. */
const BLOCKED: readonly (readonly [range: string, place: AddressKind])[] = [
  // Cloud metadata services, which return a machine's configuration and credentials. No page, script or webhook needs
  // them.
  ['169.254.0.0/16', 'metadata'], // link-local: AWS, GCP, Azure, ECS, EKS, OpenStack, Oracle, DigitalOcean, Hetzner
  ['fe80::/10', 'metadata'], // link-local over IPv6: OpenStack's fe80::a9fe:a9fe
  ['fd00:ec2::/32', 'metadata'], // AWS over IPv6
  ['fd20:ce::254', 'metadata'], // GCP over IPv6
  ['fd00:42::42', 'metadata'], // Scaleway over IPv6
  ['100.100.100.200', 'metadata'], // Alibaba
  ['168.63.129.16', 'metadata'], // Azure's host
  ['192.0.0.192', 'metadata'], // Oracle
  // Loopback addresses. A connection to 0.0.0.0 or :: goes to loopback too.
  ['127.0.0.0/8', 'loopback'],
  ['::1', 'loopback'],
  ['0.0.0.0/8', 'loopback'],
  ['::', 'loopback'],
];

const rangesOf = (kind: AddressKind): AddressRanges =>
  new AddressRanges(BLOCKED.filter(([, entryKind]) => entryKind === kind).map(([range]) => range));
const metadata = rangesOf('metadata');
const loopback = rangesOf('loopback');

/** Whether a cloud's metadata service may be behind this address. Blocked for everybody, whatever the lists say. */
export function isMetadata(address: string): boolean {
  return metadata.mayReach(address);
}

/** Whether this address may reach this machine itself. */
export function isLoopback(address: string): boolean {
  return loopback.mayReach(address);
}
