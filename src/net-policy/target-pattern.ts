import { HostPatterns, isHostPattern } from './host-pattern.js';
import { readHost } from './read-host.js';

interface Target {
  readonly hosts: HostPatterns;
  /** Null for any port. */
  readonly port: number | null;
}

/**
 * Whether a text is a host pattern, optionally with a port: `ci.test`, `127.0.0.1:8080`, `[::1]:8080`, `10.0.0.0/8`.
 */
export function isTargetPattern(text: string): boolean {
  return isHostPattern(text) || split(text) !== null;
}

/** A list of such patterns. */
export class TargetPatterns {
  readonly #targets: readonly Target[];

  /** @param patterns each valid by {@link isTargetPattern} */
  constructor(patterns: readonly string[]) {
    this.#targets = patterns.map((pattern) => {
      const { host, port } = isHostPattern(pattern) ? { host: pattern, port: null } : (split(pattern) ?? NOTHING);
      return { hosts: new HostPatterns([host]), port };
    });
  }

  /** @param host the requested host, which resolves to `address` */
  matches(host: string, address: string, port: number): boolean {
    const read = readHost(host);
    return this.#targets.some(
      ({ hosts, port: only }) =>
        (only === null || only === port) &&
        (hosts.hasAddress(address) || (read?.kind === 'name' && hosts.hasName(read.name))),
    );
  }
}

const NOTHING = { host: '', port: 0 };

function split(text: string): { readonly host: string; readonly port: number } | null {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  return isHostPattern(host) && Number(port) > 0 && Number(port) < 65_536 ? { host, port: Number(port) } : null;
}
