import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import type { Journal } from '../journal/journal.js';
import { TroupeError } from '../protocol/errors.js';
import { LoginState, type StorageState } from '../protocol/login-state.js';
import type { AccessTokens } from './access-tokens.js';
import type { RequestVault } from './request-vault.js';

/** States of one owner, and the bytes of one. */
const MAX_STATES = 200;
const MAX_STATE_BYTES = 1024 * 1024;
/** Owns the states of callers without a token of `troupe token create`: each of them is an admin. */
const NO_TOKEN = 'admin';

const Sealed = z.object({ name: z.string(), owner: z.string(), expiresAt: z.string(), state: z.looseObject({}) });

export interface LoginStatesParts {
  readonly journal: Pick<Journal, 'write' | 'keyValues'>;
  readonly vault: Pick<RequestVault, 'seal' | 'unseal'>;
  readonly tokens: Pick<AccessTokens, 'roleOf'>;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * The login states that `agent.saveState` saves: cookies and local storage, encrypted in the journal. A state can be
 * used and seen by the token that saved it and by admins, until it expires. Each token has its own names.
 */
export class LoginStates {
  readonly #parts: LoginStatesParts;

  constructor(parts: LoginStatesParts) {
    this.#parts = parts;
  }

  /**
   * Saves a state, in place of the caller's earlier one of this name.
   * @throws INVALID_REQUEST if it is too large; CAPACITY if the caller has too many
   */
  async save(caller: string, name: string, state: StorageState, seconds: number): Promise<LoginState> {
    const { journal, vault, clock } = this.#parts;
    const owner = ownerOf(caller);
    const bytes = Buffer.byteLength(JSON.stringify(state));
    if (bytes > MAX_STATE_BYTES) {
      throw new TroupeError(
        'INVALID_REQUEST',
        `The state '${name}' has ${bytes} bytes; at most ${MAX_STATE_BYTES} can be saved`,
      );
    }
    await this.removeExpired();
    const own = (await this.#all()).filter((one) => one.owner === owner && one.info.name !== name);
    if (own.length >= MAX_STATES) {
      throw new TroupeError('CAPACITY', `There are already ${MAX_STATES} saved states; remove some`);
    }
    const now = clock.now().getTime();
    const info: LoginState = {
      name,
      token: tokenOf(owner),
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + seconds * 1000).toISOString(),
      cookies: state.cookies.length,
      origins: state.origins.map(({ origin }) => origin),
    };
    const sealed = vault.seal({ name, owner, expiresAt: info.expiresAt, state }, '');
    const id = idOf(name, owner);
    await journal.write({
      keyValues: [
        { kind: 'state', id, data: info },
        { kind: 'state-data', id, data: sealed },
      ],
      isKept: true,
    });
    return info;
  }

  /** Returns a check that rejects with INVALID_REQUEST if the caller has no state of a name. Each is looked up once. */
  check(caller: string): (name: string | undefined) => Promise<void> {
    const known = new Set<string>();
    return async (name) => {
      if (name === undefined || known.has(name)) return;
      await this.#find(caller, name);
      known.add(name);
    };
  }

  /**
   * The cookies and the local storage of a state.
   * @throws INVALID_REQUEST if the caller has no state of this name, or it cannot be decrypted
   */
  async read(caller: string, name: string): Promise<{ [member: string]: unknown }> {
    const { owner, info } = await this.#find(caller, name);
    const id = idOf(name, owner);
    const stored = (await this.#parts.journal.keyValues('state-data', id)).find((row) => row.id === id);
    const sealed = Sealed.safeParse(this.#parts.vault.unseal(stored?.data)?.request);
    // What is sealed says what it is: a row that was moved in the database does not become another state.
    const { data } = sealed;
    if (data === undefined || data.name !== name || data.owner !== owner || data.expiresAt !== info.expiresAt) {
      throw noState(`The state '${name}' cannot be read: it was saved with another key. Save it again`);
    }
    return data.state;
  }

  /** The states that the caller can use, by name. */
  async list(caller: string): Promise<readonly LoginState[]> {
    return (await this.#visible(caller)).map(({ info }) => info);
  }

  /**
   * Removes the caller's state of a name; an admin removes those of all tokens.
   * @returns how many were removed
   * @throws NOT_FOUND if there is none
   */
  async remove(caller: string, name: string): Promise<number> {
    const found = (await this.#visible(caller)).filter(({ info }) => info.name === name);
    if (found.length === 0) throw new TroupeError('NOT_FOUND', `There is no saved state '${name.slice(0, 100)}'`);
    await this.#drop(found);
    return found.length;
  }

  /** Removes states that have expired. */
  async removeExpired(): Promise<void> {
    const now = this.#parts.clock.now().toISOString();
    await this.#drop((await this.#all()).filter(({ info }) => info.expiresAt <= now));
  }

  async #find(caller: string, name: string): Promise<Stored> {
    const found = (await this.#visible(caller)).filter(({ info }) => info.name === name);
    const own = found.find(({ owner }) => owner === ownerOf(caller));
    const [only, other] = found;
    if (own !== undefined) return own;
    if (only === undefined) {
      throw noState(`There is no saved state '${name}', or it has expired: save it with agent.saveState('${name}')`);
    }
    if (other !== undefined) {
      throw noState(
        `Several tokens have saved a state '${name}', and none of them is yours: save one under another name`,
      );
    }
    return only;
  }

  async #visible(caller: string): Promise<readonly Stored[]> {
    const { tokens } = this.#parts;
    const now = this.#parts.clock.now().toISOString();
    return (await this.#all()).filter((one) => one.info.expiresAt > now && mayUse(caller, one.owner, tokens));
  }

  async #all(): Promise<readonly Stored[]> {
    return (await this.#parts.journal.keyValues('state')).flatMap(({ id, data }) => {
      const info = LoginState.safeParse(data);
      return info.success ? [{ owner: id.slice(id.indexOf('/') + 1), info: info.data }] : [];
    });
  }

  async #drop(states: readonly Stored[]): Promise<void> {
    const ids = states.map(({ info, owner }) => idOf(info.name, owner));
    if (ids.length === 0) return;
    const kinds = ['state', 'state-data'] as const;
    await this.#parts.journal.write({
      keyValues: ids.flatMap((id) => kinds.map((kind) => ({ kind, id, data: null }))),
    });
  }
}

interface Stored {
  readonly owner: string;
  readonly info: LoginState;
}

/** Whether a caller may use what another one left: its own, and for an admin that of all. */
export function mayUse(caller: string, of: string, tokens: Pick<AccessTokens, 'roleOf'>): boolean {
  const owner = ownerOf(caller);
  return owner === NO_TOKEN || owner === ownerOf(of) || tokens.roleOf(caller) === 'admin';
}

/** A name has no slash. */
function idOf(name: string, owner: string): string {
  return `${name}/${owner}`;
}

function ownerOf(caller: string): string {
  return caller.startsWith('token:') ? caller : NO_TOKEN;
}

function tokenOf(owner: string): string | null {
  return owner === NO_TOKEN ? null : owner.slice('token:'.length);
}

function noState(message: string): TroupeError {
  return new TroupeError('INVALID_REQUEST', message, { issues: [{ path: 'state', message }] });
}
