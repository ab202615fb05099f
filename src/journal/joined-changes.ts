import type { ReportedTest } from '../protocol/batches/suite.js';
import type { TaskOutcome } from '../protocol/session.js';

/** A job of a joined batch, when it is accepted. */
export interface JoinedRow {
  readonly batchId: string;
  readonly job: number;
  readonly name: string;
  readonly flow: string | null;
  readonly retries: number;
}

/** A job of a joined batch. */
export interface JoinedJob {
  readonly job: number;
  readonly name: string;
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'stopped';
  /** How often it was claimed. */
  readonly attempt: number;
  readonly retries: number;
}

/** An attempt at a job of a joined batch. */
export interface JoinedAttempt {
  readonly job: number;
  readonly attempt: number;
  readonly machine: string;
  readonly state: 'running' | 'ended' | 'lost' | 'stopped';
  /** JSON text; null if there is no result. */
  readonly data: string | null;
  /** The file with its artifacts: its name, after `NODE/` if there are several nodes; null if there is none. */
  readonly artifacts: string | null;
}

/** Which attempts of a batch are read: that of a token, or that of a file, by its name without the node. */
export type JoinedSelection = { readonly token: string } | { readonly file: string };

/**
 * The present, twice: what leases are compared with, and what is stored. If several nodes share the database, the present
 * of its clock takes the place of what they say.
 */
export interface Now {
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** ISO instant. */
  readonly at: string;
}

/** Names a claim. */
interface OfClaim extends Now {
  readonly batchId: string;
  readonly token: string;
}

export interface JoinedClaim extends OfClaim {
  readonly machine: string;
  readonly leaseMs: number;
}

export interface JoinedRenewal extends OfClaim {
  readonly leaseMs: number;
}

/** Artifacts that were stored under a claim. */
export interface JoinedArtifacts extends OfClaim {
  /** As {@link JoinedAttempt} has it. */
  readonly file: string;
}

/** The result of a claimed job. */
export interface JoinedEnd extends OfClaim {
  readonly state: 'completed' | 'failed' | 'stopped';
  /** Whether another attempt may succeed; then the job's retries decide. */
  readonly mayPassAgain: boolean;
  readonly data: string;
  /** What `completed` alone does not say; a skipped job does not count in the statistics of its flow. */
  readonly outcome: TaskOutcome | null;
  readonly durationMs: number;
  /** Of the failure; null if there is none. */
  readonly code: string | null;
}

/** What a process of a suite reports about its tests. */
export interface SuiteReported extends Now {
  readonly batchId: string;
  readonly tests: readonly ReportedTest[];
  /** All tests have been reported. */
  readonly whole: boolean;
  /** The suite has ended. */
  readonly end: boolean;
}

/** A change of runs of suites. Its value is a number: see `SuiteStore`. */
export type SuiteChange =
  | ({ readonly change: 'suiteReport' } & SuiteReported)
  | ({ readonly change: 'suiteStop'; readonly batchId: string } & Now)
  | ({ readonly change: 'suiteExpire'; readonly batchIds: readonly string[] } & Now);

/** Batches that are said to be due at once. */
export const DUE_AT_ONCE = 500;

/** A change of joined batches. Its value is a number: see `JoinedStore`. */
export type JoinedChange =
  | ({ readonly change: 'claim' } & JoinedClaim)
  | ({ readonly change: 'renew' } & JoinedRenewal)
  | ({ readonly change: 'artifacts' } & JoinedArtifacts)
  | ({ readonly change: 'end' } & JoinedEnd)
  | ({ readonly change: 'stop'; readonly batchId: string } & Now)
  | ({ readonly change: 'expire'; readonly batchIds: readonly string[] } & Now);

/** The batches that a change is about. */
export function batchesOf(change: JoinedChange | SuiteChange): readonly string[] {
  return 'batchIds' in change ? change.batchIds : [change.batchId];
}
