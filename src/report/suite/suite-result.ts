import type { CiBuild } from '../../protocol/batches/ci-build.js';
import type { Failure } from '../../protocol/report/failure.js';

/**
 * How a flow of a run ended. `repaired`: it failed, and a model completed the job; `skipped`: all of its tests were;
 * `stopped`: it was cancelled, or not started.
 */
export type FlowOutcome = 'passed' | 'failed' | 'repaired' | 'skipped' | 'stopped';

/** A flow's attempt that failed before its last one. */
export interface EarlierAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly failure: Failure;
}

/**
 * Since when a flow fails. `isNew`: it passed the last time, with `commit`; else `commit` is the earliest known one of
 * its failures.
 */
export interface FlowHistory {
  readonly isNew: boolean;
  readonly commit: string;
}

/** A flow of a run, after all of its attempts. */
export interface FlowResult {
  /** Its path in the flows folder without extension; with a number if it ran several times. Unique in a run. */
  readonly name: string;
  /** Its file, relative to the folder of the command, with forward slashes; null for a prompt alone. */
  readonly file: string | null;
  /** Each with its `@`. */
  readonly tags: readonly string[];
  readonly outcome: FlowOutcome;
  /** Why it failed, had to be repaired, or was stopped; null if it passed. */
  readonly failure: Failure | null;
  /** Failed attempts before the last one. A flow that passed with any is flaky. */
  readonly earlier: readonly EarlierAttempt[];
  /** Its failures do not fail the run; null for most flows. */
  readonly quarantine: { readonly until: string; readonly ticket: string } | null;
  /** Of the last attempt; null if it was not started. */
  readonly startedAt: string | null;
  readonly durationMs: number;
  /** The session of the last attempt; null if it was not submitted. */
  readonly sessionId: string | null;
  /** Its report, as a path from the folder of the command or a URL; null if there is none. */
  readonly report: string | null;
  /** The picture of its failure, as a path from the folder of the command; null if there is none. */
  readonly picture: string | null;
  /** If it failed: since when, as far as the service knows. */
  readonly history: FlowHistory | null;
  /** The command that runs only this flow again. */
  readonly again: string | null;
}

/** All flows of a run, in file order. */
export interface SuiteResult {
  readonly name: string;
  /** Troupe's version. */
  readonly version: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string;
  readonly labels: { readonly [name: string]: string };
  readonly build: CiBuild | null;
  readonly flows: readonly FlowResult[];
}

/** How many flows of a run ended how. `failed` counts without `quarantined`, `passed` with `flaky`. */
export interface SuiteCounts {
  readonly total: number;
  readonly passed: number;
  readonly flaky: number;
  readonly failed: number;
  readonly quarantined: number;
  readonly repaired: number;
  readonly skipped: number;
  readonly stopped: number;
}

export function countFlows({ flows }: Pick<SuiteResult, 'flows'>): SuiteCounts {
  const count = (holds: (flow: FlowResult) => boolean) => flows.filter(holds).length;
  return {
    total: flows.length,
    passed: count(({ outcome }) => outcome === 'passed'),
    flaky: count(isFlaky),
    failed: count(failsRun),
    quarantined: count((flow) => flow.outcome === 'failed' && flow.quarantine !== null),
    repaired: count(({ outcome }) => outcome === 'repaired'),
    skipped: count(({ outcome }) => outcome === 'skipped'),
    stopped: count(({ outcome }) => outcome === 'stopped'),
  };
}

/** It passed, after at least one attempt that failed. */
export function isFlaky({ outcome, earlier }: FlowResult): boolean {
  return outcome === 'passed' && earlier.length > 0;
}

/** It failed, and is not quarantined. */
export function failsRun({ outcome, quarantine }: FlowResult): boolean {
  return outcome === 'failed' && quarantine === null;
}

/** The folder of a flow's name, as reports group flows; '' for the flows folder itself. */
export function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** `CODE: message`, in one line. */
export function reasonOf({ code, message }: Failure): string {
  return `${code}: ${message.replace(/\s+/g, ' ')}`;
}

/** `new since abc123`, or `failing since abc123`. */
export function historyText({ isNew, commit }: FlowHistory): string {
  return `${isNew ? 'new' : 'failing'} since ${/^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit}`;
}
