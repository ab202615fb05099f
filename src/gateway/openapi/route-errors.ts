import { ERROR_TABLE, type ErrorCode } from '../../protocol/errors.js';
import type { Route } from '../route.js';

/** Errors of every route: a caller that is not admitted, and a service that starts or stops. */
const EVERYWHERE = ['FORBIDDEN_ORIGIN', 'UNAVAILABLE'] as const;

/**
 * The error codes of a route by status: those that it names, and those that follow from its form. INTERNAL is not
 * included: it is a fault of the service, on any route.
 */
export function routeErrors(route: Route): ReadonlyMap<number, readonly ErrorCode[]> {
  const codes = new Set<ErrorCode>([...EVERYWHERE, ...route.errors]);
  if (route.role !== null) codes.add('UNAUTHORIZED');
  if (route.role !== null && route.role !== 'view') codes.add('FORBIDDEN');
  if (route.path.includes('{')) codes.add('NOT_FOUND');
  if (route.path.includes('{name}') || route.querySchema || route.headers.some(isChecked)) codes.add('INVALID_REQUEST');
  if (route.body === 'json') codes.add('INVALID_JSON').add('INVALID_REQUEST');
  if (route.body !== 'none') codes.add('BODY_TOO_LARGE');
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of [...codes].sort()) {
    const status = route.errorStatus[code] ?? ERROR_TABLE[code].status;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

/** Headers that are validated. */
function isChecked(header: string): boolean {
  return ['idempotency-key', 'last-event-id', 'if-match', 'if-none-match'].includes(header);
}
