import { randomInt } from 'node:crypto';
import { addTokens } from '../../autonomy/conversation.js';
import type { BrowserLease } from '../../containers/driver.js';
import type { EventData } from '../../protocol/events.js';
import type { AutoRequest, LiveRequest, SessionRecord } from '../../protocol/session.js';
import { SessionId } from '../../protocol/session.js';
import { withPause } from '../../protocol/times.js';
import type { TraceWhen } from '../../protocol/trace/trace.js';
import type { SessionEnd } from './session-end.js';

/** A session that was accepted, now or in an earlier run of the service. */
export interface AcceptedSession {
  readonly request: LiveRequest | AutoRequest;
  readonly record: SessionRecord;
  /** Identifies who submitted it; see `Submitter`. */
  readonly caller: string;
}

const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** A random id with 62 bits of entropy, so that ids do not collide. */
export function newSessionId(): SessionId {
  const letters = Array.from({ length: 12 }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]);
  return SessionId.parse(letters.join(''));
}

/** The record of a session that was just accepted. */
export function acceptedRecord(
  id: SessionId,
  request: LiveRequest | AutoRequest,
  defaults: {
    readonly maxIterations: number;
    /** Null if none is configured. */
    readonly model: string | null;
    readonly publicUrl: string | undefined;
    readonly now: Date;
    readonly batch?: string | undefined;
    readonly trace?: TraceWhen | undefined;
    readonly startedBy?: string | undefined;
  },
): SessionRecord {
  const task = request.mode === 'auto' ? request : null;
  const now = defaults.now.toISOString();
  const trace = request.trace ?? defaults.trace ?? 'off';
  const maxIterations = task === null ? null : (task.maxIterations ?? defaults.maxIterations);
  return {
    id,
    sessionId: id,
    mode: task === null ? 'live' : 'auto',
    name: request.name ?? null,
    labels: request.labels ?? {},
    batch: defaults.batch ?? null,
    status: 'queued',
    state: 'queued',
    prompt: task?.prompt ?? null,
    flowFiles: task?.flowFiles ?? [],
    model: maxIterations ? (task?.model ?? defaults.model) : null,
    maxIterations,
    iterations: 0,
    attempt: 1,
    ...(task?.retries ? { retries: task.retries } : {}),
    queuePosition: null,
    createdAt: now,
    startedAt: null,
    endedAt: null,
    lastActivityAt: now,
    endReason: null,
    summary: null,
    error: null,
    tokens: { input: 0, cached: 0, output: 0 },
    driver: null,
    ...(defaults.startedBy === undefined ? {} : { startedBy: defaults.startedBy }),
    ...(trace === 'off' ? {} : { trace }),
    links: sessionLinks(id, defaults.publicUrl),
  };
}

/**
 * @param options.node of several nodes the one that runs it
 * @param options.isStored whether the artifacts are to be moved to a store
 */
export function startedRecord(
  record: SessionRecord,
  {
    driver,
    node,
    isStored,
    now,
  }: { readonly driver: string; readonly node?: string | undefined; readonly isStored: boolean; readonly now: Date },
): SessionRecord {
  const at = now.toISOString();
  const startedAt = record.startedAt ?? at;
  const started = {
    ...resumed(record, now),
    status: 'running',
    state: 'running',
    startedAt,
    lastActivityAt: at,
    driver,
  } as const;
  if (node === undefined) return isStored ? { ...started, artifacts: 'pending' } : started;
  return { ...started, node, artifacts: isStored ? 'pending' : 'node' };
}

/** The record of a session whose pause, if it was queued again after its start, is over. */
function resumed(record: SessionRecord, now: Date): SessionRecord {
  return record.status === 'queued' && record.startedAt !== null
    ? withPause(record, record.lastActivityAt, now)
    : record;
}

/** The record of a session that waits for no person. */
export function withoutHandoff({ handoff, ...record }: SessionRecord): SessionRecord {
  return record;
}

/** The record of a session that waits for a person, from now on. */
export function handoffRecord(record: SessionRecord, asked: EventData<'HandoffRequested'>, now: Date): SessionRecord {
  const { handoff: id, text, timeoutMs } = asked;
  const expiresAt = new Date(now.getTime() + timeoutMs).toISOString();
  return { ...record, handoff: { id, text, requestedAt: now.toISOString(), expiresAt } };
}

/** The record of a job that is queued again, for its next attempt or to continue this one. */
export function waitingRecord(record: SessionRecord, attempt: number, now: Date): SessionRecord {
  return { ...withoutHandoff(record), status: 'queued', state: 'queued', attempt, lastActivityAt: now.toISOString() };
}

/** The record after a model call, successful or not. */
export function spentRecord(record: SessionRecord, answer: EventData<'ModelCallFinished'>): SessionRecord {
  return {
    ...record,
    model: answer.model,
    iterations: record.iterations + (answer.error === undefined ? 1 : 0),
    tokens: addTokens(record.tokens, answer.tokens),
  };
}

export function endedRecord(record: SessionRecord, end: SessionEnd, now: Date): SessionRecord {
  const at = now.toISOString();
  return {
    ...withoutHandoff(resumed(record, now)),
    status: end.status,
    state: end.status,
    endedAt: at,
    lastActivityAt: at,
    queuePosition: null,
    endReason: end.reason,
    summary: end.summary,
    error: end.error,
    ...(end.outcome === undefined ? {} : { outcome: end.outcome }),
  };
}

/** Paths from the service's root; absolute URLs if `publicUrl` is configured. */
function sessionLinks(id: SessionId, publicUrl: string | undefined): SessionRecord['links'] {
  const base = publicUrl?.replace(/\/+$/, '') ?? '';
  return {
    self: `${base}/api/sessions/${id}`,
    proxy: `${base}/sessions/${id}/proxy`,
    prompt: `${base}/sessions/${id}/prompt`,
    download: `${base}/api/sessions/${id}/download`,
    events: `${base}/api/sessions/${id}/events`,
    view: `${base}/#/sessions/${id}`,
  };
}

/**
 * The data of a session's start: where it runs, how long it waited for its slot, and how long its browser took to open.
 */
export function startFacts(
  record: SessionRecord,
  start: {
    readonly lease: BrowserLease;
    readonly warm: boolean;
    readonly thread: number;
    /** When it got its slot. */
    readonly begunAt: Date;
    readonly now: Date;
  },
): EventData<'SessionStarted'> {
  const { lease, warm, thread, begunAt, now } = start;
  const begunMs = begunAt.getTime();
  return {
    driver: record.driver ?? lease.identity.driver,
    browser: lease.endpoint.product,
    thread,
    ...(record.node === undefined ? {} : { node: record.node }),
    mode: record.mode,
    // Time before a retry was not spent waiting.
    ...(record.attempt > 1 ? {} : { waitedMs: Math.max(0, begunMs - Date.parse(record.createdAt)) }),
    openMs: Math.max(0, now.getTime() - begunMs),
    warm,
  };
}
