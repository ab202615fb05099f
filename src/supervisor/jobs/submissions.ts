import type { RequestVault } from '../../auth/request-vault.js';
import type { Journal, Submission } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';

/** What a submission is known by, before it has a session. */
export type SubmissionKey = Omit<Submission, 'sessionId'>;

/**
 * Submissions under an Idempotency-Key: each makes one session or batch, however often it is repeated, also across a restart. A
 * key is the service's, not the caller's, and is free again when what it made is removed.
 */
export class Submissions {
  readonly #journal: Journal;
  readonly #vault: RequestVault;
  /** Those that are being made now. */
  readonly #open = new Map<string, { readonly fingerprint: string; readonly made: Promise<unknown> }>();

  constructor(journal: Journal, vault: RequestVault) {
    this.#journal = journal;
    this.#vault = vault;
  }

  /**
   * Makes what a key stands for, or answers what was made.
   * @param request all that makes it what it is: the same request makes the same kind of thing
   * @param make is called once; what it throws leaves the key free
   * @param read the record of a session that was made before
   * @throws INVALID_REQUEST when the key stands for another request
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
      // The same fingerprint is the same request, whose answer is of the same kind.
      return open.made as Promise<T>;
    }
    const made = this.#find(key, fingerprint, read).then((found) => found ?? make({ key, fingerprint }));
    this.#open.set(key, { fingerprint, made });
    return made.finally(() => this.#open.delete(key));
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
  const message = 'it was used for another request';
  throw new TroupeError('INVALID_REQUEST', `"Idempotency-Key": ${message}`, {
    issues: [{ path: 'Idempotency-Key', message }],
  });
}
