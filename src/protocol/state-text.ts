import type { JoinedFlow } from './batches/joined.js';
import type { SuiteTest } from './batches/suite.js';
import { isLost } from './errors.js';
import type { Failure } from './report/failure.js';
import { failureOfError } from './report/failure-of-error.js';
import type { SessionRecord } from './session.js';
import { formatDuration, ranMs, testMs } from './times.js';

/**
 * How a session, a flow of a run, or a test stands. `passed` is of flows and tests, `completed` of a task for a model;
 * `flaky`: it passed after a failed attempt; `repaired`: it failed, and a model finished the run; `stopped` is of sessions
 * without a result; `not run`: there should be a result, and is none.
 */
export const STATES = [
  'queued',
  'running',
  'passed',
  'completed',
  'flaky',
  'repaired',
  'skipped',
  'failed',
  'stopped',
  'not run',
] as const;
export type State = (typeof STATES)[number];

/** The state in the word that people read: a task that was completed has passed. */
export function stateWord(state: State): string {
  return state === 'completed' ? 'passed' : state;
}

const MARKS: Readonly<Record<State, string>> = {
  queued: '○',
  running: '●',
  passed: '✓',
  completed: '✓',
  flaky: '±',
  repaired: '↻',
  skipped: '–',
  failed: '✗',
  stopped: '■',
  'not run': '⊘',
};

/** The state in a sign that can be told from those of other states without its colour. A word goes with it. */
export function stateMark(state: State): string {
  return MARKS[state];
}

/** What {@link stateText} puts into words. */
export interface StateFacts {
  readonly state: State;
  /** How long it ran, in all of its attempts; null if it never did, or if nobody knows. */
  readonly ms: number | null;
  /** The attempt that counts, from 1. */
  readonly attempt: number;
  /** How many attempts it may have. */
  readonly attempts: number;
  readonly failure: Pick<Failure, 'code' | 'flow' | 'file' | 'line' | 'column' | 'step'> | null;
  /** Why it is in this state, if neither the state nor the failure says so: without a period. */
  readonly why?: string | null;
}

/**
 * The state in one sentence without a period, such as `Failed in 12.4 s at step 7, checkout.js:31: MATCH_FAILED (attempt 2
 * of 2)`. What is not known is left out.
 */
export function stateText({ state, ms, attempt, attempts, failure, why = null }: StateFacts): string {
  const took = ms === null ? '' : ` in ${formatDuration(ms)}`;
  const after = ms === null ? '' : ` after ${formatDuration(ms)}`;
  const which = attempts > 1 ? ` (attempt ${attempt} of ${attempts})` : '';
  const reason = why === null ? '' : `: ${why}`;
  switch (state) {
    case 'queued':
      return `Queued${attempt > 1 ? ` for attempt ${attempt} of ${attempts}` : ''}${why === null ? '' : `, ${why}`}`;
    case 'running':
      return `Running${ms === null ? '' : ` for ${formatDuration(ms)}`}${reason}${which}`;
    case 'passed':
    case 'completed':
      return `Passed${took}`;
    case 'flaky':
      return `Flaky: passed${took}${which}`;
    case 'repaired':
      return `Repaired${took}${failure === null ? '' : ` after ${failure.code}${whereText(failure)}`}: a model finished the run${which}`;
    case 'skipped':
      return `Skipped${reason}`;
    case 'failed':
      return `Failed${took}${failure === null ? reason : `${whereText(failure)}: ${failure.code}`}${which}`;
    case 'stopped':
      return `Stopped${after}${reason}`;
    case 'not run': {
      if (ms === null) return `Not run${reason === '' && failure !== null ? `: ${failure.code}` : reason}`;
      return `Not finished: ${failure === null ? 'stopped' : failure.code}${after}${why === null ? '' : `, ${why}`}${which}`;
    }
  }
}

/** ` at step 7, checkout.js:31`; '' if neither is known. */
function whereText({ step, ...place }: NonNullable<StateFacts['failure']>): string {
  const number = step === undefined || step.before ? null : (step.number ?? step.index);
  const line = shortPlace(place);
  if (number === null) return line === null ? '' : line.startsWith('after ') ? ` ${line}` : ` at ${line}`;
  return ` at step ${number}${line === null ? '' : `, ${line}`}`;
}

/** `shop/checkout.js:31`, by its path in the flows folder, wherever that is. */
function shortPlace({
  flow,
  file,
  line,
  column,
}: Omit<NonNullable<StateFacts['failure']>, 'code' | 'step'>): string | null {
  if (line === undefined) return null;
  if (flow === undefined && file === undefined) return column === undefined ? `after line ${line}` : `line ${line}`;
  const script = /\.[jt]s$/.exec(file ?? '')?.[0] ?? '.js';
  const name = flow === undefined ? file : `${flow}${script}`;
  return `${column === undefined ? 'after ' : ''}${name}:${line}`;
}

/** The state of a session, as people are told it. */
export function stateOfRecord(record: SessionRecord): State {
  const { status, outcome, attempt, mode, flowFiles, error } = record;
  if (status === 'failed') return isLost(error) ? 'not run' : 'failed';
  if (status === 'stopped') return mode === 'auto' ? 'not run' : 'stopped';
  if (status !== 'completed') return status;
  if (outcome !== undefined) return outcome;
  if (attempt > 1) return 'flaky';
  return flowFiles.some((file) => !file.endsWith('.md')) ? 'passed' : 'completed';
}

/**
 * The state of a session in one sentence.
 * @param nowMs until when the time of a running session counts
 * @param known.failure why it failed, as its report says; without it, what the record says
 * @param known.ms how long it ran, together with other jobs of its flow
 */
export function recordText(
  record: SessionRecord,
  nowMs: number,
  known: { readonly failure?: Failure | null; readonly ms?: number } = {},
): string {
  const { attempt, retries = 0 } = record;
  return stateText({
    state: stateOfRecord(record),
    ms: record.startedAt === null ? null : (known.ms ?? ranMs(record, nowMs)),
    attempt,
    attempts: Math.max(attempt, retries + 1),
    failure: known.failure ?? failureOfRecord(record),
    why: whyOf(record),
  });
}

const END_REASONS: Readonly<Record<NonNullable<SessionRecord['endReason']>, string | null>> = {
  deleted: null,
  idle: 'it was idle',
  hard: 'time limit reached',
  lost: 'its browser was lost',
  finished: null,
  interrupted: 'the service was stopped',
  shutdown: 'the service was stopped',
};

function whyOf({ status, outcome, mode, queuePosition, handoff, startedAt, endReason }: SessionRecord): string | null {
  if (status === 'queued') return queuePosition === null ? null : `position ${queuePosition}`;
  if (status === 'running') return handoff === undefined ? null : 'waiting for a person';
  if (outcome === 'skipped') return 'all of its tests were skipped';
  if (status !== 'stopped') return null;
  const why = endReason === null ? null : END_REASONS[endReason];
  if (mode === 'live' || startedAt !== null) return why;
  return why === null ? 'stopped before it started' : `${why} before it started`;
}

/** Why a job failed, as its record says, with the flow's file. */
function failureOfRecord({ error, flowFiles }: SessionRecord): Failure | null {
  if (error === null) return null;
  const failure = failureOfError(error);
  const file = flowFiles.find((one) => one.replace(/\.[jt]s$/, '') === failure.flow);
  return file === undefined ? failure : { ...failure, file };
}

const TEST_STATES: Readonly<Record<SuiteTest['state'], State>> = {
  queued: 'queued',
  running: 'running',
  completed: 'passed',
  failed: 'failed',
  stopped: 'not run',
  skipped: 'skipped',
  'not run': 'not run',
};

/** The state of a test of a Playwright suite, as people are told it. */
export function stateOfTest({ state, flaky }: SuiteTest): State {
  return flaky ? 'flaky' : TEST_STATES[state];
}

/** The state of a test of a Playwright suite in one sentence. */
export function testText(test: SuiteTest): string {
  const { state, attempts, reason } = test;
  const ran = attempts.filter(({ status }) => status !== 'skipped');
  const isOpen = state === 'queued' || state === 'running';
  return stateText({
    state: stateOfTest(test),
    ms: ran.length === 0 || isOpen ? null : testMs(test),
    attempt: Math.max(1, ran.length),
    attempts: Math.max(1, ran.length),
    failure:
      state === 'failed' || state === 'stopped'
        ? (attempts.findLast(({ failure }) => failure !== null)?.failure ?? null)
        : null,
    why: reason,
  });
}

/** The state of a flow of a joined run, as people are told it. */
export function stateOfJoined({ state, attempts }: JoinedFlow): State {
  const result = attempts.at(-1)?.result ?? null;
  if (state === 'completed') return result?.outcome ?? (attempts.length > 1 ? 'flaky' : 'passed');
  if (state === 'failed') return result === null || isLost(result.failure) ? 'not run' : 'failed';
  return state === 'stopped' ? 'not run' : state;
}

/** The state of a flow of a joined run in one sentence. */
export function joinedText(flow: JoinedFlow): string {
  const { state, attempts } = flow;
  const last = attempts.at(-1);
  const ended = state === 'completed' || state === 'failed';
  const ms = attempts.reduce((total, { result }) => total + (result?.durationMs ?? 0), 0);
  return stateText({
    state: stateOfJoined(flow),
    ms: ended && attempts.some(({ result }) => result !== null) ? ms : null,
    attempt: Math.max(1, attempts.length),
    attempts: Math.max(1, attempts.length),
    failure: ended ? (last?.result?.failure ?? null) : null,
    why: ended && last?.result === null ? `the machine ${last.machine} was lost` : null,
  });
}
