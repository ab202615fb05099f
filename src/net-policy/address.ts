import { isIP, isIPv4 } from 'node:net';

/** An IP address as 16 bytes in network order. IPv4 is `::ffff:a.b.c.d`, so that each address has one form. */
export type AddressBytes = readonly number[];

const MAPPED: AddressBytes = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** Parses an address as sockets and resolvers write it, with or without a zone; null if it is none. */
export function parseAddress(text: string): AddressBytes | null {
  const plain = text.replace(/%.*$/s, '');
  if (isIPv4(plain)) return ipv4(plain.split('.').map(Number));
  if (isIP(plain) === 0) return null;
  const [head = '', tail] = plain.split('::');
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  return [...before, ...Array<number>(16 - before.length - after.length).fill(0), ...after];
}

/** The usual shortest form; IPv4 in dotted notation. */
export function formatAddress(bytes: AddressBytes): string {
  if (isMapped(bytes)) return bytes.slice(12).join('.');
  const pairs = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return new URL(`http://[${pairs.join(':')}]/`).hostname.slice(1, -1);
}

export function isMapped(bytes: AddressBytes): boolean {
  return beginsWith(bytes, MAPPED);
}

/** The IPv4 address in a NAT64 address with the well-known prefix (RFC 6052), or null. */
export function nat64Target(bytes: AddressBytes): AddressBytes | null {
  return beginsWith(bytes, [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]) ? ipv4(bytes.slice(12)) : null;
}

/**
 * Every IPv4 address that an IPv6 address may reach by translation or a tunnel; several if the form is ambiguous. For
 * blocking addresses, not for allowing them.
 */
export function embeddedIPv4(bytes: AddressBytes): readonly AddressBytes[] {
  const at = (...places: readonly number[]): AddressBytes => ipv4(places.map((place) => bytes[place] ?? 0));
  const last = at(12, 13, 14, 15);
  const found: AddressBytes[] = [];
  const nat64 = nat64Target(bytes);
  if (nat64 !== null) found.push(nat64);
  // IPv4-compatible (RFC 4291) and IPv4-translated (RFC 2765).
  if (isZero(bytes, 0, 12)) found.push(last);
  if (beginsWith(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0])) found.push(last);
  // Local-use NAT64 (RFC 8215): the operator chooses the length of the prefix, which decides where the address is.
  if (beginsWith(bytes, [0, 0x64, 0xff, 0x9b, 0, 1])) {
    const layouts = [at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12), last];
    // The other layouts have zeros there.
    found.push(...layouts.filter((address) => (address[12] ?? 0) !== 0));
    if (isZero(bytes, 6, 12)) found.push(last);
  }
  // 6to4 (RFC 3056).
  if (beginsWith(bytes, [0x20, 0x02])) found.push(at(2, 3, 4, 5));
  // Teredo (RFC 4380): the server, and the client with inverted bits.
  if (beginsWith(bytes, [0x20, 0x01, 0, 0])) {
    if (!isZero(bytes, 4, 8)) found.push(at(4, 5, 6, 7));
    found.push(ipv4(bytes.slice(12).map((byte) => byte ^ 0xff)));
  }
  // ISATAP (RFC 5214), below any prefix.
  if (((bytes[8] ?? 0) & 0xfd) === 0 && isZero(bytes, 9, 10) && bytes[10] === 0x5e && bytes[11] === 0xfe) {
    found.push(last);
  }
  return found;
}

function ipv4(four: readonly number[]): AddressBytes {
  return [...MAPPED, ...four];
}

/** The bytes of groups separated by colons; the last group may be an IPv4 address. */
function groups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

function beginsWith(bytes: AddressBytes, prefix: readonly number[]): boolean {
  return prefix.every((byte, at) => bytes[at] === byte);
}

function isZero(bytes: AddressBytes, from: number, to: number): boolean {
  return bytes.slice(from, to).every((byte) => byte === 0);
}
