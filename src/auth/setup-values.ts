import { z } from 'zod';
import type { Journal } from '../journal/journal.js';
import { TroupeError } from '../protocol/errors.js';
import type { SessionId } from '../protocol/session.js';
import type { AccessTokens } from './access-tokens.js';
import { mayUse } from './login-states.js';
import type { RequestVault } from './request-vault.js';

/** Bytes of a value, which becomes an argument of every flow of its folder. */
export const MAX_VALUE_BYTES = 256 * 1024;

const Sealed = z.object({ session: z.string(), value: z.string() });

export interface SetupValuesParts {
  readonly journal: Pick<Journal, 'write' | 'keyValues'>;
  readonly vault: Pick<RequestVault, 'seal' | 'unseal'>;
  readonly tokens: Pick<AccessTokens, 'roleOf'>;
}

/**
 * What `_setup` flows return: encrypted in the journal, so that it is in no file of the artifacts, until the session is
 * removed. For the token that submitted the flow, and for admins.
 */
export class SetupValues {
  readonly #parts: SetupValuesParts;

  constructor(parts: SetupValuesParts) {
    this.#parts = parts;
  }

  /** @param value JSON text */
  async save(caller: string, id: SessionId, value: string): Promise<void> {
    const { journal, vault } = this.#parts;
    const data = vault.seal({ session: id, value }, caller);
    await journal.write({ keyValues: [{ kind: 'value', id, data }], isKept: true });
  }

  /** The JSON text of the value of a session's `_setup`. @throws NOT_FOUND if there is none for this caller */
  async read(caller: string, id: SessionId): Promise<string> {
    const row = (await this.#parts.journal.keyValues('value', id)).find((one) => one.id === id);
    const opened = this.#parts.vault.unseal(row?.data);
    const sealed = Sealed.safeParse(opened?.request);
    if (opened === null || sealed.data?.session !== id || !mayUse(caller, opened.caller, this.#parts.tokens)) {
      throw new TroupeError('NOT_FOUND', 'This session has no value: only a _setup flow that passed has one');
    }
    return sealed.data.value;
  }
}
