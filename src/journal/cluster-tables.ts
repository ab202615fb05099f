import type { Generated } from 'kysely';
import type { Migration } from './migration.js';

/** The tables of several nodes on one database, on PostgreSQL alone. Instants are the database's. */
export interface ClusterTables {
  cluster_nodes: {
    id: string;
    start_token: string;
    home: string;
    url: string;
    version: string;
    schema: number;
    slots: number;
    state: 'up' | 'draining' | 'lost';
    seen: Date;
  };
  cluster_claims: {
    session_id: string;
    token: string;
    node: string;
    start_token: string;
    caller: string;
    claimed_at: Date;
  };
  cluster_queue: { session_id: string; caller: string; accepted: Generated<number> };
  cluster_callers: { caller: string; waiting: boolean; score: number };
  /** What is left of the starts per minute of callers that have such a limit. */
  cluster_rates: { caller: string; starts_left: number; at: Date };
}

/**
 * A queued job is a row of `cluster_queue`, a running session one of `cluster_claims`. `cluster_callers` has a row for each
 * caller; its lock is held by whoever queues a job of the caller, or takes its first one, so that `waiting` is never wrong.
 */
export const CLUSTER_MIGRATION: Migration = {
  sqlite: '',
  postgres: `
  CREATE TABLE cluster_nodes (
    id text COLLATE "C" PRIMARY KEY,
    start_token text NOT NULL,
    home text NOT NULL,
    url text NOT NULL,
    version text NOT NULL,
    schema integer NOT NULL,
    slots integer NOT NULL,
    state text NOT NULL,
    seen timestamptz NOT NULL
  );
  CREATE TABLE cluster_claims (
    session_id text COLLATE "C" PRIMARY KEY,
    token text NOT NULL,
    node text COLLATE "C" NOT NULL,
    start_token text NOT NULL,
    caller text COLLATE "C" NOT NULL,
    claimed_at timestamptz NOT NULL
  );
  CREATE INDEX cluster_claims_by_node ON cluster_claims (node, start_token);
  CREATE TABLE cluster_queue (
    session_id text COLLATE "C" PRIMARY KEY,
    caller text COLLATE "C" NOT NULL,
    accepted bigint GENERATED ALWAYS AS IDENTITY
  );
  CREATE INDEX cluster_queue_by_caller ON cluster_queue (caller, accepted);
  CREATE TABLE cluster_callers (
    caller text COLLATE "C" PRIMARY KEY,
    waiting boolean NOT NULL,
    score double precision NOT NULL
  );
  CREATE INDEX cluster_callers_by_score ON cluster_callers (score) WHERE waiting;
  `,
};

export const CALLER_RATES_MIGRATION: Migration = {
  sqlite: '',
  postgres: `
  CREATE TABLE cluster_rates (
    caller text COLLATE "C" PRIMARY KEY,
    starts_left double precision NOT NULL,
    at timestamptz NOT NULL
  );
  `,
};
