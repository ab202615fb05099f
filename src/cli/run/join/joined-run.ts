import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pause } from '../../../base/deadline.js';
import { isFlowFile } from '../../../base/flow-file.js';
import type { JoinedFlow, JoinedFlows, JoinedResult } from '../../../protocol/batches/joined.js';
import { counted } from '../../../protocol/counted.js';
import { mayPassAgain, TroupeError } from '../../../protocol/errors.js';
import type { Failure } from '../../../protocol/report/failure.js';
import { Report } from '../../../protocol/report/report.js';
import type { JobRequest, SessionRecord } from '../../../protocol/session.js';
import { ranMs } from '../../../protocol/times.js';
import { describeFailure } from '../../../terminal/failure.js';
import { makeTemporary } from '../../leftovers.js';
import type { ServiceClient } from '../../service-client.js';
import { failureOf } from '../flow-failure.js';
import { originalName, type PlannedFlow } from '../plan/plan-run.js';
import { filesHash, longestFirst } from '../plan/shard.js';
import type { Timings } from '../plan/timings.js';
import type { RunContext } from '../run-attempts.js';
import { runBatch } from '../run-batch.js';
import { type Claimed, Coordinator, isClaimLost } from './coordinator.js';

/** What the service takes. */
const MAX_ZIP_BYTES = 100 * 1024 * 1024;
/** Less than the service takes, which has the rest of the result, too. */
const MAX_FAILURE_CHARACTERS = 12_000;
const MAX_MESSAGE_CHARACTERS = 4_000;

/** What a machine that joins a run needs. */
export interface JoinedRun {
  /** Its own service, and what its jobs have in common. */
  readonly context: RunContext;
  /** The service that hands out the flows. */
  readonly coordinator: ServiceClient;
  readonly build: string;
  /** The rows of `--data`. */
  readonly rows: readonly object[];
  readonly timings: Timings;
  /** Flows at once. */
  readonly parallel: number;
  /** Called for each flow that this machine has run. */
  ended(index: number, record: SessionRecord, attempt: number): void;
}

/** A joined batch that was run, or as much of it as there was before the run was cancelled. */
export interface JoinedOutcome extends Pick<JoinedFlows, 'createdAt' | 'endedAt'> {
  readonly coordinator: Coordinator;
  /** By the flow's index. */
  readonly flows: ReadonlyMap<number, JoinedFlow>;
}

/**
 * Claims flows of a joined batch and runs them on this machine, until all flows of the batch have ended, on whatever
 * machine.
 * @param indexes the flows of the batch, of `context.flows`
 * @throws as {@link Coordinator.join}; UNAVAILABLE if the coordinator is gone; what kept a flow from being run
 */
export async function runJoined(
  run: JoinedRun,
  indexes: readonly number[],
  requestOf: (index: number) => JobRequest,
): Promise<JoinedOutcome> {
  const { context, build, timings } = run;
  const { progress, cancelled } = context;
  const { retries } = context.options;
  const flows = indexes.flatMap((index) => context.flows[index] ?? []);
  const machine = `${hostname().slice(0, 80)}/${process.pid}`;
  const request = {
    build,
    hash: hashOf(run, flows),
    name: context.name,
    labels: context.labels,
    jobs: longestFirst(flows, timings).map((flow) => ({ name: flow.name, ...statisticsOf(flow), retries })),
  };
  const coordinator = await Coordinator.join(run.coordinator, machine, request, cancelled);
  const { id, created, counts } = coordinator.batch;
  progress.say(`${created ? 'Started' : 'Joined'} build ${build}: run ${id} with ${counted(counts.total, 'flow')}`);
  const byName = new Map(indexes.map((index) => [context.flows[index]?.name, index]));
  const work = async () => {
    while (!cancelled.aborted) {
      const claim = await coordinator.claim();
      if (claim.state === 'ended') return;
      if (claim.state === 'waiting') {
        await pause(claim.retryAfter * 1000, { signal: cancelled }).catch(() => undefined);
        continue;
      }
      const index = byName.get(claim.job.name);
      // The hash of the flows is the same, so their names are.
      if (index === undefined) throw new TroupeError('INTERNAL', `The run has an unknown flow ${claim.job.name}`);
      await runClaimed(run, coordinator, claim, { index, request: requestOf(index) });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: run.parallel }, work));
  for (const end of ends) if (end.status === 'rejected' && !cancelled.aborted) throw end.reason;
  const { createdAt, endedAt, flows: joined } = await coordinator.results();
  const byIndex = joined.flatMap((flow) => {
    const index = byName.get(flow.name);
    return index === undefined ? [] : [[index, flow] as const];
  });
  return { coordinator, createdAt, endedAt, flows: new Map(byIndex) };
}

/** Identifies what all machines must have in common: flows and their files, the rows of `--data`, and retries. */
function hashOf({ context, rows }: JoinedRun, flows: readonly PlannedFlow[]): string {
  const common = JSON.stringify([filesHash(flows, context), context.options.retries, rows]);
  return createHash('sha256').update(common).digest('hex').slice(0, 12);
}

/** A flow that runs without a model counts for the statistics of the service. */
function statisticsOf(flow: PlannedFlow): { readonly flow?: string } {
  const counts = flow.path !== null && isFlowFile(flow.path) && flow.request.maxIterations === 0;
  return counts ? { flow: originalName(flow) } : {};
}

/** Runs a claimed flow. If its claim is lost, the flow is stopped, and nothing is reported. */
async function runClaimed(
  { context, ended }: JoinedRun,
  coordinator: Coordinator,
  claim: Claimed,
  { index, request }: { readonly index: number; readonly request: JobRequest },
): Promise<void> {
  const { client, progress, flows, cancelled } = context;
  const name = flows[index]?.name ?? '';
  const held = holdClaim(coordinator, claim);
  const folder = await makeTemporary('joined');
  try {
    const record = await runOne(context, request, AbortSignal.any([cancelled, held.lost]), () =>
      progress.started(index, name),
    );
    // A machine that is cancelled does not know how the flow would have ended.
    if (cancelled.aborted || record === null) return;
    held.lost.throwIfAborted();
    await storeZip(client, coordinator, claim, record, folder).catch((error: unknown) => {
      if (isClaimLost(error)) throw error;
      progress.say(`${name}: its artifacts are not in the report: ${describeFailure(error)}`);
    });
    await coordinator.finish(claim, await resultOf(client, record));
    ended(index, record, claim.job.attempt);
  } catch (error) {
    if (cancelled.aborted) return;
    if (!isClaimLost(error) && !held.lost.aborted) {
      progress.say(`${name}: this machine could not run it: ${describeFailure(error)}`);
      throw error;
    }
    progress.say(`${name}: this machine lost its claim; its result does not count`);
  } finally {
    held.release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs one job on this machine's service. Null if it has no record. */
async function runOne(
  context: RunContext,
  request: JobRequest,
  cancelled: AbortSignal,
  started: () => void,
): Promise<SessionRecord | null> {
  const { client, texts, labels, progress, headed, hurried } = context;
  const name = request.name ?? context.name;
  let ended: SessionRecord | null = null;
  await runBatch(
    client,
    { name, labels, ...(Object.keys(texts).length > 0 ? { flows: texts } : {}), jobs: [request] },
    {
      started,
      waits: (_, session, data) => void headed.paused(name, session, data),
      resumed: (session) => headed.resumed(session),
      ended(_, record) {
        ended = record;
        return false;
      },
      cancelling: () => undefined,
      stopFailed: (error) => progress.say(describeFailure(error)),
      notNotified: () => undefined,
    },
    { cancelled, hurried },
  );
  return ended;
}

/**
 * Renews a claim until it is released. `lost` is aborted when the service says that it has ended, and some time before
 * the service can give the flow to another machine, so that it never runs on two at once.
 */
function holdClaim(coordinator: Coordinator, claim: Claimed): { readonly lost: AbortSignal; release(): void } {
  const lost = new AbortController();
  const released = new AbortController();
  const { signal } = released;
  const leaseMs = claim.lease * 1000;
  const renew = async () => {
    // The lease began before the answer came; the rest of it is the time for stopping the flow.
    let safeUntilMs = performance.now() + leaseMs / 2;
    while (!signal.aborted) {
      await pause(Math.min(leaseMs / 6, Math.max(0, safeUntilMs - performance.now())), { signal }).catch(
        () => undefined,
      );
      if (signal.aborted) return;
      const askedAtMs = performance.now();
      if (askedAtMs >= safeUntilMs) break;
      const asked = coordinator.renew(claim).then(
        () => 'renewed' as const,
        (error: unknown) => (isClaimLost(error) ? ('lost' as const) : ('failed' as const)),
      );
      const over = new AbortController();
      const late = pause(safeUntilMs - askedAtMs, { signal: over.signal }).then(
        () => 'lost' as const,
        () => 'failed' as const,
      );
      const answer = await Promise.race([asked, late]);
      over.abort();
      if (answer === 'lost') break;
      if (answer === 'renewed') safeUntilMs = askedAtMs + (leaseMs * 2) / 3;
    }
    lost.abort(new TroupeError('CLAIM_LOST', 'The claim was lost'));
  };
  void renew();
  return { lost: lost.signal, release: () => released.abort() };
}

/** Sends the artifacts of an ended job to the coordinator. */
async function storeZip(
  client: ServiceClient,
  coordinator: Coordinator,
  claim: Claimed,
  { id, startedAt }: SessionRecord,
  folder: string,
): Promise<void> {
  if (startedAt === null) return;
  const file = join(folder, 'artifacts.zip');
  await pipeline(await client.download(`/api/sessions/${id}/download`), createWriteStream(file));
  const { size } = await stat(file);
  if (size > MAX_ZIP_BYTES) {
    throw new TroupeError('BODY_TOO_LARGE', `they have ${size} bytes, and the service takes ${MAX_ZIP_BYTES} at most`);
  }
  await coordinator.storeArtifacts(claim, await readFile(file));
}

async function resultOf(client: ServiceClient, record: SessionRecord): Promise<JoinedResult> {
  const { status, startedAt, id, error, outcome } = record;
  const text = startedAt === null ? null : await client.text(`/api/sessions/${id}/report.json`).catch(() => null);
  const report = text === null ? undefined : Report.safeParse(JSON.parse(text)).data;
  return {
    state: status === 'completed' || status === 'stopped' ? status : 'failed',
    startedAt,
    durationMs: ranMs(record, Date.now()) ?? 0,
    sessionId: id,
    failure: status === 'completed' && outcome !== 'repaired' ? null : bounded(failureOf(record, report ?? null)),
    mayPassAgain: status === 'failed' && error !== null && mayPassAgain(error),
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** Of a failure that says too much, what matters most. The report of the flow has all of it. */
function bounded(failure: Failure): Failure {
  if (JSON.stringify(failure).length <= MAX_FAILURE_CHARACTERS) return failure;
  const { code, message, flow, file, line, column, screenshot } = failure;
  return {
    code,
    message: message.slice(0, MAX_MESSAGE_CHARACTERS),
    ...(flow === undefined ? {} : { flow }),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(screenshot === undefined ? {} : { screenshot }),
  };
}
