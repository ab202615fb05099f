import { formatAddress, parseAddress } from './address.js';

/** A host in the normalized form for comparisons. */
export type Host =
  | { readonly kind: 'address'; readonly address: string }
  /** In lower case, without a trailing dot, international names in `xn--` form. */
  | { readonly kind: 'name'; readonly name: string };

/** Characters that would end the host in a URL, and whitespace. */
const NO_HOST = /[\s/?#@\\:[\]]/;
const DOTS_AT_END = /[.\u3002\uff0e\uff61]+$/u;

/**
 * Normalizes a host in any spelling that URL parsers or resolvers accept: IPv4 as one number, in hexadecimal, octal or
 * short form, full-width digits, trailing dots, IPv6 in brackets or with a zone. Null if it is not a host.
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

/** Whether a name, in the form of {@link readHost}, is this machine's by definition (RFC 6761). */
export function isLocalName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost');
}
