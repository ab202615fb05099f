import type { Kysely } from 'kysely';
import type { Dialect } from '../dialect.js';
import type { JournalReads } from '../messages.js';
import type { Schema } from '../schema.js';
import { BatchStore } from './batch-store.js';
import { EventStore } from './event-store.js';
import { FlowRunStore } from './flow-run-store.js';
import { JoinedStore } from './joined-store.js';
import { KeyValueStore } from './key-value-store.js';
import { RequestStore } from './request-store.js';
import { SessionStore } from './session-store.js';
import { SuiteStore } from './suite-store.js';

/**
 * The read operations over a database.
 * @param firstRows see {@link EventStore}
 */
export function journalReads(kysely: Kysely<Schema>, dialect: Dialect, firstRows?: number): JournalReads {
  const sessions = new SessionStore(kysely, dialect);
  const batches = new BatchStore(kysely, dialect);
  const flowRuns = new FlowRunStore(kysely);
  const requests = new RequestStore(kysely, dialect);
  const keyValues = new KeyValueStore(kysely);
  const joined = new JoinedStore(kysely, dialect);
  const suites = new SuiteStore(kysely, dialect);
  const events = new EventStore(kysely, firstRows);
  return {
    get: (id) => sessions.get(id),
    list: (query) => sessions.list(query),
    running: () => sessions.running(),
    waiting: () => requests.waiting(),
    request: (sessionId) => requests.get(sessionId),
    statusCounts: (failedSince) => sessions.statusCounts(failedSince),
    submission: (key) => keyValues.submission(key),
    keyValues: (kind, prefix) => keyValues.list(kind, prefix),
    events: (query) => events.list(query),
    openBatches: () => batches.open(),
    batchCounts: (id) => batches.count(id),
    batchPage: (query) => batches.page(query),
    batchEnds: (id, upTo) => batches.ends(id, upTo),
    endedBefore: (instant, limit) => sessions.endedBefore(instant, limit),
    flowRuns: (query) => flowRuns.list(query),
    joinedNow: (nowMs) => joined.now(nowMs),
    joinedDue: (nowMs) => joined.due(nowMs),
    suitesDue: async (nowMs) => suites.due(await joined.now(nowMs)),
    suiteTests: (batchId) => suites.tests(batchId),
    joinedJobs: (batchId, job) => joined.jobs(batchId, job),
    joinedAttempts: (batchId, only) => joined.attempts(batchId, only),
  };
}
