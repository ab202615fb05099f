import type { FlowCommits, Runs, Stats, StatsQuery } from '../../../src/protocol/stats.js';
import { call } from './api.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 1970-01-01 was a Thursday; the service's weeks begin on Monday. */
const MONDAY_MS = 3 * DAY_MS;
const PERIOD_MS = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const;

/** The offered time ranges and their periods. */
export const RANGES = [
  { days: 1, by: 'hour', label: 'Day' },
  { days: 7, by: 'day', label: 'Week' },
  { days: 30, by: 'day', label: 'Month' },
  { days: 90, by: 'day', label: 'Quarter' },
  { days: 365, by: 'week', label: 'Year' },
] as const satisfies readonly { days: number; by: StatsQuery['by']; label: string }[];

/** The default range. */
export const DEFAULT_DAYS = 30;

/** The statistics of one flow. */
export type FlowStats = Stats['flows'][number];

/** A period of a chart: its runs, null for none. */
export interface Bucket {
  /** Its start, ISO 8601. */
  readonly from: string;
  readonly runs: Runs | null;
}

/** A flow's path without its extension, as in the statistics. */
export function flowOf(path: string): string {
  return path.replace(/\.[jt]s$/, '');
}

/** The statistics of the last days, of one flow or all. @throws ApiError */
export function statsOf(days: number, flow: string | null, now: number): Promise<Stats> {
  const by = RANGES.find((range) => range.days === days)?.by ?? 'day';
  const since = new Date(now - days * DAY_MS).toISOString();
  const query = new URLSearchParams({ since, by, ...(flow === null ? {} : { flow }) });
  return call('GET', `api/stats?${query}`);
}

/** How a flow did with each commit. @param branch null for all @throws ApiError */
export function commitsOf(flow: string, branch: string | null): Promise<FlowCommits> {
  const query = new URLSearchParams({ flow, ...(branch === null ? {} : { branch }) });
  return call('GET', `api/stats/commits?${query}`);
}

/** The fewest periods of a chart: a single bar over its whole width says nothing. */
const FEWEST = 7;

/** The statistics without the time before the first run, but with at least {@link FEWEST} periods. */
export function fitted(stats: Stats): Stats {
  const starts = stats.flows.flatMap(({ periods }) => periods.slice(0, 1).map(({ from }) => Date.parse(from)));
  const latest = Date.parse(stats.until) - (FEWEST - 1) * PERIOD_MS[stats.by];
  const since = Math.max(Date.parse(stats.since), Math.min(latest, ...starts));
  return { ...stats, since: new Date(since).toISOString() };
}

/** Every period from the first to the last, including those without a run. */
export function bucketsOf({ since, until, by }: Stats, periods: FlowStats['periods']): readonly Bucket[] {
  const known = new Map(periods.map((period) => [Date.parse(period.from), period]));
  const offset = by === 'week' ? MONDAY_MS : 0;
  const first = Math.floor((Date.parse(since) + offset) / PERIOD_MS[by]) * PERIOD_MS[by] - offset;
  const buckets: Bucket[] = [];
  for (let from = first; from < Date.parse(until); from += PERIOD_MS[by]) {
    buckets.push({ from: new Date(from).toISOString(), runs: known.get(from) ?? null });
  }
  return buckets;
}

/** A period for people. Days and weeks are the service's, in UTC; hours are local. */
export function periodName(from: string, by: Stats['by']): string {
  const day = { day: 'numeric', month: 'short' } as const;
  if (by !== 'hour') return new Date(from).toLocaleDateString(undefined, { ...day, timeZone: 'UTC' });
  return new Date(from).toLocaleString(undefined, { ...day, hour: '2-digit', minute: '2-digit' });
}

/** A share for people: `97 %`. Only all is 100 %, and only none 0 %. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 100 && share < 1) return '> 99 %';
  return rounded === 0 && share > 0 ? '< 1 %' : `${rounded} %`;
}
