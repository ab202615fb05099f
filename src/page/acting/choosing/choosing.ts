import { isList, isMultiple, optionsIn } from '../../controls/options.js';
import { inputKind, isReadOnly } from '../../names/roles.js';
import { isProblem, type PageProblem, type Ready, type ReadyRequest } from '../../page-calls.js';
import { isHtml } from '../../tree/flat-tree.js';
import type { Point } from '../../tree/point.js';
import { isDisabled } from '../../tree/visibility.js';
import type { Action } from '../action.js';
import { selectContent } from '../field.js';
import { blocked, blockedUntilChanged, pressablePoint, reachablePoint } from '../reach.js';
import { datalistOf, offered, pick } from './datalist.js';
import { disabledOption, ofOption } from './option-problems.js';

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
  const datalist = datalistOf(element);
  if (datalist !== null && typeof value === 'string') return ofDatalist(request, element, datalist, under);
  const { named, popups } = chooser.places(element);
  const { texts, byRole, match, unclear } = optionsIn(named, popups, text);
  chooser.note(texts);
  if (unclear !== null) return blockedUntilChanged(unclear);
  if (match !== null) {
    const point = reachablePoint(match, match, null);
    if (isProblem(point)) return ofOption(point, text);
    if (isDisabled(match)) return disabledOption(text);
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

/** The browser's own list stands in no page: a value is put into the field, or typed where the page lists it then. */
function ofDatalist(
  request: ReadyRequest,
  field: Element,
  list: HTMLDataListElement,
  under: Action,
): Choice | PageProblem {
  const { chooser } = under;
  const text = typeof request.value === 'string' ? request.value : '';
  if (!isHtml(field, 'input')) return chooser.problem(text, 'lasting');
  if (isReadOnly(field)) return blockedUntilChanged('is read only');
  const { texts, match } = offered(list, text);
  chooser.note(texts);
  if (match?.disabled === true) return disabledOption(text);
  if (match !== null) {
    under.begin(field, 'select', request);
    const refusal = pick(field, match.value);
    if (refusal !== null) return blocked(refusal, true);
    chooser.picked(match);
    return { element: field, point: NOWHERE, done: true, opens: false, types: false };
  }
  if (inputKind(field) !== 'typed' || chooser.hasTyped) return chooser.problem(text, 'lasting');
  field.focus();
  field.select();
  chooser.typing(field);
  under.begin(field, 'input', null);
  return { element: field, point: NOWHERE, done: false, opens: false, types: true };
}
