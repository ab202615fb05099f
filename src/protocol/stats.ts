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
  /** 0 to 1. */
  passRate: z.number(),
  /**
   * 0 to 1: the share of runs whose result differs from the previous one's, or that passed only after a failed attempt.
   */
  flakiness: z.number(),
  /** Of passed runs; null if there are none. */
  durationMs: z.object({ p50: z.number(), p95: z.number() }).nullable(),
});
export type Runs = z.infer<typeof Runs>;

/** The response of `GET /api/stats`. */
export const Stats = z.object({
  since: z.iso.datetime(),
  until: z.iso.datetime(),
  by: z.enum(['hour', 'day', 'week']),
  /** There were more runs than the limit: the oldest are omitted. */
  cut: z.boolean(),
  /** Sorted by the number of runs, descending. */
  flows: z.array(
    Runs.extend({
      flow: z.string(),
      lastRunAt: z.iso.datetime(),
      /** Oldest first, without empty ones. `from` is the start of the period in UTC; weeks start on Monday. */
      periods: z.array(Runs.extend({ from: z.iso.datetime() })),
    }),
  ),
});
export type Stats = z.infer<typeof Stats>;

/** `GET /api/stats/commits?flow=&branch=&until=`: of all branches, if none is given; up to now. */
export const FlowCommitsQuery = z.strictObject({
  /** A path without extension, as in reports. */
  flow: z.string().min(1).max(500),
  branch: z.string().min(1).max(500).optional(),
  /** Exclusive: what was known at an earlier moment. */
  until: z.iso.datetime().optional(),
});
export type FlowCommitsQuery = z.infer<typeof FlowCommitsQuery>;

/** Since when a flow fails. */
export const FailingSince = z.object({
  /** The commit with which it failed first, after it had passed. */
  commit: z.string(),
  /** When that was. */
  at: z.iso.datetime(),
  /** The commit of the last run that passed before; null if none is known. */
  passedWith: z.string().nullable(),
});
export type FailingSince = z.infer<typeof FailingSince>;

/** The response of `GET /api/stats/commits`. Commits are the `commit` labels of jobs, branches their `branch` labels. */
export const FlowCommits = z.object({
  flow: z.string(),
  /** The one that was asked for; null: all. */
  branch: z.string().nullable(),
  /** Of the newest runs. */
  branches: z.array(z.string()),
  /** Null if the newest run passed, or there is none. */
  failing: FailingSince.nullable(),
  /** The commits of the newest runs, the one that ran last first. A job counts as one run, as in `Stats`. */
  commits: z.array(
    z.object({
      commit: z.string(),
      branch: z.string().nullable(),
      runs: z.int(),
      passed: z.int(),
      failed: z.int(),
      lastPassed: z.boolean(),
      lastRunAt: z.iso.datetime(),
      /** The session of its last run; null if another machine ran it. */
      session: z.string().nullable(),
    }),
  ),
});
export type FlowCommits = z.infer<typeof FlowCommits>;
