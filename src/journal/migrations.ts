import { CALLER_RATES_MIGRATION, CLUSTER_MIGRATION } from './cluster-tables.js';
import { JOINED_MIGRATION } from './joined-tables.js';
import type { Migration } from './migration.js';
import { POSTGRES_BASELINE } from './postgres/baseline.js';

/** The versions before PostgreSQL was supported. */
const SQLITE_ONLY: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  INSERT INTO meta VALUES ('instance', lower(hex(randomblob(8))));

  -- 'accepted' is the order in which sessions were accepted; AUTOINCREMENT never reuses a number, even after a delete.
  CREATE TABLE sessions (
    accepted INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    record TEXT NOT NULL,
    request TEXT NOT NULL,
    lease TEXT
  );
  -- An index entry ends with the rowid, so each of these also sorts equal instants by order of acceptance.
  CREATE INDEX sessions_by_time ON sessions (created_at);
  CREATE INDEX sessions_by_status ON sessions (status, created_at);
  CREATE INDEX sessions_by_mode ON sessions (mode, created_at);

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    at TEXT NOT NULL,
    type TEXT NOT NULL,
    data TEXT NOT NULL
  );
  CREATE INDEX events_by_session ON events (session_id);
  `,
  `
  -- The session that an idempotency key stands for.
  CREATE TABLE submissions (key TEXT PRIMARY KEY, session_id TEXT NOT NULL, fingerprint TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX submissions_by_session ON submissions (session_id);
  `,
  `
  -- Key-value entries: access tokens, messages that wait to be sent. 'data' is JSON.
  CREATE TABLE kept (kind TEXT NOT NULL, id TEXT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (kind, id)) WITHOUT ROWID;
  `,
  `
  -- Records contain the number of the attempt.
  UPDATE sessions SET record = json_set(record, '$.attempt', 1);
  `,
  `
  ALTER TABLE sessions ADD COLUMN batch TEXT;
  CREATE INDEX sessions_by_batch ON sessions (batch, status) WHERE batch IS NOT NULL;

  -- The history of flows: one row for each run that no other flow called. A row outlives its session.
  CREATE TABLE flow_runs (
    seq INTEGER PRIMARY KEY,
    flow TEXT NOT NULL,
    session_id TEXT NOT NULL,
    at TEXT NOT NULL,
    status TEXT NOT NULL,
    duration_ms REAL NOT NULL
  );
  CREATE INDEX flow_runs_by_flow ON flow_runs (flow, at);
  CREATE INDEX flow_runs_by_time ON flow_runs (at);
  INSERT INTO flow_runs
    SELECT seq, data ->> 'path', session_id, at, data ->> 'status', data ->> 'durationMs'
    FROM events WHERE type = 'FlowFinished' AND data ->> 'depth' = 1;
  CREATE TRIGGER flow_runs_grow AFTER INSERT ON events
    WHEN NEW.type = 'FlowFinished' AND NEW.data ->> 'depth' = 1
    BEGIN
      INSERT INTO flow_runs VALUES
        (NEW.seq, NEW.data ->> 'path', NEW.session_id, NEW.at, NEW.data ->> 'status', NEW.data ->> 'durationMs');
    END;
  `,
  `
  -- The code that writes events fills the history: a trigger costs as much as the insert, for every event of any type.
  DROP TRIGGER flow_runs_grow;
  `,
  `
  -- Requests have their own table: they may be large, and are read one by one when their session starts. In a session's
  -- row the small columns come first, so that queued jobs are listed without reading the large ones.
  CREATE TABLE requests (session_id TEXT PRIMARY KEY, caller TEXT NOT NULL, request TEXT NOT NULL);
  INSERT INTO requests
    SELECT id, coalesce(request ->> 'caller', ''), request FROM sessions
    WHERE status IN ('queued', 'running') AND request <> 'null';
  CREATE TABLE sessions_new (
    accepted INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    batch TEXT,
    lease TEXT,
    record TEXT NOT NULL
  );
  INSERT INTO sessions_new SELECT accepted, id, mode, status, created_at, batch, lease, record FROM sessions;
  DELETE FROM sqlite_sequence WHERE name = 'sessions_new';
  INSERT INTO sqlite_sequence SELECT 'sessions_new', seq FROM sqlite_sequence WHERE name = 'sessions';
  DROP TABLE sessions;
  ALTER TABLE sessions_new RENAME TO sessions;
  CREATE INDEX sessions_by_time ON sessions (created_at);
  CREATE INDEX sessions_by_status ON sessions (status, created_at);
  CREATE INDEX sessions_by_mode ON sessions (mode, created_at);
  CREATE INDEX sessions_by_batch ON sessions (batch, status) WHERE batch IS NOT NULL;
  `,
];

const COLUMNS_FOR_QUERIES = `
  -- What queries compare has columns of its own: PostgreSQL cannot read JSON that contains \\u0000 or lone surrogates.
  ALTER TABLE sessions ADD COLUMN ended_at TEXT;
  ALTER TABLE sessions ADD COLUMN attempt INTEGER NOT NULL DEFAULT 1;
  UPDATE sessions SET ended_at = record ->> 'endedAt', attempt = coalesce(record ->> 'attempt', 1)
    WHERE json_valid(record) AND status IN ('completed', 'failed', 'stopped');
  CREATE TABLE session_labels (
    session_id TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (session_id, name)
  ) WITHOUT ROWID;
  CREATE INDEX session_labels_by_name ON session_labels (name, value);
  INSERT INTO session_labels
    SELECT sessions.id, label.key, label.value FROM sessions, json_each(sessions.record, '$.labels') AS label
    WHERE json_valid(sessions.record);
  CREATE TABLE batches (id TEXT PRIMARY KEY, created_at TEXT NOT NULL, name TEXT) WITHOUT ROWID;
  CREATE INDEX batches_by_time ON batches (created_at, id);
  INSERT INTO batches SELECT id, data ->> 'createdAt', data ->> 'name' FROM kept
    WHERE kind = 'batch' AND json_valid(data) AND data ->> 'createdAt' IS NOT NULL;
  CREATE TABLE batch_labels (
    batch_id TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (batch_id, name)
  ) WITHOUT ROWID;
  CREATE INDEX batch_labels_by_name ON batch_labels (name, value);
  INSERT INTO batch_labels
    SELECT batches.id, label.key, label.value FROM batches
    JOIN kept ON kept.kind = 'batch' AND kept.id = batches.id, json_each(kept.data, '$.labels') AS label;
`;

/** What `completed` alone does not say of a job; null for most. */
const OUTCOME_MIGRATION: Migration = {
  sqlite: 'ALTER TABLE sessions ADD COLUMN outcome TEXT; ALTER TABLE joined_jobs ADD COLUMN outcome TEXT;',
  postgres: 'ALTER TABLE sessions ADD COLUMN outcome text; ALTER TABLE joined_jobs ADD COLUMN outcome text;',
};

/**
 * Why a flow failed: the code of its error; null if it passed. Rows that PostgreSQL has already keep null, because it
 * cannot read every event's JSON.
 */
const FAILURE_CODE_MIGRATION: Migration = {
  sqlite: `
    ALTER TABLE flow_runs ADD COLUMN code TEXT;
    UPDATE flow_runs SET code =
      (SELECT data ->> '$.error.code' FROM events WHERE events.seq = flow_runs.seq AND json_valid(data))
      WHERE status <> 'passed';
  `,
  postgres: 'ALTER TABLE flow_runs ADD COLUMN code text;',
};

/**
 * The schema's migrations: the n-th takes a database from version n-1 to n (SQLite: `PRAGMA user_version`; PostgreSQL:
 * `meta`, key 'schema'). The SQL of a released migration is never changed; add a new one. Each runs in one transaction
 * together with its version number. With PostgreSQL, nodes of two neighbouring versions run together: a migration only
 * adds what the version before can ignore.
 */
export const MIGRATIONS: readonly Migration[] = [
  ...SQLITE_ONLY.map((sqlite) => ({ sqlite, postgres: '' })),
  { sqlite: COLUMNS_FOR_QUERIES, postgres: POSTGRES_BASELINE },
  CLUSTER_MIGRATION,
  JOINED_MIGRATION,
  CALLER_RATES_MIGRATION,
  OUTCOME_MIGRATION,
  FAILURE_CODE_MIGRATION,
];

/** Marks a SQLite file as a Troupe journal (`PRAGMA application_id`): the letters TRUP. */
export const APPLICATION_ID = 0x54525550;
