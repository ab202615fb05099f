import { z } from 'zod';

/** `GET /api/stats?flow=&since=&until=&by=`: without `flow` all flows; without `since` the last 30 days. */
export const StatsQuery = z.strictObject({
  /** A path without extension, as reports have it. */
  flow: z.string().min(1).max(500).optional(),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
  by: z.enum(['hour', 'day', 'week']).optional(),
});
export type StatsQuery = z.infer<typeof StatsQuery>;

/** How runs of a flow went. A job is one run, whatever attempts it took. */
const Runs = z.object({
  runs: z.int(),
  passed: z.int(),
  failed: z.int(),
  /** 0 to 1. */
  passRate: z.number(),
  /** 0 to 1: the share of runs that ended otherwise than the one before, or passed after a failed attempt only. */
  flakiness: z.number(),
  /** Of the runs that passed; null where none did. */
  durationMs: z.object({ p50: z.number(), p95: z.number() }).nullable(),
});
export type Runs = z.infer<typeof Runs>;

/** What `GET /api/stats` answers. */
export const Stats = z.object({
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  by: z.enum(['hour', 'day', 'week']),
  /** There were more runs than are looked at: the oldest are left out. */
  cut: z.boolean(),
  /** Those that ran most first. */
  flows: z.array(
    Runs.extend({
      flow: z.string(),
      lastRunAt: z.iso.datetime(),
      /** Oldest first; those without a run are left out. `from` is their beginning, in UTC; weeks begin on Monday. */
      periods: z.array(Runs.extend({ from: z.iso.datetime() })),
    }),
  ),
});
export type Stats = z.infer<typeof Stats>;
