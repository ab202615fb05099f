import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import type { Journal } from '../journal/journal.js';
import { type CreatedToken, type Role, TokenInfo, type TokenLimits, type TokenRequest } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { RequestVault } from './request-vault.js';

const MAX_TOKENS = 10_000;
const SECRET_BYTES = 32;
const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 12;

/** Written with the first token: without it, a home whose last token was revoked would be open to everybody again. */
const CLOSED = { kind: 'access', id: 'closed', data: {} } as const;

/** A token in the journal: only its SHA-256, since a random value of 256 bits needs no salt and no slow hash. */
const StoredToken = TokenInfo.extend({ hash: z.string() });
type StoredToken = z.infer<typeof StoredToken>;

export interface AccessTokenParts {
  readonly journal: Pick<Journal, 'write' | 'keyValues'>;
  readonly vault: Pick<RequestVault, 'fingerprint'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log?: (line: string) => void;
}

/** Identifies a token's caller for fair scheduling and limits. */
export function callerOf({ id }: Pick<TokenInfo, 'id'>): string {
  return `token:${id}`;
}

/**
 * The access tokens of `troupe token create`. All are in memory, so that a request costs one hash and no disk access; a
 * change takes effect when it is on disk. From the first token on every request needs one, even after the last one was
 * revoked.
 */
export class AccessTokens {
  readonly #parts: AccessTokenParts;
  readonly #byHash = new Map<string, StoredToken>();
  readonly #byId = new Map<string, StoredToken>();
  /**
   * Tokens that are being revoked. Without it, two admins could be revoked at the same time, each because the other
   * still exists.
   */
  readonly #revoking = new Set<StoredToken>();
  #required = false;
  /** Counts changes made here. */
  #changes = 0;

  /** Without tokens; {@link AccessTokens.open} reads the stored ones. */
  constructor(parts: AccessTokenParts) {
    this.#parts = parts;
  }

  static async open(parts: AccessTokenParts): Promise<AccessTokens> {
    const tokens = new AccessTokens(parts);
    await tokens.refresh();
    return tokens;
  }

  /** Reads the tokens again, which another node may have changed. @throws the journal's error; nothing is changed then */
  async refresh(): Promise<void> {
    const { journal, log } = this.#parts;
    const changes = this.#changes;
    const [rows, closed] = [await journal.keyValues('token'), await journal.keyValues(CLOSED.kind)];
    // One that was created or revoked here meanwhile may be missing or contained; the next call reads it.
    if (changes !== this.#changes) return;
    this.#byId.clear();
    this.#byHash.clear();
    for (const { id, data } of rows) {
      const stored = StoredToken.safeParse(data);
      if (stored.success) this.#add(stored.data);
      else log?.(`access token ${id} is damaged in the journal and cannot be used; create another one`);
    }
    this.#required ||= rows.length + closed.length > 0;
  }

  /** A token exists or once existed, so callers must send one. */
  get required(): boolean {
    return this.#required;
  }

  /** The number of tokens. */
  get size(): number {
    return this.#byId.size;
  }

  /**
   * Creates a token. Its secret is in this answer only.
   * @param hasConfiguredAdmin the configuration has an admin token
   * @throws INVALID_REQUEST if the first token is not an admin's: no one could create another one then; CAPACITY beyond
   *   10,000
   */
  async create({ name, role, limits = {} }: TokenRequest, hasConfiguredAdmin: boolean): Promise<CreatedToken> {
    if (role !== 'admin' && !hasConfiguredAdmin && !this.#hasAdmin()) {
      throw wrong('role', 'the first token must have the role admin: otherwise no one could create another one');
    }
    if (this.size >= MAX_TOKENS)
      throw new TroupeError('CAPACITY', `There are already ${MAX_TOKENS} tokens; revoke some`);
    const id = Array.from({ length: ID_LENGTH }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]).join('');
    const token = `troupe_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const info: TokenInfo = { id, name, role, limits, createdAt: this.#parts.clock.now().toISOString() };
    const stored = { ...info, hash: hashOf(token) };
    this.#changes += 1;
    await this.#parts.journal.write({ keyValues: [{ kind: 'token', id, data: stored }, CLOSED] });
    this.#changes += 1;
    this.#add(stored);
    return { ...info, token };
  }

  /** In the order of their creation. */
  list(): readonly TokenInfo[] {
    return [...this.#byId.values()]
      .map(({ hash: _, ...info }) => info)
      .sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  /**
   * Revokes a token: it gives access to nothing from now on. Sessions that it started continue.
   * @param hasConfiguredAdmin as for {@link AccessTokens.create}
   * @throws NOT_FOUND; INVALID_REQUEST for the last admin token, unless an admin is configured
   */
  async revoke(id: string, hasConfiguredAdmin: boolean): Promise<void> {
    const stored = this.#byId.get(id);
    if (stored === undefined) throw new TroupeError('NOT_FOUND', 'There is no such token');
    if (stored.role === 'admin' && !hasConfiguredAdmin && !this.#hasAdmin(stored)) {
      throw wrong(
        'id',
        'it is the last admin token: create another one first, or configure one ("token" in troupe.json)',
      );
    }
    this.#revoking.add(stored);
    this.#changes += 1;
    try {
      await this.#parts.journal.write({ keyValues: [{ kind: 'token', id, data: null }, CLOSED] });
    } finally {
      this.#revoking.delete(stored);
      this.#changes += 1;
    }
    this.#byId.delete(id);
    this.#byHash.delete(stored.hash);
  }

  /** The token with this secret; null if there is none. */
  find(token: string): TokenInfo | null {
    return this.#byHash.get(hashOf(token)) ?? null;
  }

  /** The value of a browser's cookie for a token: it gives the same access and does not reveal the token. */
  cookieValueOf({ id }: TokenInfo): string {
    const hash = this.#byId.get(id)?.hash ?? '';
    return `${id}.${this.#parts.vault.fingerprint(['cookie', id, hash])}`;
  }

  /** The token of a cookie value; null if it is invalid or the token was revoked. */
  findByCookie(value: string): TokenInfo | null {
    const stored = this.#byId.get(value.split('.')[0] ?? '');
    return stored !== undefined && equal(this.cookieValueOf(stored), value) ? stored : null;
  }

  /** The role of a caller's token; null for a caller without one, and if it was revoked. */
  roleOf(caller: string): Role | null {
    return caller.startsWith('token:') ? (this.#byId.get(caller.slice('token:'.length))?.role ?? null) : null;
  }

  /** The limits of a caller; none for a caller without a token. */
  /** The name of the caller's token; undefined if it has none. */
  nameOf(caller: string): string | undefined {
    return this.#byId.get(caller.slice('token:'.length))?.name;
  }

  limitsOf(caller: string): TokenLimits {
    return this.#byId.get(caller.slice('token:'.length))?.limits ?? {};
  }

  #hasAdmin(except?: StoredToken): boolean {
    const left = [...this.#byId.values()].filter((token) => token !== except && !this.#revoking.has(token));
    return left.some(({ role }) => role === 'admin');
  }

  #add(stored: StoredToken): void {
    this.#required = true;
    this.#byId.set(stored.id, stored);
    this.#byHash.set(stored.hash, stored);
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function equal(a: string, b: string): boolean {
  return timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
}

function wrong(path: string, message: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', `${path}: ${message}`, { issues: [{ path, message }] });
}
