import { z } from 'zod';
import { SessionRecord } from '../../protocol/session.js';
import { FlowCommits } from '../../protocol/stats.js';
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

/** The most flows whose history is asked for. */
const MAX_ASKED = 200;

/**
 * As {@link readHistory}, for a joined run: its flows have no jobs at the service, which knows their runs.
 * @param until when the run began, by the service's clock
 */
export async function readJoinedHistory(
  client: ServiceClient,
  branch: string | undefined,
  failed: readonly string[],
  until: string,
): Promise<ReadonlyMap<string, FlowHistory>> {
  const history = new Map<string, FlowHistory>();
  try {
    for (const flow of failed.slice(0, MAX_ASKED)) {
      const query = new URLSearchParams({ flow, until, ...(branch === undefined ? {} : { branch }) });
      const { failing, commits } = FlowCommits.parse(await client.json('GET', `/api/stats/commits?${query}`));
      const [last] = commits;
      if (failing !== null) history.set(flow, { isNew: false, commit: failing.commit });
      else if (last !== undefined) history.set(flow, { isNew: true, commit: last.commit });
    }
  } catch {
    // Reports without a history are still reports.
  }
  return history;
}

/** @param records newest first */
export function historyOf(
  records: readonly Pick<SessionRecord, 'name' | 'status' | 'labels'>[],
  failed: readonly string[],
): ReadonlyMap<string, FlowHistory> {
  const history = new Map<string, FlowHistory>();
  for (const name of failed) {
    let firstFailed: string | null = null;
    for (const record of records) {
      const { commit } = record.labels;
      if (record.name !== name || commit === undefined) continue;
      if (record.status === 'completed') {
        history.set(name, firstFailed === null ? { isNew: true, commit } : { isNew: false, commit: firstFailed });
        break;
      }
      if (record.status === 'failed') firstFailed = commit;
    }
    if (!history.has(name) && firstFailed !== null) history.set(name, { isNew: false, commit: firstFailed });
  }
  return history;
}
