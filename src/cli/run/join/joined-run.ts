import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pause } from '../../../base/deadline.js';
import type { JoinedFlow, JoinedResult, JoinRequest } from '../../../protocol/batches/joined.js';
import { mayPassAgain, TroupeError } from '../../../protocol/errors.js';
import { Report } from '../../../protocol/report/report.js';
import type { JobRequest, SessionRecord } from '../../../protocol/session.js';
import { describeFailure } from '../../failure.js';
import type { ServiceClient } from '../../service-client.js';
import { failureOf } from '../flow-failure.js';
import type { PlannedFlow } from '../plan/plan-run.js';
import { filesHash, longestFirst } from '../plan/shard.js';
import type { Timings } from '../plan/timings.js';
import type { RunContext } from '../run-attempts.js';
import { runBatch } from '../run-batch.js';
import { durationOf } from '../run-progress.js';
import { type Claimed, Coordinator } from './coordinator.js';

/** What a machine that joins a run needs. */
export interface JoinedRun {
  /** Its own service, and what its jobs have in common. */
  readonly context: RunContext;
  /** The service that hands out the flows. */
  readonly coordinator: ServiceClient;
  readonly build: string;
  readonly timings: Timings;
  /** Flows at once. */
  readonly parallel: number;
  /** Called for each flow that this machine has run. */
  ended(index: number, record: SessionRecord, attempt: number): void;
}

/** A joined batch that was run, or as much of it as there was before the run was cancelled. */
export interface JoinedOutcome {
  readonly coordinator: Coordinator;
  readonly flows: readonly JoinedFlow[];
}

/**
 * Claims flows of a joined batch and runs them on this machine, until all flows of the batch have ended, on whatever
 * machine.
 * @param indexes the flows of the batch, of `context.flows`
 * @throws INVALID_REQUEST if another machine has begun the build with other flows; UNAVAILABLE if the coordinator is gone
 */
export async function runJoined(
  run: JoinedRun,
  indexes: readonly number[],
  requestOf: (index: number) => JobRequest,
): Promise<JoinedOutcome> {
  const { context, build, timings } = run;
  const { progress, cancelled } = context;
  const flows = indexes.flatMap((index) => context.flows[index] ?? []);
  const { coordinator, batch } = await Coordinator.join(run.coordinator, `${hostname().slice(0, 80)}/${process.pid}`, {
    build,
    hash: filesHash(flows, context),
    name: context.name,
    labels: context.labels,
    ...jobsOfBatch(context, longestFirst(flows, timings), indexes, requestOf),
  });
  progress.say(
    `${batch.created ? 'Began' : 'Joined'} build ${build}: batch ${batch.id} with ${batch.counts.total} jobs`,
  );
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
      if (index === undefined) throw new TroupeError('INTERNAL', `The batch has an unknown flow ${claim.job.name}`);
      await runClaimed(run, coordinator, claim, { index, request: requestOf(index) });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: run.parallel }, work));
  for (const end of ends) if (end.status === 'rejected' && !cancelled.aborted) throw end.reason;
  return { coordinator, flows: await coordinator.results() };
}

/**
 * The jobs of the batch, and what the service needs to run them again by itself: the request of each that needs neither a
 * secret nor the value of a `_setup`, and the flows.
 */
function jobsOfBatch(
  { flows, texts, options }: RunContext,
  ordered: readonly Pick<PlannedFlow, 'name'>[],
  indexes: readonly number[],
  requestOf: (index: number) => JobRequest,
): Pick<JoinRequest, 'jobs' | 'flows'> {
  const { retries } = options;
  const byName = new Map(indexes.map((index) => [flows[index]?.name, requestOf(index)]));
  const jobs = ordered.map(({ name }) => {
    const request = byName.get(name);
    const alone = request !== undefined && request.secrets === undefined && request.args?.setup === undefined;
    return { name, retries, ...(alone ? { request: { ...request, retries } } : {}) };
  });
  const isAny = jobs.some(({ request }) => request !== undefined);
  return { jobs, ...(isAny && Object.keys(texts).length > 0 ? { flows: texts } : {}) };
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
  const folder = await mkdtemp(join(tmpdir(), 'troupe-joined-'));
  try {
    const record = await runOne(context, request, AbortSignal.any([cancelled, held.lost]), () =>
      progress.started(index, name),
    );
    // A machine that is cancelled does not know how the flow would have ended.
    if (cancelled.aborted || record === null) return;
    await storeZip(client, coordinator, claim, record, folder).catch((error: unknown) => {
      if (isLost(error)) throw error;
      progress.say(`${name}: its artifacts are not in the report: ${describeFailure(error)}`);
    });
    await coordinator.finish(claim, await resultOf(client, record));
    ended(index, record, claim.job.attempt);
  } catch (error) {
    if (cancelled.aborted) return;
    if (!isLost(error) && !held.lost.aborted) throw error;
    progress.say(`${name}: this machine lost its claim, and stopped it`);
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
  const ends: SessionRecord[] = [];
  await runBatch(
    client,
    {
      name: request.name ?? context.name,
      labels,
      ...(Object.keys(texts).length > 0 ? { flows: texts } : {}),
      jobs: [request],
    },
    {
      started,
      waits: (_, session, data) => void headed.paused(request.name ?? context.name, session, data),
      resumed: (session) => headed.resumed(session),
      ended(_, record) {
        ends.push(record);
        return false;
      },
      cancelling: () => undefined,
      stopFailed: (error) => progress.say(describeFailure(error)),
      notNotified: () => undefined,
    },
    { cancelled, hurried },
  );
  return ends.at(-1) ?? null;
}

/** Renews a claim until it is released. */
function holdClaim(coordinator: Coordinator, claim: Claimed): { readonly lost: AbortSignal; release(): void } {
  const lost = new AbortController();
  const released = new AbortController();
  const leaseMs = claim.lease * 1000;
  const renew = async () => {
    let renewedAt = performance.now();
    while (!released.signal.aborted) {
      await pause(leaseMs / 6, { signal: released.signal }).catch(() => undefined);
      if (released.signal.aborted) return;
      const askedAt = performance.now();
      try {
        await coordinator.renew(claim);
        renewedAt = askedAt;
      } catch (error) {
        // Some time before the service gives the flow to another machine, so that it never runs twice at once.
        const isLate = performance.now() - renewedAt > (leaseMs * 2) / 3;
        if (isLost(error) || isLate) return lost.abort(new TroupeError('CLAIM_LOST', 'The claim was lost'));
      }
    }
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
  await coordinator.storeArtifacts(claim, await readFile(file));
}

async function resultOf(client: ServiceClient, record: SessionRecord): Promise<JoinedResult> {
  const { status, startedAt, id, error } = record;
  const text = startedAt === null ? null : await client.text(`/api/sessions/${id}/report.json`).catch(() => null);
  const report = text === null ? undefined : Report.safeParse(JSON.parse(text)).data;
  return {
    state: status === 'completed' || status === 'stopped' ? status : 'failed',
    startedAt,
    durationMs: durationOf(record),
    sessionId: id,
    failure: status === 'completed' ? null : failureOf(record, report ?? null),
    mayPassAgain: status === 'failed' && error !== null && mayPassAgain(error),
  };
}

function isLost(error: unknown): boolean {
  return error instanceof TroupeError && error.code === 'CLAIM_LOST';
}

/** The planned flows by their index, for those that a joined batch has. */
export function joinedByIndex(
  flows: readonly PlannedFlow[],
  indexes: readonly number[],
  { flows: joined }: JoinedOutcome,
): ReadonlyMap<number, JoinedFlow> {
  const byName = new Map(joined.map((flow) => [flow.name, flow]));
  return new Map(
    indexes.flatMap((index) => {
      const flow = byName.get(flows[index]?.name ?? '');
      return flow === undefined ? [] : [[index, flow] as const];
    }),
  );
}
