import { isProblem, type PageProblem, type Ready, type ReadyRequest } from '../../../tabs/page-calls.js';
import { isList, isMultiple, optionsIn } from '../../controls/options.js';
import type { Point } from '../../tree/point.js';
import type { Action } from '../action.js';
import { selectContent } from '../field.js';
import { pressablePoint, reachablePoint } from '../reach.js';

const NOWHERE: Point = { x: 0, y: 0 };

/** An element that is ready for the next input of a choice, and where. */
interface Choice extends Pick<Ready, 'opens' | 'types'> {
  readonly element: Element;
  readonly point: Point;
  readonly done: boolean;
}

/**
 * What to do next to choose from a list that a site draws: press what opens it, press the option, or type its text where
 * the list wants that. A problem where the option is not there yet.
 */
export function toChoose(request: ReadyRequest, element: Element, under: Action): Choice | PageProblem {
  const { value, list } = request;
  const { chooser } = under;
  const text = (typeof value === 'string' ? value : value?.[0]) ?? '';
  if (list === 'closed') chooser.start(element);
  const { named, popups } = chooser.places(element);
  const { texts, byRole, match } = optionsIn(named, popups, text);
  chooser.note(texts);
  if (match !== null) {
    const point = reachablePoint(match, match, null);
    if (isProblem(point)) return ofOption(point, text);
    if (match.getAttribute('aria-disabled') === 'true') return disabledOption(text);
    under.begin(match, 'select', null);
    chooser.choosing(match);
    const done = match.getAttribute('aria-selected') === 'true' && isMultiple(element);
    return { element: match, point, done, opens: false, types: false };
  }
  const isOpen = list === 'open' || isList(element) || (list === 'perhaps open' && (byRole || chooser.isStillOpen));
  if (!isOpen) {
    const point = pressablePoint(element, null);
    if (isProblem(point)) return point;
    chooser.opening();
    under.begin(element, 'select', request);
    return { element, point, done: false, opens: true, types: false };
  }
  switch (chooser.advance(element)) {
    case 'type': {
      const field = chooser.field(element) ?? element;
      (field as Partial<HTMLElement>).focus?.();
      selectContent(field);
      chooser.typing(field);
      under.begin(field, 'input', null);
      return { element: field, point: NOWHERE, done: false, opens: false, types: true };
    }
    case 'exhausted':
      return chooser.problem(text, 'lasting');
    case 'wait':
      return chooser.problem(text, null);
    case 'scrolled':
      return chooser.problem(text, 'soon');
  }
}

/** Of the control, an option that its style makes take no press is told as one that is disabled. */
function ofOption(problem: PageProblem, text: string): PageProblem {
  if (problem.problem !== 'blocked' || problem.lost !== true) return problem;
  return { ...problem, reason: `has the option ${JSON.stringify(text)}, which ${problem.reason}`, lost: false };
}

function disabledOption(text: string): PageProblem {
  const reason = `has the option ${JSON.stringify(text)} disabled`;
  return { problem: 'blocked', reason, final: false, lasting: true };
}
