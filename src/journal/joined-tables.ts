import type { Migration } from './migration.js';

/** The tables of joined batches, whose jobs run on the machines that claim them. */
export interface JoinedTables {
  joined_jobs: {
    batch_id: string;
    job: number;
    name: string;
    /** The order in which jobs are claimed. */
    place: number;
    retries: number;
    state: 'queued' | 'running' | 'completed' | 'failed' | 'stopped';
    /** How often it was claimed. */
    attempt: number;
    /** Of the present claim; null while it is not running. */
    token: string | null;
    machine: string | null;
    /** When the claim ends unless it is renewed, in milliseconds of the database's clock. */
    expires_at: number | null;
    ended_at: string | null;
    /** What the present claim has stored: the node that has it, if there are several, and its size. */
    artifact_node: string | null;
    artifact_bytes: number | null;
  };
  joined_attempts: {
    /** Identifies it among attempts and sessions. */
    id: string;
    batch_id: string;
    job: number;
    attempt: number;
    machine: string;
    /** The node that has the artifacts, if there are several. */
    node: string | null;
    /** JSON; null if the machine was lost. */
    data: string | null;
    artifact_bytes: number | null;
  };
}

const TABLES = (text: string) => `
  CREATE TABLE joined_jobs (
    batch_id ${text} NOT NULL,
    job integer NOT NULL,
    name text NOT NULL,
    place integer NOT NULL,
    retries integer NOT NULL,
    state text NOT NULL,
    attempt integer NOT NULL,
    token text,
    machine text,
    expires_at bigint,
    ended_at text,
    artifact_node text,
    artifact_bytes integer,
    PRIMARY KEY (batch_id, job)
  );
  CREATE INDEX joined_jobs_by_place ON joined_jobs (batch_id, state, place);
  CREATE TABLE joined_attempts (
    id ${text} PRIMARY KEY,
    batch_id ${text} NOT NULL,
    job integer NOT NULL,
    attempt integer NOT NULL,
    machine text NOT NULL,
    node text,
    data text,
    artifact_bytes integer
  );
  CREATE INDEX joined_attempts_by_job ON joined_attempts (batch_id, job, attempt);
  -- The history of a flow over commits outlives the sessions and their labels.
  ALTER TABLE flow_runs ADD COLUMN commit_id text;
  ALTER TABLE flow_runs ADD COLUMN branch text;
`;

export const JOINED_MIGRATION: Migration = { sqlite: TABLES('text'), postgres: TABLES('text COLLATE "C"') };
