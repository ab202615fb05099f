import type { WaitingSession } from '../../journal/journal.js';
import type { SessionId } from '../../protocol/session.js';

/**
 * A job that waits for its place, in the queue or before it. All else about it is on disk, so that a queue costs as much
 * memory as it has jobs, however large they are.
 */
export class QueuedJob implements WaitingSession {
  readonly id: SessionId;
  readonly batch: string | null;
  readonly caller: string;
  /** Starts of it whose thread was lost meanwhile. */
  readonly lostStarts: number;
  /** Its end while it waits, once somebody has asked for it: it is not begun any more. */
  ending: Promise<void> | null = null;

  constructor({ id, batch, caller }: WaitingSession, lostStarts = 0) {
    this.id = id;
    this.batch = batch;
    this.caller = caller;
    this.lostStarts = lostStarts;
  }
}
