import { percentDecoded } from '#troupe/base/percent-decoded.js';
import type { ProxySettings } from '#troupe/config/connection-settings.js';
import { isTargetPattern, TargetPatterns } from '#troupe/net-policy/target-pattern.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { basic } from '../basic-auth.js';
import type { RequestTarget } from '../run/request-target.js';

/** A proxy server to connect to. */
export interface ProxyAddress {
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
  readonly #settings: ProxySettings;
  readonly #bypassesAll: boolean;
  readonly #bypass: TargetPatterns;

  constructor(settings: ProxySettings) {
    this.#settings = settings;
    const entries = settings.bypass.map((entry) => entry.trim());
    this.#bypassesAll = entries.includes('*');
    this.#bypass = new TargetPatterns(entries.flatMap(withSubdomains).filter(isTargetPattern));
  }

  /** Null for a direct connection. @throws REQUEST_FAILED if the proxy's URL cannot be used */
  proxyFor({ secure, hostname, port }: Pick<RequestTarget, 'secure' | 'hostname' | 'port'>): ProxyAddress | null {
    const { http, https } = this.#settings;
    const proxy = readProxy(secure ? https : http);
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
 * @throws REQUEST_FAILED, without the password
 */
export function readProxy(text: string): ProxyAddress | null {
  const written = text.trim();
  if (written === '') return null;
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(written) ? written : `http://${written}`;
  const shown = full.replace(/\/\/[^/]*@/, '//');
  if (!URL.canParse(full)) {
    throw new TroupeError('REQUEST_FAILED', `The proxy ${shown} is not a URL such as http://proxy.example:3128`);
  }
  const { protocol, hostname, port, username, password } = new URL(full);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new TroupeError(
      'REQUEST_FAILED',
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
        : basic({ username: percentDecoded(username), password: percentDecoded(password) }),
    shown: `${hostname}:${used}`,
  };
}
