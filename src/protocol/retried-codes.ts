import type { ErrorCode } from './errors.js';

/**
 * Errors after which another attempt at a job may succeed. An unreachable model is not among them: the call was repeated
 * already, and fallbacks were tried; nor is a used-up number of answers.
 */
export const RETRIED_CODES: ReadonlySet<ErrorCode> = new Set([
  'FLOW_FAILED',
  'TASK_FAILED',
  'HARD_TIMEOUT',
  'WORKER_LOST',
  'INTERRUPTED',
]);
