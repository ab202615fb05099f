import type { BatchRecord } from '../../../../src/protocol/batches/batch.js';
import type { SessionRecord } from '../../../../src/protocol/session.js';
import { call } from '../api.js';
import { jobsOf } from './run-jobs.js';

/** The run that a session belongs to, and what else failed in it. */
export class RunOfSession {
  run = $state.raw<BatchRecord | null>(null);
  /** Failed jobs of the run in the order of submission; empty until the session itself has failed. */
  failed = $state.raw<readonly SessionRecord[]>([]);
  #wanted = '';

  /** Fetches what is not there yet. Without an answer the session's page does without it. */
  async load({ id, batch, status }: SessionRecord): Promise<void> {
    const wanted = `${batch} ${status === 'failed'}`;
    if (batch === null || wanted === this.#wanted) return;
    this.#wanted = wanted;
    const [run, failed] = await Promise.all([
      call<BatchRecord>('GET', `api/batches/${batch}`).catch(() => null),
      status === 'failed' ? jobsOf(batch, 'failed').catch(() => []) : [],
    ]);
    this.run = run;
    this.failed = failed.some((job) => job.id === id) ? failed.toReversed() : [];
  }
}
