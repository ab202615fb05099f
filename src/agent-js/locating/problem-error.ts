import { type ErrorDetails, TroupeError } from '../../protocol/errors.js';
import type { MissingProblem, PageProblem } from '../tabs/page-calls.js';

/** Where a call stood when it failed: every error of a call carries it. */
export interface Place {
  readonly url: string;
  readonly title: string;
}

/** What the page has instead of what a locator asks for, as the end of a sentence; '' if that is not known. */
export function insteadWords({ near, alike, says, dialog }: Omit<MissingProblem, 'problem' | 'message'>): string {
  const has = near.length === 0 ? '' : `; ${alike ? 'similar:' : 'the page has'} ${near.join(', ')}`;
  const said = says.length === 0 ? '' : `; the page says ${says.map((text) => JSON.stringify(text)).join(' and ')}`;
  // Where nothing has a similar name, what the page says tells more than what else there is.
  return (dialog === undefined ? '' : dialogWords(dialog)) + (alike ? has + said : said + has);
}

function dialogWords({ name, modal }: NonNullable<MissingProblem['dialog']>): string {
  const which = name === '' ? 'a dialog' : `the dialog ${JSON.stringify(name)}`;
  return modal ? `; ${which} is open, and must be answered first` : `; ${which} is open`;
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
      const { rows = [], only } = problem;
      const matches = problem.matches
        .map((match, at) => (rows[at] ? `${match} in ${JSON.stringify(rows[at])}` : match))
        .join(', ');
      const message = `Several visible elements match ${locator}: ${matches}; use one of these, or a locator that only one matches${only === undefined ? '' : `, such as ${only}`}`;
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
