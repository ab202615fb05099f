import type { ActionName } from '../../../protocol/look.js';
import { isProblem, type PageProblem, type Ready, type ReadyRequest } from '../../tabs/page-calls.js';
import { kindOf } from '../controls/actions.js';
import { isList, isMultiple, optionOf } from '../controls/options.js';
import { nextChange } from '../names/next-change.js';
import { checkedState, inputKind, isReadOnly } from '../names/roles.js';
import { nameFor, resolve } from '../resolve.js';
import { isHtml, isInside, parentOf, shadowOf } from '../tree/flat-tree.js';
import { elementAt, pointsOf, reaches } from '../tree/geometry.js';
import type { Point } from '../tree/point.js';
import { bringIntoView, scroll } from '../tree/scrolling.js';
import { isSelfDrawn } from '../tree/self-drawn.js';
import { isDisabled, isShown, standIn } from '../tree/visibility.js';
import type { Action } from './action.js';
import { choose, isPassword, selectContent, setValue } from './field.js';
import { typeUnheard } from './type-unheard.js';

const NOWHERE: Point = { x: 0, y: 0 };
/** Styles and layout change without a sign: an element that is not ready is looked at again after this. */
const LOOK_AGAIN_MS = 100;

/** An element that is ready, and where. */
interface Found {
  readonly element: Element;
  readonly point: Point;
  readonly done: boolean;
  readonly opens: boolean;
}

/**
 * Waits until the element can take the action. What needs no input from outside is done in the same breath, the rest is
 * prepared: the field focused, its content selected.
 *
 * @param action is told of the element before anything is done to it
 */
export async function ready(request: ReadyRequest, action: Action): Promise<Ready | PageProblem> {
  const deadline = performance.now() + request.ms;
  for (;;) {
    const startedAt = performance.now();
    const found = attempt(request, action);
    if (!isProblem(found)) {
      return report(found, action, request);
    }
    const final = found.problem === 'blocked' ? found.final : found.problem !== 'missing';
    const now = performance.now();
    if (final || now >= deadline) return found;
    await nextChange(Math.min(LOOK_AGAIN_MS, deadline - now), now - startedAt);
  }
}

function attempt(request: ReadyRequest, under: Action): Found | PageProblem {
  const { action, value } = request;
  const element = resolve(request, { hidden: action === 'upload' });
  if (isProblem(element)) return element;
  const unfit = unfitFor(element, action);
  if (unfit !== null) return unfit;
  const begin = (): void => under.begin(element, request);
  const done = (): Found => ({ element, point: NOWHERE, done: true, opens: false });
  const byKeys = (): Found => ({ element, point: NOWHERE, done: false, opens: false });
  const one = typeof value === 'string' ? value : null;
  switch (action) {
    case 'scroll':
      begin();
      return outcome(scroll(element, one), done);
    case 'focus':
      begin();
      return focus(element) ?? done();
    case 'press':
      begin();
      return focus(element) ?? byKeys();
    case 'upload':
      if (isHtml(element, 'input') && element.type === 'file') {
        begin();
        return byKeys();
      }
      break;
    case 'check':
    case 'uncheck':
      if (checkedState(element) === (action === 'check')) {
        begin();
        return done();
      }
      break;
    case 'select':
      if (!isHtml(element, 'select')) return toChoose(request, element, under);
      break;
    default:
  }
  const own = isShown(element) ? reachablePoint(element, element) : null;
  // An input that its page has put away, out of sight or under what it draws itself, is pressed by its label.
  const label = own === null || isProblem(own) ? standIn(element) : null;
  const point = label === null ? (own ?? reachablePoint(element, element)) : reachablePoint(label, element);
  if (isProblem(point)) return point;
  begin();
  if (action === 'select' && isHtml(element, 'select')) {
    return outcome(choose(element, typeof value === 'string' ? [value] : (value ?? [])), done, false);
  }
  if (action === 'input' || action === 'clear') {
    const text = action === 'clear' ? '' : (one ?? '');
    if (inputKind(element) === 'set') return outcome(setValue(element, text), done);
    const typed = toType(element, text);
    if (typed !== false) return typed === true ? done() : typed;
  }
  return { element, point, done: false, opens: false };
}

/** Whether the text is typed already. False: the field has the focus, and what keys type replaces what it holds. */
function toType(element: Element, text: string): boolean | PageProblem {
  const unfocused = focus(element);
  if (unfocused !== null) return unfocused;
  // Some sites draw a field anew when it gets the focus.
  if (!element.isConnected) return blocked('is drawn anew all the time');
  if (typeUnheard(element, text)) return true;
  selectContent(element);
  return false;
}

/** What to click in a list that a site draws itself: first what opens it, then the option. */
function toChoose(request: ReadyRequest, element: Element, under: Action): Found | PageProblem {
  const { value, list } = request;
  const text = (typeof value === 'string' ? value : value?.[0]) ?? '';
  const option = optionOf(element, text, list);
  if (!isProblem(option)) {
    const point = reachablePoint(option, option);
    if (isProblem(point)) return point;
    under.begin(option, null);
    const done = option.getAttribute('aria-selected') === 'true' && isMultiple(element);
    return { element: option, point, done, opens: false };
  }
  if (list === 'open' || isList(element)) return option;
  const point = reachablePoint(element, element);
  if (isProblem(point)) return point;
  under.begin(element, request);
  return { element, point, done: false, opens: true };
}

function unfitFor(element: Element, action: ActionName): PageProblem | null {
  const harmless = action === 'hover' || action === 'scroll' || action === 'focus';
  if (!harmless && isDisabled(element)) return blocked('is disabled');
  switch (action) {
    case 'input':
    case 'clear':
      if (inputKind(element) === 'none') return blocked(`takes no text: it is ${kindOf(element)}`, true);
      if (isReadOnly(element)) return blocked('is read only');
      return null;
    case 'check':
    case 'uncheck':
      if (checkedState(element) === null) return blocked(`cannot be checked: it is ${kindOf(element)}`, true);
      if (action === 'uncheck' && isHtml(element, 'input') && element.type === 'radio') {
        return blocked('is a radio button, which is unchecked by checking another', true);
      }
      return null;
    default:
      return null;
  }
}

/** A point where a press reaches the element, scrolled to if need be. */
function reachablePoint(shown: Element, element: Element): Point | PageProblem {
  if (isMoving(shown)) return blocked('does not stand still');
  const atOnce = pointsOf(shown);
  const open = atOnce.find((point) => isOpen(point, shown, element));
  if (open !== undefined) return open;
  bringIntoView(shown);
  const points = pointsOf(shown);
  const [middle] = points;
  if (middle === undefined) return blocked('cannot be scrolled into view');
  const reached = points.find((point) => isOpen(point, shown, element));
  if (reached !== undefined) return reached;
  const cover = elementAt(middle);
  return blocked(
    cover === null || isInside(shown, cover)
      ? 'takes no press where it is drawn'
      : `is covered by ${nameFor(outermost(cover, shown))}`,
  );
}

function isOpen(point: Point, shown: Element, element: Element): boolean {
  const hit = elementAt(point);
  return hit !== null && (reaches(hit, shown) || reaches(hit, element));
}

/** The whole of what covers an element: the largest ancestor of the hit that does not hold the element too. */
function outermost(hit: Element, covered: Element): Element {
  let whole = hit;
  for (let node: Element | null = hit; node !== null && !isInside(covered, node); node = parentOf(node)) whole = node;
  return whole;
}

const GEOMETRY =
  /^(transform|translate|scale|rotate|left|right|top|bottom|inset|width|height|margin|padding|offset|min|max)/;

/** Whether an animation that will end moves the element. One that never ends is met by the guard on the click. */
function isMoving(element: Element): boolean {
  return element.ownerDocument.getAnimations().some(({ playState, effect }) => {
    if (playState !== 'running' || effect === null || !('getKeyframes' in effect)) return false;
    const { target } = effect as KeyframeEffect;
    if (target === null || !isInside(element, target)) return false;
    if (effect.getComputedTiming().endTime === Number.POSITIVE_INFINITY) return false;
    return (effect as KeyframeEffect)
      .getKeyframes()
      .some((frame) => Object.keys(frame).some((key) => GEOMETRY.test(key)));
  });
}

function focus(element: Element): PageProblem | null {
  const target = element as Partial<HTMLElement> & Element;
  target.focus?.();
  let active = element.ownerDocument.activeElement;
  for (let inner = active; inner !== null; inner = shadowOf(inner)?.activeElement ?? null) active = inner;
  if (active !== null && (isInside(active, element) || isInside(element, active))) return null;
  return blocked('does not take the focus');
}

async function report({ element, point, done, opens }: Found, under: Action, request: ReadyRequest): Promise<Ready> {
  const { action, value } = request;
  const typed = action === 'input' && typeof value === 'string' ? value : null;
  const checked = checkedState(element);
  return {
    x: point.x,
    y: point.y,
    tag: element.localName,
    inputType: isHtml(element, 'input') ? element.type : '',
    password: isPassword(element),
    rich: (element as Partial<HTMLElement>).isContentEditable === true,
    canvasEditor: isSelfDrawn(element),
    checked: checked === 'mixed' ? false : checked,
    draggable: action === 'drag' && isDraggable(element),
    finished: done ? await under.finish({ graceMs: 0, typed, awaits: null }) : null,
    opens,
  };
}

/** Pictures and links are, without saying so. */
function isDraggable(element: Element): boolean {
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    if ((node as Partial<HTMLElement>).draggable === true) return true;
  }
  return false;
}

function outcome(refusal: string | null, done: () => Found, final = true): Found | PageProblem {
  return refusal === null ? done() : blocked(refusal, final);
}

function blocked(reason: string, final = false): PageProblem {
  return { problem: 'blocked', reason, final };
}
