import type { PageProblem } from '../../page-calls.js';

/** Of the control, an option that its style makes take no press is told as one that is disabled. */
export function ofOption(problem: PageProblem, text: string): PageProblem {
  if (problem.problem !== 'blocked' || problem.lost !== true) return problem;
  return { ...problem, reason: `has the option ${JSON.stringify(text)}, which ${problem.reason}`, lost: false };
}

/** The option is there and cannot be chosen. */
export function disabledOption(text: string): PageProblem {
  const reason = `has the option ${JSON.stringify(text)} disabled`;
  return { problem: 'blocked', reason, final: false, lasting: true };
}
