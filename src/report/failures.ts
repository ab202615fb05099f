import type { Failure as Evidence } from '../protocol/report/failure.js';
import type { Report } from '../protocol/report/report.js';

type Step = Report['steps'][number];
type Flow = Report['flows'][number];
type ErrorBody = NonNullable<Report['error']>;

/** Script errors of a live session that are listed individually; the rest are counted. */
const MAX_SCRIPT_FAILURES = 20;

/** A failure, listed once with all known details. */
export interface Failure {
  readonly kind: 'flow' | 'interrupted' | 'session' | 'script';
  /** The flow's path, or a description of what failed. */
  readonly subject: string;
  readonly code: string;
  readonly message: string;
  /** The position in the scripts, such as `shop/login:12:3`, as far as it is known. */
  readonly place: string | null;
  readonly url: string | null;
  readonly title: string | null;
  /** The step that failed, or the last one before. */
  readonly step: Step | null;
  /** The failure object of report.json; null if the report has none for it. */
  readonly evidence: Evidence | null;
  /** The differences that match() found. */
  readonly differences: readonly { readonly path: string; readonly message: string }[];
}

/** A report's failures, most important first. */
export interface FailureList {
  readonly failures: readonly Failure[];
  /** The number of further script errors, which are shown only at their steps. */
  readonly more: number;
}

/**
 * Lists the failures of a report. Each cause is listed once: a step's error that became its flow's and the session's
 * error
 * is listed with the flow. Errors that a script or the model handled are not failures.
 */
export function listFailures(report: Report): FailureList {
  const flows = report.flows.filter((flow) => flow.error !== undefined || flow.status === 'interrupted');
  const failures = flows.map((flow) => flowFailure(report, flow));
  const { error } = report;
  // A session that failed because of its flow has no information beyond the flow's.
  const isOfFlow = error?.code === 'FLOW_FAILED' && failures.some(({ kind }) => kind === 'flow');
  if (error !== null && !isOfFlow) failures.unshift(sessionFailure(report, error));
  const scripts = report.steps.filter((step) => step.kind === 'script' && step.error !== undefined && !step.flow);
  const shown = scripts.slice(-MAX_SCRIPT_FAILURES).flatMap((step) => scriptFailure(report, step));
  return { failures: [...failures, ...shown], more: scripts.length - shown.length };
}

function flowFailure(report: Report, flow: Flow): Failure {
  const { error } = flow;
  if (error === undefined) {
    const step = report.steps.findLast((candidate) => candidate.flow === flow.path) ?? null;
    return {
      kind: 'interrupted',
      subject: flow.path,
      code: report.error?.code ?? 'INTERRUPTED',
      message: 'The flow was started and did not end',
      place: placeOf({ flow: flow.path, line: step?.line, column: step?.column }),
      url: step?.url ?? null,
      title: step?.title ?? null,
      step,
      evidence: flow.failure ?? null,
      differences: [],
    };
  }
  const details = error.details ?? {};
  // FLOW_FAILED wraps the actual error, which is more useful.
  const cause = causeOf(error);
  const place = { line: flow.line, flow: flow.path, ...withoutNulls(details), ...withoutNulls(cause.details ?? {}) };
  const step = report.steps.find(({ index }) => index === flow.failure?.step?.index) ?? null;
  return {
    kind: 'flow',
    subject: flow.path,
    code: cause.code,
    message: cause.error,
    place: placeOf(place),
    url: textIn(details, 'url') ?? textIn(cause.details, 'url') ?? step?.url ?? null,
    title: textIn(details, 'title') ?? textIn(cause.details, 'title') ?? step?.title ?? null,
    step,
    evidence: flow.failure ?? null,
    differences: differencesOf(report, cause, place.flow),
  };
}

function sessionFailure(report: Report, error: ErrorBody): Failure {
  const cause = causeOf(error);
  const step = report.steps.at(-1) ?? null;
  return {
    kind: 'session',
    subject: report.mode === 'auto' ? 'The job' : 'The session',
    code: error.code,
    message: error.error,
    place: placeOf(withoutNulls(error.details ?? {})),
    url: textIn(error.details, 'url') ?? step?.url ?? null,
    title: textIn(error.details, 'title') ?? step?.title ?? null,
    step,
    evidence: report.failure ?? null,
    differences: differencesOf(report, cause, textIn(error.details, 'flow')),
  };
}

function scriptFailure(report: Report, step: Step): Failure[] {
  if (step.error === undefined) return [];
  const { code, error: message } = step.error;
  return [
    {
      kind: 'script',
      subject: step.js,
      code,
      message,
      place: placeOf(step),
      url: step.url,
      title: step.title,
      step,
      evidence: null,
      differences: differencesOf(report, step.error, undefined),
    },
  ];
}

function causeOf(error: ErrorBody): ErrorBody {
  const cause = error.details?.cause;
  return isErrorBody(cause) ? cause : error;
}

function isErrorBody(value: unknown): value is ErrorBody {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    'error' in value &&
    typeof value.error === 'string'
  );
}

function differencesOf(report: Report, error: ErrorBody, flow: unknown): Failure['differences'] {
  if (error.code !== 'MATCH_FAILED') return [];
  return report.assertions.findLast((checked) => !checked.ok && checked.flow === flow)?.failures ?? [];
}

function placeOf(where: {
  readonly flow?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
}): string | null {
  const parts = [where.flow, where.line, where.column].filter((part) => part !== undefined);
  const after = where.line !== undefined && where.column === undefined ? 'after ' : '';
  if (typeof where.flow === 'string') return after + parts.join(':');
  return typeof where.line === 'number' ? `${after}line ${parts.join(':')}` : null;
}

function withoutNulls(details: { readonly [key: string]: unknown }): {
  readonly flow?: unknown;
  readonly line?: unknown;
  readonly column?: unknown;
} {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null && value !== undefined));
}

function textIn(details: { readonly [key: string]: unknown } | undefined, key: string): string | undefined {
  const value = details?.[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
