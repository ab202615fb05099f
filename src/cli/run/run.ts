import { readFile, rm } from 'node:fs/promises';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import type { DataRow } from '#request-client';
import { idleFunctions } from '../../agent-js/flows/flow-check.js';
import { startLimit } from '../../base/deadline.js';
import { hookOf } from '../../base/flow-file.js';
import { asAbsent } from '../../base/system-fault.js';
import { serviceUrl } from '../../config/environment.js';
import { ciBuild, mayColour, readConfig } from '../../config.js';
import { MAX_BATCH_JOBS } from '../../protocol/batches/batch.js';
import { batchFolders } from '../../protocol/batches/batch-folders.js';
import { counted } from '../../protocol/counted.js';
import { encodeError, TroupeError } from '../../protocol/errors.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import { MAX_SECOND_BROWSERS } from '../../protocol/second-browser.js';
import type { JobRequest, SessionRecord } from '../../protocol/session.js';
import { attemptFolder } from '../../report/suite/joined-flow.js';
import type { SuitePart } from '../../report/suite/suite-file.js';
import { countFlows, isFlaky, type SuiteResult, unrunFlow } from '../../report/suite/suite-result.js';
import { describeFailure, UsageError } from '../../terminal/failure.js';
import { print, printError } from '../../terminal/output.js';
import { typedCommand } from '../../terminal/typed-command.js';
import { type SignalWatch, watchSignals } from '../../terminal/watch-signals.js';
import { clearLeftovers, makeTemporary } from '../leftovers.js';
import { type UsedService, useService } from '../own-service.js';
import type { ServiceClient } from '../service-client.js';
import { readVersion } from '../version.js';
import { HeadedRun } from './headed-run.js';
import { fetchJoined, type JoinedReports } from './join/joined-reports.js';
import { runJoined } from './join/joined-run.js';
import { KnownEnds } from './known-ends.js';
import { readLastFailed, storeLastFailed, storeLastRun } from './last-run.js';
import { concernedByChange } from './plan/changed-flows.js';
import { flowName, originalName, type PlannedFlow, planRun } from './plan/plan-run.js';
import { type Quarantine, readQuarantine } from './plan/quarantine.js';
import { findRunFiles, type RunFiles } from './plan/run-files.js';
import { type HookRun, planHooks, type RunPlan, runWithHooks } from './plan/run-hooks.js';
import { type ChosenPart, choosePart, partLine } from './plan/shard.js';
import { timingsOf } from './plan/timings.js';
import { runAttempts } from './run-attempts.js';
import { DEFAULT_RUN_NAME, type RunOptions, readRunOptions } from './run-options.js';
import { RunProgress } from './run-progress.js';
import { RunReports } from './run-reports.js';
import { readRunSettings, serveForRun } from './run-serve.js';
import { flowResults } from './suite-of-run.js';
import { watchRuns } from './watch-run.js';
import { GithubOutput, writeRunReports } from './write-run-reports.js';

/** What a run is to do, before it is known to be possible. */
interface PlannedRun {
  readonly options: RunOptions;
  readonly plan: RunPlan;
  /** The part of the run that this is; null for all of it. */
  readonly part: SuitePart | null;
  readonly quarantine: Quarantine;
}

/** A run that is known to be possible. */
interface Run extends PlannedRun {
  readonly files: RunFiles;
  /** The rows of `--data`. */
  readonly rows: readonly DataRow[];
  /** The service from which the flows are claimed; null for a run that is not joined. */
  readonly coordinator: ServiceClient | null;
  /** Flows at once. */
  readonly parallel: number;
  /** Aborted when the run is to end early: by a signal, or because its time is over. */
  readonly stopped: AbortSignal;
  /** Aborted by a signal. */
  readonly cancelled: AbortSignal;
  readonly signals: SignalWatch;
  readonly github: GithubOutput;
}

/**
 * Runs flows and tasks for CI: on a running service, or on one of its own.
 * @returns 0 if every flow passed, 1 if not, 2 if it could not run, was cancelled, or could not write a report
 */
export async function runFlows(args: readonly string[]): Promise<number> {
  const options = readRunOptions(args);
  if (!options.watch) return runOnce(options, null);
  const signals = watchSignals();
  const ended = abortedBy(signals.first);
  try {
    return await watchRuns(
      () => filesOf(options),
      (only) => runOnce(options, only),
      ended,
    );
  } finally {
    signals.release();
  }
}

/** @param only the files to run; null: as the options say */
async function runOnce(options: RunOptions, only: ReadonlySet<string> | null): Promise<number> {
  const signals = watchSignals();
  const closers: (() => Promise<void>)[] = [];
  const cancelled = new AbortController();
  const github = new GithubOutput();
  let unrun: PlannedRun | null = null;
  const time = startRunTime(options.runTimeout);
  const stopped = AbortSignal.any([cancelled.signal, time.signal]);
  void signals.first.then((signal) => cancelled.abort(new TroupeError('UNAVAILABLE', `Cancelling after ${signal}`)));
  try {
    const files = await filesOf(options);
    const settings = await readRunSettings(files.root);
    if (options.serveAnyway && settings.serve === undefined) {
      throw new UsageError('--serve-anyway is for `serve` of troupe-run.json, which the flows folder does not have');
    }
    const flowsOfFolder = new Set(Object.keys(files.texts).map(flowName));
    const quarantine = await readQuarantine(files.root, (path) => flowsOfFolder.has(path), new Date());
    const rows = await readRows(options.data);
    const concerned = only ?? (await concernedByChange(options.changed, files));
    const planned = planRun(options, files, settings, await lastFailed(options, files), rows, concerned);
    const { flows, part } = (await chosenPart(options, files, planned)) ?? { flows: planned, part: null };
    if (options.list) return list(flows, quarantine);
    warnOfIdle(flows, files);
    if (flows.length === 0) return await nothingToDo(options, part);
    if (flows.length > MAX_BATCH_JOBS) {
      throw new UsageError(`A run has at most ${MAX_BATCH_JOBS} flows; divide it with --shard`);
    }
    const plan = planHooks(flows, files, options, settings);
    const whole = { options, plan, part, quarantine };
    // Whatever ends the run, its reports are never those of an earlier one. What cannot be written is known at once.
    const { unwritten } = await writeUnrun(whole, 'the run did not end');
    for (const line of unwritten) printError(`${PRODUCT_NAME}: ${line}\n`);
    if (unwritten.length > 0) return 2;
    unrun = whole;
    const coordinator = options.join === undefined ? null : await coordinatorOf(options, stopped);
    const served = {
      cwd: files.root ?? process.cwd(),
      signal: stopped,
      anyway: options.serveAnyway,
      say: (line: string) => printError(`${line}\n`),
    };
    // What an earlier run that was killed started may still answer at the address of `serve`.
    await clearLeftovers(readConfig({}));
    closers.push(await serveForRun(settings.serve, served));
    const parallel = options.parallel ?? Math.min(flows.length, Math.max(1, cpus().length));
    const { url, own, driver } = options;
    const sessions = parallel * (opensSecondBrowsers(files) ? 1 + MAX_SECOND_BROWSERS : 1);
    const service = await useService({
      ...(coordinator === null ? { url, own } : { own: true }),
      flags: { driver },
      sessions,
      needsToken: true,
      signal: stopped,
    });
    closers.push(() => service.close());
    if (driver !== undefined && !service.own) {
      throw new UsageError(`--driver is for a service of the run's own, and ${service.description} runs: add --own`);
    }
    printError(`${counted(flows.length, 'flow')} on ${service.description}\n`);
    stopped.throwIfAborted();
    github.stopCommands();
    // The service has more slots than there are flows at once, for their second browsers.
    const bounded = service.own ? { ...options, parallel } : options;
    const run = {
      options: bounded,
      files,
      plan,
      part,
      rows,
      coordinator,
      parallel,
      quarantine,
      stopped,
      cancelled: cancelled.signal,
      signals,
      github,
    };
    // From here on it reports what it knows by itself.
    unrun = null;
    return await runOn(service, run);
  } catch (error) {
    github.resumeCommands();
    if (error instanceof UsageError) {
      if (unrun !== null) await writeUnrun(unrun, error.message);
      throw error;
    }
    if (unrun !== null) await reportUnrun(unrun, describeFailure(error), github);
    printError(`${PRODUCT_NAME}: ${describeFailure(error)}\n`);
    return 2;
  } finally {
    github.resumeCommands();
    for (const close of closers.reverse()) await close();
    signals.release();
    time.end();
  }
}

/** The service that hands out the flows of a joined run. */
async function coordinatorOf({ url }: RunOptions, signal: AbortSignal): Promise<ServiceClient> {
  const named = url ?? serviceUrl();
  if (named !== undefined) return (await useService({ url: named, sessions: 0, signal })).client;
  throw new UsageError('--join needs the service that hands out the flows: --url URL, or TROUPE_URL');
}

/** Whether a flow calls `agent.session`. */
function opensSecondBrowsers({ texts }: RunFiles): boolean {
  return Object.values(texts).some((text) => /\bagent\s*\.\s*session\b/.test(text));
}

/** Warns of functions that nothing calls: what they check is not checked. */
function warnOfIdle(flows: readonly PlannedFlow[], { texts }: RunFiles): void {
  for (const path of new Set(flows.map((flow) => flow.path ?? ''))) {
    for (const { line, column, message } of idleFunctions(texts[path] ?? '', path))
      printError(`warning: ${path}:${line}:${column}: ${message}\n`);
  }
}

function filesOf({ words, flows }: RunOptions): Promise<RunFiles> {
  return findRunFiles(words, { cwd: process.cwd(), bases: [homeFlows()], flows });
}

/** The time of a run: aborts after `--run-timeout`. */
function startRunTime(seconds: number | undefined): { readonly signal: AbortSignal; end(): void } {
  const over = new AbortController();
  const reason = new TroupeError('HARD_TIMEOUT', `The run did not end within ${seconds} s (--run-timeout)`);
  const cancelTimer = seconds === undefined ? undefined : startLimit(seconds * 1000, () => over.abort(reason));
  return { signal: over.signal, end: () => cancelTimer?.() };
}

/** The rows of `--data`; one without arguments if there is no such file. */
async function readRows(file: string | undefined): Promise<readonly DataRow[]> {
  if (file === undefined) return [{}];
  const bytes = await readFile(file).catch(asAbsent);
  if (bytes === null) throw new UsageError(`--data: there is no file '${file}'`);
  const { readDataRows } = await import('#request-client');
  return readDataRows(bytes, file);
}

/** Flows are also found by the names that the service has for them. */
function homeFlows(): string {
  try {
    return readConfig({}).flowsDir;
  } catch {
    return resolve('flows');
  }
}

/** What `--shard` chooses, which is said; null for a whole run. */
async function chosenPart(
  options: RunOptions,
  files: RunFiles,
  planned: readonly PlannedFlow[],
): Promise<ChosenPart | null> {
  const { shard, repeatEach } = options;
  if (shard === null) return null;
  const chosen = choosePart(planned, files, await timingsOf(options), { shard, repeatEach });
  printError(`${partLine(chosen)}\n`);
  return chosen;
}

async function lastFailed(options: RunOptions, { root }: RunFiles): Promise<ReadonlySet<string> | null> {
  if (!options.lastFailed || root === null) return null;
  const failed = await readLastFailed(root);
  if (failed !== null) return failed;
  throw new UsageError(`--last-failed: no earlier run of ${root} is known on this machine; run it without first`);
}

function list(flows: readonly PlannedFlow[], { entries, notes }: Quarantine): number {
  for (const flow of flows) {
    const entry = entries.get(originalName(flow));
    const quarantined = entry === undefined ? '' : `  quarantined until ${entry.until}, ${entry.ticket}`;
    print(`${[flow.name, ...flow.tags].join('  ')}${quarantined}\n`);
  }
  for (const note of notes) printError(`${note}\n`);
  print(`${counted(flows.length, 'flow')}\n`);
  return 0;
}

/** A part of a small run may be empty, and nothing may have failed before; a pattern that fits nothing is a mistake. */
async function nothingToDo(options: RunOptions, part: SuitePart | null): Promise<number> {
  const { shard, lastFailed, grep, changed } = options;
  if (shard === null && !lastFailed && changed === undefined)
    throw new UsageError(`No flow path or tag matches --grep ${grep?.source ?? ''}`);
  const why =
    changed !== undefined
      ? `nothing that these flows run has changed since ${changed}`
      : shard === null
        ? 'none of these flows failed in the last run'
        : `part ${shard.index}/${shard.count} has none`;
  print(`0 flows: ${why}\n`);
  const now = new Date().toISOString();
  const { unwritten } = await writeRunReports(options, suiteOf(options, now, now), part);
  for (const line of unwritten) printError(`${PRODUCT_NAME}: ${line}\n`);
  return unwritten.length > 0 ? 2 : 0;
}

/** A run of which no flow has been run. */
function unrunSuite({ options, plan, quarantine }: PlannedRun, why: string): SuiteResult {
  const now = new Date().toISOString();
  const flows = plan.flows.map((flow) => ({
    ...unrunFlow(flow.name, why),
    tags: flow.tags,
    quarantine: quarantine.entries.get(originalName(flow)) ?? null,
  }));
  return { ...suiteOf(options, now, now), flows };
}

async function writeUnrun(run: PlannedRun, why: string): ReturnType<typeof writeRunReports> {
  const suite = unrunSuite(run, why);
  const { written, unwritten } = await writeRunReports(run.options, suite, run.part);
  return { written, unwritten: [...unwritten, ...(await storeRun(suite, run.part))] };
}

/** Says what was not run, everywhere; the caller says why. */
async function reportUnrun(run: PlannedRun, why: string, github: GithubOutput): Promise<void> {
  const { written, unwritten } = await writeUnrun(run, why);
  const progress = new RunProgress(process.stdout, { total: run.plan.flows.length, colours: mayColour() });
  progress.summary(unrunSuite(run, why), [...written, ...unwritten]);
  await github
    .report(unrunSuite(run, why))
    .catch((error: unknown) => printError(`${PRODUCT_NAME}: ${describeFailure(error)}\n`));
}

/** The run without its flows. */
function suiteOf(options: RunOptions, startedAt: string, endedAt: string): Omit<SuiteResult, 'flows'> & { flows: [] } {
  const build = ciBuild();
  const labels = {
    ...(build?.commit == null ? {} : { commit: build.commit }),
    ...(build?.branch == null ? {} : { branch: build.branch.slice(0, 500) }),
    ...options.labels,
  };
  const name = options.name ?? DEFAULT_RUN_NAME;
  return { name, version: readVersion(), startedAt, endedAt, labels, build, flows: [] };
}

async function runOn(service: UsedService, run: Run): Promise<number> {
  const { options, files, plan, part, quarantine, stopped, cancelled, signals, github } = run;
  const { rows, coordinator, parallel } = run;
  const { flows } = plan;
  const startedAt = new Date().toISOString();
  const suite = suiteOf(options, startedAt, startedAt);
  const folders = [
    ...batchFolders(flows.map(({ name }, index) => ({ id: String(index), name, flowFiles: [] }))).values(),
  ];
  const folderOf = (index: number, attempt = 0) => attemptFolder(folders[index] ?? '', attempt);
  const progress = new RunProgress(process.stdout, { total: flows.length, colours: mayColour() });
  const headed = new HeadedRun(service.client, options, (line) => progress.say(line));
  const temporary = options.report === undefined ? await makeTemporary('reports') : null;
  try {
    // Without a folder for reports, only those of failures are read, for what they say.
    const whole = temporary === null || options.updateBaselines;
    const reports = new RunReports(service.client, temporary ?? resolve(options.report ?? ''), whole);
    const isQuarantined = (flow: PlannedFlow) => quarantine.entries.has(originalName(flow));
    const known = new KnownEnds(coordinator !== null);
    const attempts = options.retries + 1;
    const ended = (index: number, record: SessionRecord, attempt: number): void => {
      const flow = flows[index];
      if (flow === undefined) return;
      const retry = attempt - record.attempt;
      const isMarked = record.status === 'failed' || record.outcome === 'repaired';
      const wanted = whole || isMarked || record.attempt > 1;
      if (record.startedAt !== null && wanted) reports.add(record.id, folderOf(index, retry));
      const note = record.status === 'failed' && isQuarantined(flow) ? 'quarantined' : '';
      progress.ended(index, flow.name, known.attempts.get(index) ?? [record], { attempt, attempts, note });
    };
    const context = {
      client: service.client,
      headed,
      options,
      flows,
      texts: files.texts,
      name: suite.name,
      labels: suite.labels,
      counts: (flow: PlannedFlow) => !isQuarantined(flow),
      progress,
      hurried: signals.second,
      known,
    };
    let joined: JoinedReports | null = null;
    const runWanted = async (
      from: ServiceClient,
      build: string,
      indexes: readonly number[],
      requestOf: (index: number) => JobRequest,
    ): Promise<JoinedReports | null> => {
      if (indexes.length < plan.wanted.length) {
        progress.say('A setup failed on this machine: it claims no flows');
        known.keep(plan.wanted, 'a setup failed on this machine, which claimed no flows');
        return null;
      }
      const timings = await timingsOf({ ...options, own: false });
      const ofMachine = {
        context: { ...context, cancelled: stopped },
        coordinator: from,
        build,
        rows,
        timings,
        parallel,
        ended: (index: number, record: SessionRecord, attempt: number) => {
          known.ended(index, record);
          progress.ended(index, flows[index]?.name ?? '', [record], { attempt, attempts, note: '' });
        },
      };
      const { report: dir } = options;
      return { ...(await runJoined(ofMachine, indexes, requestOf)), dir, folderOf };
    };
    const runPart: HookRun['run'] = async (indexes, requestOf, kind) => {
      // A run that is cancelled is cleaned up, unless it is cancelled again.
      const until = kind === 'teardown' ? abortedBy(signals.second) : stopped;
      if (kind === 'wanted' && coordinator !== null && options.join !== undefined) {
        joined = await runWanted(coordinator, options.join, indexes, requestOf);
        return new Map();
      }
      const part = { indexes, requestOf, counted: kind === 'wanted' };
      await runAttempts({ ...context, cancelled: until }, part, ended);
      return new Map(
        indexes.flatMap((index) =>
          (known.attempts.get(index) ?? []).slice(-1).map((record) => [index, record] as const),
        ),
      );
    };
    const faults: unknown[] = [];
    await runWithHooks(plan, {
      run: runPart,
      kept: (index, setup) => known.keep([index], `the setup ${flows[setup]?.name} did not pass`),
      setupValue: ({ id }) => service.client.json('GET', `/api/sessions/${id}/value`),
    }).catch((error: unknown) => faults.push(error));
    const isAway = faults.length > 0 && !(await service.client.answers());
    if (isAway) reports.hurry();
    const { unfetched, unwritten } = await reports.done();
    const missing = joined === null ? [] : await fetchJoined(joined);
    const { updateBaselines } = options;
    const stored =
      updateBaselines && files.root !== null
        ? await reports.takeBaselines(files.root).catch((error: unknown) => {
            faults.push(error);
            return [];
          })
        : [];
    const results = await flowResults({
      service,
      options,
      flows,
      known,
      cause: cancelled.aborted ? 'the run was cancelled' : causeOf(faults, stopped),
      isAway,
      joined,
      reports,
      folderOf,
      quarantine: quarantine.entries,
      root: files.root,
      branch: suite.labels.branch,
      inCi: suite.build !== null,
    });
    const finished: SuiteResult = { ...suite, ...timesOf(joined), flows: results };
    const reported = await writeRunReports(options, finished, part);
    const reportsAt = options.report === undefined ? [] : [`Reports: ${options.report}`];
    // A run that was stopped does not know what would have failed.
    const unstored = [
      ...(stopped.aborted || faults.length > 0 ? [] : await storeFailed(files, flows, finished)),
      ...(await storeRun(finished, part)),
    ];
    const fatal = [
      ...(failsAsFlaky(options, finished) ? ['Flaky flows fail this run: --fail-on-flaky'] : []),
      ...(failsAsRepaired(options, finished) ? ['Repaired flows fail this run: --fail-on-repaired'] : []),
    ];
    const late =
      stopped.aborted && !cancelled.aborted ? [`${describeFailure(stopped.reason)}: the rest was stopped`] : [];
    progress.summary(finished, [
      ...quarantine.notes,
      ...late,
      ...fatal,
      ...unfetched,
      ...missing,
      ...stored,
      ...unstored,
      ...reportsAt,
      ...reported.written,
    ]);
    const said = [...faults.map(describeFailure), ...unwritten, ...reported.unwritten];
    for (const line of said) printError(`${PRODUCT_NAME}: ${line}\n`);
    await github.report(finished);
    return cancelled.aborted || said.length > 0 ? 2 : exitCode(options, finished);
  } finally {
    headed.close();
    progress.close();
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  }
}

/** When a run began and ended; a joined one says the same on all machines. */
function timesOf(joined: JoinedReports | null): Partial<SuiteResult> & Pick<SuiteResult, 'endedAt'> {
  const endedAt = joined?.endedAt ?? new Date().toISOString();
  return joined === null ? { endedAt } : { startedAt: joined.createdAt, endedAt };
}

/** Whether flaky flows fail the run. Quarantined ones do not. */
function failsAsFlaky({ failOnFlaky }: RunOptions, { flows }: SuiteResult): boolean {
  return failOnFlaky && flows.some((flow) => isFlaky(flow) && flow.quarantine === null);
}

/** Whether repaired flows fail the run. Quarantined ones do not. */
function failsAsRepaired({ failOnRepaired }: RunOptions, { flows }: SuiteResult): boolean {
  return failOnRepaired && flows.some(({ outcome, quarantine }) => outcome === 'repaired' && quarantine === null);
}

/** Quarantined failures do not count. */
function exitCode(options: RunOptions, suite: SuiteResult): 0 | 1 {
  const { failed, notRun } = countFlows(suite);
  const fatal = failsAsFlaky(options, suite) || failsAsRepaired(options, suite);
  return failed > 0 || notRun > 0 || fatal ? 1 : 0;
}

/** What ended a run early: its time, or an error; null if nothing did. */
function causeOf([fault]: readonly unknown[], stopped: AbortSignal): string | null {
  if (stopped.aborted) return describeFailure(stopped.reason);
  return fault === undefined ? null : describeFailure(fault);
}

/** Aborted when a promise settles. */
function abortedBy(settled: Promise<unknown>): AbortSignal {
  const controller = new AbortController();
  void settled.then(() => controller.abort(new TroupeError('UNAVAILABLE', 'Cancelled')));
  return controller.signal;
}

/** Stores the run for `troupe why`; a line if that fails. */
async function storeRun(suite: SuiteResult, part: SuitePart | null): Promise<readonly string[]> {
  try {
    await storeLastRun(process.cwd(), suite, part);
    return [];
  } catch (error) {
    return [`The run could not be stored for ${typedCommand()} why: ${encodeError(error).error}`];
  }
}

async function storeFailed(
  { root }: RunFiles,
  flows: readonly PlannedFlow[],
  suite: SuiteResult,
): Promise<readonly string[]> {
  if (root === null) return [];
  const failed = flows.filter(({ path }, index) => {
    const result = suite.flows[index];
    // Also what was lost while it ran.
    return result !== undefined && result.failure !== null && hookOf(path ?? '') === null;
  });
  try {
    await storeLastFailed(root, [...new Set(failed.map(originalName))]);
    return [];
  } catch (error) {
    return [`The failures could not be stored for --last-failed: ${encodeError(error).error}`];
  }
}
