import type { CdpResponse } from '../browser/cdp.js';

/** Answers that have no body. */
const WITHOUT_BODY = [204, 205, 304];

/** A request that was answered, as far as its end depends on it. */
export interface AnsweredRequest {
  readonly method: string;
  /** As the browser names it, such as `Fetch`. */
  readonly type: string;
  /** Of the answer; null if there is none yet. */
  readonly status: number | null;
  /** Bytes that the answer announced for its body; null if it did not say, or said how many are sent compressed. */
  readonly announced: number | null;
  /** Bytes of the body that have come. */
  readonly received: number;
}

/**
 * What is wrong with a request that the browser says has failed; null if it has its answer. The browser calls it failed, too,
 * if an answer has no body, if the page stops reading (it closes a stream, or has what it wanted), and if what was to be a
 * page is a download. A body that ends before the length that was announced stays a failure, whoever ended it.
 */
export function failureOf(
  { method, type, status, announced, received }: AnsweredRequest,
  { errorText, canceled }: { readonly errorText: string; readonly canceled?: boolean | undefined },
): string | null {
  if (status === null || canceled !== true || errorText !== 'net::ERR_ABORTED') return errorText;
  if (!hasBody(method, status) || announced === null || received >= announced) return null;
  return type === 'Document' && received === 0 ? null : errorText;
}

function hasBody(method: string, status: number): boolean {
  return method !== 'HEAD' && !WITHOUT_BODY.includes(status);
}

/** See {@link AnsweredRequest.announced}. */
export function announcedBytes({ headers }: CdpResponse): number | null {
  let announced: number | null = null;
  for (const [name, value] of Object.entries(headers)) {
    if (/^content-encoding$/i.test(name)) return null;
    if (/^content-length$/i.test(name) && /^\d+$/.test(String(value))) announced = Number(value);
  }
  return announced;
}
