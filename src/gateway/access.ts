import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { TroupeError } from '../protocol/errors.js';

export interface AccessOptions {
  /** What the service listens on; a client may call it so. */
  readonly host: string;
  readonly publicUrl?: string | undefined;
  /** `name` (any port) or `name:port`. */
  readonly allowedHosts: readonly string[];
  readonly token?: string | undefined;
}

/** The headers that decide who may enter; empty where there is none. */
export interface AccessHeaders {
  readonly host: string;
  readonly origin: string;
  readonly authorization: string;
  readonly cookie: string;
}

/** A month, in seconds: how long a browser stays signed in. */
const SIGNED_IN_SECONDS = 30 * 24 * 3600;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Who may enter. The Host header must name this service, so that a foreign name which resolves to this machine (DNS
 * rebinding) gets nothing. An Origin, which browsers send when a page asks, must be the service's own: same host and
 * same port, since a page that is under test on another local port is a stranger too.
 */
export class Access {
  /** Where it listens: a name for the Host header, and for no page but its own. */
  readonly #ownName: string;
  readonly #names: ReadonlySet<string>;
  readonly #nameAndPorts: ReadonlySet<string>;
  readonly #publicUrl: URL | null;
  readonly #tokenHash: Buffer | null;
  /** What the cookie of a browser holds that was told the token; it does not tell the token. */
  readonly #pass: string | null;

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
    this.#tokenHash = options.token === undefined ? null : hash(options.token);
    this.#pass =
      options.token === undefined ? null : createHmac('sha256', options.token).update('dashboard').digest('base64url');
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
      throw new TroupeError('FORBIDDEN_ORIGIN', `${sentence}; set publicUrl where a proxy stands in front of it`);
    }
  }

  /** Whether the request brings what is asked for: a token, or the cookie of {@link signIn}. @throws UNAUTHORIZED */
  checkToken(headers: AccessHeaders): void {
    if (this.#tokenHash === null || this.#pass === null) return;
    if (this.#authorized(headers.authorization, this.#tokenHash)) return;
    const cookie = cookieIn(headers.cookie, cookieName(headers.host));
    if (cookie !== null && timingSafeEqual(hash(cookie), hash(this.#pass))) return;
    throw new TroupeError('UNAUTHORIZED', 'This service wants a header Authorization: Bearer <token>');
  }

  /**
   * The cookie, as `Set-Cookie` has it, that lets a browser in from now on: only pages of this service send it, and none
   * can read it (RFC 6265bis: HttpOnly, SameSite=Strict).
   * @param host the request's Host header
   * @throws UNAUTHORIZED for another token
   */
  signIn(token: string, host: string): string {
    if (this.#tokenHash === null || this.#pass === null || !timingSafeEqual(hash(token), this.#tokenHash)) {
      throw new TroupeError('UNAUTHORIZED', 'That is not the token of this service');
    }
    return this.#cookie(host, this.#pass, SIGNED_IN_SECONDS);
  }

  /** The cookie that ends it. */
  signOut(host: string): string {
    return this.#cookie(host, '', 0);
  }

  #cookie(host: string, value: string, seconds: number): string {
    const secure = this.#publicUrl?.protocol === 'https:' ? '; Secure' : '';
    return `${cookieName(host)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
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

  #authorized(header: string, expected: Buffer): boolean {
    const [, token] = /^bearer +(\S+) *$/i.exec(header) ?? [];
    return token !== undefined && timingSafeEqual(hash(token), expected);
  }
}

/** Browsers send a host's cookies to all its ports: two services on one machine must not sign each other out. */
function cookieName(host: string): string {
  return `troupe${parsePlace(host.toLowerCase())?.port ?? ''}`;
}

function cookieIn(header: string, name: string): string | null {
  for (const pair of header.split(/; */)) {
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1);
  }
  return null;
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

/** Hashes have one length, as timingSafeEqual wants, and hide the token's. */
function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
