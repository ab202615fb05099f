import type { ErrorBody, ErrorDetails } from '../errors.js';
import type { SessionRecord } from '../session.js';
import type { Failure } from './failure.js';

/** An error as it stands in a record, or as it was thrown. */
type KnownError = NonNullable<SessionRecord['error']>;

const MAX_NEAR = 10;
const MAX_SEEN = 10;
const MAX_DIFFERENCES = 50;
/** Longer texts are truncated. */
const MAX_TEXT = 4_000;
const MAX_SHORT = 500;

/**
 * A failure as far as its error tells: FLOW_FAILED stands for the error of the call that failed, which says more. Where report.json
 * has a failure, that one knows the steps and the page, too.
 */
export function failureOfError(error: KnownError): Failure {
  const { cause, details } = causeOf(error);
  const known: { [K in keyof Failure]?: Failure[K] | undefined } = {
    flow: textIn(details, 'flow'),
    test: textIn(details, 'test')?.slice(0, MAX_SHORT),
    line: wholeIn(details, 'line'),
    column: wholeIn(details, 'column'),
    frame: textIn(details, 'frame'),
    url: textIn(details, 'url'),
    title: textIn(details, 'title'),
    locator: textIn(details, 'locator')?.slice(0, MAX_SHORT),
    expected: textIn(details, 'expected')?.slice(0, MAX_TEXT),
    received: textIn(details, 'received')?.slice(0, MAX_TEXT),
    history: historyIn(details),
    waitedMs: wholeIn(details, 'waitedMs'),
    elsewhere: typeof details.elsewhere === 'boolean' ? details.elsewhere : undefined,
    differences: differencesIn(details),
    nearMisses: textsIn(details.candidates),
  };
  const given = Object.entries(known).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), code: cause.code, message: cause.error.slice(0, MAX_TEXT) };
}

/**
 * The error that says why, and the details of it and of the call that failed, which are those of the innermost place. HARD_TIMEOUT
 * says itself why, and its call where.
 */
export function causeOf<E extends KnownError>(
  error: E,
): { readonly cause: E | ErrorBody; readonly details: ErrorDetails } {
  const inner = error.details?.cause;
  if (!isErrorBody(inner)) return { cause: error, details: withoutNulls(error.details) };
  return {
    cause: error.code === 'FLOW_FAILED' ? inner : error,
    details: { ...withoutNulls(error.details), ...withoutNulls(inner.details) },
  };
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

function historyIn({ history }: ErrorDetails): Failure['history'] {
  if (!Array.isArray(history) || history.length === 0) return undefined;
  return history.slice(0, MAX_SEEN).flatMap((one: unknown) => {
    const value: unknown = Reflect.get(Object(one), 'value');
    const fromMs: unknown = Reflect.get(Object(one), 'fromMs');
    return typeof value === 'string' && typeof fromMs === 'number'
      ? [{ value: value.slice(0, MAX_SHORT), fromMs }]
      : [];
  });
}

function differencesIn({ failures }: ErrorDetails): Failure['differences'] {
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

function textIn(details: ErrorDetails, key: string): string | undefined {
  const value = details[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function wholeIn(details: ErrorDetails, key: string): number | undefined {
  const value = details[key];
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

function withoutNulls(details: ErrorDetails | undefined): ErrorDetails {
  return Object.fromEntries(Object.entries(details ?? {}).filter(([, value]) => value !== null && value !== undefined));
}
