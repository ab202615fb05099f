import { ERROR_TABLE, type ErrorCode, encodeError } from '../protocol/errors.js';
import { w3cError } from '../webdriver/w3c-error.js';
import type { ReplyHead } from './http/reply-head.js';

/**
 * Turns any thrown value into an answer: `{error, code, details?}` with the status of the error table.
 * `details.retryAfterSeconds` becomes Retry-After (1 s by default for CAPACITY and UNAVAILABLE), `details.allow`
 * becomes Allow.
 * @param statuses a route's own statuses for some codes
 * @param webDriver set for commands of WebDriver, whose errors have the form of the W3C recommendation
 */
export function errorAnswer(
  thrown: unknown,
  statuses: { readonly [Code in ErrorCode]?: number } = {},
  webDriver: Parameters<typeof w3cError>[1] | null = null,
): { readonly head: ReplyHead; readonly body: string; readonly code: ErrorCode } {
  const body = encodeError(thrown);
  const headers: [string, string][] = [['Content-Type', 'application/json']];
  const retryAfter = body.details?.retryAfterSeconds;
  if (body.code === 'CAPACITY' || body.code === 'UNAVAILABLE') {
    const seconds = typeof retryAfter === 'number' && Number.isFinite(retryAfter) ? Math.ceil(retryAfter) : 1;
    headers.push(['Retry-After', String(Math.max(1, seconds))]);
  }
  const allow = body.details?.allow;
  if (body.code === 'METHOD_NOT_ALLOWED' && Array.isArray(allow)) headers.push(['Allow', allow.join(', ')]);
  if (body.code === 'UNAUTHORIZED') headers.push(['WWW-Authenticate', 'Bearer']);
  if (webDriver !== null) {
    const { status, body: value } = w3cError(thrown, webDriver);
    return { head: { status, headers }, body: JSON.stringify(value), code: body.code };
  }
  const status = statuses[body.code] ?? ERROR_TABLE[body.code].status;
  return { head: { status, headers }, body: JSON.stringify(body), code: body.code };
}
