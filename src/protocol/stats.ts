import { z } from 'zod';

/** `GET /api/stats?flow=&since=&until=&by=`: without `flow` all flows; without `since` the last 30 days. */
export const StatsQuery = z.strictObject({
  /** A path without extension, as in reports. */
  flow: z.string().min(1).max(500).optional(),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
  by: z.enum(['hour', 'day', 'week']).optional(),
});
export type StatsQuery = z.infer<typeof StatsQuery>;

/** Statistics of a flow's runs. A job counts as one run, whatever the number of its attempts. */
const Runs = z.object({
  runs: z.int(),
  passed: z.int(),
  failed: z.int(),
  /** Failed, and a model finished the run. */
  repaired: z.int(),
  /** 0 to 1. */
  passRate: z.number(),
  /** 0 to 1: the share of runs that passed after a failed attempt, on the same code. */
  flakiness: z.number(),
  /** 0 to 1: the share of runs whose result differs from the previous one's. */
  changes: z.number(),
  /** Of passed runs, each with all of its attempts; null if there are none. */
  durationMs: z.object({ p50: z.number(), p95: z.number() }).nullable(),
});
export type Runs = z.infer<typeof Runs>;

/** Why runs failed: the most frequent codes first; null if the code is not known. */
const Failures = z.array(z.object({ code: z.string().nullable(), runs: z.int() }));

/** Runs over time: oldest first, without empty periods. `from` is the start in UTC; weeks start on Monday. */
const Periods = z.array(Runs.extend({ from: z.iso.datetime() }));

/** The response of `GET /api/stats`. */
export const Stats = z.object({
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  by: z.enum(['hour', 'day', 'week']),
  /** There were more runs than the limit: the oldest are omitted. */
  cut: z.boolean(),
  /** Of all flows together. */
  totals: Runs.extend({ failures: Failures, periods: Periods }),
  /** Sorted by the number of runs, descending. */
  flows: z.array(
    Runs.extend({
      flow: z.string(),
      lastRunAt: z.iso.datetime(),
      /** How the newest run ended. */
      lastResult: z.enum(['passed', 'failed', 'repaired', 'flaky']),
      failures: Failures,
      periods: Periods,
    }),
  ),
});
export type Stats = z.infer<typeof Stats>;
