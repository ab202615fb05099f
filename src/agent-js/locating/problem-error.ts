import type { MissingProblem, PageProblem } from '../../page/page-calls.js';
import { type ErrorDetails, TroupeError } from '../../protocol/errors.js';

/** Where a call stood when it failed: every error of a call carries it. */
export interface Place {
  readonly url: string;
  readonly title: string;
}

/** What the page has instead of what a locator asks for, as the end of a sentence; '' if that is not known. */
export function insteadWords({ near, alike, says }: Pick<MissingProblem, 'near' | 'alike' | 'says'>): string {
  const others = near.filter((name) => !alike.includes(name));
  const sentences = [
    ...(alike.length > 0 ? [`Did you mean ${orWords(alike)}?`] : []),
    ...(others.length > 0 ? [`The page ${alike.length > 0 ? 'also has' : 'has'} ${others.join(', ')}`] : []),
    ...(says.length > 0 ? [`The page says ${says.map((text) => JSON.stringify(text)).join(' and ')}`] : []),
  ];
  return sentences.map((sentence, at) => `${sentences[at - 1]?.endsWith('?') ? ' ' : '. '}${sentence}`).join('');
}

/** `a`, `a or b`, `a, b, or c`. */
function orWords(names: readonly string[]): string {
  if (names.length < 3) return names.join(' or ');
  return `${names.slice(0, -1).join(', ')}, or ${names.at(-1)}`;
}

/** What the page's script found wrong, as the error that the script sees. */
export function problemError(problem: PageProblem, locator: string, place: Place): TroupeError {
  const details: ErrorDetails = { url: place.url, title: place.title, locator };
  switch (problem.problem) {
    case 'syntax':
      return new TroupeError('SCRIPT_ERROR', problem.message, details);
    case 'missing': {
      return new TroupeError('LOCATOR_NOT_FOUND', `${problem.message}${insteadWords(problem)}`, {
        ...details,
        candidates: problem.near,
      });
    }
    case 'ambiguous': {
      const matches = problem.matches.join(', ');
      const message = `Several visible elements match ${locator}: ${matches}; use one of these, or a locator that only one matches`;
      return new TroupeError('LOCATOR_AMBIGUOUS', message, { ...details, candidates: problem.matches });
    }
    case 'stale': {
      const message = `${locator} is no longer what the look showed: ${problem.reason}; call agent.look() and use its locators`;
      return new TroupeError('LOCATOR_STALE', message, details);
    }
    case 'blocked':
      return new TroupeError('ACTION_FAILED', `${locator} ${problem.reason}`, details);
  }
}
