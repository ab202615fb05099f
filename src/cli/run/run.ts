import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { leadingComment } from '../../agent-js/flows/leading-comment.js';
import { onAbort } from '../../base/deadline.js';
import { mayColour, readConfig } from '../../config.js';
import { AcceptedBatch, MAX_BATCH_JOBS } from '../../protocol/batch.js';
import { batchFolders } from '../../protocol/batch-folders.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { isEnded, type JobRequest, SessionRecord } from '../../protocol/session.js';
import { describeFailure, UsageError } from '../failure.js';
import { type UsedService, useService } from '../own-service.js';
import { watchSignals } from '../watch-signals.js';
import { findRunFiles, type RunFiles } from './run-files.js';
import { type RunOptions, readRunOptions } from './run-options.js';
import { countedJobs, type EndedJob, RunProgress } from './run-progress.js';
import { RunReports } from './run-reports.js';
import { type RunSettings, readRunSettings, serveForRun } from './run-serve.js';

/** A run that was cancelled waits so long for the ends of its jobs. */
const CANCEL_MS = 15_000;

/**
 * Runs flows and tasks for CI: on a service that runs, or on one of its own.
 * @returns 0 when every job completed, 1 when not, 2 when it could not run or was cancelled
 */
export async function runFlows(args: readonly string[]): Promise<number> {
  const options = readRunOptions(args);
  const signals = watchSignals();
  const closers: (() => Promise<void>)[] = [];
  const cancelled = new AbortController();
  void signals.first.then((signal) => cancelled.abort(new TroupeError('UNAVAILABLE', `Cancelled by ${signal}`)));
  try {
    const files = await findRunFiles(options.words, { cwd: process.cwd(), bases: [homeFlows()], flows: options.flows });
    const settings = await readRunSettings(files.root);
    const jobs = jobsOf(options, files, settings);
    if (jobs.length === 0) return await nothingToDo(options);
    closers.push(await serveForRun(settings.serve, files.root ?? process.cwd(), cancelled.signal));
    const parallel = options.parallel ?? Math.min(jobs.length, Math.max(1, cpus().length));
    const { url, own, driver } = options;
    const service = await useService({ url, own, flags: { driver }, sessions: parallel });
    closers.push(() => service.close());
    if (driver !== undefined && !service.own) {
      throw new UsageError(`--driver is for a service of the run's own, and ${service.description} runs: add --own`);
    }
    process.stderr.write(`${countedJobs(jobs.length)} on ${service.description}\n`);
    cancelled.signal.throwIfAborted();
    return await runBatch(service, options, jobs, files, cancelled.signal, signals.second);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    process.stderr.write(`troupe: ${describeFailure(error)}\n`);
    return 2;
  } finally {
    for (const close of closers.reverse()) await close();
    signals.release();
  }
}

/** Flows are also found by the names that the service has for them. */
function homeFlows(): string {
  try {
    return readConfig({}).flowsDir;
  } catch {
    return resolve('flows');
  }
}

function jobsOf(options: RunOptions, { named, texts }: RunFiles, settings: RunSettings): readonly JobRequest[] {
  const { grep, shard, prompt, model, retries, secrets, timeout, exactScreenshots } = options;
  const onlyFlows = named.length > 0 && named.every((path) => path.endsWith('.js'));
  if (model !== undefined && prompt === undefined && onlyFlows) {
    throw new UsageError('--model names who does a task; flows alone need none. Say with --prompt what is to be done');
  }
  const chosen = named
    .filter((path) => grep === null || grep.test(path.replace(/\.(js|md)$/, '')))
    .filter((_, index) => shard === null || index % shard.count === shard.index - 1);
  const forward = [...new Set([...(settings.forward ?? []), ...options.forward])];
  const common = {
    args: { ...settings.args, ...options.args },
    ...(Object.keys(secrets).length > 0 ? { secrets } : {}),
    ...(retries > 0 ? { retries } : {}),
    ...(exactScreenshots ? { screenshots: 'exact' as const } : {}),
    ...(timeout === undefined ? {} : { hardTimeout: timeout }),
    ...(forward.length > 0 ? { forward } : {}),
  };
  const withModel = model === undefined ? {} : { model };
  if (named.length === 0) return [{ ...common, ...withModel, name: 'prompt', prompt: prompt ?? '' }];
  return chosen.map((path): JobRequest => {
    const name = path.replace(/\.(js|md)$/, '').slice(0, 200);
    const job = { ...common, name, flowFiles: [path] };
    if (prompt !== undefined) return { ...job, ...withModel, prompt };
    const text = texts[path] ?? '';
    if (path.endsWith('.md')) return { ...job, ...withModel, prompt: headingOf(text) || name };
    return { ...job, prompt: leadingComment(text) || name, maxIterations: 0 };
  });
}

function headingOf(text: string): string {
  const [line = ''] = text.split('\n').filter((one) => one.trim() !== '');
  return line.replace(/^#+\s*/, '').trim();
}

/** A part of a small run may be empty; a pattern that fits nothing is a mistake. */
async function nothingToDo({ grep, shard, junit }: RunOptions): Promise<number> {
  if (shard === null) throw new UsageError(`No flow's path fits --grep ${grep?.source ?? ''}`);
  process.stdout.write(`0 jobs: part ${shard.index}/${shard.count} has none\n`);
  const counts = 'tests="0" failures="0" errors="0"';
  if (junit !== undefined) await writeWhole(junit, `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}/>\n`);
  return 0;
}

async function runBatch(
  service: UsedService,
  options: RunOptions,
  jobs: readonly JobRequest[],
  { texts }: RunFiles,
  cancelled: AbortSignal,
  hurried: Promise<unknown>,
): Promise<number> {
  if (jobs.length > MAX_BATCH_JOBS)
    throw new UsageError(`A run has at most ${MAX_BATCH_JOBS} jobs; --shard divides it`);
  const { client } = service;
  const batch = AcceptedBatch.parse(
    await client.json('POST', '/api/batches', {
      name: options.name ?? 'troupe run',
      labels: options.labels,
      ...(options.parallel === null ? {} : { parallel: options.parallel }),
      ...(Object.keys(texts).length > 0 ? { flows: texts } : {}),
      jobs,
    }),
  );
  const submitted = batch.jobs.map((id, index) => ({ id, name: jobs[index]?.name ?? id, flowFiles: [] }));
  const folders = batchFolders(submitted);
  const progress = new RunProgress(process.stdout, { total: jobs.length, colours: mayColour() });
  const reports = options.report === undefined ? null : new RunReports(client, resolve(options.report));
  const ended: EndedJob[] = [];
  const given = new AbortController();
  const stop = once(async () => {
    await client.json('DELETE', batch.links.self);
  });
  const onCancel = () => {
    progress.say('Cancelling: the jobs of this run are stopped');
    void stop().catch((error: unknown) => progress.say(describeFailure(error)));
    const timer = setTimeout(() => given.abort(cancelled.reason), CANCEL_MS);
    timer.unref();
    void hurried.then(() => given.abort(cancelled.reason));
  };
  const forget = onAbort(cancelled, onCancel);
  try {
    for await (const { type, sessionId } of client.events(batch.links.events, given.signal)) {
      const folder = folders.get(sessionId) ?? sessionId;
      if (type === 'SessionStarted') progress.started(sessionId, folder);
      if (type !== 'SessionEnded') continue;
      const record = SessionRecord.parse(await client.json('GET', `/api/sessions/${sessionId}`));
      if (!isEnded(record.status)) continue;
      if (record.startedAt !== null) reports?.add(sessionId, folder);
      const job = { name: folder, record, report: placeOf(options, service, record, folder) };
      ended.push(job);
      progress.ended(job);
      if (options.failFast && record.status === 'failed') await stop();
    }
    const faults = (await reports?.done()) ?? [];
    const written = await writeJUnit(service, options, batch.links.junit);
    progress.summary(ended, [...faults, ...written]);
  } catch (error) {
    progress.close();
    if (!given.signal.aborted) await stop().catch(() => undefined);
    throw error;
  } finally {
    forget();
  }
  if (cancelled.aborted) return 2;
  return ended.length === jobs.length && ended.every(({ record }) => record.status === 'completed') ? 0 : 1;
}

/** Where a person finds the report of a job. */
function placeOf({ report }: RunOptions, { client, own }: UsedService, record: SessionRecord, folder: string) {
  if (record.startedAt === null) return null;
  if (report !== undefined) return join(report, folder, 'report.html');
  return own ? null : `${client.url}${record.links.self.replace(/^https?:\/\/[^/]+/, '')}/report`;
}

async function writeJUnit(service: UsedService, options: RunOptions, link: string): Promise<readonly string[]> {
  const { junit, report } = options;
  const written = report === undefined ? [] : [`Reports: ${report}`];
  if (junit === undefined) return written;
  const links = report === undefined ? (service.own ? 'none' : 'urls') : 'files';
  const query = new URLSearchParams({ links, ...(report === undefined ? {} : { folder: report }) });
  await writeWhole(junit, await service.client.text(`${link}?${query}`));
  return [...written, `JUnit: ${junit}`];
}

async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(resolve(file)), { recursive: true });
  try {
    await writeFile(file, text);
  } catch (cause) {
    throw new TroupeError('UNAVAILABLE', `${file} cannot be written: ${encodeError(cause).error}`, undefined, {
      cause,
    });
  }
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
