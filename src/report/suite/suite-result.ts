import type { CiBuild } from '../../protocol/batches/ci-build.js';
import { failureKey, groupAlike } from '../../protocol/report/alike-failures.js';
import type { Failure } from '../../protocol/report/failure.js';
import { type State, stateText } from '../../protocol/state-text.js';

/**
 * How a flow of a run, or a test of a Playwright suite, ended. `repaired`: it failed, and a model finished the run; `skipped`:
 * all of its tests were, or it was on purpose; `stopped`: it did not end, or was not started; people are told that it was not
 * run.
 */
export type FlowOutcome = 'passed' | 'failed' | 'repaired' | 'skipped' | 'stopped';

/** A flow's attempt that failed before its last one. */
export interface EarlierAttempt {
  /** From 1. */
  readonly attempt: number;
  readonly failure: Failure;
  /** Absent if it is not known. */
  readonly durationMs?: number | undefined;
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
  /** Why it failed, or had to be repaired; null if neither. */
  readonly failure: Failure | null;
  /** Why it has no result, as a sentence without its period; null if it has one. */
  readonly notRun: string | null;
  /** How many attempts it may have. */
  readonly attempts: number;
  /** Failed attempts before the last one. A flow that passed with any is flaky. */
  readonly earlier: readonly EarlierAttempt[];
  /** Its failures do not fail the run; null for most flows. */
  readonly quarantine: { readonly until: string; readonly ticket: string } | null;
  /** Of the first attempt; null if it was not started. */
  readonly startedAt: string | null;
  /** Of all attempts together, without the time in the queue and the pauses between attempts. */
  readonly durationMs: number;
  /** How long it waited to be started. */
  readonly queuedMs: number;
  /** How long the pauses between its attempts were. */
  readonly pausedMs: number;
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
  /** A test of a Playwright suite; absent for flows. */
  readonly test?: SuiteTestNames;
}

/** What reports call a test of a Playwright suite. */
export interface SuiteTestNames {
  /** The test file, as Playwright prints it. */
  readonly suite: string;
  /** The titles, as Playwright prints them. */
  readonly title: string;
  readonly line: number;
  /** Why it was skipped; null if that is not known. */
  readonly reason: string | null;
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
  readonly notRun: number;
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
    notRun: count(isNotRun),
  };
}

/** It passed, after at least one attempt that failed. */
export function isFlaky({ outcome, earlier }: FlowResult): boolean {
  return outcome === 'passed' && earlier.length > 0;
}

/** Nobody knows whether it passes: it was not started, or did not end. Quarantine does not excuse that. */
export function isNotRun({ outcome }: FlowResult): boolean {
  return outcome === 'stopped';
}

/** A flow of which only the name is known. @param notRun why it has no result */
export function unrunFlow(name: string, notRun: string): FlowResult {
  return {
    name,
    file: null,
    tags: [],
    outcome: 'stopped',
    failure: null,
    notRun,
    attempts: 1,
    earlier: [],
    quarantine: null,
    startedAt: null,
    durationMs: 0,
    queuedMs: 0,
    pausedMs: 0,
    sessionId: null,
    report: null,
    picture: null,
    history: null,
    again: null,
  };
}

/** It failed, and is not quarantined. */
export function failsRun({ outcome, quarantine }: FlowResult): boolean {
  return outcome === 'failed' && quarantine === null;
}

/** Flows that failed in the same way together, each group in the order of its first. */
export function failedAlike(flows: readonly FlowResult[]): readonly (readonly [FlowResult, ...FlowResult[]])[] {
  return groupAlike(flows, ({ failure }) => (failure === null ? null : failureKey(failure)));
}

/** The folder of a flow's name, as reports group flows; '' for the flows folder itself. */
export function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('/')));
}

/** `Not run: why`, in one line. */
export function notRunText({ notRun, failure }: FlowResult): string {
  const why = notRun ?? failure?.message ?? 'it has no result';
  return `Not run: ${why.replace(/\s+/g, ' ')}`;
}

/** How a flow ended, as people are told it. */
export function flowState(flow: FlowResult): State {
  switch (flow.outcome) {
    case 'stopped':
      return 'not run';
    case 'passed':
      if (isFlaky(flow)) return 'flaky';
      return flow.test === undefined && (flow.file === null || flow.file.endsWith('.md')) ? 'completed' : 'passed';
    default:
      return flow.outcome;
  }
}

/** How a flow ended, in one sentence without a period. */
export function flowText(flow: FlowResult): string {
  if (isNotRun(flow)) return notRunText(flow);
  const { durationMs, startedAt, earlier, attempts, failure, test } = flow;
  const attempt = earlier.length + 1;
  return stateText({
    state: flowState(flow),
    ms: startedAt === null ? null : durationMs,
    attempt,
    attempts: Math.max(attempt, attempts),
    failure,
    why: flow.outcome === 'skipped' ? (test === undefined ? ALL_SKIPPED : test.reason) : null,
  });
}

const ALL_SKIPPED = 'all of its tests were skipped';

/** The flows that were not run with the reasons, a line for each; the rest as a number. */
export function notRunLines({ flows }: Pick<SuiteResult, 'flows'>, longest: number): readonly string[] {
  const unrun = flows.filter(isNotRun);
  const lines = unrun.slice(0, longest).map((flow) => {
    const text = notRunText(flow).replace(/^Not run: /, '');
    return `not run ${flow.name}  ${text.slice(0, 300)}`;
  });
  return unrun.length > longest ? [...lines, `and ${unrun.length - longest} more that were not run`] : lines;
}

/** `CODE: message`, in one line. */
export function reasonOf({ code, message }: Failure): string {
  return `${code}: ${message.replace(/\s+/g, ' ')}`;
}

/** `new since abc123`, or `failing since abc123`. */
export function historyText({ isNew, commit }: FlowHistory): string {
  return `${isNew ? 'new' : 'failing'} since ${/^[0-9a-f]{12,}$/.test(commit) ? commit.slice(0, 8) : commit}`;
}
