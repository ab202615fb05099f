import { sentenceOf } from '../../base/system-fault.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import { isEnded, type SessionRecord } from '../../protocol/session.js';
import type { Log } from '../../telemetry/log.js';
import type { JobScheduler } from '../jobs/index.js';
import { QueuedJob, type SessionTable, stoppedEnd } from '../sessions/index.js';
import type { NodeDirectory } from './node-directory.js';

/** Sessions that are ended concurrently. */
const ENDED_AT_ONCE = 16;

interface StopParts {
  readonly table: SessionTable;
  readonly scheduler: JobScheduler;
  readonly cluster?: ClusterNode | undefined;
  readonly nodes: NodeDirectory | null;
  readonly log: Log;
}

/** Stops sessions that have not ended, wherever they run or wait. @throws the first error, after all were tried */
export async function stopAll(
  records: readonly SessionRecord[],
  { table, scheduler, cluster, nodes, log }: StopParts,
): Promise<void> {
  const living = records.flatMap(({ id }) => table.living(id) ?? []);
  const open = living.filter(({ record }) => !isEnded(record.status));
  const queued = records.flatMap(({ id }) => table.queued(id) ?? []);
  const away = records.filter(({ id, status }) => nodes !== null && !isEnded(status) && !table.has(id));
  // Dequeue first, so that none of them gets the slot of a session that ends here.
  for (const { id } of queued) scheduler.leaveQueue(id);
  for (const { record } of open) scheduler.leaveQueue(record.id);
  await Promise.all([
    ...open.map((session) => session.end(stoppedEnd('deleted'), 'immediate')),
    forEach(queued, (job) => scheduler.endQueued(job, stoppedEnd('deleted'))),
    forEach(away, async (record) => {
      if (await cluster?.take(record.id)) {
        await scheduler.endQueued(new QueuedJob({ ...record, caller: '', hosts: '' }), stoppedEnd('deleted'));
        return;
      }
      // A node that is lost stops its sessions anyway; who takes over its jobs may run them again.
      const failed = (error: unknown) => log(`could not be stopped: ${sentenceOf(error)}`, { session: record.id });
      await nodes?.stopElsewhere(record.id).catch(failed);
    }),
  ]);
}

/** A few at a time, because each is read from the disk. @throws the first error, after all were tried */
async function forEach<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  const errors: unknown[] = [];
  const next = async () => {
    for (const one of left) await work(one).catch((error) => errors.push(error));
  };
  await Promise.all(Array.from({ length: ENDED_AT_ONCE }, next));
  if (errors.length > 0) throw errors[0];
}
