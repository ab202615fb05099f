import type { Migration } from './migration.js';

/** The tables of joined batches, whose jobs run on the machines that claim them. */
export interface JoinedTables {
  joined_jobs: {
    batch_id: string;
    /** The number of the job in its batch, from 0; jobs are claimed in this order. */
    job: number;
    name: string;
    /** The flow in the history of flows; null for a job that does not count there. */
    flow: string | null;
    retries: number;
    state: 'queued' | 'running' | 'completed' | 'failed' | 'stopped';
    /** How often it was claimed. */
    attempt: number;
    ended_at: string | null;
    /** See `TaskOutcome`. */
    outcome: string | null;
  };
  /** One row for each claim. */
  joined_attempts: {
    batch_id: string;
    job: number;
    /** From 1. */
    attempt: number;
    /** Whoever has it may end the attempt while it is running. */
    token: string;
    machine: string;
    /** `ended` has a result; the claim of a `lost` one expired; the batch of a `stopped` one was stopped. */
    state: 'running' | 'ended' | 'lost' | 'stopped';
    /** When the claim ends unless it is renewed, in milliseconds since 1970. */
    expires_at: number;
    /** The result as JSON; null if there is none. */
    data: string | null;
    /** The file with its artifacts, in the batch's folder of a home: see `JoinedAttempt`. */
    artifacts: string | null;
  };
}

/**
 * Without blanks and with few indexes: SQLite keeps these texts, and as long as all of them fit on the first page of the
 * file, no other page that is damaged takes the schema with it.
 */
const SQLITE_TABLES = [
  'CREATE TABLE joined_jobs(batch_id TEXT,job INT,name TEXT,flow TEXT,retries INT,state TEXT,attempt INT,ended_at TEXT',
  ',PRIMARY KEY(batch_id,job))WITHOUT ROWID;',
  "CREATE INDEX joined_queued ON joined_jobs(batch_id,job)WHERE state='queued';",
  'CREATE TABLE joined_attempts(batch_id TEXT,token TEXT,job INT,attempt INT,machine TEXT,state TEXT,expires_at INT',
  ',data TEXT,artifacts TEXT,PRIMARY KEY(batch_id,token))WITHOUT ROWID;',
  "CREATE INDEX joined_running ON joined_attempts(expires_at)WHERE state='running';",
].join('');

const POSTGRES_TABLES = `
  CREATE TABLE joined_jobs (
    batch_id text COLLATE "C" NOT NULL,
    job integer NOT NULL,
    name text NOT NULL,
    flow text,
    retries integer NOT NULL,
    state text NOT NULL,
    attempt integer NOT NULL,
    ended_at text,
    PRIMARY KEY (batch_id, job)
  );
  CREATE INDEX joined_queued ON joined_jobs (batch_id, job) WHERE state = 'queued';
  CREATE TABLE joined_attempts (
    batch_id text COLLATE "C" NOT NULL,
    token text COLLATE "C" NOT NULL,
    job integer NOT NULL,
    attempt integer NOT NULL,
    machine text NOT NULL,
    state text NOT NULL,
    expires_at bigint NOT NULL,
    data text,
    artifacts text,
    PRIMARY KEY (batch_id, token)
  );
  CREATE INDEX joined_running ON joined_attempts (expires_at) WHERE state = 'running';
`;

export const JOINED_MIGRATION: Migration = { sqlite: SQLITE_TABLES, postgres: POSTGRES_TABLES };
