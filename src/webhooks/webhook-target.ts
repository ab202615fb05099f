import { isIP } from 'node:net';
import { isLoopback, isMetadata } from '../net-policy/address-ranges.js';

/** Why an address may not be sent to; null where it may. */
export type TargetRule = (address: string, port: number) => string | null;

/** Nothing is sent to where clouds keep their machines' credentials, nor to the service itself. */
export function targetRule(ownPort: number): TargetRule {
  return (address, port) => {
    if (isMetadata(address)) return 'it is a metadata address';
    if (isLoopback(address) && port === ownPort) return 'it is the service itself';
    return null;
  };
}

/** Why a target is refused before its name was looked up; null where nothing is wrong so far. */
export function targetFault(url: URL, rule: TargetRule): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'a webhook is http or https';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const address = host === 'localhost' || host.endsWith('.localhost') ? '127.0.0.1' : host;
  return isIP(address) === 0 ? null : rule(address, portOf(url));
}

export function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80));
}
