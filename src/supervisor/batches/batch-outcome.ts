import { type BatchJob, type BatchOutcome, type BatchRecord, MAX_LISTED_JOBS } from '../../protocol/batches/batch.js';
import type { SessionRecord } from '../../protocol/session.js';
import { cut, failureReason } from '../../webhooks/failure-reason.js';

const MAX_NAME = 200;

/** How a batch ended, for the message about it. @param jobs all jobs that still exist, in order */
export function outcomeOf(record: BatchRecord, jobs: readonly SessionRecord[]): BatchOutcome {
  const failed = jobs.filter(({ status }) => status === 'failed');
  const flaky = jobs.filter(
    ({ status, attempt, outcome }) => status === 'completed' && attempt > 1 && outcome === undefined,
  );
  return {
    ...record,
    flaky: flaky.slice(0, MAX_LISTED_JOBS).map(jobOf),
    failures: failed.slice(0, MAX_LISTED_JOBS).map((job) => ({
      ...jobOf(job),
      ...failureReason(job.error ?? { code: 'INTERNAL', error: 'The job failed without an error' }),
    })),
  };
}

function jobOf({ id, name, flowFiles, prompt, links }: SessionRecord): BatchJob {
  const described = flowFiles.length > 0 ? flowFiles.join(', ') : (prompt?.split('\n')[0] ?? '');
  return { id, name: cut(name ?? (described === '' ? id : described), MAX_NAME), view: links.view };
}
