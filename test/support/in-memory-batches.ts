import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { type AcceptedBatch, BatchId, type BatchRecord, type BatchRequest } from '#troupe/protocol/batch.js';
import { TroupeError } from '#troupe/protocol/errors.js';
import { type EventPage, ListedEvent } from '#troupe/protocol/event-row.js';
import type { JournalEvent } from '#troupe/protocol/events.js';
import { SessionId } from '#troupe/protocol/session.js';
import type { Batches } from '#troupe/supervisor/ports/batches.js';
import type { Sessions, Submitter } from '#troupe/supervisor/ports/sessions.js';

/** Batches in memory, of jobs that end by themselves. */
export class InMemoryBatches implements Batches {
  readonly #sessions: Pick<Sessions, 'submit'>;
  readonly #records = new Map<string, BatchRecord>();

  constructor(sessions: Pick<Sessions, 'submit'>) {
    this.#sessions = sessions;
  }

  async create({ name, labels = {}, parallel, jobs }: BatchRequest, submitter: Submitter): Promise<AcceptedBatch> {
    const accepted = [];
    for (const job of jobs) accepted.push(await this.#sessions.submit({ ...job, mode: 'auto' }, submitter));
    const id = BatchId.parse(randomBytes(6).toString('hex'));
    const now = new Date().toISOString();
    const self = `/api/batches/${id}`;
    const record: BatchRecord = {
      id,
      name: name ?? null,
      labels,
      state: 'completed',
      parallel: parallel ?? null,
      counts: { total: jobs.length, queued: 0, running: 0, completed: jobs.length, failed: 0, stopped: 0 },
      createdAt: now,
      endedAt: now,
      links: { self, jobs: '', events: `${self}/events`, download: `${self}/download`, junit: `${self}/junit` },
    };
    this.#records.set(id, record);
    return { ...record, jobs: accepted.map((job) => job.id) };
  }

  async get(id: string): Promise<BatchRecord> {
    const record = this.#records.get(id);
    if (!record) throw new TroupeError('NOT_FOUND', `There is no batch ${id}`);
    return record;
  }

  async remove(id: string): Promise<BatchRecord> {
    const record = await this.get(id);
    this.#records.delete(id);
    return record;
  }

  async archive(id: string): Promise<Readable> {
    await this.get(id);
    return Readable.from([`artifacts of ${id}`]);
  }

  async junit(id: string): Promise<string> {
    return `<testsuites name="${(await this.get(id)).id}"/>`;
  }

  /** One event, the first. */
  async *eventPages({ id, after }: { id: string; after: number }): AsyncGenerator<EventPage> {
    const { createdAt: at } = await this.get(id);
    if (after > 0) return;
    const data = { status: 'completed', endReason: 'finished', summary: null, error: null } as const;
    yield pageOf({ seq: 1, sessionId: SessionId.parse(id), at, type: 'SessionEnded', data });
  }
}

/** A page of one event. */
export function pageOf({ seq, sessionId, at, type, data }: JournalEvent): EventPage {
  return [new ListedEvent(seq, [sessionId, at, type, JSON.stringify(data)])];
}
