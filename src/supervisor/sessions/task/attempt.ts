import { deferred } from '../../../base/deferred.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { SessionEnd } from '../session-end.js';

/** One attempt at a job's task, in one browser. It ends once: when its work is done, or when it is aborted. */
export class Attempt {
  readonly #aborted = deferred<SessionEnd>();
  readonly #over = new AbortController();
  readonly signal: AbortSignal;

  /** @param ending aborted when the session ends, whatever the attempt does */
  constructor(ending: AbortSignal) {
    this.signal = AbortSignal.any([ending, this.#over.signal]);
  }

  /** Ends the attempt from outside. The result of its work is then ignored. */
  abort(end: SessionEnd): void {
    this.#aborted.resolve(end);
    this.close();
  }

  /** Stops the work on the attempt. Idempotent. */
  close(): void {
    this.#over.abort(new TroupeError('SESSION_ENDED', 'The attempt has ended'));
  }

  /** How the attempt ended: by its work or from outside, whichever came first. @param work never rejects */
  end(work: Promise<SessionEnd>): Promise<SessionEnd> {
    return Promise.race([this.#aborted.promise, work]);
  }
}
