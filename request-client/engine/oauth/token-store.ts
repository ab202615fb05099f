import { createHash } from 'node:crypto';
import { TroupeError } from '#troupe/protocol/errors.js';
import { isCredentialHeader } from '../collection/secret-names.js';
import { type LoginOptions, logIn } from './log-in.js';
import type { OAuthSettings } from './oauth-settings.js';
import { type GrantedToken, jwtExpiry } from './token-answer.js';
import { isRefusal, requestToken } from './token-endpoint.js';

export interface TokenStoreOptions extends LoginOptions {
  /** Milliseconds since 1970; for tests. */
  readonly now?: () => number;
}

interface CachedToken {
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** Milliseconds since 1970; null: until a server rejects it. */
  readonly expiresAt: number | null;
  /** A server rejected it: only its refresh token is still useful. */
  readonly refused: boolean;
}

export type TokenState =
  | { readonly state: 'none' }
  | { readonly state: 'cached'; readonly expiresAt: number | null; readonly refreshable: boolean };

/** One token request for all callers that want this token. It is cancelled when no caller waits any more. */
interface Flight {
  readonly token: Promise<string>;
  readonly stop: AbortController;
  waiting: number;
}

/** How long before its expiry a token is refreshed. */
const EARLY_MS = 60_000;
const MAX_MASKED = 1000;
/** For each configuration. */
const MAX_ORIGINS = 1000;

/**
 * The access tokens of this process, in memory only. For each configuration (every resolved field counts) there is one
 * token, and one request at a time:
 *
 *     none --token()--> fetching --> cached --within 60 s of its end, or refused--> refreshing --> cached
 *                          |                                                            |
 *                          +--> none (failed)          the provider refuses: fetching --+
 *                                                      no answer: cached as before, the caller gets the fault
 */
export class TokenStore {
  readonly #options: TokenStoreOptions;
  readonly #now: () => number;
  readonly #cached = new Map<string, CachedToken>();
  readonly #flights = new Map<string, Flight>();
  /** By configuration: the origins that also rejected a token that replaced a rejected one. */
  readonly #rejecting = new Map<string, Set<string>>();
  /** All secrets that were used, for {@link mask}. */
  readonly #secrets = new Set<string>();

  constructor(options: TokenStoreOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /**
   * A token that should be valid, from the cache if possible.
   * @throws LOGIN_FAILED, REQUEST_FAILED, or the signal's reason; the request continues while other callers wait for it
   */
  async token(settings: OAuthSettings, signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    const key = keyOf(settings);
    const cached = this.#cached.get(key);
    if (cached !== undefined && this.#isGood(cached)) return cached.accessToken;
    const flight = this.#flights.get(key) ?? this.#start(key, settings);
    return await this.#join(flight, signal);
  }

  /**
   * Call this if a server answered 401: the token is not used again, unless this origin rejected its successor before.
   * @returns whether another one can be obtained without opening a browser, and might help
   */
  refused(settings: OAuthSettings, accessToken: string, origin: string): boolean {
    const key = keyOf(settings);
    if (this.#rejecting.get(key)?.has(origin) === true) return false;
    const cached = this.#cached.get(key);
    // Another caller reported it before, and there is a newer token.
    if (cached === undefined || cached.accessToken !== accessToken) return cached !== undefined;
    this.#cached.set(key, { ...cached, refused: true });
    return cached.refreshToken !== null || settings.grantType === 'client_credentials';
  }

  /**
   * Call this with the answer to a fresh token. An origin that rejects this one too rejects the client, not the token:
   * the next 401 of it costs no refresh. Any other answer ends that.
   */
  replaced(settings: OAuthSettings, origin: string, accepted: boolean): void {
    const key = keyOf(settings);
    const origins = this.#rejecting.get(key) ?? new Set();
    if (accepted) origins.delete(origin);
    else if (origins.size < MAX_ORIGINS) origins.add(origin);
    this.#rejecting.set(key, origins);
  }

  /** The state of a configuration's token, without the token. */
  state(settings: OAuthSettings): TokenState {
    const cached = this.#cached.get(keyOf(settings));
    if (cached === undefined) return { state: 'none' };
    return { state: 'cached', expiresAt: cached.expiresAt, refreshable: cached.refreshToken !== null };
  }

  /** Removes the token of a configuration. */
  forget(settings: OAuthSettings): void {
    this.#cached.delete(keyOf(settings));
    this.#rejecting.delete(keyOf(settings));
  }

  /** Masks all tokens and secrets that were used here. */
  mask(text: string): string {
    let masked = text;
    for (const secret of this.#secrets) masked = masked.replaceAll(secret, '********');
    return masked;
  }

  #isGood({ expiresAt, refused }: CachedToken): boolean {
    return !refused && (expiresAt === null || this.#now() < expiresAt - EARLY_MS);
  }

  #start(key: string, settings: OAuthSettings): Flight {
    const stop = new AbortController();
    const token = this.#fetch(key, settings, stop.signal).finally(() => this.#flights.delete(key));
    // Waiting callers get the failure; without any it is ignored.
    token.catch(() => undefined);
    const flight: Flight = { token, stop, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  async #join(flight: Flight, signal: AbortSignal | undefined): Promise<string> {
    flight.waiting += 1;
    let onAbort = (): void => undefined;
    const left = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal?.reason);
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([flight.token, left]);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      flight.waiting -= 1;
      if (flight.waiting === 0) flight.stop.abort(new TroupeError('UNAVAILABLE', 'The login was cancelled'));
    }
  }

  async #fetch(key: string, settings: OAuthSettings, signal: AbortSignal): Promise<string> {
    this.#remember(settings.clientSecret);
    for (const { name, value } of settings.parameters) if (isCredentialHeader(name)) this.#remember(value);
    const cached = this.#cached.get(key);
    try {
      const granted =
        (await this.#refreshed(key, settings, cached, signal)) ?? (await logIn(settings, this.#options, signal));
      this.#remember(granted.accessToken);
      this.#remember(granted.refreshToken ?? '');
      this.#cached.set(key, {
        accessToken: granted.accessToken,
        // RFC 6749, section 6: without a new refresh token the old one stays valid.
        refreshToken: granted.refreshToken ?? cached?.refreshToken ?? null,
        expiresAt: granted.expiresIn === null ? jwtExpiry(granted.accessToken) : this.#now() + granted.expiresIn * 1000,
        refused: false,
      });
      return granted.accessToken;
    } catch (error) {
      throw this.#masked(error);
    }
  }

  /** Null if there is no refresh token, or the provider rejects it. Network faults are thrown. */
  async #refreshed(
    key: string,
    settings: OAuthSettings,
    cached: CachedToken | undefined,
    signal: AbortSignal,
  ): Promise<GrantedToken | null> {
    const refreshToken = cached?.refreshToken ?? null;
    if (refreshToken === null) return null;
    try {
      const grant = { grant_type: 'refresh_token', refresh_token: refreshToken };
      return await requestToken(settings, grant, signal, this.#options);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#cached.delete(key);
      return null;
    }
  }

  /** Providers repeat parts of the request in their errors. */
  #masked(error: unknown): unknown {
    if (!(error instanceof TroupeError)) return error;
    return new TroupeError(error.code, this.mask(error.message), error.details, { cause: error });
  }

  #remember(secret: string): void {
    if (secret.length < 4) return;
    this.#secrets.add(secret);
    const [oldest] = this.#secrets;
    if (this.#secrets.size > MAX_MASKED && oldest !== undefined) this.#secrets.delete(oldest);
  }
}

/** Identifies a configuration: a digest, so that secrets are not keys of a map that might be printed. */
export function keyOf(settings: OAuthSettings): string {
  const fields = Object.entries(settings).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}
