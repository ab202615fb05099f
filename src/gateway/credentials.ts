import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { type AccessTokens, callerOf } from '../auth/access-tokens.js';
import type { SharedSession } from '../auth/share-links.js';
import { FORWARD_HEADER } from '../cluster/forward-seal.js';
import { includesRole, type Role, type TokenInfo } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { Sessions } from '../supervisor/ports/sessions.js';
import { type AccessHeaders, type HostCheckOptions, isReachableFromOtherMachines } from './host-check.js';
import type { HttpRequest } from './http/http-server.js';

/** The caller, as far as the service knows it. */
export interface Principal {
  readonly role: Role;
  /**
   * For the audit log: a token's name; `configured` for the token of the configuration, `open` if no token is required.
   */
  readonly name: string;
  /** Identifies the caller for fair scheduling; null if its address does. */
  readonly caller: string | null;
  /** Set if links alone admit the request. */
  readonly linkScope: LinkScope | null;
  /** Another node has admitted the request, and passed it on. */
  readonly isForwarded?: boolean;
}

/** What the links that were opened in a browser give access to. */
export interface LinkScope {
  /** The visible sessions; none if all links are of handoffs that are over. */
  readonly ids: ReadonlySet<string>;
  /** When the first of the links expires, in milliseconds. */
  readonly until: number;
  /** Open handoffs by session: the links let a person take control for them and answer them. */
  readonly handoffs: ReadonlyMap<string, string>;
}

/** Where links are read. */
type LinkReaders = Pick<Sessions, 'links' | 'handoffLinks'> & {
  readonly connections: Pick<Sessions['connections'], 'openHandoff'>;
};

/** How long a browser stays signed in, in seconds: 30 days. */
const SIGNED_IN_SECONDS = 30 * 24 * 3600;

const OPEN: Principal = { role: 'admin', name: 'open', caller: null, linkScope: null };
const CONFIGURED: Principal = { role: 'admin', name: 'configured', caller: null, linkScope: null };

const SETUP_HINT =
  'This service needs an access token, and there is none: stop it, run `troupe token create NAME --role admin` in its home ' +
  'and start it again, or set "token" in troupe.json';

export interface CredentialsOptions extends HostCheckOptions {
  /** The configured admin token. */
  readonly token?: string | undefined;
}

/** The token that admitted the caller; null if none is required or a link did. */
export function tokenOf(principal: Principal): Pick<Principal, 'name' | 'role'> | null {
  const { name, role, linkScope } = principal;
  return principal === OPEN || linkScope !== null ? null : { name, role };
}

/**
 * Decides which caller a request comes from: by the configured token, by a token of `troupe token create`, or by the
 * cookie that a browser got for either. On loopback every caller is an admin until the first token is created; a
 * service that other machines can reach always requires a token.
 */
export class Credentials {
  readonly #mayBeOpen: boolean;
  readonly #secure: boolean;
  readonly #tokenHash: Buffer | null;
  /** The cookie value for the configured token, derived from it and not reversible. */
  readonly #cookieValue: string | null;

  constructor(options: CredentialsOptions) {
    const { token, publicUrl } = options;
    this.#mayBeOpen = token === undefined && !isReachableFromOtherMachines(options);
    this.#secure = publicUrl?.startsWith('https:') ?? false;
    this.#tokenHash = token === undefined ? null : hash(token);
    this.#cookieValue =
      token === undefined ? null : createHmac('sha256', token).update('dashboard').digest('base64url');
  }

  /** The configuration has an admin token. */
  get configured(): boolean {
    return this.#tokenHash !== null;
  }

  /** Every request needs a token, or a cookie or link in its place. */
  areRequired(tokens: AccessTokens): boolean {
    return !this.#mayBeOpen || tokens.required;
  }

  /** What the owner must do before anybody can sign in, as a sentence; null if that is possible already. */
  setupHint(tokens: AccessTokens): string | null {
    return this.configured || tokens.size > 0 || !this.areRequired(tokens) ? null : SETUP_HINT;
  }

  /**
   * @param request read at once
   * @throws UNAUTHORIZED, also for a request that claims to come from another node and does not
   */
  principalOf(
    headers: AccessHeaders,
    sessions: Pick<Sessions, 'tokens' | 'nodes'> & LinkReaders,
    request: Pick<HttpRequest, 'method' | 'path' | 'query' | 'header'>,
  ): Principal {
    const sealed = request.header(FORWARD_HEADER);
    if (sealed !== '') return principalOfNode(sealed, sessions, request);
    const { tokens } = sessions;
    if (!this.areRequired(tokens)) return OPEN;
    const [, token] = /^bearer +(\S+) *$/i.exec(headers.authorization) ?? [];
    const cookie = cookieIn(headers.cookie, cookieName(headers.host));
    const principal =
      (token === undefined ? null : this.#byToken(token, tokens)) ??
      (cookie === null ? null : this.#byCookie(cookie, tokens)) ??
      byLinks(headers, sessions);
    if (principal === null) {
      throw new TroupeError(
        'UNAUTHORIZED',
        this.setupHint(tokens) ?? 'Send an access token: Authorization: Bearer <token>',
      );
    }
    return principal;
  }

  /**
   * Returns the `Set-Cookie` value that signs a browser in. Only pages of this service send the cookie, and no script
   * can read it (RFC 6265bis: HttpOnly, SameSite=Strict).
   * @param host the request's Host header
   * @throws UNAUTHORIZED for an unknown or revoked token
   */
  signIn(token: string, host: string, tokens: AccessTokens): string {
    const found = tokens.find(token);
    if (found !== null) return this.#cookie(host, tokens.cookieValueOf(found), SIGNED_IN_SECONDS);
    if (this.#cookieValue === null || this.#byToken(token, tokens) === null) {
      throw new TroupeError(
        'UNAUTHORIZED',
        this.setupHint(tokens) ?? 'This token is unknown or was revoked; create one with `troupe token create`',
      );
    }
    return this.#cookie(host, this.#cookieValue, SIGNED_IN_SECONDS);
  }

  /** The `Set-Cookie` value that signs a browser out. */
  signOut(host: string): string {
    return this.#cookie(host, '', 0);
  }

  /** The `Set-Cookie` value for an opened link, kept beside the cookies of other links and of a token. */
  acceptLink(link: string, { id, until, handoff }: SharedSession, host: string): string {
    const name = handoff === null ? `-${id}` : `-${id}-handoff`;
    return this.#cookie(host, link, Math.ceil((until - Date.now()) / 1000), name);
  }

  #byToken(token: string, tokens: AccessTokens): Principal | null {
    if (this.#tokenHash !== null && timingSafeEqual(hash(token), this.#tokenHash)) return CONFIGURED;
    return principalOfToken(tokens.find(token));
  }

  #byCookie(value: string, tokens: AccessTokens): Principal | null {
    if (this.#cookieValue !== null && timingSafeEqual(hash(value), hash(this.#cookieValue))) return CONFIGURED;
    return principalOfToken(tokens.findByCookie(value));
  }

  #cookie(host: string, value: string, seconds: number, suffix = ''): string {
    const secure = this.#secure ? '; Secure' : '';
    return `${cookieName(host)}${suffix}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }
}

/** @throws FORBIDDEN if the role is not sufficient */
export function checkRole(principal: Principal, wanted: Role): void {
  if (includesRole(principal.role, wanted)) return;
  throw new TroupeError(
    'FORBIDDEN',
    `This needs a token with the role ${wanted}; the token "${principal.name}" has the role ${principal.role}`,
  );
}

/** Who may use a route or a WebSocket. */
export interface AccessRule {
  /** Null if no token is needed. */
  readonly role: Role | null;
  /** A link gives access to it, for its session. */
  readonly shared: boolean;
  /** A link of an open handoff gives access to it, for its session, whatever the role. */
  readonly forHandoff?: boolean;
}

/**
 * @param id the session that the request is about
 * @throws FORBIDDEN
 */
export function checkAccess(principal: Principal, rule: AccessRule, id: string | null | undefined): void {
  if (rule.role === null) return;
  if (rule.forHandoff && principal.linkScope?.handoffs.has(id ?? '')) return;
  checkLinkScope(principal, rule.shared, id);
  checkRole(principal, rule.role);
}

/**
 * A link gives access to what is marked `shared`, for its own session only.
 * @throws FORBIDDEN
 */
export function checkLinkScope({ linkScope }: Principal, shared: boolean, id: string | null | undefined): void {
  if (linkScope === null || (shared && linkScope.ids.has(id ?? ''))) return;
  assertUseful(linkScope);
  throw new TroupeError('FORBIDDEN', 'A share link gives access to its session only; sign in with a token');
}

/** @throws FORBIDDEN if all links are of handoffs that are over */
export function assertUseful(linkScope: LinkScope | null): void {
  if (linkScope === null || linkScope.ids.size > 0) return;
  throw new TroupeError('FORBIDDEN', 'The script no longer waits for a person, so this link no longer works');
}

function principalOfNode(
  sealed: string,
  { nodes, connections }: Pick<Sessions, 'nodes'> & LinkReaders,
  { method, path, query }: Pick<HttpRequest, 'method' | 'path' | 'query'>,
): Principal {
  if (nodes === null) {
    throw new TroupeError(
      'UNAUTHORIZED',
      `The header ${FORWARD_HEADER} is for nodes, and this service is alone; omit it`,
    );
  }
  const { caller, role, session, handoff } = nodes.open(sealed, {
    method: method.toUpperCase(),
    path: query === '' ? path : `${path}?${query}`,
  });
  const forwarded = { role, name: 'forwarded', caller: caller === '' ? null : caller, isForwarded: true };
  if (handoff === undefined || session === null) return { ...forwarded, linkScope: null };
  const isOpen = connections.openHandoff(session) === handoff;
  // The other node ends what it passes on when the link expires.
  const until = Number.POSITIVE_INFINITY;
  const linkScope = { ids: new Set(isOpen ? [session] : []), until, handoffs: new Map([[session, handoff]]) };
  return { ...forwarded, linkScope: isOpen ? linkScope : { ...linkScope, handoffs: new Map() } };
}

function principalOfToken(token: TokenInfo | null): Principal | null {
  return token === null ? null : { role: token.role, name: token.name, caller: callerOf(token), linkScope: null };
}

/** The links that were opened in this browser; null if none is valid. */
function byLinks({ cookie, host }: AccessHeaders, { links, handoffLinks, connections }: LinkReaders): Principal | null {
  const opened = new Map<string, number>();
  const handoffs = new Map<string, string>();
  let isKnown = false;
  const prefix = `${cookieName(host)}-`;
  for (const pair of cookie.split(/; */)) {
    if (!pair.startsWith(prefix)) continue;
    const link = pair.slice(pair.indexOf('=') + 1);
    const shared = links.read(link) ?? handoffLinks.verify(link);
    if (shared === null) continue;
    isKnown = true;
    const { id, until, handoff } = shared;
    if (handoff !== null) {
      if (!handoffLinks.isValid(shared) || connections.openHandoff(id) !== handoff) continue;
      handoffs.set(id, handoff);
    }
    opened.set(id, Math.min(until, opened.get(id) ?? until));
  }
  if (!isKnown) return null;
  const linkScope = { ids: new Set(opened.keys()), until: Math.min(...opened.values()), handoffs };
  return { role: 'view', name: 'link', caller: null, linkScope };
}

/**
 * Browsers send a host's cookies to all its ports: without the port in the name, two services on one machine would sign
 * each other out.
 */
function cookieName(host: string): string {
  return `troupe${/:(\d{1,5})$/.exec(host)?.[1] ?? ''}`;
}

function cookieIn(header: string, name: string): string | null {
  for (const pair of header.split(/; */)) {
    if (pair.startsWith(`${name}=`)) return pair.slice(name.length + 1);
  }
  return null;
}

/** Hashes have equal length, which timingSafeEqual needs, and hide the token's length. */
function hash(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
