import type { Readable } from 'node:stream';
import { FlowCatalog } from '../../agent-js/flows/flow-catalog.js';
import type { BatchCounts, Journal } from '../../journal/journal.js';
import {
  type AcceptedBatch,
  BatchId,
  type BatchJUnitQuery,
  type BatchList,
  type BatchListQuery,
  type BatchRecord,
  type BatchRequest,
  type RerunRequest,
} from '../../protocol/batches/batch.js';
import type { TestState } from '../../protocol/batches/suite.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import type { EventPage } from '../../protocol/event-row.js';
import type { EventType } from '../../protocol/events.js';
import type { SessionRecord, SessionStatus } from '../../protocol/session.js';
import { webhookOfBatch } from '../../webhooks/batch-webhook.js';
import {
  type BatchArtifacts,
  batchFlowsRow,
  flowsDirOf,
  removeBatchFlows,
  SharedBatchFlows,
  writeBatchFlows,
} from '../artifacts/index.js';
import { assertWebhook, flowFileCheck, type JobScheduler, type SubmissionKey } from '../jobs/index.js';
import type { Batches } from '../ports/batches.js';
import type { Submitter } from '../ports/sessions.js';
import { labelsOf, newSessionId, type SessionDependencies } from '../sessions/index.js';
import { BatchEnds } from './batch-ends.js';
import { outcomeOf } from './batch-outcome.js';
import { JoinedArtifacts } from './joined-artifacts.js';
import { JoinedBatches } from './joined-batches.js';
import { isRepeatedStop } from './repeated-stop.js';
import { batchJobsRow, readJobsAgain, sealJobs, storeJobs } from './rerun.js';
import type { ResultNodes } from './result-zips.js';
import { batchRow, StoredBatch } from './stored-batch.js';
import { SuiteRuns } from './suite-runs.js';

/** Jobs that are read from the journal at once. */
const PAGE = 500;
/** Renewals between two looks for ends: half a minute. */
const SWEEP_EVERY = 6;
/** The label of a session with the run of the suite that it belongs to. */
const SUITE_LABEL = 'run';
/** Batches of a page of the list, if the query does not say. */
const LIST_PAGE = 50;

/** The events of jobs that a batch's stream contains. */
const JOB_EVENTS: ReadonlySet<EventType> = new Set([
  'SessionStarted',
  'HandoffRequested',
  'HandoffEnded',
  'SessionEnded',
]);

export interface BatchServiceParts extends SessionDependencies {
  readonly journal: Journal;
  readonly scheduler: JobScheduler;
  readonly artifacts: BatchArtifacts;
  readonly version: string;
  /** Null if this service is alone. */
  readonly nodes: ResultNodes | null;
  /** Cancels jobs that have not ended; resolves when their ends are on disk. */
  stop(sessions: readonly SessionRecord[]): Promise<void>;
  /** Removes the artifacts of an ended session. */
  removeArtifacts(session: SessionRecord): Promise<void>;
}

/**
 * Batches: jobs that are submitted, followed, cancelled, and collected together. Batches are stored in the journal;
 * none
 * is kept in memory.
 */
export class BatchService implements Batches {
  readonly #parts: BatchServiceParts;
  readonly #ends: BatchEnds;
  readonly joined: JoinedBatches;
  readonly suites: SuiteRuns;
  readonly #joinedArtifacts: JoinedArtifacts;
  /** With several nodes: the flows of batches that others accepted. */
  readonly #batchFlows: SharedBatchFlows | undefined;
  /** Since this node does the chores. */
  #renewals = 0;

  constructor(parts: BatchServiceParts) {
    this.#parts = parts;
    this.#batchFlows = parts.cluster === undefined ? undefined : new SharedBatchFlows(parts);
    this.#ends = new BatchEnds({ ...parts, isShared: parts.cluster !== undefined, notify: (id) => this.#notify(id) });
    this.joined = new JoinedBatches({
      ...parts,
      find: (id) => this.#find(id),
      record: (batch) => this.#record(batch),
    });
    this.suites = new SuiteRuns({
      ...parts,
      find: (id) => this.#find(id),
      record: (batch) => this.#record(batch),
    });
    this.#joinedArtifacts = new JoinedArtifacts({ ...parts, joined: this.joined });
  }

  /** Sends webhook messages about the ends of batches, also of earlier runs of the service, until {@link close}. */
  start(): void {
    this.#ends.start();
  }

  /** With several nodes, at each renewal: the one that does the chores looks for ends that nobody has noticed. */
  renewed({ doesChores }: { readonly doesChores: boolean }): void {
    this.#renewals = doesChores ? this.#renewals + 1 : 0;
    if (this.#renewals % SWEEP_EVERY !== 1) return;
    this.#ends.sweep().catch((error: unknown) => {
      this.#renewals = 0;
      this.#parts.log(`ends of batches are looked for again after an error: ${encodeError(error).error}`);
    });
  }

  /** Idempotent. Messages that were not stored are stored by the next start. */
  close(): Promise<void> {
    return this.#ends.close();
  }

  create(request: BatchRequest, submitter: Submitter): Promise<AcceptedBatch> {
    const { idempotencyKey } = submitter;
    if (idempotencyKey === undefined) return this.#create(request, submitter, null);
    return this.#parts.scheduler.submissions.once(
      idempotencyKey,
      request,
      (submission) => this.#create(request, submitter, submission),
      async (id) => {
        const batch = await this.#find(id);
        return { ...(await this.#record(batch)), jobs: (await this.#jobs(batch.id)).map((job) => job.id) };
      },
    );
  }

  async get(id: string): Promise<BatchRecord> {
    const batch = await this.#find(id);
    await this.#expire(batch);
    return this.#record(batch);
  }

  async list({ name, label, limit = LIST_PAGE, before }: BatchListQuery): Promise<BatchList> {
    const labels = labelsOf(label);
    await Promise.all([this.joined.expire(), this.suites.expire()]);
    // One more than the page says whether there is another.
    const rows = await this.#parts.journal.batchPage({ name, labels, before, limit: limit + 1 });
    const batches = rows.slice(0, limit).flatMap((row) => {
      const batch = StoredBatch.safeParse(row.data);
      return batch.success ? [this.#recordOf(batch.data, row)] : [];
    });
    return { batches, next: rows.length > limit ? (BatchId.safeParse(rows[limit - 1]?.id).data ?? null) : null };
  }

  async rerun(id: string, { jobs = 'failed' }: RerunRequest, submitter: Submitter): Promise<AcceptedBatch> {
    const { config, vault, journal } = this.#parts;
    const batch = await this.#find(id);
    if (batch.suite !== undefined) {
      throw new TroupeError(
        'INVALID_REQUEST',
        'The tests of a Playwright suite run where the suite is: run them again with `npx playwright test --last-failed`',
      );
    }
    if (batch.join !== undefined) {
      throw new TroupeError(
        'INVALID_REQUEST',
        'Machines ran the jobs of this batch: run them again with `troupe run --join` and the name of another build',
      );
    }
    await this.#batchFlows?.fetch(batch.id);
    const { name, labels, parallel } = batch;
    const records = await this.#jobs(batch.id);
    const again = await readJobsAgain({ config, vault, journal, batch: batch.id, records, failed: jobs === 'failed' });
    return this.create(
      { ...(name === null ? {} : { name }), labels, ...(parallel === null ? {} : { parallel }), ...again },
      submitter,
    );
  }

  async flowSource(id: string, path: string): Promise<string> {
    const { id: batch } = await this.#find(id);
    await this.#batchFlows?.fetch(batch);
    return new FlowCatalog(flowsDirOf(this.#parts.config, batch)).source(path);
  }

  async remove(id: string, purge: boolean): Promise<BatchRecord> {
    const batch = await this.#find(id);
    await this.#expire(batch);
    const before = await this.#record(batch);
    const record = before.endedAt === null ? await this.#cancel(batch) : before;
    const isElsewhere = batch.join !== undefined || batch.suite !== undefined;
    const now = isElsewhere ? await this.joined.now() : this.#parts.clock.now();
    const isRepeated = batch.cancelled && isRepeatedStop(before.endedAt, now);
    if (!purge && (before.endedAt === null || isRepeated)) return record;
    for await (const page of this.#pages(batch.id)) {
      for (const session of page) await this.#parts.removeArtifacts(session);
    }
    await this.#parts.journal.removeBatch(batch.id);
    await removeBatchFlows(this.#parts.config, batch.id);
    return record;
  }

  async archive(id: string): Promise<Readable> {
    const { id: batch, join, suite } = await this.#find(id);
    if (suite !== undefined) return this.#parts.artifacts.archive(await this.#sessionsOf(batch));
    if (join !== undefined) return this.#joinedArtifacts.archive(batch);
    return this.#parts.artifacts.archive(await this.#jobs(batch));
  }

  async junit(id: string, query: BatchJUnitQuery, base: string): Promise<string> {
    const found = await this.#find(id);
    const { id: batch, name, join, suite } = found;
    if (suite !== undefined) return this.suites.junit(found, query, base);
    if (join !== undefined) return this.#joinedArtifacts.junit(await this.get(batch), query, base);
    return this.#parts.artifacts.junit(name, await this.#jobs(batch), query, base);
  }

  async *eventPages(selection: {
    readonly id: string;
    readonly after: number;
    readonly signal: AbortSignal;
  }): AsyncGenerator<EventPage, void> {
    const { journal, hub } = this.#parts;
    const batch = await this.#find(selection.id);
    const after = Math.max(selection.after, batch.after);
    const jobs = new Set<string>((await this.#jobs(batch.id)).map((job) => job.id));
    let left = jobs.size - (await journal.batchEnds(batch.id, after));
    if (left === 0) return;
    for await (const page of hub.pages({ after, signal: selection.signal }, () => true)) {
      const own = page.filter(({ type, sessionId }) => JOB_EVENTS.has(type) && jobs.has(sessionId));
      if (own.length > 0) yield own;
      left -= own.filter(({ type }) => type === 'SessionEnded').length;
      if (left === 0) return;
    }
  }

  async #create(request: BatchRequest, submitter: Submitter, submission: SubmissionKey | null): Promise<AcceptedBatch> {
    const { clock, config, hub, scheduler, vault, webhooks, cluster } = this.#parts;
    assertWebhook(request, webhooks);
    const id = BatchId.parse(newSessionId());
    const { name = null, labels = {}, parallel = null, flows, jobs } = request;
    const wish = request.webhook === undefined ? null : { url: request.webhook, format: request.webhookFormat };
    const webhook = wish === null ? {} : { webhook: vault.seal(wish, '') };
    const createdAt = clock.now().toISOString();
    const total = jobs.length;
    const after = hub.lastSeq();
    const batch: StoredBatch = { id, createdAt, name, labels, parallel, total, after, cancelled: false, ...webhook };
    let ids: readonly string[];
    try {
      if (flows !== undefined) await writeBatchFlows(config, id, flows);
      ids = await scheduler.submitBatch(
        {
          row: batchRow(batch),
          flows: flows === undefined || cluster === undefined ? [] : [batchFlowsRow(id, flows)],
          jobs: jobs.map((job) => ({ ...job, mode: 'auto', labels: { ...labels, ...job.labels } })),
          parallel,
          submission,
          assertFlow: flowFileCheck(flowsDirOf(config, id)),
        },
        submitter,
      );
    } catch (error) {
      await removeBatchFlows(config, id);
      throw error;
    }
    const stored = ids.flatMap((session, index) => jobs.slice(index, index + 1).map((job) => [session, job] as const));
    // Without it the batch runs, and only cannot run again.
    const sealed = sealJobs(vault, stored);
    const kept = async () => {
      await storeJobs({ config, batch: id }, sealed);
      if (cluster !== undefined) await hub.write({ keyValues: [batchJobsRow(id, sealed)] });
    };
    await kept().catch((error: unknown) => {
      this.#parts.log(`the jobs of batch ${id} were not stored, so it cannot run again: ${encodeError(error).error}`);
    });
    if (wish !== null) this.#ends.watch(id);
    return { ...(await this.#record(batch)), jobs: [...ids] };
  }

  /** Stores the message about an ended batch; one that was removed meanwhile has none. */
  async #notify(id: string): Promise<void> {
    const { journal, vault, webhooks, log } = this.#parts;
    const [found] = await journal.keyValues('batch', id);
    if (found === undefined) return;
    const stored = StoredBatch.safeParse(found.data);
    if (!stored.success) return log(`batch ${id} is damaged in the journal; no message about its end is sent`);
    const batch = stored.data;
    if ((await webhooks.list(batch.id)).length > 0) return;
    const wish = await webhookOfBatch({ journal, vault }, id);
    if (wish === null) return log(`batch ${id}: its webhook cannot be read, so no message is sent`);
    const [record, jobs] = [await this.#record(batch), await this.#jobs(batch.id)];
    await webhooks.sendBatchEnd(outcomeOf(record, jobs), wish.url, wish.format);
  }

  async #cancel(batch: StoredBatch): Promise<BatchRecord> {
    const cancelled: StoredBatch = { ...batch, cancelled: true };
    await this.#parts.hub.write({ keyValues: [batchRow(cancelled)] });
    if (batch.join !== undefined) await this.joined.stop(batch.id);
    if (batch.suite !== undefined) await this.suites.stop(batch.id);
    await this.#parts.stop(await this.#jobs(batch.id));
    return this.#record(cancelled);
  }

  async #record(batch: StoredBatch): Promise<BatchRecord> {
    return this.#recordOf(batch, await this.#parts.journal.batchCounts(batch.id));
  }

  #recordOf(batch: StoredBatch, { counts, flaky, skipped, repaired, endedAt, suite }: BatchCounts): BatchRecord {
    const { id, name, labels, parallel, createdAt, join } = batch;
    const of = (status: TestState) => counts[status] ?? 0;
    const isSuite = batch.suite !== undefined;
    const total = isSuite ? Object.values(counts).reduce((sum, count) => sum + count, 0) : batch.total;
    const isOpen = suite === null ? of('queued') + of('running') > 0 : suite.state === 'running';
    const allSkipped = skipped + of('skipped');
    const base = this.#parts.config.publicUrl?.replace(/\/+$/, '') ?? '';
    const self = `${base}/api/batches/${id}`;
    return {
      id,
      name,
      labels,
      state: stateOf({ ...batch, total, isOpen }, of),
      parallel,
      ...(join === undefined ? {} : { join: { build: join.build, hash: join.hash } }),
      ...(isSuite ? { suite: { whole: suite?.isWhole ?? false } } : {}),
      counts: {
        total,
        queued: of('queued'),
        running: of('running'),
        // Of jobs, the skipped ones are among the completed.
        completed: of('completed') + of('skipped'),
        flaky,
        ...(isSuite || allSkipped > 0 ? { skipped: allSkipped } : {}),
        ...(repaired > 0 ? { repaired } : {}),
        failed: of('failed'),
        stopped: of('stopped'),
        ...(isSuite ? { notRun: of('not run') } : {}),
      },
      createdAt,
      // All of its jobs may have been removed individually.
      endedAt: isOpen ? null : (endedAt ?? createdAt),
      links: {
        self,
        jobs: `${base}/api/sessions?${isSuite ? `label=run=${id}` : `batch=${id}`}`,
        events: `${self}/events`,
        download: `${self}/download`,
        junit: `${self}/junit`,
      },
    };
  }

  async #find(id: string): Promise<StoredBatch> {
    const [found] = BatchId.safeParse(id).success ? await this.#parts.journal.keyValues('batch', id) : [];
    if (found === undefined) throw new TroupeError('NOT_FOUND', `There is no batch '${id.slice(0, 40)}'`);
    return StoredBatch.parse(found.data);
  }

  async #expire({ join, suite }: StoredBatch): Promise<void> {
    if (join !== undefined) await this.joined.expire();
    if (suite !== undefined) await this.suites.expire();
  }

  /** The sessions of a suite's run that still exist, in order of acceptance. */
  async #sessionsOf(batch: BatchId): Promise<readonly SessionRecord[]> {
    const labels = [{ name: SUITE_LABEL, value: batch }];
    const sessions: SessionRecord[] = [];
    for (let before: string | undefined; ; before = sessions.at(-1)?.id) {
      const page = await this.#parts.journal.list({ labels, before, limit: PAGE, oldestFirst: true });
      sessions.push(...page.map(({ record }) => record));
      if (page.length < PAGE) return sessions;
    }
  }

  /** All jobs of the batch, in order of acceptance. */
  async #jobs(batch: BatchId): Promise<readonly SessionRecord[]> {
    const jobs: SessionRecord[] = [];
    for await (const page of this.#pages(batch)) jobs.push(...page);
    return jobs;
  }

  async *#pages(batch: BatchId): AsyncGenerator<readonly SessionRecord[], void> {
    let before: string | undefined;
    for (;;) {
      const page = await this.#parts.journal.list({ batch, before, limit: PAGE, oldestFirst: true });
      if (page.length > 0) yield page.map(({ record }) => record);
      if (page.length < PAGE) return;
      before = page.at(-1)?.record.id;
    }
  }
}

/** Sets the limits of batches that have unfinished jobs, after a restart. */
export async function openGates(journal: Journal, scheduler: JobScheduler, log: (line: string) => void): Promise<void> {
  for (const { id, sessions } of await journal.openBatches()) {
    const [found] = await journal.keyValues('batch', id);
    const batch = StoredBatch.safeParse(found?.data);
    if (!batch.success) log(`batch ${id} is damaged in the journal; its jobs run without its limit`);
    else if (batch.data.parallel !== null) scheduler.openGate(id, batch.data.parallel, sessions);
  }
}

/** What was not run has not passed. */
function stateOf(
  { cancelled, total, isOpen, suite }: StoredBatch & { readonly isOpen: boolean },
  of: (status: TestState) => number,
): SessionStatus {
  if (isOpen) return suite === undefined && of('queued') === total ? 'queued' : 'running';
  if (cancelled) return 'stopped';
  // A suite whose processes were gone before they reported a test.
  if (suite !== undefined && total === 0) return 'failed';
  return of('failed') + of('stopped') + of('not run') > 0 ? 'failed' : 'completed';
}
