import { Cookie, CookieJar as Jar } from 'tough-cookie';
import { TroupeError } from '#troupe/protocol/errors.js';
import type { CookieKey, CookieRow } from '../../protocol/request-settings.js';
import { asObject, textOf } from '../collection/json-access.js';
import type { CookieAccess } from './cookie-access.js';

/** More cookies are not kept, as in browsers: the oldest go first. */
const MAX_COOKIES = 3000;

/** The cookies of a run or a window, in memory. What a server sets is sent back to it by the rules of RFC 6265. */
export class CookieJar implements CookieAccess {
  readonly #jar = new Jar(null, { looseMode: true, rejectPublicSuffixes: true });

  /** The value of the Cookie header for a request; empty if there is no cookie for it. */
  async header(url: string): Promise<string> {
    return URL.canParse(url) ? await this.#jar.getCookieString(url) : '';
  }

  /** Keeps what a Set-Cookie header asks for; what the server must not set is ignored, as browsers do. */
  async take(url: string, setCookie: readonly string[]): Promise<void> {
    for (const text of setCookie) {
      const cookie = Cookie.parse(text, { loose: true });
      if (cookie !== undefined) await this.#jar.setCookie(dated(cookie), url, { ignoreError: true });
    }
    if (setCookie.length > 0) await this.#trim();
  }

  async all(url: string): Promise<readonly object[]> {
    if (!URL.canParse(url)) return [];
    return (await this.#jar.getCookies(url)).map(described);
  }

  async set(url: string, given: unknown): Promise<object> {
    const cookie = typeof given === 'string' ? Cookie.parse(given, { loose: true }) : made(given);
    if (cookie === undefined) throw new TypeError('The cookie needs a name');
    const kept = await this.#jar.setCookie(dated(cookie), withScheme(url));
    await this.#trim();
    return described(kept ?? cookie);
  }

  async remove(url: string, name: string): Promise<void> {
    for (const { domain, path, key } of await this.#jar.getCookies(withScheme(url))) {
      if (key === name && domain !== null) await this.#jar.store.removeCookie(domain, path ?? '/', key);
    }
  }

  async clear(url: string): Promise<void> {
    for (const { domain, path, key } of await this.#jar.getCookies(withScheme(url))) {
      if (domain !== null) await this.#jar.store.removeCookie(domain, path ?? '/', key);
    }
  }

  /** All cookies that have not expired, by domain, path and name. */
  async list(): Promise<CookieRow[]> {
    const all = await this.#jar.store.getAllCookies();
    return all
      .filter((cookie) => cookie.TTL() > 0)
      .map((cookie) => ({
        name: cookie.key,
        value: cookie.value,
        domain: cookie.domain ?? '',
        path: cookie.path ?? '/',
        expires: cookie.expires instanceof Date ? cookie.expires.toISOString() : null,
        secure: cookie.secure,
        httpOnly: cookie.httpOnly,
        hostOnly: cookie.hostOnly ?? true,
      }))
      .sort((a, b) => compare(a.domain, b.domain) || compare(a.path, b.path) || compare(a.name, b.name));
  }

  /** Adds a cookie, or replaces the one with its domain, path and name. @throws INVALID_REQUEST */
  async put({ name, value, domain, path, expires, secure, httpOnly, hostOnly }: CookieRow): Promise<void> {
    const host = domain.trim().toLowerCase().replace(/^\./, '');
    const until = expires === null ? null : new Date(expires);
    if (!URL.canParse(`http://${host}/`) || /[/?#@\s]/.test(host)) throw wrong(`'${domain}' is not a host name`);
    if (!path.startsWith('/')) throw wrong('The path of a cookie begins with /');
    if (/[\s;=,]/.test(name) || /[;\r\n]/.test(value)) throw wrong('A cookie must not contain ; or line breaks');
    if (until !== null && Number.isNaN(until.getTime())) throw wrong(`'${expires}' is not a time`);
    const cookie = new Cookie({
      key: name,
      value,
      domain: host,
      path,
      secure,
      httpOnly,
      hostOnly,
      ...(until === null ? {} : { expires: until }),
    });
    await this.#jar.store.putCookie(cookie);
    await this.#trim();
  }

  async delete({ domain, path, name }: CookieKey): Promise<void> {
    await this.#jar.store.removeCookie(domain, path, name);
  }

  async deleteAll(): Promise<void> {
    await this.#jar.removeAllCookies();
  }

  async #trim(): Promise<void> {
    const all = await this.#jar.store.getAllCookies();
    const tooMany = all.length - MAX_COOKIES;
    if (tooMany <= 0) return;
    const oldest = all.sort((a, b) => a.creationIndex - b.creationIndex).slice(0, tooMany);
    for (const { domain, path, key } of oldest) await this.#jar.store.removeCookie(domain ?? '', path ?? '/', key);
  }
}

/** Max-Age as a time: it counts from now, and takes precedence over Expires. */
function dated(cookie: Cookie): Cookie {
  if (typeof cookie.maxAge !== 'number') return cookie;
  const until = new Date(cookie.maxAge <= 0 ? 0 : Date.now() + cookie.maxAge * 1000);
  cookie.expires = Number.isNaN(until.getTime()) ? 'Infinity' : until;
  cookie.maxAge = null;
  return cookie;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function wrong(message: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', message);
}

function withScheme(url: string): string {
  return url.includes('://') ? url : `http://${url}`;
}

function made(given: unknown): Cookie | undefined {
  const { name, value, domain, path, secure, httpOnly, expires, maxAge } = asObject(given) ?? {};
  const key = textOf(name);
  if (key === undefined) return undefined;
  const until = textOf(expires);
  return new Cookie({
    key,
    value: textOf(value) ?? '',
    ...(textOf(domain) === undefined ? {} : { domain: textOf(domain) ?? '' }),
    ...(textOf(path) === undefined ? {} : { path: textOf(path) ?? '/' }),
    ...(secure === true ? { secure } : {}),
    ...(httpOnly === true ? { httpOnly } : {}),
    ...(until === undefined ? {} : { expires: new Date(until) }),
    ...(typeof maxAge === 'number' ? { maxAge } : {}),
  });
}

function described({ key, value, domain, path, secure, httpOnly, hostOnly, expires }: Cookie): object {
  return {
    name: key,
    value,
    domain,
    path,
    secure,
    httpOnly,
    hostOnly,
    expires: expires instanceof Date ? expires.toISOString() : null,
  };
}
