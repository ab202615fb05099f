import { waitText } from '../../protocol/times.js';
import {
  type CaseResult,
  NOT_RUN,
  notRun,
  suitesByClass,
  type TestCase,
  testNameOf,
  writeJUnit,
} from '../junit-writer.js';
import { failureText } from './failure-text.js';
import {
  countFlows,
  type FlowResult,
  flowText,
  historyText,
  isNotRun,
  notRunText,
  type SuiteResult,
} from './suite-result.js';

/** Errors that kept a flow from getting a result; all others are failures of what it tests. */
const ERRORS: ReadonlySet<string> = new Set([
  'HARD_TIMEOUT',
  'INTERRUPTED',
  'WORKER_LOST',
  'UNAVAILABLE',
  'INTERNAL',
  'MODEL_ERROR',
  'MAX_ITERATIONS',
]);

/**
 * A run as a JUnit file: a suite for each folder, a test case for each flow. A quarantined failure is a skipped test
 * case, because collectors fail the build for every failure that they find. A flow without a result is an error: a skipped
 * test case would count as one that somebody chose to leave out.
 */
export function renderSuiteJUnit(suite: SuiteResult): string {
  const { startedAt, endedAt, labels, build } = suite;
  const { flaky, repaired, quarantined, notRun } = countFlows(suite);
  const common = {
    id: 'run',
    startedAt,
    properties: [
      ['run', suite.name],
      ['version', suite.version],
      ['build', build?.buildUrl ?? null],
      ['flaky', flaky],
      ['repaired', repaired],
      ['quarantined', quarantined],
      ['notRun', notRun],
      ...Object.entries(labels).map(([name, value]) => [`label.${name}`, value] as const),
    ] as const,
    cases: suite.flows.map(testCaseOf),
  };
  return writeJUnit(suitesByClass(common), Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)));
}

function testCaseOf(flow: FlowResult): TestCase {
  const { failure, quarantine, picture, report, earlier } = flow;
  const quarantined = flow.outcome === 'failed' && quarantine !== null;
  const waited = waitText(flow);
  const output = [
    flowText(flow),
    ...(quarantined ? [`Quarantined until ${quarantine.until} (${quarantine.ticket})`] : []),
    ...(flow.history === null ? [] : [`This failure is ${historyText(flow.history)}`]),
    ...(waited === null ? [] : [`Waited: ${waited}`]),
    ...(failure?.frame === undefined ? [] : [failure.frame]),
    ...(flow.again === null || flow.outcome === 'passed' ? [] : [`Run it again: ${flow.again}`]),
    ...(report === null ? [] : [`Report: ${report}`]),
    // Read by GitLab, and by the attachments plugin of Jenkins; it must be the last line.
    ...(picture === null ? [] : [`[[ATTACHMENT|${picture}]]`]),
  ];
  return {
    ...(flow.test === undefined ? testNameOf(flow.name) : { name: flow.test.title, classname: flow.test.suite }),
    durationMs: flow.durationMs,
    result: resultOf(flow, quarantined),
    earlier,
    output,
  };
}

function resultOf(flow: FlowResult, quarantined: boolean): CaseResult {
  const { outcome, failure, quarantine } = flow;
  if (outcome === 'passed' || outcome === 'repaired') return { outcome: 'passed' };
  if (outcome === 'skipped') return { outcome, message: skippedText(flow) };
  if (isNotRun(flow)) return notRun(notRunText(flow), failure?.code ?? NOT_RUN);
  const message = failure === null ? 'No reason was given' : `${failure.code}: ${failure.message}`;
  if (quarantined) {
    const text = `Quarantined until ${quarantine?.until} (${quarantine?.ticket}): ${message}`;
    return { outcome: 'skipped', message: text };
  }
  if (failure === null) return { outcome: 'failure', type: 'FLOW_FAILED', message, text: '' };
  const kind = ERRORS.has(failure.code) ? 'error' : 'failure';
  return { outcome: kind, type: failure.code, message: failure.message, text: failureText(failure) };
}

function skippedText({ test }: FlowResult): string {
  return test === undefined ? 'All tests of the flow were skipped' : (test.reason ?? 'Skipped');
}
