import type { Clock } from '../../base/clock.js';
import type { FlowRun, Journal } from '../../journal/journal.js';
import { SessionId } from '../../protocol/session.js';
import type { FailingSince, FlowCommits, FlowCommitsQuery } from '../../protocol/stats.js';

/** The newest runs that are looked at, and the most commits that are reported. */
const MAX_RUNS = 2_000;
const MAX_COMMITS = 100;
const EPOCH = new Date(0).toISOString();

/** How a flow did with each commit, from the journal's history, and with which one it began to fail. */
export async function flowCommits(
  journal: Pick<Journal, 'flowRuns'>,
  clock: Clock,
  { flow, branch, until = clock.now().toISOString() }: FlowCommitsQuery,
): Promise<FlowCommits> {
  const query = { flow, branch, ofCommits: true, since: EPOCH, until, limit: MAX_RUNS };
  const runs = lastAttempts(await journal.flowRuns(query));
  const branches = new Set(runs.flatMap((run) => run.branch ?? []));
  return {
    flow,
    branch: branch ?? null,
    branches: [...branches].sort(),
    failing: failingSince(runs),
    commits: commitsOf(runs).slice(0, MAX_COMMITS),
  };
}

/** A run with its commit. */
interface CommitRun extends FlowRun {
  readonly commit: string;
}

/** The last attempt of each job. @param rows newest first */
function lastAttempts(rows: readonly FlowRun[]): readonly CommitRun[] {
  const seen = new Set<string>();
  return rows.flatMap((row) => {
    const { commit, sessionId } = row;
    if (commit === null || seen.has(sessionId)) return [];
    seen.add(sessionId);
    return [{ ...row, commit }];
  });
}

function failingSince(runs: readonly CommitRun[]): FailingSince | null {
  const passed = runs.findIndex(({ status }) => status === 'passed');
  const first = runs.slice(0, passed === -1 ? runs.length : passed).at(-1);
  if (first === undefined) return null;
  return { commit: first.commit, at: first.at, passedWith: runs[passed]?.commit ?? null };
}

function commitsOf(runs: readonly CommitRun[]): FlowCommits['commits'] {
  const byCommit = new Map<string, CommitRun[]>();
  for (const run of runs) {
    const key = JSON.stringify([run.commit, run.branch]);
    byCommit.set(key, [...(byCommit.get(key) ?? []), run]);
  }
  return [...byCommit.values()].flatMap((ofCommit) => {
    const [last] = ofCommit;
    if (last === undefined) return [];
    const passed = ofCommit.filter(({ status }) => status === 'passed').length;
    return [
      {
        commit: last.commit,
        branch: last.branch,
        runs: ofCommit.length,
        passed,
        failed: ofCommit.length - passed,
        lastPassed: last.status === 'passed',
        lastRunAt: last.at,
        session: SessionId.safeParse(last.sessionId).data ?? null,
      },
    ];
  });
}
