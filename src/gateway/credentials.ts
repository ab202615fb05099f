import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type AccessTokens, callerOf } from '../auth/access-tokens.js';
import type { SharedSession, ShareLinks } from '../auth/share-links.js';
import { includesRole, type Role, type TokenInfo } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { type AccessHeaders, type AccessOptions, isReachedFromElsewhere } from './access.js';

/** Who asks, as far as the service knows. */
export interface Principal {
  readonly role: Role;
  /** For the audit line: a token's name; `configured` for the one of the configuration, `open` where none is wanted. */
  readonly name: string;
  /** What tells it from others where callers take turns; null where its address does. */
  readonly caller: string | null;
  /** What a link shows, where nothing else lets the request in: these sessions alone, until the first of their links is over. */
  readonly sees: { readonly ids: ReadonlySet<string>; readonly until: number } | null;
}

/** A month, in seconds: how long a browser stays signed in. */
const SIGNED_IN_SECONDS = 30 * 24 * 3600;

const OPEN: Principal = { role: 'admin', name: 'open', caller: null, sees: null };
const CONFIGURED: Principal = { role: 'admin', name: 'configured', caller: null, sees: null };

const WAY_IN =
  'This service needs an access token, and there is none: stop it, run `troupe token create NAME --role admin` in its home ' +
  'and start it again, or set "token" in troupe.json';

export interface CredentialsOptions extends AccessOptions {
  /** The configured admin's. */
  readonly token?: string | undefined;
}

/** The token that lets someone in; null where none is wanted, or a link does. */
export function tokenOf(principal: Principal): Pick<Principal, 'name' | 'role'> | null {
  const { name, role, sees } = principal;
  return principal === OPEN || sees !== null ? null : { name, role };
}

/**
 * What a request brings, and whom it stands for: the token of the configuration, one that was made with
 * `troupe token create`, or the cookie that a browser was given for either. On loopback everybody is an admin until the
 * first token is made; a service that other machines reach is never open.
 */
export class Credentials {
  readonly #mayBeOpen: boolean;
  readonly #secure: boolean;
  readonly #tokenHash: Buffer | null;
  /** What the cookie of a browser holds that was told the token; it does not tell the token. */
  readonly #pass: string | null;

  constructor(options: CredentialsOptions) {
    const { token, publicUrl } = options;
    this.#mayBeOpen = token === undefined && !isReachedFromElsewhere(options);
    this.#secure = publicUrl?.startsWith('https:') ?? false;
    this.#tokenHash = token === undefined ? null : hash(token);
    this.#pass = token === undefined ? null : createHmac('sha256', token).update('dashboard').digest('base64url');
  }

  /** There is an admin beside the tokens that were made. */
  get configured(): boolean {
    return this.#tokenHash !== null;
  }

  /** Every request needs a token, or what was given in its place. */
  areWanted(tokens: AccessTokens): boolean {
    return !this.#mayBeOpen || tokens.closed;
  }

  /** Null where a token opens the service; otherwise what its owner must do first, as a sentence. */
  wayIn(tokens: AccessTokens): string | null {
    return this.configured || tokens.size > 0 || !this.areWanted(tokens) ? null : WAY_IN;
  }

  /** @throws UNAUTHORIZED */
  principalOf(headers: AccessHeaders, { tokens, links }: Pick<Sessions, 'tokens' | 'links'>): Principal {
    if (!this.areWanted(tokens)) return OPEN;
    const [, token] = /^bearer +(\S+) *$/i.exec(headers.authorization) ?? [];
    const cookie = cookieIn(headers.cookie, cookieName(headers.host));
    const principal =
      (token === undefined ? null : this.#byToken(token, tokens)) ??
      (cookie === null ? null : this.#byPass(cookie, tokens)) ??
      byLinks(headers, links);
    if (principal === null) {
      throw new TroupeError(
        'UNAUTHORIZED',
        this.wayIn(tokens) ?? 'Send an access token: Authorization: Bearer <token>',
      );
    }
    return principal;
  }

  /**
   * The cookie, as `Set-Cookie` has it, that lets a browser in from now on: only pages of this service send it, and none
   * can read it (RFC 6265bis: HttpOnly, SameSite=Strict).
   * @param host the request's Host header
   * @throws UNAUTHORIZED for a token that opens nothing
   */
  signIn(token: string, host: string, tokens: AccessTokens): string {
    const found = tokens.find(token);
    if (found !== null) return this.#cookie(host, tokens.passOf(found), SIGNED_IN_SECONDS);
    if (this.#pass === null || this.#byToken(token, tokens) === null) {
      throw new TroupeError(
        'UNAUTHORIZED',
        this.wayIn(tokens) ?? 'This is not a token of this service: it is unknown or was revoked',
      );
    }
    return this.#cookie(host, this.#pass, SIGNED_IN_SECONDS);
  }

  /** The cookie that ends it. */
  signOut(host: string): string {
    return this.#cookie(host, '', 0);
  }

  /** The cookie of a browser that has opened a link, beside those of other links and of a token. */
  acceptLink(link: string, { id, until }: SharedSession, host: string): string {
    return this.#cookie(host, link, Math.ceil((until - Date.now()) / 1000), `-${id}`);
  }

  #byToken(token: string, tokens: AccessTokens): Principal | null {
    if (this.#tokenHash !== null && timingSafeEqual(hash(token), this.#tokenHash)) return CONFIGURED;
    return holderOf(tokens.find(token));
  }

  #byPass(pass: string, tokens: AccessTokens): Principal | null {
    if (this.#pass !== null && timingSafeEqual(hash(pass), hash(this.#pass))) return CONFIGURED;
    return holderOf(tokens.findPass(pass));
  }

  #cookie(host: string, value: string, seconds: number, suffix = ''): string {
    const secure = this.#secure ? '; Secure' : '';
    return `${cookieName(host)}${suffix}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

/** @throws FORBIDDEN where the role is not enough */
export function checkRole(principal: Principal, wanted: Role): void {
  if (includesRole(principal.role, wanted)) return;
  throw new TroupeError(
    'FORBIDDEN',
    `This needs a token with the role ${wanted}; the token "${principal.name}" has ${principal.role}`,
  );
}

/**
 * A link opens what is marked for it, of its own session.
 * @throws FORBIDDEN
 */
export function checkSight({ sees }: Principal, shared: boolean, id: string | null | undefined): void {
  if (sees === null || (shared && sees.ids.has(id ?? ''))) return;
  throw new TroupeError('FORBIDDEN', 'The link shows one session, and nothing else');
}

function holderOf(token: TokenInfo | null): Principal | null {
  return token === null ? null : { role: token.role, name: token.name, caller: callerOf(token), sees: null };
}

/** Links that were opened in this browser; null where there is none that counts. */
function byLinks({ cookie, host }: AccessHeaders, links: ShareLinks): Principal | null {
  const opened = new Map<string, number>();
  const prefix = `${cookieName(host)}-`;
  for (const pair of cookie.split(/; */)) {
    if (!pair.startsWith(prefix)) continue;
    const shared = links.read(pair.slice(pair.indexOf('=') + 1));
    if (shared !== null) opened.set(shared.id, shared.until);
  }
  if (opened.size === 0) return null;
  const sees = { ids: new Set(opened.keys()), until: Math.min(...opened.values()) };
  return { role: 'view', name: 'link', caller: null, sees };
}

/** Browsers send a host's cookies to all its ports: two services on one machine must not sign each other out. */
function cookieName(host: string): string {
  return `troupe${/:(\d{1,5})$/.exec(host)?.[1] ?? ''}`;
}

function cookieIn(header: string, name: string): string | null {
  for (const pair of header.split(/; */)) {
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1);
  }
  return null;
}

/** Hashes have one length, as timingSafeEqual wants, and hide the token's. */
function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
