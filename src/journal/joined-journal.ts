import type { JoinedAttempt, JoinedChange, JoinedJob, JournalReads } from './messages.js';

/** What the journal's thread is asked. */
type Asked =
  | { readonly op: 'joined'; readonly change: JoinedChange }
  | { readonly op: 'read'; readonly name: Name; readonly args: readonly unknown[] };
type Name = 'joinedJobs' | 'joinedOfToken' | 'joinedAttempts' | 'joinedAttempt';

/** Joined batches in the journal: the part of `Journal` that is about them. */
export class JoinedJournal {
  readonly #ask: (request: Asked) => Promise<unknown>;

  constructor(ask: (request: Asked) => Promise<unknown>) {
    this.#ask = ask;
  }

  /** Changes a joined batch in one transaction, on disk when this resolves. @returns see `JoinedStore` */
  async change(change: JoinedChange): Promise<number> {
    return Number(await this.#ask({ op: 'joined', change }));
  }

  /** The jobs of a joined batch, in their order. */
  jobs(batchId: string): Promise<readonly JoinedJob[]> {
    return this.#read('joinedJobs', batchId);
  }

  /** The job of a claim that holds; null if the token is not, or no longer, that of one. */
  async ofToken(batchId: string, token: string): Promise<JoinedJob | null> {
    return (await this.#read('joinedOfToken', batchId, token))[0] ?? null;
  }

  /** The ended attempts at the jobs of a joined batch, by job and attempt. */
  attempts(batchId: string): Promise<readonly JoinedAttempt[]> {
    return this.#read('joinedAttempts', batchId);
  }

  async attempt(id: string): Promise<JoinedAttempt | null> {
    return (await this.#read('joinedAttempt', id))[0] ?? null;
  }

  #read<R extends Name>(name: R, ...args: Parameters<JournalReads[R]>): ReturnType<JournalReads[R]> {
    return this.#ask({ op: 'read', name, args }) as ReturnType<JournalReads[R]>; // The thread calls the method named R.
  }
}
