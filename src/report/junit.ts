import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flowOfFile, isFlowFile } from '../base/flow-file.js';
import { asAbsent } from '../base/system-fault.js';
import { ownScreenshot } from '../protocol/own-screenshot.js';
import { PRODUCT_NAME } from '../protocol/product-name.js';
import { failureOfError } from '../protocol/report/failure-of-error.js';
import type { Report } from '../protocol/report/report.js';
import { isEnded, type SessionRecord } from '../protocol/session.js';
import { type ListedFailure, listFailures } from './failures.js';
import { titleOf } from './html/html.js';
import {
  type Earlier,
  notRun,
  type Suite,
  suitesByClass,
  type TestCase,
  testNameOf,
  writeJUnit,
} from './junit-writer.js';
import { failureText } from './suite/failure-text.js';

/** The most screenshots in a test case's output. */
const MAX_OUTPUT_LINES = 200;
/** Reports that are read concurrently. */
const CONCURRENT_READS = 8;

type Step = Report['steps'][number];

/** Returns the name of an artifact file for the output; null to omit it. */
type ArtifactLink = (path: string) => string | null;

/**
 * `report.junit.xml`: the session is a test suite, each flow a test case. A job without flows is one test case; so is a failure of the session that no flow explains. A
 * flow that failed in a completed job counts as passed, like the job, and its output says so. Requested flows that were
 * not started, and what has not ended, are errors.
 */
export function sessionJUnit(report: Report, record: SessionRecord): string {
  // Collectors track a test by its class and name: neither may change from run to run.
  const cases = testCasesOf(report, record, { link: (path) => path, classname: record.name ?? PRODUCT_NAME });
  const suite = {
    name: titleOf(report),
    id: report.sessionId,
    durationMs: report.durationMs,
    startedAt: report.startedAt ?? record.createdAt,
    properties: properties(report, record),
    cases,
  };
  return writeJUnit([suite], report.durationMs);
}

/** The test cases of a session; see {@link sessionJUnit}. */
function testCasesOf(
  report: Report,
  record: SessionRecord,
  { link, classname }: { readonly link: ArtifactLink; readonly classname: string },
): readonly TestCase[] {
  const { failures } = listFailures(report);
  const unexplained = failures.find(({ kind }) => kind === 'session');
  const flowFailures = failures.filter(({ kind }) => kind === 'flow' || kind === 'interrupted');
  const cases: TestCase[] = [];
  for (const flow of report.flows) {
    if (flow.status === 'skipped') {
      cases.push({
        name: flow.path,
        classname,
        durationMs: flowMs(report, flow),
        earlier: [],
        result: { outcome: 'skipped', message: 'All tests of the flow were skipped' },
        output: [],
      });
      continue;
    }
    const failure = flow.error === undefined && flow.status !== 'interrupted' ? undefined : flowFailures.shift();
    const earlier = earlierOf(report, flow.path);
    const ended = endOf(report, failure, flow.path, link);
    const repaired = flow.status === 'repaired' ? ['Repaired: the flow failed, and a model finished it'] : [];
    const output = [...repaired, ...ended.output];
    cases.push({ name: flow.path, classname, durationMs: flowMs(report, flow), earlier, ...ended, output });
  }
  const begun = new Set(report.flows.map(({ path }) => path));
  for (const file of record.flowFiles) {
    const path = flowOfFile(file);
    if (!isFlowFile(file) || begun.has(path)) continue;
    cases.push({
      name: path,
      classname,
      durationMs: 0,
      result: notRun('Not run: the flow was not started'),
      earlier: earlierOf(report, path),
      output: [],
    });
  }
  if (cases.length === 0 || unexplained !== undefined) {
    const durationMs = cases.length === 0 ? report.durationMs : 0;
    cases.push({
      name: 'session',
      classname,
      durationMs,
      earlier: earlierOf(report, null),
      ...endOf(report, unexplained, null, link),
    });
  }
  // What a job with one result took is what its test case took.
  return cases.length === 1 ? cases.map((one) => ({ ...one, durationMs: report.durationMs })) : cases;
}

/** How long a flow of a job took in all of its attempts. */
function flowMs({ attempts }: Report, { path, durationMs }: Report['flows'][number]): number {
  const earlier = attempts.flatMap(({ flows }) => flows.filter((flow) => flow.path === path));
  return earlier.reduce((total, flow) => total + flow.durationMs, durationMs);
}

/** @param flow null for failures that no flow explains */
function earlierOf(report: Report, flow: string | null): readonly Earlier[] {
  return report.attempts.flatMap(({ attempt, error, flows }): Earlier[] => {
    const failed = flows.find(({ error, status }) => error !== undefined || status === 'interrupted');
    if ((failed?.path ?? null) !== flow) return [];
    return [{ attempt, failure: failed?.failure ?? failureOfError(error) }];
  });
}

function endOf(
  report: Report,
  listed: ListedFailure | undefined,
  flow: string | null,
  link: ArtifactLink,
): Pick<TestCase, 'result' | 'output'> {
  const steps = report.steps.filter((step) => flow === null || jobsFlow(report, step) === flow);
  // Steps that only read name the picture of the step before.
  const pictures = [...new Set(steps.flatMap((step) => linkOf(step, link) ?? []))].slice(-MAX_OUTPUT_LINES);
  const running = report.status === 'queued' || report.status === 'running';
  if (listed === undefined) {
    if (flow === null && report.mode === 'auto' && report.status === 'stopped') {
      return { result: notRun('The run was stopped before it ended'), output: pictures };
    }
    if (flow !== null || !running) return { result: { outcome: 'passed' }, output: pictures };
    return { result: notRun('The session has not ended'), output: pictures };
  }
  const { kind, failure, step } = listed;
  if (kind === 'interrupted' && running) return { result: notRun('The flow has not ended'), output: pictures };
  const picture = step === null ? null : linkOf(step, link);
  const text = `${failureText(failure)}${picture === null ? '' : `\nScreenshot: ${picture}`}`;
  if (kind === 'flow' && report.status === 'completed') {
    return { result: { outcome: 'passed' }, output: [...text.split('\n'), ...pictures] };
  }
  // A failure is a result of the flow; an error kept the flow from getting a result.
  const outcome = kind === 'flow' || failure.code === 'TASK_FAILED' ? 'failure' : 'error';
  return { result: { outcome, type: failure.code, message: failure.message, text }, output: pictures };
}

/** The job's flow in which a step was made, directly or in a flow that it called. */
function jobsFlow({ attempts, flows }: Report, { kind, flow, startedAt = '' }: Step): string | undefined {
  if (kind !== 'flow') return undefined;
  const begun = [...attempts.flatMap((attempt) => attempt.flows), ...flows];
  return begun.findLast((one) => one.startedAt <= startedAt)?.path ?? flow;
}

/** A link to the step's own picture. */
function linkOf(step: Step, link: ArtifactLink): string | null {
  const screenshot = ownScreenshot(step);
  return screenshot === null ? null : link(`screenshots/${screenshot}`);
}

function properties(report: Report, record: SessionRecord): Suite['properties'] {
  const { tokens } = report;
  return [
    ['session', report.sessionId],
    ['status', report.status],
    ['state', report.stateText ?? null],
    ['mode', report.mode],
    ['driver', record.driver],
    ['model', report.model],
    ['iterations', report.iterations],
    ['outcome', record.outcome ?? null],
    ['attempt', report.mode === 'auto' ? record.attempt : null],
    ['tokens.input', tokens.input],
    ['tokens.cached', tokens.cached],
    ['tokens.output', tokens.output],
    ['report', 'report.html'],
    ...Object.entries(record.labels).map(([name, value]) => [`label.${name}`, value] as const),
  ];
}

/** The location of the artifacts that test cases link to; see `BatchJUnitQuery`. */
export type BatchLinks =
  | { readonly kind: 'none' }
  /** Below the folder of an unpacked batch zip; '' for none. */
  | { readonly kind: 'files'; readonly folder: string }
  /** At the service with this address. */
  | { readonly kind: 'urls'; readonly base: string };

/** The input for one JUnit file of many sessions. */
export interface BatchJUnitTask {
  readonly name: string;
  readonly links: BatchLinks;
  readonly jobs: readonly {
    readonly record: SessionRecord;
    /** The folder with its report.json, if there is one. */
    readonly dir: string;
    /** Its folder in the batch's zip. */
    readonly folder: string;
  }[];
}

type Job = BatchJUnitTask['jobs'][number];

/**
 * A suite for each folder of jobs, named as {@link testNameOf} names it. A test case has the name of its job's folder,
 * which is the same in each run; if a job has several test cases, followed by the flow's name. A job without a report is an
 * error: it was not started, or has not ended.
 */
export async function batchJUnit({ name, links, jobs }: BatchJUnitTask): Promise<string> {
  const found: (readonly TestCase[])[] = [];
  const left = jobs.entries();
  const collectNext = async () => {
    for (const [index, job] of left) found[index] = await casesOfJob(job, links);
  };
  await Promise.all(Array.from({ length: CONCURRENT_READS }, collectNext));
  const records = jobs.map(({ record }) => record);
  const times = records.flatMap(({ startedAt, endedAt }) =>
    startedAt === null ? [] : [startedAt, endedAt ?? startedAt],
  );
  const [first = new Date(0).toISOString()] = [...times, ...records.map(({ createdAt }) => createdAt)].sort();
  const last = times.sort().at(-1) ?? first;
  const common = {
    id: records[0]?.batch ?? 'batch',
    startedAt: first,
    properties: [['run', name] as const, ...propertiesOfBatch(records)],
    cases: found.flat(),
  };
  return writeJUnit(suitesByClass(common), Math.max(0, Date.parse(last) - Date.parse(first)));
}

async function casesOfJob(job: Job, links: BatchLinks): Promise<readonly TestCase[]> {
  const { record, folder } = job;
  const report = record.startedAt === null ? null : await readReport(job);
  const link = linkInBatch(job, links);
  const { name, classname } = testNameOf(folder);
  if (report === null) return [withoutReport(testNameOf(folder), record)];
  const cases = testCasesOf(report, record, { link, classname });
  const page = link('report.html');
  return cases.map((one, index) => ({
    ...one,
    name: cases.length === 1 ? name : `${name} / ${one.name}`,
    output: [
      ...(page === null || index > 0 ? [] : [`report ${page}`]),
      ...one.output,
      ...(links.kind === 'files' ? attachment(one) : []),
    ],
  }));
}

/** The last picture of a failed test case, in the format of GitLab and Jenkins' attachments plugin. */
function attachment({ result, output }: TestCase): readonly string[] {
  const picture = output.findLast((line) => line.endsWith('.png'));
  return picture === undefined || result.outcome === 'passed' ? [] : [`[[ATTACHMENT|${picture}]]`];
}

function linkInBatch({ record, folder }: Job, links: BatchLinks): ArtifactLink {
  switch (links.kind) {
    case 'none':
      return () => null;
    case 'files':
      return (path) => join(links.folder, folder, path);
    case 'urls': {
      const base = record.links.self.startsWith('/') ? links.base + record.links.self : record.links.self;
      return (path) => `${base}/${path === 'report.html' ? 'report' : path}`;
    }
  }
}

/** Reads back a report that we wrote. Null if it is missing. */
async function readReport({ dir }: Job): Promise<Report | null> {
  const text = await readFile(join(dir, 'report.json'), 'utf8').catch(asAbsent);
  const report: unknown = text === null ? null : JSON.parse(text);
  return isReport(report) ? report : null;
}

function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'schemaVersion' in value && value.schemaVersion === 1;
}

function withoutReport(name: Pick<TestCase, 'name' | 'classname'>, { status, startedAt }: SessionRecord): TestCase {
  const why = !isEnded(status)
    ? 'The run has not ended'
    : startedAt === null
      ? 'Not run: it was not started'
      : 'The report of the run is missing';
  return { ...name, durationMs: 0, result: notRun(why), earlier: [], output: [] };
}

function propertiesOfBatch(records: readonly SessionRecord[]) {
  const each = (of: (record: SessionRecord) => string | null) =>
    [...new Set(records.map(of))].filter((value) => value !== null).join(', ') || null;
  const sum = (of: (record: SessionRecord) => number) => records.reduce((total, record) => total + of(record), 0);
  return [
    ['batch', each(({ batch }) => batch)],
    ['jobs', records.length],
    ['driver', each(({ driver }) => driver)],
    ['model', each(({ model }) => model)],
    ['repaired', sum(({ outcome }) => (outcome === 'repaired' ? 1 : 0))],
    ['iterations', sum(({ iterations }) => iterations)],
    ['tokens.input', sum(({ tokens }) => tokens.input)],
    ['tokens.cached', sum(({ tokens }) => tokens.cached)],
    ['tokens.output', sum(({ tokens }) => tokens.output)],
  ] as const;
}
