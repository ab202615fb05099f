import type { FlowsOutcome } from '../../actors/session/messages.js';
import type { SessionEnd } from './session-end.js';

/** How a job ends whose flows have run. */
export function flowsEnd(outcome: FlowsOutcome): SessionEnd {
  if (outcome.status === 'passed') {
    const summary = outcome.flows === 1 ? 'The flow passed' : `All ${outcome.flows} flows passed`;
    return { status: 'completed', reason: 'finished', summary, error: null };
  }
  const { flow, error } = outcome;
  const reason = error.code === 'HARD_TIMEOUT' ? 'hard' : 'finished';
  return { status: 'failed', reason, summary: `${flow} failed`, error };
}
