import type { Failure } from '../protocol/report/failure.js';
import { failureOfError } from '../protocol/report/failure-of-error.js';
import type { Report } from '../protocol/report/report.js';

type Step = Report['steps'][number];
type Flow = Report['flows'][number];

/** Script errors of a live session that are listed individually; the rest are counted. */
const MAX_SCRIPT_FAILURES = 20;

/** One of a report's failures. */
export interface ListedFailure {
  readonly kind: 'flow' | 'interrupted' | 'session' | 'script';
  /** The flow's path, or a description of what failed. */
  readonly subject: string;
  readonly failure: Failure;
  /** The step that failed, or the last one before. */
  readonly step: Step | null;
}

/** A report's failures, most important first. */
export interface FailureList {
  readonly failures: readonly ListedFailure[];
  /** The number of further script errors, which are shown only at their steps. */
  readonly more: number;
}

/**
 * Lists the failures of a report. Each cause is listed once: a step's error that became its flow's and the session's
 * error is listed with the flow. Errors that a script or the model handled are not failures.
 */
export function listFailures(report: Report): FailureList {
  const flows = report.flows.filter((flow) => flow.error !== undefined || flow.status === 'interrupted');
  const failures = flows.map((flow) => ofFlow(report, flow));
  const { error } = report;
  // A session that failed because of its flow has no information beyond the flow's.
  const isOfFlow = error?.code === 'FLOW_FAILED' && failures.some(({ kind }) => kind === 'flow');
  if (error !== null && !isOfFlow) {
    failures.unshift({
      kind: 'session',
      subject: report.mode === 'auto' ? 'The run' : 'The session',
      failure: report.failure ?? failureOfError(error),
      step: stepOf(report, report.failure) ?? report.steps.at(-1) ?? null,
    });
  }
  const scripts = report.steps.filter((step) => step.kind === 'script' && step.error !== undefined && !step.flow);
  const shown = scripts.slice(-MAX_SCRIPT_FAILURES).flatMap(ofScript);
  return { failures: [...failures, ...shown], more: scripts.length - shown.length };
}

function ofFlow(report: Report, { path, error, failure }: Flow): ListedFailure {
  if (error !== undefined) {
    const known = failure ?? failureOfError(error);
    return { kind: 'flow', subject: path, failure: known, step: stepOf(report, known) };
  }
  const step = report.steps.findLast((candidate) => candidate.flow === path) ?? null;
  const code = report.error?.code ?? 'INTERRUPTED';
  const at = step === null ? {} : pageOf(step);
  return {
    kind: 'interrupted',
    subject: path,
    failure: failure ?? { code, message: 'The flow was started and did not end', flow: path, ...at },
    step,
  };
}

function ofScript(step: Step): readonly ListedFailure[] {
  if (step.error === undefined) return [];
  return [{ kind: 'script', subject: step.js, failure: { ...pageOf(step), ...failureOfError(step.error) }, step }];
}

function stepOf(report: Report, failure: Failure | null): Step | null {
  return report.steps.find(({ index }) => index === failure?.step?.index) ?? null;
}

/** Where a step was, and what it saw. */
function pageOf({ line, column, url, title }: Step): Partial<Failure> {
  return { url, title, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
}
