import { flowOfFile, isFlowFile } from '../base/flow-file.js';
import { ownScreenshot } from '../protocol/own-screenshot.js';
import type { Report } from '../protocol/report/report.js';
import type { SessionRecord } from '../protocol/session.js';
import { escapeMarkup as esc } from './escape.js';
import { type Failure, listFailures } from './failures.js';
import { shorten } from './format.js';
import { titleOf } from './html/html.js';

/** The most screenshots in a test case's output. */
const MAX_OUTPUT_LINES = 200;

type Step = Report['steps'][number];
type Outcome = 'passed' | 'failure' | 'error' | 'skipped';

/** Returns the name of an artifact file for the output; null to omit it. */
export type ArtifactLink = (path: string) => string | null;

/** The type of the error of a test case without a result. */
export const NOT_RUN = 'NOT_RUN';

/** An error for a test case that was not started, or did not end. */
export function notRunReason(type: string, message: string): Pick<TestCase, 'outcome' | 'reason'> {
  return { outcome: 'error', reason: `<error type="${esc(type)}" message="${esc(message)}"/>` };
}

/** How an earlier attempt failed. */
export interface Earlier {
  readonly code: string;
  readonly message: string;
  readonly place: string;
}

/** A test case of a JUnit file. */
export interface TestCase {
  readonly name: string;
  /** Collectors group test cases by it; dots make packages. */
  readonly classname: string;
  readonly durationMs: number;
  readonly outcome: Outcome;
  /** The element with the reason why it did not pass; '' if it passed. */
  readonly reason: string;
  /** Failures of earlier attempts. */
  readonly earlier: readonly Earlier[];
  readonly output: readonly string[];
}

/**
 * `report.junit.xml`: the session is a test suite, each flow a test case, in the format of Jenkins' junit-10.xsd, which
 * other collectors share. A job without flows is one test case; so is a failure of the session that no flow explains. A
 * flow that failed in a completed job counts as passed, like the job, and its output says so. Requested flows that were
 * not started, and what has not ended, are errors. Failures of earlier attempts of a job with `retries` are written in the format of Surefire:
 * `flakyFailure` in a test case that finally passed, `rerunFailure` in one that did not.
 */
export function renderJUnit(report: Report, record: SessionRecord): string {
  // Collectors track a test by its class and name: neither may change from run to run.
  const cases = testCasesOf(report, record, { link: (path) => path, classname: record.name ?? 'troupe' });
  const suite = {
    name: titleOf(report),
    id: report.sessionId,
    durationMs: report.durationMs,
    startedAt: report.startedAt ?? record.createdAt,
    properties: properties(report, record),
    cases,
  };
  return renderSuites([suite], report.durationMs);
}

/** A test suite of a JUnit file. */
export interface Suite {
  readonly name: string;
  readonly id: string;
  readonly durationMs: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Null values are omitted. */
  readonly properties: readonly (readonly [name: string, value: string | number | null])[];
  readonly cases: readonly TestCase[];
}

/** A JUnit file. @param durationMs of all suites together, some of which may have run at the same time */
export function renderSuites(suites: readonly Suite[], durationMs: number): string {
  const cases = suites.flatMap((suite) => suite.cases);
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="troupe" ${countsOf(cases)} time="${seconds(durationMs)}">
${suites.map(renderSuite).join('\n')}
</testsuites>
`;
}

/** One suite for each class, in the order of their first test cases. A suite takes as long as its cases together. */
export function suitesByClass(common: Omit<Suite, 'name' | 'durationMs'>): readonly Suite[] {
  const classes = new Map<string, TestCase[]>();
  for (const one of common.cases) classes.set(one.classname, [...(classes.get(one.classname) ?? []), one]);
  return [...classes].map(([name, cases], index) => {
    const durationMs = cases.reduce((total, one) => total + one.durationMs, 0);
    return { ...common, name, id: index === 0 ? common.id : `${common.id}-${index + 1}`, durationMs, cases };
  });
}

/**
 * The class and the test name of a flow: `flows.shop` and `buy` for `shop/buy`. Collectors show classes as packages, so
 * that flows are grouped by folder.
 */
export function testNameOf(flow: string): Pick<TestCase, 'name' | 'classname'> {
  const segments = flow.split('/');
  const name = segments.pop() ?? flow;
  return { name, classname: ['flows', ...segments.map((segment) => segment.replaceAll('.', '_'))].join('.') };
}

function renderSuite({ name, id, durationMs, startedAt, properties, cases }: Suite): string {
  const skipped = cases.filter(({ outcome }) => outcome === 'skipped').length;
  return `<testsuite name="${esc(shorten(name, 200))}" ${countsOf(cases)} skipped="${skipped}" time="${seconds(durationMs)}" timestamp="${startedAt.slice(0, 19)}" id="${id}">
<properties>
${properties.flatMap(property).join('\n')}
</properties>
${cases.map(testCase).join('\n')}
</testsuite>`;
}

function countsOf(cases: readonly TestCase[]): string {
  const numberOf = (outcome: Outcome) => cases.filter((one) => one.outcome === outcome).length;
  return `tests="${cases.length}" failures="${numberOf('failure')}" errors="${numberOf('error')}"`;
}

function property([name, value]: Suite['properties'][number]): readonly string[] {
  return value === null ? [] : [`<property name="${esc(name)}" value="${esc(String(value))}"/>`];
}

/** The test cases of a session; see {@link renderJUnit}. */
export function testCasesOf(
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
      const reason = '<skipped message="All tests of the flow were skipped"/>';
      cases.push({
        name: flow.path,
        classname,
        durationMs: flowMs(report, flow),
        earlier: [],
        outcome: 'skipped',
        reason,
        output: [],
      });
      continue;
    }
    const failure = flow.error === undefined && flow.status !== 'interrupted' ? undefined : flowFailures.shift();
    const earlier = earlierOf(report, flow.path);
    const outcome = outcomeOf(report, failure, flow.path, link);
    const repaired = flow.status === 'repaired' ? ['Repaired: the flow failed, and a model completed it'] : [];
    const output = [...repaired, ...outcome.output];
    cases.push({ name: flow.path, classname, durationMs: flowMs(report, flow), earlier, ...outcome, output });
  }
  const begun = new Set(report.flows.map(({ path }) => path));
  for (const file of record.flowFiles) {
    const path = flowOfFile(file);
    if (!isFlowFile(file) || begun.has(path)) continue;
    cases.push({
      name: path,
      classname,
      durationMs: 0,
      ...notRunReason(NOT_RUN, 'Not run: the flow was not started'),
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
      ...outcomeOf(report, unexplained, null, link),
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
    const place = failed?.line === undefined ? '' : ` at ${failed.path}:${failed.line}`;
    return [{ code: error.code, message: error.error, place: `attempt ${attempt}${place}` }];
  });
}

function outcomeOf(
  report: Report,
  failure: Failure | undefined,
  flow: string | null,
  link: ArtifactLink,
): Pick<TestCase, 'outcome' | 'reason' | 'output'> {
  const pictures = report.steps
    .filter((step) => flow === null || jobsFlow(report, step) === flow)
    .flatMap((step) => linkOf(step, link) ?? [])
    .slice(-MAX_OUTPUT_LINES);
  const running = report.status === 'queued' || report.status === 'running';
  if (failure === undefined) {
    if (flow === null && report.mode === 'auto' && report.status === 'stopped') {
      return { ...notRunReason(NOT_RUN, 'The job was stopped before it ended'), output: pictures };
    }
    if (flow !== null || !running) return { outcome: 'passed', reason: '', output: pictures };
    return { ...notRunReason(NOT_RUN, 'The session has not ended'), output: pictures };
  }
  if (failure.kind === 'interrupted' && running) {
    return { ...notRunReason(NOT_RUN, 'The flow has not ended'), output: pictures };
  }
  const text = describe(failure, link);
  if (failure.kind === 'flow' && report.status === 'completed') {
    return {
      outcome: 'passed',
      reason: '',
      output: [...text, ...pictures],
    };
  }
  // A failure is a result of the flow; an error kept the flow from getting a result.
  const outcome = failure.kind === 'flow' || failure.code === 'TASK_FAILED' ? 'failure' : 'error';
  const message = esc(shorten(failure.message, 1_000));
  const reason = `<${outcome} type="${esc(failure.code)}" message="${message}">${esc(text.join('\n'))}</${outcome}>`;
  return { outcome, reason, output: pictures };
}

/** The job's flow in which a step was made, directly or in a flow that it called. */
function jobsFlow({ attempts, flows }: Report, { kind, flow, startedAt = '' }: Step): string | undefined {
  if (kind !== 'flow') return undefined;
  const begun = [...attempts.flatMap((attempt) => attempt.flows), ...flows];
  return begun.findLast((one) => one.startedAt <= startedAt)?.path ?? flow;
}

function describe(failure: Failure, link: ArtifactLink): readonly string[] {
  const { step, title, url, place } = failure;
  const picture = step === null ? null : linkOf(step, link);
  return [
    `${failure.code}: ${shorten(failure.message, 4_000)}`,
    ...failure.differences.slice(0, 50).map(({ path, message }) => `  ${path}: ${message}`),
    ...(place === null ? [] : [`at ${place}`]),
    ...(step === null ? [] : [`step ${failure.evidence?.step?.number ?? step.index}: ${shorten(step.js, 300)}`]),
    ...(url === null ? [] : [`page ${url}${title === null ? '' : ` (${shorten(title, 300)})`}`]),
    ...(picture === null ? [] : [`screenshot ${picture}`]),
  ];
}

/** A link to the step's own picture. */
function linkOf(step: Step, link: ArtifactLink): string | null {
  const screenshot = ownScreenshot(step);
  return screenshot === null ? null : link(`screenshots/${screenshot}`);
}

function testCase(one: TestCase): string {
  const again = one.outcome === 'passed' ? 'flakyFailure' : 'rerunFailure';
  const earlier = one.earlier.map(({ code, message, place }) => {
    const text = esc(shorten(message, 1_000));
    return `<${again} type="${esc(code)}" message="${text}">${esc(place)}</${again}>`;
  });
  const output = one.output.length === 0 ? '' : `<system-out>${esc(one.output.join('\n'))}</system-out>`;
  return `<testcase name="${esc(one.name)}" classname="${esc(one.classname)}" time="${seconds(one.durationMs)}">${one.reason}${earlier.join('')}${output}</testcase>`;
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

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
