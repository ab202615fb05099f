import { plainText, printableJson } from '../../base/plain-text.js';
import { PRODUCT_NAME } from '../../protocol/product-name.js';
import type { Failure } from '../../protocol/report/failure.js';
import { placeText } from '../../protocol/report/failure-rows.js';
import { contextLines } from './failure-text.js';
import {
  countFlows,
  type EarlierAttempt,
  type FlowOutcome,
  type FlowResult,
  flowText,
  folderOf,
  historyText,
  isFlaky,
  isNotRun,
  notRunText,
  reasonOf,
  type SuiteResult,
} from './suite-result.js';

/** The version of the format: its schema is in npm's package `ctrf`. */
const SPEC_VERSION = '0.0.0';

/**
 * A run in the Common Test Report Format (CTRF), as JSON. A quarantined failure has the status `other`, so that tools
 * that count failures do not count it; its `rawStatus` is `quarantined`. A repaired flow, and one without a result, are
 * `other`, too: `repaired`, and `not run`.
 * @param reportId a UUID
 */
export function renderCtrf(suite: SuiteResult, reportId: string): string {
  const { name, version, startedAt, endedAt, build, labels, flows } = suite;
  const { total, passed, failed, repaired, quarantined, skipped, notRun, flaky } = countFlows(suite);
  const document = {
    reportFormat: 'CTRF',
    specVersion: SPEC_VERSION,
    reportId,
    timestamp: endedAt,
    generatedBy: `troupe ${version}`,
    results: {
      tool: { name: PRODUCT_NAME, version },
      summary: {
        tests: total,
        passed,
        failed,
        skipped,
        pending: 0,
        other: quarantined + repaired + notRun,
        flaky,
        suites: new Set(flows.map(suiteOf)).size,
        start: Date.parse(startedAt),
        stop: Date.parse(endedAt),
        duration: Date.parse(endedAt) - Date.parse(startedAt),
      },
      tests: flows.map(testOf),
      environment: withoutNulls({
        reportName: name,
        buildName: build?.name ?? null,
        buildNumber: build?.buildNumber ?? null,
        buildUrl: build?.buildUrl ?? null,
        repositoryName: build?.repository ?? null,
        commit: labels.commit ?? build?.commit ?? null,
        branchName: labels.branch ?? build?.branch ?? null,
        extra: Object.keys(labels).length === 0 ? null : { labels },
      }),
    },
  };
  // Tools print the texts. Paths have to name their files.
  const shown = (name: string, value: unknown) =>
    typeof value === 'string' && name !== 'path' && name !== 'filePath' ? plainText(value) : value;
  return `${printableJson(JSON.stringify(document, shown, 2))}\n`;
}

const STATUS: Readonly<Record<FlowOutcome, string>> = {
  passed: 'passed',
  failed: 'failed',
  repaired: 'other',
  skipped: 'skipped',
  stopped: 'other',
};

/** A flow's folder; a test's file. */
function suiteOf({ name, test }: FlowResult): string {
  return test?.suite ?? folderOf(name);
}

function testOf(flow: FlowResult): object {
  const { failure, earlier, quarantine, picture, report, sessionId, history } = flow;
  const quarantined = flow.outcome === 'failed' && quarantine !== null;
  const start = flow.startedAt === null ? null : Date.parse(flow.startedAt);
  const troubles =
    failure === null
      ? []
      : [...contextLines(failure), ...(failure.noTrace === undefined ? [] : [`No trace: ${failure.noTrace}`])];
  const attachments = [
    ...(picture === null ? [] : [{ name: 'page when it failed', contentType: 'image/png', path: picture }]),
    ...(report === null ? [] : [{ name: 'report', contentType: 'text/html', path: report }]),
  ];
  return withoutNulls({
    name: flow.test?.title ?? flow.name,
    status: quarantined ? 'other' : STATUS[flow.outcome],
    rawStatus: quarantined ? 'quarantined' : isFlaky(flow) ? 'flaky' : isNotRun(flow) ? 'not run' : flow.outcome,
    duration: Math.round(flow.durationMs),
    start,
    stop: start === null ? null : start + Math.round(flow.durationMs),
    suite: suiteOf(flow) === '' ? null : flow.test === undefined ? folderOf(flow.name).split('/') : [flow.test.suite],
    type: 'e2e',
    filePath: flow.file,
    tags: flow.tags.length === 0 ? null : flow.tags,
    message: isNotRun(flow) ? notRunText(flow) : failure === null ? (flow.test?.reason ?? null) : reasonOf(failure),
    trace: failure === null ? null : traceOf(failure),
    snippet: failure?.frame ?? null,
    stderr: troubles.length === 0 ? null : troubles,
    line: failure?.line ?? flow.test?.line ?? null,
    retries: earlier.length,
    retryAttempts: earlier.length === 0 ? null : earlier.map(attemptOf),
    flaky: isFlaky(flow),
    attachments: attachments.length === 0 ? null : attachments,
    labels: quarantine === null ? null : { quarantinedUntil: quarantine.until, ticket: quarantine.ticket },
    extra:
      sessionId === null
        ? null
        : withoutNulls({
            session: sessionId,
            state: flowText(flow),
            queuedMs: flow.queuedMs,
            pausedMs: flow.pausedMs,
            history: history === null ? null : historyText(history),
            again: flow.again,
          }),
  });
}

function attemptOf({ attempt, failure, durationMs }: EarlierAttempt): object {
  return withoutNulls({
    attempt,
    status: 'failed',
    duration: durationMs === undefined ? null : Math.round(durationMs),
    message: reasonOf(failure),
    trace: traceOf(failure),
    line: failure.line ?? null,
    snippet: failure.frame ?? null,
  });
}

/** `    at flows/shop/buy.js:5:3`, as stack traces have it; null if the place is not known. */
function traceOf(failure: Failure): string | null {
  const place = placeText(failure);
  return place === null ? null : `${failure.code}: ${failure.message}\n    ${place}`;
}

function withoutNulls(members: { readonly [name: string]: unknown }): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}
