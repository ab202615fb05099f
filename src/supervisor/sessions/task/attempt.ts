import { deferred } from '../../../base/deferred.js';
import { TroupeError } from '../../../protocol/errors.js';
import type { SessionEnd } from '../session-end.js';

/** One try at a job's task, in one browser. It ends once: by its work, or by what cuts it. */
export class Attempt {
  readonly #aborted = deferred<SessionEnd>();
  readonly #over = new AbortController();
  readonly signal: AbortSignal;

  /** @param ending aborted when the session ends, whatever its attempt does */
  constructor(ending: AbortSignal) {
    this.signal = AbortSignal.any([ending, this.#over.signal]);
  }

  /** Ends it from outside. What its work says afterwards is of no interest any more. */
  abort(end: SessionEnd): void {
    this.#aborted.resolve(end);
    this.close();
  }

  /** Nothing works on it any more. Idempotent. */
  close(): void {
    this.#over.abort(new TroupeError('SESSION_ENDED', 'The attempt is over'));
  }

  /** How it ended, by its work or from outside, whichever was first. @param work never rejects */
  end(work: Promise<SessionEnd>): Promise<SessionEnd> {
    return Promise.race([this.#aborted.promise, work]);
  }
}
