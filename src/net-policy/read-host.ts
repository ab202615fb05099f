import { formatAddress, parseAddress } from './address.js';

/** A host as everything here compares it. */
export type Host =
  | { readonly kind: 'address'; readonly address: string }
  /** In lower case, without the dot at its end, international names in `xn--` form. */
  | { readonly kind: 'name'; readonly name: string };

/** What would end the host and begin another part of a URL, and blanks. */
const NO_HOST = /[\s/?#@\\:[\]]/;
const DOTS_AT_END = /[.\u3002\uff0e\uff61]+$/u;

/**
 * Reads a host in any spelling that URL parsers or resolvers understand: IPv4 as one number, in hexadecimal, octal or short
 * form, full-width digits, dots at the end, IPv6 in brackets or with a zone. Null where it is no host.
 */
export function readHost(text: string): Host | null {
  const plain = text.trim().replace(/^\[(.*)\]$/s, '$1');
  const written = parseAddress(plain);
  if (written !== null) return { kind: 'address', address: formatAddress(written) };
  const host = plain.replace(DOTS_AT_END, '');
  if (host === '' || NO_HOST.test(host) || !URL.canParse(`http://${host}/`)) return null;
  const name = new URL(`http://${host}/`).hostname.replace(DOTS_AT_END, '');
  const address = parseAddress(name);
  if (address !== null) return { kind: 'address', address: formatAddress(address) };
  return name === '' ? null : { kind: 'name', name };
}

/** Whether a name, as {@link readHost} writes it, is this machine's by definition (RFC 6761). */
export function isLocalName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}
