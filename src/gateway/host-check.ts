import { TroupeError } from '../protocol/errors.js';

export interface HostCheckOptions {
  /** The address that the service listens on. Clients may use it as the Host. */
  readonly host: string;
  readonly publicUrl?: string | undefined;
  /** `name` (any port) or `name:port`. */
  readonly allowedHosts: readonly string[];
}

/** The headers that decide whether a request is admitted; '' for an absent one. */
export interface AccessHeaders {
  readonly host: string;
  readonly origin: string;
  readonly authorization: string;
  readonly cookie: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Whether other machines can reach the service, directly or through a proxy: one of its names is not a loopback name.
 * Then a request may come from somebody who is not a user of this machine.
 */
export function isReachableFromOtherMachines({ host, publicUrl, allowedHosts }: HostCheckOptions): boolean {
  const names = [
    bracketed(host.toLowerCase()),
    ...allowedHosts.map((allowed) => parseHost(allowed.toLowerCase())?.name),
  ];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  const local = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/s;
  return names.some((name) => name === undefined || !local.test(name));
}

/**
 * Checks that a request is meant for this service and comes from its own pages. The Host header must name this service,
 * so that a foreign name that resolves to this machine (DNS rebinding) gets nothing. An Origin header, which browsers
 * send for requests of a page, must be the service's own, with the same host and port: a page under test on another
 * local port is foreign too.
 */
export class HostCheck {
  /** The address it listens on: accepted as the Host; an Origin must also have the Host's port. */
  readonly #ownName: string;
  readonly #names: ReadonlySet<string>;
  readonly #nameAndPorts: ReadonlySet<string>;
  readonly #publicUrl: URL | null;

  constructor(options: HostCheckOptions) {
    const names = new Set<string>();
    const nameAndPorts = new Set<string>();
    this.#ownName = bracketed(options.host).toLowerCase();
    for (const allowed of options.allowedHosts) {
      const parsed = parseHost(allowed.toLowerCase());
      if (parsed) (parsed.port === '' ? names : nameAndPorts).add(join(parsed));
    }
    this.#publicUrl = options.publicUrl === undefined ? null : new URL(options.publicUrl);
    this.#names = names;
    this.#nameAndPorts = nameAndPorts;
  }

  /** @throws FORBIDDEN_ORIGIN unless Host and Origin are this service's */
  check(headers: AccessHeaders): void {
    const host = parseHost(headers.host.toLowerCase());
    if (
      !host ||
      !(LOOPBACK.has(host.name) || host.name === this.#ownName || this.#isPublic(host) || this.#allowed(host))
    ) {
      const problem = `The Host header is ${quote(headers.host)}, which is not a name of this service`;
      throw new TroupeError('FORBIDDEN_ORIGIN', `${problem}; add it to allowedHosts or set publicUrl`);
    }
    if (headers.origin !== '' && !this.#ownOrigin(headers.origin.toLowerCase(), host)) {
      const problem = `The Origin header is ${quote(headers.origin)}, which is not this service`;
      throw new TroupeError('FORBIDDEN_ORIGIN', `${problem}; set publicUrl if a proxy is in front of it`);
    }
  }

  #allowed(parsed: HostAndPort): boolean {
    return this.#names.has(parsed.name) || this.#nameAndPorts.has(join(parsed));
  }

  #isPublic(parsed: HostAndPort): boolean {
    const url = this.#publicUrl;
    if (!url || parsed.name !== url.hostname) return false;
    const defaultPort = defaultPortOf(url.protocol);
    return (parsed.port || defaultPort) === (url.port || defaultPort);
  }

  #ownOrigin(origin: string, host: HostAndPort): boolean {
    const [, protocol, authority] = /^(https?:)\/\/(.+)$/s.exec(origin) ?? [];
    const parsed = parseHost(authority ?? '');
    if (!parsed || protocol === undefined) return false;
    if (this.#allowed(parsed)) return true;
    // The scheme counts too: somebody who can forge a page under http must not pass as the service under https.
    if (this.#isPublic(parsed)) return protocol === this.#publicUrl?.protocol;
    const defaultPort = defaultPortOf(protocol);
    const samePort = (parsed.port || defaultPort) === (host.port || defaultPort);
    return samePort && (parsed.name === host.name || (LOOPBACK.has(parsed.name) && LOOPBACK.has(host.name)));
  }
}

interface HostAndPort {
  readonly name: string;
  readonly port: string;
}

function parseHost(text: string): HostAndPort | null {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return name === undefined ? null : { name, port: port ?? '' };
}

function defaultPortOf(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

function join(parsed: HostAndPort): string {
  return parsed.port === '' ? parsed.name : `${parsed.name}:${parsed.port}`;
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function quote(header: string): string {
  return header === '' ? 'empty' : JSON.stringify(header.slice(0, 200));
}
