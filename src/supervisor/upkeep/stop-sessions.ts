import { pause } from '../../base/deadline.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import type { Journal } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, type SessionRecord } from '../../protocol/session.js';
import type { JobScheduler } from '../jobs/index.js';
import { QueuedJob, type SessionTable, stoppedEnd } from '../sessions/index.js';
import type { NodeDirectory } from './node-directory.js';

/** Sessions that are ended concurrently. */
const ENDED_AT_ONCE = 16;
/** How often, and how far apart in milliseconds, it is looked for the node of a session that changes nodes. */
const TRIES = 20;
const TRY_EVERY_MS = 250;

interface StopParts {
  readonly table: SessionTable;
  readonly scheduler: JobScheduler;
  readonly journal: Pick<Journal, 'get'>;
  readonly cluster?: ClusterNode | undefined;
  readonly nodes: NodeDirectory | null;
}

/**
 * Stops a session that has not ended, wherever it runs or waits. Resolves when its end is on disk.
 * @throws NODE_LOST if its node is gone, and nobody has taken it over yet; UNAVAILABLE if no node is found to have it
 */
export async function stopSession(record: SessionRecord, parts: StopParts): Promise<void> {
  const { table, scheduler, journal, cluster, nodes } = parts;
  const { id } = record;
  for (let tries = TRIES; ; tries -= 1) {
    const living = table.living(id);
    if (living !== undefined) {
      scheduler.leaveQueue(id);
      await living.end(stoppedEnd('deleted'), 'immediate');
      return;
    }
    const queued = table.queued(id);
    if (queued !== undefined) return scheduler.endQueued(queued, stoppedEnd('deleted'));
    if (cluster === undefined || nodes === null) return;
    // No node has it: this one takes it to end it.
    if (await cluster.take(id)) {
      return scheduler.endQueued(new QueuedJob({ ...record, caller: '' }), stoppedEnd('deleted'));
    }
    if (await nodes.stopElsewhere(id)) return;
    // It has ended meanwhile, or a node has just claimed it or given it back.
    const status = (await journal.get(id))?.record.status;
    if (status === undefined || isEnded(status)) return;
    if (tries === 0) throw new TroupeError('UNAVAILABLE', `No node answers for the session ${id} now; try again`);
    await pause(TRY_EVERY_MS);
  }
}

/** Stops sessions that have not ended, a few at a time. @throws the first error, after all were tried */
export async function stopSessions(records: readonly SessionRecord[], parts: StopParts): Promise<void> {
  const { table, scheduler } = parts;
  const open = records.filter(({ id, status }) => !isEnded(table.living(id)?.record.status ?? status));
  // Dequeue first, so that none of them gets the slot of a session that ends here.
  for (const { id } of open) if (table.has(id)) scheduler.leaveQueue(id);
  const running = open.filter(({ id }) => table.living(id) !== undefined);
  const waiting = open.filter(({ id }) => table.living(id) === undefined);
  const errors: unknown[] = [];
  const stop = (record: SessionRecord) => stopSession(record, parts).catch((error: unknown) => errors.push(error));
  // Each of those that wait is read from the disk.
  const left = waiting.values();
  const stopNext = async () => {
    for (const record of left) await stop(record);
  };
  await Promise.all([...running.map(stop), ...Array.from({ length: ENDED_AT_ONCE }, stopNext)]);
  if (errors.length > 0) throw errors[0];
}
