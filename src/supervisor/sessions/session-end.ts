import { nodeLost } from '../../cluster/claim-book.js';
import { counted } from '../../protocol/counted.js';
import { type ErrorBody, encodeError, TroupeError } from '../../protocol/errors.js';
import type { EndReason, SessionMode, SessionStatus, TaskOutcome } from '../../protocol/session.js';
import type { FlowsOutcome } from '../../session/messages.js';

/** How a session ended. */
export interface SessionEnd {
  readonly status: Extract<SessionStatus, 'completed' | 'failed' | 'stopped'>;
  readonly reason: EndReason;
  readonly summary: string | null;
  readonly error: ErrorBody | null;
  readonly outcome?: TaskOutcome;
}

/** The end of a session that was stopped without an error. */
export function stoppedEnd(reason: Extract<EndReason, 'deleted' | 'idle' | 'hard' | 'shutdown'>): SessionEnd {
  return { status: 'stopped', reason, summary: null, error: null };
}

/** The end of a session that cannot continue because of `error`. */
export function lostEnd(error: unknown): SessionEnd {
  return { status: 'failed', reason: 'lost', summary: null, error: encodeError(error) };
}

/** The end of a session that was interrupted by the end of the service. */
export function interruptedEnd(mode: SessionMode): SessionEnd {
  const error =
    mode === 'auto'
      ? new TroupeError('INTERRUPTED', 'The service stopped in the middle of a flow; submit the job again')
      : new TroupeError('WORKER_LOST', 'The service stopped, and the browser ended with it; create a new session');
  return { status: 'failed', reason: 'interrupted', summary: null, error: encodeError(error) };
}

/** The end of a session whose node is gone. */
export function nodeLostEnd(node: string | undefined): SessionEnd {
  return { status: 'failed', reason: 'lost', summary: null, error: encodeError(nodeLost(node)) };
}

/** The end of a job that reached its time limit. */
export function outOfTimeEnd(seconds: number): SessionEnd {
  const error = new TroupeError('HARD_TIMEOUT', `The session did not end within ${seconds} s`);
  return { status: 'failed', reason: 'hard', summary: null, error: encodeError(error) };
}

/** The error of a session whose actor ended permanently with `error`. */
export function actorEndError(mode: SessionMode, error: unknown): unknown {
  if (encodeError(error).code === 'WORKER_LOST') return error;
  const cause = { cause: error };
  if (mode === 'live')
    return new TroupeError('WORKER_LOST', 'The session could not be restarted; create a new one', undefined, cause);
  return new TroupeError('INTERRUPTED', 'The session was restarted in the middle of a flow', undefined, cause);
}

/** The end of a job without a model, whose flows have run. */
export function flowsEnd(outcome: FlowsOutcome): SessionEnd {
  if (outcome.status === 'passed') {
    const { flows, skipped } = outcome;
    const end = { status: 'completed', reason: 'finished', error: null } as const;
    if (flows === skipped) {
      const summary = flows === 1 ? 'All tests of the flow were skipped' : `All tests of ${flows} flows were skipped`;
      return { ...end, summary, outcome: 'skipped' };
    }
    if (flows === 1) return { ...end, summary: 'The flow passed' };
    if (skipped === 0) return { ...end, summary: `All ${flows} flows passed` };
    const passed = flows - skipped;
    return { ...end, summary: `${counted(passed, 'flow')} passed, ${skipped} skipped` };
  }
  const { flow, error } = outcome;
  const reason = error.code === 'HARD_TIMEOUT' ? 'hard' : 'finished';
  return { status: 'failed', reason, summary: `${flow} failed`, error };
}
