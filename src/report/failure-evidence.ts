import { ownScreenshot } from '../protocol/own-screenshot.js';
import type { Failure } from '../protocol/report/failure.js';
import { causeOf, failureOfError } from '../protocol/report/failure-of-error.js';
import type { Report } from '../protocol/report/report.js';
import { earlierSteps, seenAtStep, stepAt } from './failure-steps.js';

/** Page errors and requests that a failure lists: the last ones before it. */
const MAX_LISTED = 5;

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
  const { cause } = causeOf(error);
  const own = failureOfError(error);
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
  const during = (at: string): { step?: number } => {
    const index = stepAt(steps, at);
    return index === undefined ? {} : { step: index };
  };
  const picture = step === undefined ? null : ownScreenshot(step);
  const pageErrors = evidence.pageErrors.filter(({ at }) => isWithin(at, since, to)).slice(-MAX_LISTED);
  const requests = evidence.requests.filter(({ at }) => isWithin(at, since, to)).slice(-MAX_LISTED);
  const around: { [K in keyof Failure]?: Failure[K] | undefined } = {
    file: own.flow === undefined ? undefined : `flows/${evidence.flowFiles.get(own.flow) ?? `${own.flow}.js`}`,
    url: own.url ?? step?.url,
    title: own.title ?? step?.title,
    seenAtStep: failed === undefined ? undefined : seenAtStep(failed, earlier, own),
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
  };
  return { ...own, ...Object.fromEntries(Object.entries(around).filter(([, value]) => value !== undefined)) };
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

function listed<T, S>(items: readonly T[], shown: (item: T) => S): S[] | undefined {
  return items.length === 0 ? undefined : items.map(shown);
}

function isWithin(at: string, from: string, to: string): boolean {
  return at >= from && at <= to;
}
