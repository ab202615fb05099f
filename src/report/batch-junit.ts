import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asAbsent } from '../base/system-fault.js';
import type { Report } from '../protocol/report/report.js';
import { isEnded, type SessionRecord } from '../protocol/session.js';
import {
  type ArtifactLink,
  NOT_RUN,
  notRunReason,
  renderSuites,
  suitesByClass,
  type TestCase,
  testCasesOf,
  testNameOf,
} from './junit.js';

/** Reports that are read concurrently. */
const CONCURRENT_READS = 8;

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
export async function collectJUnit({ name, links, jobs }: BatchJUnitTask): Promise<string> {
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
    properties: [['run', name] as const, ...propertiesOf(records)],
    cases: found.flat(),
  };
  return renderSuites(suitesByClass(common), Math.max(0, Date.parse(last) - Date.parse(first)));
}

async function casesOfJob(job: Job, links: BatchLinks): Promise<readonly TestCase[]> {
  const { record, folder } = job;
  const report = record.startedAt === null ? null : await readReport(job);
  const link = linkOf(job, links);
  const { name, classname } = testNameOf(folder);
  if (report === null) return [notRun(testNameOf(folder), record)];
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
function attachment({ outcome, output }: TestCase): readonly string[] {
  const picture = output.findLast((line) => line.endsWith('.png'));
  return picture === undefined || outcome === 'passed' ? [] : [`[[ATTACHMENT|${picture}]]`];
}

function linkOf({ record, folder }: Job, links: BatchLinks): ArtifactLink {
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

function notRun(name: Pick<TestCase, 'name' | 'classname'>, { status, startedAt }: SessionRecord): TestCase {
  const why = !isEnded(status)
    ? 'The job has not ended'
    : startedAt === null
      ? 'Not run: the job was not started'
      : 'The report of the job is missing';
  return { ...name, durationMs: 0, ...notRunReason(NOT_RUN, why), earlier: [], output: [] };
}

function propertiesOf(records: readonly SessionRecord[]) {
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
