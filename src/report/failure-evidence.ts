import type { ErrorDetails } from '../protocol/errors.js';
import type { Failure } from '../protocol/failure.js';
import { ownScreenshot } from '../protocol/own-screenshot.js';
import type { Report } from '../protocol/report.js';

/** Page errors and requests that a failure lists: the last ones before it. */
const MAX_LISTED = 5;
const MAX_NEAR = 10;
const MAX_DIFFERENCES = 50;
/** Longer texts are truncated. */
const MAX_TEXT = 4_000;
const MAX_SHORT = 500;

type ErrorBody = NonNullable<Report['error']>;
type Step = Report['steps'][number];

/** A failed request, with the time at which it began. */
export interface FailedRequest {
  /** ISO 8601. */
  readonly at: string;
  readonly request: NonNullable<Failure['requests']>[number];
}

export interface PageError {
  /** ISO 8601. */
  readonly at: string;
  readonly text: string;
  readonly url: string;
}

/** What a session's events and files say around a failure. */
export interface Evidence {
  readonly steps: readonly Step[];
  readonly pageErrors: readonly PageError[];
  readonly requests: readonly FailedRequest[];
  /** As requested: `shop/login.js`. */
  readonly flowFiles: readonly string[];
}

/** What failed, and when. Times are ISO 8601. */
export interface Occurrence {
  readonly error: ErrorBody;
  /** Whose steps may have failed; null: anybody's. */
  readonly kind: Step['kind'] | null;
  readonly from: string;
  readonly to: string;
  /** The earliest page errors and failed requests that matter. */
  readonly since: string;
  readonly attempt: number | undefined;
}

/** The failure object of one error. */
export function failureOf({ error, kind, from, to, since, attempt }: Occurrence, evidence: Evidence): Failure {
  const cause = causeOf(error);
  // The cause's own details are those of the innermost position.
  const details = { ...withoutNulls(error.details), ...withoutNulls(cause.details) };
  const steps = evidence.steps.filter(
    (step) =>
      step.attempt === attempt &&
      (kind === null || step.kind === kind) &&
      isWithin(step.startedAt ?? step.at, from, to),
  );
  const failed = steps.findLast((step) => step.error?.code === cause.code && step.error.error === cause.error);
  const step = failed ?? steps.at(-1);
  const flow = text(details.flow);
  const picture = step === undefined ? null : ownScreenshot(step);
  const pageErrors = evidence.pageErrors.filter(({ at }) => isWithin(at, since, to)).slice(-MAX_LISTED);
  const requests = evidence.requests.filter(({ at }) => isWithin(at, since, to)).slice(-MAX_LISTED);
  return withoutAbsent({
    code: cause.code,
    message: cause.error.slice(0, MAX_TEXT),
    flow,
    file: flow === undefined ? undefined : `flows/${flow}${evidence.flowFiles.includes(`${flow}.ts`) ? '.ts' : '.js'}`,
    line: whole(details.line),
    column: whole(details.column),
    frame: text(details.frame),
    url: text(details.url) ?? step?.url,
    title: text(details.title) ?? step?.title,
    locator: text(details.locator)?.slice(0, MAX_SHORT),
    expected: text(details.expected)?.slice(0, MAX_TEXT),
    received: text(details.received)?.slice(0, MAX_TEXT),
    differences: differencesIn(details),
    nearMisses: textsIn(details.candidates),
    console: pageErrors.length === 0 ? undefined : pageErrors.map((one) => ({ text: one.text, url: one.url })),
    requests: requests.length === 0 ? undefined : requests.map(({ request }) => request),
    step:
      step === undefined
        ? undefined
        : {
            index: step.index,
            js: step.js,
            url: step.url,
            title: step.title,
            ...(failed === undefined ? { before: true as const } : {}),
          },
    screenshot: picture === null ? undefined : `screenshots/${picture}`,
    // Of the step that failed: what was around an earlier one is not what failed.
    box: picture === null ? undefined : failed?.box,
  });
}

/** FLOW_FAILED wraps the actual error, which is more useful. */
function causeOf(error: ErrorBody): ErrorBody {
  const cause = error.code === 'FLOW_FAILED' ? error.details?.cause : undefined;
  return isErrorBody(cause) ? cause : error;
}

function isErrorBody(value: unknown): value is ErrorBody {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'error' in value &&
    typeof value.error === 'string'
  );
}

function isWithin(at: string, from: string, to: string): boolean {
  return at >= from && at <= to;
}

function differencesIn(details: ErrorDetails): Failure['differences'] {
  const { failures } = details;
  if (!Array.isArray(failures) || failures.length === 0) return undefined;
  return failures.slice(0, MAX_DIFFERENCES).flatMap((one: unknown) => {
    const path: unknown = Reflect.get(Object(one), 'path');
    const message: unknown = Reflect.get(Object(one), 'message');
    const known = typeof path === 'string' && typeof message === 'string';
    return known ? [{ path, message: message.slice(0, MAX_SHORT) }] : [];
  });
}

function textsIn(list: unknown): string[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.filter((one): one is string => typeof one === 'string').slice(0, MAX_NEAR);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

function withoutNulls(details: ErrorDetails | undefined): ErrorDetails {
  return Object.fromEntries(Object.entries(details ?? {}).filter(([, value]) => value !== null && value !== undefined));
}

/** Optional members that are undefined are left out. */
function withoutAbsent(
  failure: { [K in keyof Failure]: Failure[K] | undefined } & Pick<Failure, 'code' | 'message'>,
): Failure {
  const given = Object.entries(failure).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), code: failure.code, message: failure.message };
}
