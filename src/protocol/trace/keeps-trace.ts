import type { SessionRecord } from '../session.js';

/** Whether a session has a trace now: one for failures is removed when the session completes. */
export function keepsTrace({ trace, status }: Pick<SessionRecord, 'trace' | 'status'>): boolean {
  return trace === 'on' || (trace === 'on-failure' && status !== 'completed');
}
