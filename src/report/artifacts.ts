import type { JournalEvent } from '../protocol/events.js';
import type { SessionRecord } from '../protocol/session.js';
import type { ReportPool } from './report-pool.js';

/**
 * Writes session.json, transcript.jsonl, report.json, report.html and report.junit.xml into a session's folder, which is
 * made if need be. Each file is replaced as a whole. The work is done on a thread of the pool. One call for a folder at
 * a time.
 *
 * @param task.events all of the session's events so far, in order; read page by page
 * @throws UNAVAILABLE when the pool is full, closed or too slow, or the disk refuses; whatever reading `events` throws
 */
export function writeArtifacts(task: {
  readonly dir: string;
  readonly record: SessionRecord;
  readonly events: AsyncIterable<JournalEvent>;
  readonly pool: ReportPool;
}): Promise<void> {
  return task.pool.produce(task.dir, task.record, task.events);
}
