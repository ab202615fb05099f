import type { ErrorDetails } from '../protocol/errors.js';
import { ownScreenshot } from '../protocol/own-screenshot.js';
import type { Failure } from '../protocol/report/failure.js';
import type { Report } from '../protocol/report/report.js';
import { earlierSteps, seenAtStep, stepAt } from './failure-steps.js';

/** Page errors and requests that a failure lists: the last ones before it. */
const MAX_LISTED = 5;
const MAX_NEAR = 10;
const MAX_SEEN = 10;
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

/** A request that took long, or never ended. */
export interface LongRequest {
  /** ISO 8601: when it began, and when it ended; null if it never did. */
  readonly at: string;
  readonly until: string | null;
  readonly method: string;
  readonly url: string;
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
  readonly longRequests: readonly LongRequest[];
  /** The path of the session's trace in its artifacts, or why there is none. */
  readonly trace: Pick<Failure, 'trace' | 'noTrace'>;
  /** Files of the flows that ran, by their paths: `shop/login.ts` of `shop/login`. */
  readonly flowFiles: ReadonlyMap<string, string>;
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
  const before = stepsBefore(evidence.steps, attempt);
  const failed = steps.findLast((step) => step.error?.code === cause.code && step.error.error === cause.error);
  const step = failed ?? steps.at(-1);
  const earlier = step === undefined ? [] : steps.filter(({ index }) => index < step.index);
  const expected = text(details.expected)?.slice(0, MAX_TEXT);
  const locator = text(details.locator)?.slice(0, MAX_SHORT);
  const flow = text(details.flow);
  const during = (at: string): { step?: number } => {
    const index = stepAt(steps, at);
    return index === undefined ? {} : { step: index };
  };
  const picture = step === undefined ? null : ownScreenshot(step);
  const pageErrors = evidence.pageErrors.filter(({ at }) => isWithin(at, since, to)).slice(-MAX_LISTED);
  const requests = evidence.requests.filter(({ at }) => isWithin(at, since, to)).slice(-MAX_LISTED);
  return withoutAbsent({
    code: cause.code,
    message: cause.error.slice(0, MAX_TEXT),
    flow,
    file: flow === undefined ? undefined : `flows/${evidence.flowFiles.get(flow) ?? `${flow}.js`}`,
    test: text(details.test)?.slice(0, MAX_SHORT),
    line: whole(details.line),
    column: whole(details.column),
    frame: text(details.frame),
    url: text(details.url) ?? step?.url,
    title: text(details.title) ?? step?.title,
    locator,
    expected,
    received: text(details.received)?.slice(0, MAX_TEXT),
    history: historyIn(details),
    waitedMs: whole(details.waitedMs),
    elsewhere: typeof details.elsewhere === 'boolean' ? details.elsewhere : undefined,
    seenAtStep: failed === undefined ? undefined : seenAtStep(failed, earlier, { locator, expected }),
    differences: differencesIn(details),
    nearMisses: textsIn(details.candidates),
    console: listed(pageErrors, ({ at, text, url }) => ({ text, url, ...during(at) })),
    requests: listed(requests, ({ at, request }) => ({ ...request, ...during(at) })),
    pending: failed?.timers === undefined ? undefined : pendingAt(failed, evidence.longRequests),
    earlierSteps: earlierSteps(failed === undefined && step !== undefined ? [...earlier, step] : earlier),
    step:
      step === undefined
        ? undefined
        : {
            index: step.index,
            ...(before === 0 ? {} : { number: step.index - before }),
            js: step.js,
            url: step.url,
            title: step.title,
            ...(failed === undefined ? { before: true as const } : {}),
          },
    screenshot: picture === null ? undefined : `screenshots/${picture}`,
    // Of the step that failed: what was around an earlier one is not what failed.
    box: picture === null ? undefined : failed?.box,
    noScreenshot: picture === null ? (failed?.noScreenshot ?? noPicture(step, kind)) : undefined,
    ...evidence.trace,
  });
}

/** How many steps earlier attempts made: `index` counts them, too. */
export function stepsBefore(steps: readonly Step[], attempt: number | undefined): number {
  if (attempt === undefined) return 0;
  return steps.reduce((most, step) => ((step.attempt ?? 1) < attempt ? Math.max(most, step.index) : most), 0);
}

/** Requests and timers that the page waited for at the end of a step. */
function pendingAt(failed: Step, requests: readonly LongRequest[]): NonNullable<Failure['pending']> {
  const began = Date.parse(failed.startedAt ?? failed.at);
  const end = began + failed.durationMs;
  const open = requests.filter(({ at, until }) => Date.parse(at) <= end && (until === null || Date.parse(until) > end));
  return {
    requests: open.slice(-MAX_LISTED).map(({ at, method, url }) => ({ method, url, ms: end - Date.parse(at) })),
    timers: failed.timers ?? [],
  };
}

/** Why there is no picture if no step says so. */
function noPicture(step: Step | undefined, kind: Step['kind'] | null): string | undefined {
  if (step === undefined) return kind === 'flow' ? 'the flow failed before its first step' : undefined;
  return undefined;
}

function historyIn(details: ErrorDetails): Failure['history'] {
  const { history } = details;
  if (!Array.isArray(history) || history.length === 0) return undefined;
  return history.slice(0, MAX_SEEN).flatMap((one: unknown) => {
    const value: unknown = Reflect.get(Object(one), 'value');
    const fromMs: unknown = Reflect.get(Object(one), 'fromMs');
    return typeof value === 'string' && typeof fromMs === 'number'
      ? [{ value: value.slice(0, MAX_SHORT), fromMs }]
      : [];
  });
}

function listed<T, S>(items: readonly T[], shown: (item: T) => S): S[] | undefined {
  return items.length === 0 ? undefined : items.map(shown);
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
