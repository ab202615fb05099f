import type { Journal, Submission } from '../journal/journal.js';
import { TroupeError } from '../protocol/errors.js';
import type { AutoRequest, LiveRequest, SessionRecord } from '../protocol/session.js';
import type { RequestVault } from './request-vault.js';

/** What a submission is known by, before it has a session. */
export type SubmissionKey = Omit<Submission, 'sessionId'>;

/**
 * Submissions under an Idempotency-Key: each makes one session, however often it is repeated, also across a restart. A
 * key is the service's, not the caller's, and is free again when its session is removed.
 */
export class Submissions {
  readonly #journal: Journal;
  readonly #vault: RequestVault;
  /** Those that are being made now. */
  readonly #open = new Map<string, { readonly fingerprint: string; readonly made: Promise<SessionRecord> }>();

  constructor(journal: Journal, vault: RequestVault) {
    this.#journal = journal;
    this.#vault = vault;
  }

  /**
   * Makes the session of a key, or answers the one that was made.
   * @param make is called once; what it throws leaves the key free
   * @param read the record of a session that was made before
   * @throws INVALID_REQUEST when the key stands for another request
   */
  once(
    key: string,
    request: LiveRequest | AutoRequest,
    make: (submission: SubmissionKey) => Promise<SessionRecord>,
    read: (id: string) => Promise<SessionRecord>,
  ): Promise<SessionRecord> {
    const fingerprint = this.#vault.fingerprint(request);
    const open = this.#open.get(key);
    if (open !== undefined) {
      assertSame(open.fingerprint, fingerprint);
      return open.made;
    }
    const made = this.#find(key, fingerprint, read).then((found) => found ?? make({ key, fingerprint }));
    this.#open.set(key, { fingerprint, made });
    return made.finally(() => this.#open.delete(key));
  }

  async #find(
    key: string,
    fingerprint: string,
    read: (id: string) => Promise<SessionRecord>,
  ): Promise<SessionRecord | null> {
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
