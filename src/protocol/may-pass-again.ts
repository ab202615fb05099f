import type { ErrorCode } from './errors.js';

/**
 * Errors after which another attempt at a job may succeed. An unreachable model is not among them: the call was repeated
 * already, and fallbacks were tried; nor is a used-up number of answers.
 */
const RETRIED_CODES: ReadonlySet<ErrorCode> = new Set([
  'FLOW_FAILED',
  'TASK_FAILED',
  'HARD_TIMEOUT',
  'WORKER_LOST',
  'INTERRUPTED',
]);

/** Mistakes in a flow's own code, which fail in the same way each time. */
const MISTAKE = /^(?:Syntax|Type|Reference)Error\b/;

/** Whether another attempt at a job that ended with this error may succeed. */
export function mayPassAgain({ code, details }: { readonly code: ErrorCode; readonly details?: unknown }): boolean {
  return RETRIED_CODES.has(code) && !isMistake(Reflect.get(Object(details), 'cause'));
}

function isMistake(cause: unknown): boolean {
  const code: unknown = Reflect.get(Object(cause), 'code');
  const text: unknown = Reflect.get(Object(cause), 'error');
  return code === 'FLOW_NOT_FOUND' || (code === 'SCRIPT_ERROR' && typeof text === 'string' && MISTAKE.test(text));
}
