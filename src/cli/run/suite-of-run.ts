import { createWriteStream } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isLost } from '../../protocol/errors.js';
import type { Failure } from '../../protocol/report/failure.js';
import type { Report } from '../../protocol/report/report.js';
import type { SessionRecord } from '../../protocol/session.js';
import { queuedMs, ranMs } from '../../protocol/times.js';
import type { EarlierAttempt, FlowOutcome, FlowResult } from '../../report/suite/suite-result.js';
import type { UsedService } from '../own-service.js';
import { againCommand } from './again-command.js';
import { failureOf, inCheckout, pathFrom, retriedAttempts } from './flow-failure.js';
import { type JoinedReports, joinedResult } from './join/joined-reports.js';
import type { KnownEnds } from './known-ends.js';
import { noteOwned, removeOwned } from './owned-files.js';
import { originalName, type PlannedFlow } from './plan/plan-run.js';
import type { QuarantineEntry } from './plan/quarantine.js';
import { readHistory } from './run-history.js';
import type { RunOptions } from './run-options.js';
import type { RunReports } from './run-reports.js';

/** What the results of a run are made of. */
export interface RunOutcome {
  readonly service: UsedService;
  readonly options: RunOptions;
  readonly flows: readonly PlannedFlow[];
  readonly known: KnownEnds;
  /** What ended the run early; null if nothing did. */
  readonly cause: string | null;
  /** The service does not answer any more. */
  readonly isAway: boolean;
  /** What a joined batch says of its flows; null for a run that is not joined. */
  readonly joined: JoinedReports | null;
  /** All that is needed was fetched. */
  readonly reports: RunReports;
  /** The folder of a flow's last job below the report folder, by the flow's index. */
  folderOf(index: number, attempt?: number): string;
  readonly quarantine: ReadonlyMap<string, QuarantineEntry>;
  /** The flows folder. */
  readonly root: string | null;
  readonly branch: string | undefined;
  /** Whether the command runs in CI. */
  readonly inCi: boolean;
}

/** The result of every flow of a run, in file order. */
export async function flowResults(outcome: RunOutcome): Promise<readonly FlowResult[]> {
  const { flows, known, service } = outcome;
  const results: FlowResult[] = [];
  const pictures = picturesOf(outcome.options);
  if (pictures !== null) await removeOwned(pictures);
  for (const [index, flow] of flows.entries()) results.push(await flowResult(outcome, index, flow));
  if (pictures !== null) {
    await noteOwned(
      pictures,
      results.flatMap(({ picture }) => (picture === null ? [] : [relative(pictures, picture).split(sep).join('/')])),
    );
  }
  const failed = results.filter((result) => result.outcome === 'failed').map(({ name }) => name);
  if (failed.length === 0 || service.own || outcome.isAway) return results;
  const ids = new Set([...known.attempts.values()].flat().map(({ id }) => id));
  const history = await readHistory(service.client, outcome.branch, failed, ids);
  return results.map((result) => ({
    ...result,
    history: result.outcome === 'failed' ? (history.get(result.name) ?? null) : null,
  }));
}

async function flowResult(outcome: RunOutcome, index: number, flow: PlannedFlow): Promise<FlowResult> {
  const { known, reports, root, quarantine, options, joined } = outcome;
  const at = (failure: Failure) => inCheckout(failure, root, process.cwd());
  const file = flow.path === null || root === null ? null : pathFrom(process.cwd(), join(root, flow.path));
  const again = (outcomeOf: FlowOutcome) =>
    file === null || outcomeOf === 'passed' ? null : againCommand(options, file, outcome.inCi);
  const about = {
    name: flow.name,
    file,
    tags: flow.tags,
    quarantine: quarantine.get(originalName(flow)) ?? null,
    attempts: options.retries + 1,
    history: null,
  };
  const ofBatch = joined?.flows.get(index);
  if (joined !== null && ofBatch !== undefined) {
    const result = await joinedResult(joined, index, ofBatch, at);
    return { ...about, ...result, again: again(result.outcome) };
  }
  const records = known.attempts.get(index) ?? [];
  const last = records.at(-1);
  const found: { readonly record: SessionRecord; readonly report: Report | null }[] = [];
  for (const [attempt, record] of records.entries()) {
    found.push({ record, report: await reports.read(outcome.folderOf(index, attempt)) });
  }
  const report = found.at(-1)?.report ?? null;
  const why = last === undefined ? null : whyOf(last, report);
  const failure = why === null ? null : at(why);
  const ended = outcomeOf(last);
  return {
    ...about,
    outcome: ended,
    failure,
    notRun: ended === 'stopped' ? (failure?.message ?? known.whyNotRun(index, outcome.cause)) : null,
    earlier: earlierOf(found).map((one) => ({ ...one, failure: at(one.failure) })),
    ...timesOf(records),
    sessionId: last?.id ?? known.started.get(index) ?? null,
    report: last === undefined ? null : reportOf(outcome, last, outcome.folderOf(index, records.length - 1)),
    picture: last === undefined ? null : await pictureOf(outcome, last, failure, index, records.length - 1),
    again: again(ended),
  };
}

/** Why a job failed, or needed a model to complete; null if neither. */
function whyOf(last: SessionRecord, report: Report | null): Failure | null {
  return last.status === 'failed' || last.outcome === 'repaired' ? failureOf(last, report) : null;
}

/** How a flow ended whose last job ended like this; it has no job if it was never started. */
function outcomeOf(last: SessionRecord | undefined): FlowOutcome {
  if (last?.status === 'completed') return last.outcome ?? 'passed';
  return last?.status === 'failed' && !isLost(last.error) ? 'failed' : 'stopped';
}

/** All failed attempts before the last one, numbered as a person counts them. */
function earlierOf(
  found: readonly { readonly record: SessionRecord; readonly report: Report | null }[],
): readonly EarlierAttempt[] {
  const earlier = found.flatMap(({ record, report }, index) => [
    ...retriedAttempts(report),
    ...(index === found.length - 1
      ? []
      : [{ attempt: 0, failure: failureOf(record, report), durationMs: lastAttemptMs(record, report) }]),
  ]);
  return earlier.map((one, index) => ({ ...one, attempt: index + 1 }));
}

/** How long the last attempt of a job took, without those that the service retried. */
function lastAttemptMs(record: SessionRecord, report: Report | null): number | undefined {
  const all = ranMs(record, Date.now());
  const retried = (report?.attempts ?? []).map(({ durationMs }) => durationMs);
  if (all === null || (report === null && record.attempt > 1) || retried.includes(undefined)) return undefined;
  return retried.reduce<number>((rest, ms = 0) => rest - ms, all);
}

/** The times of a flow's jobs: more than one if the run itself retried it. */
function timesOf(
  records: readonly SessionRecord[],
): Pick<FlowResult, 'startedAt' | 'durationMs' | 'queuedMs' | 'pausedMs'> {
  const now = Date.now();
  const started = records.filter(({ startedAt }) => startedAt !== null);
  const [first] = records;
  const times = { startedAt: started[0]?.startedAt ?? null, durationMs: 0, pausedMs: 0 };
  for (const [index, record] of started.entries()) {
    const before = started[index - 1]?.endedAt ?? null;
    const gap = before === null ? 0 : Math.max(0, Date.parse(record.startedAt ?? before) - Date.parse(before));
    times.durationMs += ranMs(record, now) ?? 0;
    times.pausedMs += gap + (record.pausedMs ?? 0);
  }
  return { ...times, queuedMs: first === undefined ? 0 : queuedMs(first, now) };
}

/** Where a person finds the report of a job: a file, or the service's page. */
function reportOf({ options, service, reports }: RunOutcome, record: SessionRecord, folder: string): string | null {
  if (record.startedAt === null) return null;
  if (options.report !== undefined) {
    return reports.has(folder) ? join(options.report, folder, 'report.html') : null;
  }
  const { client, own } = service;
  return own ? null : `${client.url}/api/sessions/${record.id}/report`;
}

/** The folder for pictures beside an index without reports; null if there are reports, or no index. */
function picturesOf({ report, html }: RunOptions): string | null {
  return report !== undefined || html === undefined ? null : join(html, 'pictures');
}

/** The picture of a failure among the reports, or fetched for the index; null if there is neither. */
async function pictureOf(
  { options, service, reports, isAway, folderOf }: RunOutcome,
  record: SessionRecord,
  failure: Failure | null,
  index: number,
  attempt: number,
): Promise<string | null> {
  const { report, html } = options;
  const [, name] = /^screenshots\/([^/\\]+\.(?:png|jpe?g|webp))$/.exec(failure?.screenshot ?? '') ?? [];
  if (name === undefined || (report === undefined && (html === undefined || isAway))) return null;
  if (report !== undefined && !reports.has(folderOf(index, attempt))) return null;
  const file =
    report === undefined
      ? join(picturesOf(options) ?? '', folderOf(index), name)
      : join(report, folderOf(index, attempt), 'screenshots', name);
  try {
    if (report === undefined) {
      await mkdir(dirname(resolve(file)), { recursive: true });
      const path = `/api/sessions/${record.id}/screenshots/${encodeURIComponent(name)}`;
      await pipeline(await service.client.download(path), createWriteStream(file));
    }
    await access(file);
    return file;
  } catch {
    return null;
  }
}
