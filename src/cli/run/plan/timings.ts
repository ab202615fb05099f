import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { asAbsent } from '../../../base/system-fault.js';
import { Stats } from '../../../protocol/stats.js';
import { UsageError } from '../../../terminal/failure.js';
import { namedService } from '../../local-service/reach-service.js';
import type { ServiceClient } from '../../service-client.js';
import type { RunOptions } from '../run-options.js';

const DAY_MS = 24 * 3_600_000;
/** Days of history that a service is asked for. */
const DAYS = 30;

/** How long flows took before, in milliseconds, by name. */
export type Timings = ReadonlyMap<string, number>;

/** What `troupe merge --timings` writes. */
const TimingsFile = z.record(z.string(), z.number().nonnegative());
/** A CTRF report has durations, too. */
const CtrfFile = z.object({
  results: z.object({ tests: z.array(z.object({ name: z.string(), duration: z.number().nonnegative() })) }),
});

/** The timings of a run: of `--timings`, else of the service that is named; none without either. */
export async function timingsOf({ timings, url, own }: Pick<RunOptions, 'timings' | 'url' | 'own'>): Promise<Timings> {
  if (timings !== undefined) return readTimings(timings);
  const named = own ? null : namedService(url);
  return named === null ? new Map() : serviceTimings(named, new Date());
}

/**
 * Durations from a file that `troupe merge --timings` wrote, or from a CTRF report.
 * @throws UsageError if there is no such file, or if it is something else
 */
async function readTimings(file: string): Promise<Timings> {
  const text = await readFile(file, 'utf8').catch(asAbsent);
  if (text === null) throw new UsageError(`--timings: there is no file '${file}'`);
  const value = parsed(text);
  const ctrf = CtrfFile.safeParse(value);
  if (ctrf.success) return known(ctrf.data.results.tests.map(({ name, duration }) => [name, duration]));
  const timings = TimingsFile.safeParse(value);
  if (timings.success) return known(Object.entries(timings.data));
  throw new UsageError(
    `--timings: ${file} is neither a CTRF report nor JSON such as {"shop/buy": 1250}, milliseconds by flow`,
  );
}

/**
 * Median durations of the flows that passed on a service, until the last midnight (UTC): parts that ask at different
 * moments of a day get the same.
 * @throws what the service answered
 */
async function serviceTimings(client: ServiceClient, now: Date): Promise<Timings> {
  const until = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const query = new URLSearchParams({
    since: new Date(until - DAYS * DAY_MS).toISOString(),
    until: new Date(until).toISOString(),
    by: 'week',
  });
  const { flows } = Stats.parse(await client.json('GET', `/api/stats?${query}`));
  return known(flows.flatMap(({ flow, durationMs }) => (durationMs === null ? [] : [[flow, durationMs.p50] as const])));
}

/** Timings as a file, sorted by name. */
export function renderTimings(timings: Timings): string {
  return `${JSON.stringify(Object.fromEntries(sorted(timings)), null, 2)}\n`;
}

/** Identifies timings: equal ones have the same, in whatever order and format they were read. */
export function timingsHash(timings: Timings): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(timings)))
    .digest('hex')
    .slice(0, 12);
}

/** A flow that was not run took no time, which says nothing. */
function known(entries: Iterable<readonly [string, number]>): Timings {
  return new Map([...entries].filter(([, ms]) => ms > 0));
}

function sorted(timings: Timings): readonly (readonly [string, number])[] {
  return [...timings].sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
