import type { RequestVault } from '../../auth/request-vault.js';
import type { Journal, Submission } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';

/** Identifies a submission before it has a session. */
export type SubmissionKey = Omit<Submission, 'sessionId'>;

/**
 * Submissions with an Idempotency-Key: repeating one, even after a restart, does not create a second session or batch.
 * Keys belong to the service, not to a caller. A key is free again when what it created is removed.
 */
export class Submissions {
  readonly #journal: Journal;
  readonly #vault: RequestVault;
  /** Submissions in progress. */
  readonly #open = new Map<string, { readonly fingerprint: string; readonly made: Promise<unknown> }>();

  constructor(journal: Journal, vault: RequestVault) {
    this.#journal = journal;
    this.#vault = vault;
  }

  /**
   * Creates what a key stands for, or returns what it created before.
   * @param request determines the fingerprint: the same request creates the same kind of thing
   * @param make called once; if it throws, the key stays free
   * @param read reads what was created earlier, by its id
   * @throws INVALID_REQUEST if the key stands for another request
   */
  once<T>(
    key: string,
    request: object,
    make: (submission: SubmissionKey) => Promise<T>,
    read: (id: string) => Promise<T>,
  ): Promise<T> {
    const fingerprint = this.#vault.fingerprint(request);
    const open = this.#open.get(key);
    if (open !== undefined) {
      assertSame(open.fingerprint, fingerprint);
      // The same fingerprint means the same request, so the result has the same type.
      return open.made as Promise<T>;
    }
    const find = () => this.#find(key, fingerprint, read);
    const made = find().then((found) => found ?? this.#make(() => make({ key, fingerprint }), find));
    this.#open.set(key, { fingerprint, made });
    return made.finally(() => this.#open.delete(key));
  }

  /** Of two nodes that get the same submission at the same time, the journal refuses one: it returns the other's. */
  async #make<T>(make: () => Promise<T>, find: () => Promise<T | null>): Promise<T> {
    try {
      return await make();
    } catch (error) {
      const found = await find().catch(() => null);
      if (found !== null) return found;
      throw error;
    }
  }

  async #find<T>(key: string, fingerprint: string, read: (id: string) => Promise<T>): Promise<T | null> {
    const known = await this.#journal.submission(key);
    if (known === null) return null;
    assertSame(known.fingerprint, fingerprint);
    return read(known.sessionId);
  }
}

function assertSame(known: string, asked: string): void {
  if (known === asked) return;
  const message = 'it was used for another request; choose a new key';
  throw new TroupeError('INVALID_REQUEST', `"Idempotency-Key": ${message}`, {
    issues: [{ path: 'Idempotency-Key', message }],
  });
}
