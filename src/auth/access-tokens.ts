import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import type { Journal } from '../journal/journal.js';
import { type CreatedToken, TokenInfo, type TokenLimits, type TokenRequest } from '../protocol/access.js';
import { TroupeError } from '../protocol/errors.js';
import type { RequestVault } from './request-vault.js';

const MAX_TOKENS = 10_000;
const SECRET_BYTES = 32;
const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 12;

/** On disk from the first token on: without it, a home whose last token was revoked would be open to everybody again. */
const CLOSED = { kind: 'access', id: 'closed', data: {} } as const;

/** As the journal has it: of the token itself only its SHA-256, which for 256 bits of chance needs no salt and no slowness. */
const StoredToken = TokenInfo.extend({ hash: z.string() });
type StoredToken = z.infer<typeof StoredToken>;

export interface AccessTokenParts {
  readonly journal: Pick<Journal, 'write' | 'keyValues'>;
  readonly vault: Pick<RequestVault, 'fingerprint'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log?: (line: string) => void;
}

/** Who a token stands for, where callers are told apart. */
export function callerOf({ id }: Pick<TokenInfo, 'id'>): string {
  return `token:${id}`;
}

/**
 * The access tokens that were made with `troupe token create`. All of them are in memory, so that a request costs one
 * hash and no disk; a change is on disk before it counts. With the first one the service is closed to all who bring
 * none, and it stays closed when none is left.
 */
export class AccessTokens {
  readonly #parts: AccessTokenParts;
  readonly #byHash = new Map<string, StoredToken>();
  readonly #byId = new Map<string, StoredToken>();
  /** Being revoked: two admins must not be taken away at the same moment, each because the other is there. */
  readonly #leaving = new Set<StoredToken>();
  #closed = false;

  /** None yet; {@link AccessTokens.open} reads those that there are. */
  constructor(parts: AccessTokenParts) {
    this.#parts = parts;
  }

  static async open(parts: AccessTokenParts): Promise<AccessTokens> {
    const tokens = new AccessTokens(parts);
    for (const { id, data } of await parts.journal.keyValues('token')) {
      const stored = StoredToken.safeParse(data);
      if (stored.success) tokens.#add(stored.data);
      else parts.log?.(`access token ${id} is damaged in the journal and admits nobody; make another one`);
      tokens.#closed = true;
    }
    if ((await parts.journal.keyValues(CLOSED.kind)).length > 0) tokens.#closed = true;
    return tokens;
  }

  /** There is, or once was, a token: callers must bring one. */
  get closed(): boolean {
    return this.#closed;
  }

  /** How many there are. */
  get size(): number {
    return this.#byId.size;
  }

  /**
   * Makes a token. Its secret is in this answer and nowhere else.
   * @param othersAdmit there is an admin beside these tokens, as the configuration's is
   * @throws INVALID_REQUEST when the first one is not an admin's: nobody could make another then; CAPACITY past 10,000
   */
  async create({ name, role, limits = {} }: TokenRequest, othersAdmit: boolean): Promise<CreatedToken> {
    if (role !== 'admin' && !othersAdmit && !this.#hasAdmin()) {
      throw wrong('role', 'the first token must have the role admin: nobody could make another one otherwise');
    }
    if (this.size >= MAX_TOKENS) throw new TroupeError('CAPACITY', `There are ${MAX_TOKENS} tokens already`);
    const id = Array.from({ length: ID_LENGTH }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]).join('');
    const token = `troupe_${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const info: TokenInfo = { id, name, role, limits, createdAt: this.#parts.clock.now().toISOString() };
    const stored = { ...info, hash: hashOf(token) };
    await this.#parts.journal.write({ keyValues: [{ kind: 'token', id, data: stored }, CLOSED] });
    this.#add(stored);
    return { ...info, token };
  }

  /** In the order of their making. */
  list(): readonly TokenInfo[] {
    return [...this.#byId.values()]
      .map(({ hash: _, ...info }) => info)
      .sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  }

  /**
   * A token that is revoked opens nothing from now on. What it began goes on.
   * @param othersAdmit as for {@link AccessTokens.create}
   * @throws NOT_FOUND; INVALID_REQUEST for the last admin, unless others admit
   */
  async revoke(id: string, othersAdmit: boolean): Promise<void> {
    const stored = this.#byId.get(id);
    if (stored === undefined) throw new TroupeError('NOT_FOUND', 'There is no such token');
    if (stored.role === 'admin' && !othersAdmit && !this.#hasAdmin(stored)) {
      throw wrong(
        'id',
        'it is the last admin token: make another admin first, or configure one ("token" in troupe.json)',
      );
    }
    this.#leaving.add(stored);
    try {
      await this.#parts.journal.write({ keyValues: [{ kind: 'token', id, data: null }, CLOSED] });
    } finally {
      this.#leaving.delete(stored);
    }
    this.#byId.delete(id);
    this.#byHash.delete(stored.hash);
  }

  /** The token that was sent; null where there is none such. */
  find(token: string): TokenInfo | null {
    return this.#byHash.get(hashOf(token)) ?? null;
  }

  /** What a browser's cookie holds in a token's place: it opens the same and does not tell the token. */
  passOf({ id }: TokenInfo): string {
    const hash = this.#byId.get(id)?.hash ?? '';
    return `${id}.${this.#parts.vault.fingerprint(['cookie', id, hash])}`;
  }

  /** The token that a pass stands for; null where it was never one, or was revoked. */
  findPass(pass: string): TokenInfo | null {
    const stored = this.#byId.get(pass.split('.')[0] ?? '');
    return stored !== undefined && equal(this.passOf(stored), pass) ? stored : null;
  }

  /** What a caller may take at most; nothing is bounded for one that no token stands for. */
  limitsOf(caller: string): TokenLimits {
    return this.#byId.get(caller.slice('token:'.length))?.limits ?? {};
  }

  #hasAdmin(except?: StoredToken): boolean {
    const left = [...this.#byId.values()].filter((token) => token !== except && !this.#leaving.has(token));
    return left.some(({ role }) => role === 'admin');
  }

  #add(stored: StoredToken): void {
    this.#closed = true;
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
