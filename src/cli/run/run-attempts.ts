import type { BatchRequest } from '../../protocol/batches/batch.js';
import { mayPassAgain } from '../../protocol/errors.js';
import type { JobRequest, SessionRecord } from '../../protocol/session.js';
import { describeFailure } from '../../terminal/failure.js';
import type { ServiceClient } from '../service-client.js';
import type { HeadedRun } from './headed-run.js';
import type { KnownEnds } from './known-ends.js';
import type { PlannedFlow } from './plan/plan-run.js';
import { type BatchListener, runBatch } from './run-batch.js';
import type { RunOptions } from './run-options.js';
import type { RunProgress } from './run-progress.js';

/** What the jobs of a run have in common. */
export interface RunContext {
  readonly client: ServiceClient;
  readonly options: RunOptions;
  readonly flows: readonly PlannedFlow[];
  /** Flows and data that go with the jobs, by path. */
  readonly texts: { readonly [path: string]: string };
  readonly name: string;
  readonly labels: { readonly [name: string]: string };
  /** Whether a flow's failures count for `--max-failures`. */
  counts(flow: PlannedFlow): boolean;
  readonly progress: RunProgress;
  readonly headed: HeadedRun;
  readonly cancelled: AbortSignal;
  readonly hurried: Promise<unknown>;
  readonly known: KnownEnds;
}

/** Which flows of a run to run now, and as what. */
export interface RunPart {
  readonly indexes: readonly number[];
  requestOf(index: number): JobRequest;
  /** Whether their failures count for `--max-failures`. */
  readonly counted: boolean;
}

/**
 * Runs the flows of a run, and retries what failed as `--retry-strategy` says. A run that reached `--max-failures` is
 * stopped, and nothing more is retried.
 * @param onEnded called for each job that has ended, once it is among `context.known`
 * @throws what kept a batch from being run or followed
 */
export async function runAttempts(
  context: RunContext,
  part: RunPart,
  onEnded: (index: number, record: SessionRecord, attempt: number) => void,
): Promise<void> {
  const { client, options, flows, texts, progress, cancelled, hurried, known } = context;
  const { retries, retryStrategy, maxFailures } = options;
  const isolated = retryStrategy === 'isolated';
  const { attempts } = known;
  let failures = 0;
  let limited = false;
  const runRound = async (indexes: readonly number[], round: number) => {
    const nameOf = (job: number) => flows[indexes[job] ?? 0]?.name ?? '';
    const listener: BatchListener = {
      started(job, session) {
        progress.started(indexes[job] ?? 0, nameOf(job));
        known.started.set(indexes[job] ?? 0, session);
        void context.headed.started(nameOf(job), session);
      },
      waits: (job, session, data) => void context.headed.paused(nameOf(job), session, data),
      resumed: (session) => context.headed.resumed(session),
      ended(job, record) {
        const index = indexes[job] ?? 0;
        const flow = flows[index];
        if (flow === undefined) return false;
        onEnded(index, record, known.ended(index, record) + record.attempt);
        if (round > 0 || record.status !== 'failed' || !part.counted || !context.counts(flow)) return false;
        failures += 1;
        limited ||= maxFailures !== null && failures >= maxFailures;
        if (limited) known.keep(part.indexes, `the run reached --max-failures ${maxFailures}`);
        return limited;
      },
      cancelling: () => progress.say(`${describeFailure(cancelled.reason)}: stopping all flows that have not ended`),
      stopFailed: (error) => progress.say(describeFailure(error)),
      notNotified: (problem) => progress.say(problem),
    };
    const jobs = indexes.map((index) => ({
      ...part.requestOf(index),
      ...(isolated || retries === 0 ? {} : { retries }),
    }));
    const parallel = round > 0 ? 1 : options.parallel;
    const request = {
      name: round === 0 ? context.name : `${context.name} (retry ${round})`.slice(0, 200),
      labels: context.labels,
      ...(parallel === null ? {} : { parallel }),
      ...(Object.keys(texts).length > 0 ? { flows: texts } : {}),
      ...webhookOf(options),
      jobs,
    };
    await runBatch(client, request, listener, { cancelled, hurried });
  };
  await runRound(part.indexes, 0);
  for (let round = 1; isolated && round <= retries && !limited && !cancelled.aborted; round += 1) {
    const failed = part.indexes.filter((index) => isRetried(attempts.get(index)?.at(-1)));
    if (failed.length === 0) break;
    progress.say(`Retrying ${failed.length} of ${part.indexes.length}, one at a time`);
    await runRound(failed, round);
  }
}

function webhookOf({ webhook, webhookFormat }: RunOptions): Pick<BatchRequest, 'webhook' | 'webhookFormat'> {
  return { ...(webhook === undefined ? {} : { webhook }), ...(webhookFormat === undefined ? {} : { webhookFormat }) };
}

function isRetried(record: SessionRecord | undefined): boolean {
  return record?.status === 'failed' && record.error !== null && mayPassAgain(record.error);
}
