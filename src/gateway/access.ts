import { TroupeError } from '../protocol/errors.js';

export interface AccessOptions {
  /** What the service listens on; a client may call it so. */
  readonly host: string;
  readonly publicUrl?: string | undefined;
  /** `name` (any port) or `name:port`. */
  readonly allowedHosts: readonly string[];
}

/** The headers that decide who may enter; empty where there is none. */
export interface AccessHeaders {
  readonly host: string;
  readonly origin: string;
  readonly authorization: string;
  readonly cookie: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The service listens for other machines, or a proxy passes their requests on: it has a name that is not loopback's.
 * Whoever asks then is not known to be a user of this machine.
 */
export function isReachedFromElsewhere({ host, publicUrl, allowedHosts }: AccessOptions): boolean {
  const names = [
    bracketed(host.toLowerCase()),
    ...allowedHosts.map((allowed) => parsePlace(allowed.toLowerCase())?.name),
  ];
  if (publicUrl !== undefined) names.push(new URL(publicUrl).hostname);
  const local = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;
  return names.some((name) => name === undefined || !local.test(name));
}

/**
 * For whom the service may be asked at all. The Host header must name this service, so that a foreign name which resolves to this machine (DNS
 * rebinding) gets nothing. An Origin, which browsers send when a page asks, must be the service's own: same host and
 * same port, since a page that is under test on another local port is a stranger too.
 */
export class Access {
  /** Where it listens: a name for the Host header, and for no page but its own. */
  readonly #ownName: string;
  readonly #names: ReadonlySet<string>;
  readonly #nameAndPorts: ReadonlySet<string>;
  readonly #publicUrl: URL | null;

  constructor(options: AccessOptions) {
    const names = new Set<string>();
    const nameAndPorts = new Set<string>();
    this.#ownName = bracketed(options.host).toLowerCase();
    for (const allowed of options.allowedHosts) {
      const place = parsePlace(allowed.toLowerCase());
      if (place) (place.port === '' ? names : nameAndPorts).add(join(place));
    }
    this.#publicUrl = options.publicUrl === undefined ? null : new URL(options.publicUrl);
    this.#names = names;
    this.#nameAndPorts = nameAndPorts;
  }

  /** Whether the request was meant for this service. @throws FORBIDDEN_ORIGIN */
  checkPlace(headers: AccessHeaders): void {
    const host = parsePlace(headers.host.toLowerCase());
    if (
      !host ||
      !(LOOPBACK.has(host.name) || host.name === this.#ownName || this.#isPublic(host) || this.#allowed(host))
    ) {
      const sentence = `The Host header names ${quote(headers.host)}, which is not this service`;
      throw new TroupeError('FORBIDDEN_ORIGIN', `${sentence}; add it to allowedHosts, or set publicUrl`);
    }
    if (headers.origin !== '' && !this.#ownOrigin(headers.origin.toLowerCase(), host)) {
      const sentence = `The Origin header names ${quote(headers.origin)}, which is not this service`;
      throw new TroupeError('FORBIDDEN_ORIGIN', `${sentence}; set publicUrl if a proxy is in front of it`);
    }
  }

  #allowed(place: Place): boolean {
    return this.#names.has(place.name) || this.#nameAndPorts.has(join(place));
  }

  #isPublic(place: Place): boolean {
    const url = this.#publicUrl;
    if (!url || place.name !== url.hostname) return false;
    const defaultPort = defaultPortOf(url.protocol);
    return (place.port || defaultPort) === (url.port || defaultPort);
  }

  #ownOrigin(origin: string, host: Place): boolean {
    const [, protocol, authority] = /^(https?:)\/\/(.+)$/.exec(origin) ?? [];
    const place = parsePlace(authority ?? '');
    if (!place || protocol === undefined) return false;
    if (this.#allowed(place)) return true;
    // Its scheme counts too: who can forge a page under http is not the service under https.
    if (this.#isPublic(place)) return protocol === this.#publicUrl?.protocol;
    const defaultPort = defaultPortOf(protocol);
    const samePort = (place.port || defaultPort) === (host.port || defaultPort);
    return samePort && (place.name === host.name || (LOOPBACK.has(place.name) && LOOPBACK.has(host.name)));
  }
}

interface Place {
  readonly name: string;
  readonly port: string;
}

function parsePlace(text: string): Place | null {
  const [, name, port] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  return name === undefined ? null : { name, port: port ?? '' };
}

function defaultPortOf(protocol: string): string {
  return protocol === 'https:' ? '443' : '80';
}

function join(place: Place): string {
  return place.port === '' ? place.name : `${place.name}:${place.port}`;
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function quote(header: string): string {
  return header === '' ? 'nothing' : JSON.stringify(header.slice(0, 200));
}
