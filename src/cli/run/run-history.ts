import { z } from 'zod';
import { SessionRecord } from '../../protocol/session.js';
import type { FlowHistory } from '../../report/suite/suite-result.js';
import type { ServiceClient } from '../service-client.js';

/** The newest jobs that are searched for earlier results; the largest page of the list. */
const MAX_JOBS = 1_000;

/**
 * Since which commit flows fail, from the earlier jobs of the service that have a `commit` label, of the same branch.
 * @param failed the names of the flows that failed
 * @param ofThisRun the jobs that are not earlier ones
 * @returns by name; a flow without an earlier result is not among them. Nothing if the service does not answer
 */
export async function readHistory(
  client: ServiceClient,
  branch: string | undefined,
  failed: readonly string[],
  ofThisRun: ReadonlySet<string>,
): Promise<ReadonlyMap<string, FlowHistory>> {
  const query = new URLSearchParams({ mode: 'auto', limit: String(MAX_JOBS) });
  query.append('label', 'commit');
  if (branch !== undefined) query.append('label', `branch=${branch}`);
  try {
    const records = z.array(SessionRecord).parse(await client.json('GET', `/api/sessions?${query}`));
    return historyOf(
      records.filter(({ id }) => !ofThisRun.has(id)),
      failed,
    );
  } catch {
    // Reports without a history are still reports.
    return new Map();
  }
}

/** @param records newest first */
export function historyOf(
  records: readonly Pick<SessionRecord, 'name' | 'status' | 'outcome' | 'labels'>[],
  failed: readonly string[],
): ReadonlyMap<string, FlowHistory> {
  const history = new Map<string, FlowHistory>();
  for (const name of failed) {
    let firstFailed: string | null = null;
    for (const record of records) {
      const { commit } = record.labels;
      if (record.name !== name || commit === undefined) continue;
      if (record.status === 'completed' && record.outcome === undefined) {
        history.set(name, firstFailed === null ? { isNew: true, commit } : { isNew: false, commit: firstFailed });
        break;
      }
      // What a model completed had failed.
      if (record.status === 'failed' || record.outcome === 'repaired') firstFailed = commit;
    }
    if (!history.has(name) && firstFailed !== null) history.set(name, { isNew: false, commit: firstFailed });
  }
  return history;
}
