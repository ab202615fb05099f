import type { BatchList, BatchRecord } from '../../../../src/protocol/batches/batch.js';
import { failureKey, groupAlike } from '../../../../src/protocol/report/alike-failures.js';
import type { Failure } from '../../../../src/protocol/report/failure.js';
import { failureOfError } from '../../../../src/protocol/report/failure-of-error.js';
import type { SessionRecord } from '../../../../src/protocol/session.js';
import { call } from '../api.js';

const PAGE = 1000;

/** All jobs of a run, or those in a state, in the order of the list. */
export async function jobsOf(run: string, state?: SessionRecord['status']): Promise<readonly SessionRecord[]> {
  const jobs: SessionRecord[] = [];
  for (let before: string | undefined; ; before = jobs.at(-1)?.id) {
    const query = new URLSearchParams({
      batch: run,
      limit: String(PAGE),
      ...(state === undefined ? {} : { state }),
      ...(before === undefined ? {} : { before }),
    });
    const page = await call<SessionRecord[]>('GET', `api/sessions?${query}`);
    jobs.push(...page);
    if (page.length < PAGE) return jobs;
  }
}

/** The run before, with the same name and branch; null if there is none. */
export async function runBefore({ id, name, labels }: BatchRecord): Promise<BatchRecord | null> {
  if (name === null) return null;
  const { branch } = labels;
  const label = branch === undefined ? {} : { label: `branch=${branch}` };
  const query = new URLSearchParams({ name, before: id, limit: '1', ...label });
  const { batches } = await call<BatchList>('GET', `api/batches?${query}`);
  return batches[0] ?? null;
}

/** Why a job failed, as far as its record says; null if it did not. */
export function failureOf({ error }: SessionRecord): Failure | null {
  return error === null ? null : failureOfError(error);
}

/** Jobs with an equal key failed in the same way. */
export function keyOf(job: SessionRecord): string | null {
  const failure = failureOf(job);
  return failure === null ? null : failureKey(failure);
}

/** Jobs that failed in the same way, each group in the order of its first job. */
export function groupFailures(jobs: readonly SessionRecord[]): readonly (readonly SessionRecord[])[] {
  return groupAlike(jobs, keyOf);
}

/** It passed only in a retry. */
export function isFlaky({ status, attempt, outcome }: SessionRecord): boolean {
  return status === 'completed' && attempt > 1 && outcome === undefined;
}

/** How many jobs of a run passed; skipped and repaired ones did not. */
export function passedOf({ completed, skipped = 0, repaired = 0 }: BatchRecord['counts']): number {
  return completed - skipped - repaired;
}

/** A commit as people write it: the first eight digits of a hash. */
export function shortCommit(commit: string): string {
  return /^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit;
}
