import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';

/** Whether an address, or a name that every machine has for itself, is this machine's. */
export function isThisMachine(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost');
  if (host === '::1' || /^127\./.test(host) || /^::ffff:7f/.test(host)) return true;
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === host));
}

/** The host of a URL, an IPv6 address without its brackets. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}

/** Whether something accepts connections at the URL's address. Nothing is sent. */
export function listens(url: string): Promise<boolean> {
  const { port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostOf(url), port: Number(port || (protocol === 'https:' ? 443 : 80)) });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}

/**
 * The URL of a service that listens on a name, with the address that it listens on: the name may have several, and another
 * program may listen on the others.
 */
export async function withAddress(url: string): Promise<string> {
  const host = hostOf(url);
  if (isIP(host) !== 0) return url;
  for (const { address, family } of await lookup(host, { all: true }).catch(() => [])) {
    const { port, protocol } = new URL(url);
    const literal = `${protocol}//${family === 6 ? `[${address}]` : address}${port === '' ? '' : `:${port}`}`;
    if (isThisMachine(address) && (await listens(literal))) return literal;
  }
  return url;
}
