import { isTargetPattern, TargetPatterns } from '../../net-policy/target-pattern.js';
import { TroupeError } from '../../protocol/errors.js';
import { basic } from '../basic-auth.js';
import type { RequestTarget } from '../run/request-target.js';
import type { ProxySettings } from './connection-settings.js';

/** A proxy server to connect to. */
export interface Proxy {
  /** The connection to the proxy itself uses TLS. */
  readonly secure: boolean;
  readonly hostname: string;
  readonly port: number;
  /** The value of Proxy-Authorization; null without a login. */
  readonly authorization: string | null;
  /** Host and port, for messages: a login is never shown. */
  readonly shown: string;
}

/** Which requests go through which proxy. */
export class ProxyRules {
  readonly #http: Proxy | null;
  readonly #https: Proxy | null;
  readonly #bypassesAll: boolean;
  readonly #bypass: TargetPatterns;

  /** @throws INVALID_REQUEST if a proxy's URL cannot be used */
  constructor({ http, https, bypass }: ProxySettings) {
    this.#http = readProxy(http);
    this.#https = readProxy(https);
    const entries = bypass.map((entry) => entry.trim());
    this.#bypassesAll = entries.includes('*');
    this.#bypass = new TargetPatterns(entries.flatMap(withSubdomains).filter(isTargetPattern));
  }

  /** Null for a direct connection. */
  proxyFor({ secure, hostname, port }: Pick<RequestTarget, 'secure' | 'hostname' | 'port'>): Proxy | null {
    const proxy = secure ? this.#https : this.#http;
    if (proxy === null || this.#bypassesAll || this.#bypass.matches(hostname, hostname, port)) return null;
    return proxy;
  }
}

/** `shop.test`, `.shop.test` and `*.shop.test` all mean the name and everything below it, as for curl. */
function withSubdomains(entry: string): readonly string[] {
  const name = entry.replace(/^\*?\./, '');
  return [name, `*.${name}`];
}

/**
 * Null for an empty text. Without a scheme it is an HTTP proxy, as for curl.
 * @throws INVALID_REQUEST, without the password
 */
export function readProxy(text: string): Proxy | null {
  const written = text.trim();
  if (written === '') return null;
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`;
  const shown = full.replace(/\/\/[^/]*@/, '//');
  if (!URL.canParse(full)) {
    throw new TroupeError('INVALID_REQUEST', `The proxy ${shown} is not a URL such as http://proxy.example:3128`);
  }
  const { protocol, hostname, port, username, password } = new URL(full);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TroupeError(
      'INVALID_REQUEST',
      `The proxy ${shown} cannot be used: ${protocol}// is not supported; use an http:// or https:// proxy`,
    );
  }
  const secure = protocol === 'https:';
  const used = port === '' ? (secure ? 443 : 80) : Number(port);
  return {
    secure,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: used,
    authorization:
      username === '' && password === ''
        ? null
        : basic({ username: decodeURIComponent(username), password: decodeURIComponent(password) }),
    shown: `${hostname}:${used}`,
  };
}
