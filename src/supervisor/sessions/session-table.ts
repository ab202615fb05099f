import type { Journal, SessionQuery } from '../../journal/journal.js';
import { TroupeError } from '../../protocol/errors.js';
import { isEnded, LIST_LIMIT, type ListQuery, SessionId, type SessionRecord } from '../../protocol/session.js';
import type { SessionCounts } from '../ports/sessions.js';
import type { LivingSession } from './living-session.js';
import type { QueuedJob } from './queued-job.js';

/** All sessions: running and queued ones in memory by id, and all others from the journal. */
export class SessionTable {
  readonly #journal: Journal;
  readonly #queuePosition: (id: SessionId) => number | null;
  readonly #living = new Map<SessionId, LivingSession>();
  readonly #queued = new Map<SessionId, QueuedJob>();

  /** @param queuePosition 1 for the next job, null for a session that does not wait */
  constructor(journal: Journal, queuePosition: (id: SessionId) => number | null) {
    this.#journal = journal;
    this.#queuePosition = queuePosition;
  }

  /** Replaces the queued job with the same id. */
  add(session: LivingSession): void {
    this.#queued.delete(session.record.id);
    this.#living.set(session.record.id, session);
  }

  /** Replaces the session with the same id. */
  addQueued(job: QueuedJob): void {
    this.#living.delete(job.id);
    this.#queued.set(job.id, job);
  }

  drop(id: SessionId): void {
    this.#living.delete(id);
    this.#queued.delete(id);
  }

  /** Whether the session may still change. */
  has(id: SessionId): boolean {
    return this.#living.has(id) || this.#queued.has(id);
  }

  queued(id: SessionId): QueuedJob | undefined {
    return this.#queued.get(id);
  }

  living(id: SessionId): LivingSession | undefined {
    return this.#living.get(id);
  }

  /** Whether a session holds, or is about to hold, this lease: its id is the session's own, or a warm browser's. */
  holdsLease(leaseId: string): boolean {
    const parsed = SessionId.safeParse(leaseId);
    if (parsed.success && this.#living.has(parsed.data)) return true;
    return this.allLiving().some(
      ({ journal, seconds }) => journal.stored.lease?.leaseId === leaseId || seconds.has(leaseId),
    );
  }

  allLiving(): readonly LivingSession[] {
    return [...this.#living.values()];
  }

  /** Of all sessions that may still change here. */
  allIds(): readonly SessionId[] {
    return [...this.#living.keys(), ...this.#queued.keys()];
  }

  /** @throws NOT_FOUND */
  async get(id: string): Promise<SessionRecord> {
    const sessionId = parseId(id);
    const known = this.#known(sessionId);
    if (known !== null && known.status !== 'queued') return known;
    const stored = await this.#journal.get(sessionId);
    if (stored === null) throw notFound(id);
    return this.withQueuePosition(stored.record);
  }

  async list(query: ListQuery): Promise<readonly SessionRecord[]> {
    const { label, limit = LIST_LIMIT, ...rest } = query;
    const stored = await this.#journal.list({ ...rest, labels: labelsOf(label), limit });
    return stored.map(({ record }) => this.withQueuePosition(this.#known(record.id) ?? record));
  }

  /**
   * The record of a session that has not ended. How one has ended is true once it is on disk: of a node that has lost the
   * session, it never is.
   */
  #known(id: SessionId): SessionRecord | null {
    const record = this.#living.get(id)?.record;
    return record === undefined || isEnded(record.status) ? null : record;
  }

  /** See `Sessions.activity`. */
  activity(id: SessionId): string | null {
    const living = this.#living.get(id);
    return living?.record.status === 'running' ? living.journal.activity : null;
  }

  async counts(failedSince: string): Promise<SessionCounts> {
    const { counts, failed } = await this.#journal.statusCounts(failedSince);
    return { of: { queued: 0, running: 0, completed: 0, failed: 0, stopped: 0, ...counts }, failed };
  }

  /** A record as clients get it: a queued one has its position. */
  withQueuePosition(record: SessionRecord): SessionRecord {
    return record.status === 'queued' ? { ...record, queuePosition: this.#queuePosition(record.id) } : record;
  }
}

/** Parses `name=value`, or a name alone. */
export function labelsOf(terms: ListQuery['label'] = []): SessionQuery['labels'] {
  return [terms].flat().map((term) => {
    const at = term.indexOf('=');
    return at === -1 ? { name: term, value: null } : { name: term.slice(0, at), value: term.slice(at + 1) };
  });
}

/** @throws NOT_FOUND for a malformed id, which no session can have */
export function parseId(id: string): SessionId {
  const parsed = SessionId.safeParse(id);
  if (!parsed.success) throw notFound(id);
  return parsed.data;
}

function notFound(id: string): TroupeError {
  return new TroupeError('NOT_FOUND', `There is no session '${id.slice(0, 40)}'`);
}
