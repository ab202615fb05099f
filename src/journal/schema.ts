import type { Generated } from 'kysely';
import type { ClusterTables } from './cluster-tables.js';
import type { JoinedTables } from './joined-tables.js';

/** The tables, as the last migration leaves them. */
export interface Schema extends ClusterTables, JoinedTables {
  meta: { key: string; value: string };
  sessions: {
    accepted: Generated<number>;
    id: string;
    mode: string;
    status: string;
    created_at: string;
    batch: string | null;
    ended_at: string | null;
    attempt: number;
    /** See `TaskOutcome`. */
    outcome: string | null;
    lease: string | null;
    record: string;
  };
  session_labels: { session_id: string; name: string; value: string };
  /** Derived from the entries of `kept` with kind 'batch', as their queries compare it. */
  batches: { id: string; created_at: string; name: string | null };
  batch_labels: { batch_id: string; name: string; value: string };
  requests: { session_id: string; caller: string; request: string };
  events: { seq: Generated<number>; session_id: string; at: string; type: string; data: string };
  submissions: { key: string; session_id: string; fingerprint: string };
  kept: { kind: string; id: string; data: string };
  flow_runs: {
    seq: number;
    flow: string;
    session_id: string;
    at: string;
    status: 'passed' | 'failed' | 'repaired';
    duration_ms: number;
    /** Of the error; null if the flow passed, and of failures from before the column. */
    code: string | null;
  };
  /** SQLite's own table: the highest number that each table has given out. */
  sqlite_sequence: { name: string; seq: number };
  /** PostgreSQL only: the service that may write; see `DatabaseOwner`. */
  owner: { name: string; token: string; home: string; host: string; seen: Date };
  /** PostgreSQL only: the newest event's number. */
  counters: { name: string; value: number };
}
