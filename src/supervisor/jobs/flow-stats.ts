import type { Clock } from '../../base/clock.js';
import type { FlowRun, Journal } from '../../journal/journal.js';
import type { Runs, Stats, StatsQuery } from '../../protocol/stats.js';

const DEFAULT_DAYS = 30;
/** The most runs that one answer covers: the newest. */
const MAX_RUNS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 1970-01-01 was a Thursday: weeks are counted from the Monday before it. */
const MONDAY_MS = 3 * DAY_MS;
const PERIOD_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const;

/** A job's run of a flow: all of its attempts. */
interface JobRun {
  readonly endedMs: number;
  readonly result: 'passed' | 'repaired' | 'failed';
  /** The flow passed, after an attempt that failed. */
  readonly flaky: boolean;
  /** Of all attempts together. */
  readonly durationMs: number;
  /** The previous run had another result. */
  readonly changed: boolean;
  /** Why it failed; null if it did not, or if the code is not known. */
  readonly code: string | null;
}

/** Statistics of flows over time, from the journal's history. */
export async function flowStats(journal: Journal, clock: Clock, query: StatsQuery): Promise<Stats> {
  const until = query.until === undefined ? clock.now() : new Date(query.until);
  const since = query.since === undefined ? new Date(until.getTime() - DEFAULT_DAYS * DAY_MS) : new Date(query.since);
  const range = { since: since.toISOString(), until: until.toISOString() };
  const rows = await journal.flowRuns({ flow: query.flow, ...range, limit: MAX_RUNS });
  const by = query.by ?? 'day';
  const runsByFlow = byFlow(rows);
  const flows = [...runsByFlow].flatMap(([flow, runs]) => {
    const last = runs.at(-1);
    if (last === undefined) return [];
    const lastResult = last.flaky ? ('flaky' as const) : last.result;
    return [{ flow, lastRunAt: new Date(last.endedMs).toISOString(), lastResult, ...overTime(runs, PERIOD_MS[by]) }];
  });
  const all = [...runsByFlow.values()].flat().sort((a, b) => a.endedMs - b.endedMs);
  return {
    ...range,
    by,
    cut: rows.length === MAX_RUNS,
    totals: overTime(all, PERIOD_MS[by]),
    flows: flows.sort((a, b) => b.runs - a.runs),
  };
}

/** @param runs oldest first */
function overTime(runs: readonly JobRun[], periodMs: number): Stats['totals'] {
  return { ...summaryOf(runs), failures: failuresOf(runs), periods: periodsOf(runs, periodMs) };
}

function failuresOf(runs: readonly JobRun[]): Stats['totals']['failures'] {
  const counts = new Map<string | null, number>();
  for (const { result, code } of runs) if (result === 'failed') counts.set(code, (counts.get(code) ?? 0) + 1);
  return [...counts].map(([code, count]) => ({ code, runs: count })).sort((a, b) => b.runs - a.runs);
}

/** @param rows newest first */
function byFlow(rows: readonly FlowRun[]): ReadonlyMap<string, readonly JobRun[]> {
  const attempts = new Map<string, Map<string, FlowRun[]>>();
  for (const row of rows.toReversed()) {
    const jobs = attempts.get(row.flow) ?? new Map<string, FlowRun[]>();
    attempts.set(row.flow, jobs);
    jobs.set(row.sessionId, [...(jobs.get(row.sessionId) ?? []), row]);
  }
  return new Map([...attempts].map(([flow, jobs]) => [flow, inOrder([...jobs.values()].flatMap(jobRun))]));
}

function jobRun(attempts: readonly FlowRun[]): readonly JobRun[] {
  const last = attempts.at(-1);
  if (last === undefined) return [];
  // A flow that was continued has a row for each part of it.
  const repaired = attempts.some(({ status }) => status === 'repaired');
  const result = repaired ? 'repaired' : last.status;
  const flaky = result === 'passed' && attempts.some(({ status }) => status === 'failed');
  const durationMs = attempts.reduce((total, attempt) => total + attempt.durationMs, 0);
  const code = result === 'failed' ? last.code : null;
  return [{ endedMs: Date.parse(last.at), result, flaky, durationMs, changed: false, code }];
}

function inOrder(runs: readonly JobRun[]): readonly JobRun[] {
  const sorted = runs.toSorted((a, b) => a.endedMs - b.endedMs);
  return sorted.map((run, index) => ({ ...run, changed: index > 0 && sorted[index - 1]?.result !== run.result }));
}

function periodsOf(runs: readonly JobRun[], periodMs: number): Stats['totals']['periods'] {
  const periods = new Map<number, JobRun[]>();
  for (const run of runs) {
    const offset = periodMs === PERIOD_MS.week ? MONDAY_MS : 0;
    const from = Math.floor((run.endedMs + offset) / periodMs) * periodMs - offset;
    periods.set(from, [...(periods.get(from) ?? []), run]);
  }
  return [...periods].map(([from, inside]) => ({ from: new Date(from).toISOString(), ...summaryOf(inside) }));
}

function summaryOf(runs: readonly JobRun[]): Runs {
  const share = (count: number) => (runs.length === 0 ? 0 : count / runs.length);
  const passed = runs.filter(({ result }) => result === 'passed');
  const times = passed.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  // Nearest rank: the duration of an actual run.
  const at = (share: number) => times[Math.max(0, Math.ceil(times.length * share) - 1)] ?? 0;
  return {
    runs: runs.length,
    passed: passed.length,
    failed: runs.filter(({ result }) => result === 'failed').length,
    repaired: runs.filter(({ result }) => result === 'repaired').length,
    passRate: share(passed.length),
    flakiness: share(runs.filter(({ flaky }) => flaky).length),
    changes: share(runs.filter(({ changed }) => changed).length),
    durationMs: times.length === 0 ? null : { p50: at(0.5), p95: at(0.95) },
  };
}
