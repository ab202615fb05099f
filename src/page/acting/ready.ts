import type { ActionName } from '../../protocol/look.js';
import { nextChange, pageChanges } from '../changes.js';
import { kindOf } from '../controls/actions.js';
import { shownLooks } from '../controls/shown-looks.js';
import { parseLocator } from '../locator.js';
import { checkedState, inputKind, isReadOnly } from '../names/roles.js';
import { isProblem, type PageProblem, type Presses, type Ready, type ReadyRequest } from '../page-calls.js';
import { inertReason, nameFor, resolve } from '../resolve.js';
import { focusedIn, isHtml, parentOf } from '../tree/flat-tree.js';
import type { Point } from '../tree/point.js';
import { scroll } from '../tree/scrolling.js';
import { isSelfDrawn } from '../tree/self-drawn.js';
import { isDisabled } from '../tree/visibility.js';
import type { Action } from './action.js';
import { isCell } from './cell-edit.js';
import { chooserIn } from './choosing/cell-choice.js';
import { toChoose } from './choosing/choosing.js';
import { choose, dropSelection, isPassword, selectContent, setValue } from './field.js';
import { hasFocus } from './guard.js';
import { hearsPress } from './hears-press.js';
import { blocked, blockedUntilChanged, pressablePoint, reachablePoint, type Use } from './reach.js';
import { isSlider } from './slider.js';
import { trackPoint } from './slider-track.js';
import { typeUnheard } from './type-unheard.js';
import { forgetCovers } from './uncover.js';

const NOWHERE: Point = { x: 0, y: 0 };
/** Styles and layout change without a sign: an element that is not ready is looked at again after this. */
const LOOK_AGAIN_MS = 100;

const SCROLL_GRACE_MS = 60;
/** What a quiet page has not changed by then, of what only it can change, it will not: `disabled`, `readonly`, the options. */
const QUIET_MS = 1_500;

/** An element that is ready, and where. */
interface Found {
  readonly element: Element;
  readonly point: Point;
  readonly done: boolean;
  readonly opens: boolean;
  readonly wheel?: readonly [dx: number, dy: number];
  readonly types?: boolean;
  readonly hovers?: boolean;
  readonly presses?: Presses | null;
  readonly doubles?: boolean;
  readonly commits?: boolean;
  readonly carries?: readonly [dx: number, dy: number];
}

/**
 * Waits until the element can take the action. What needs no input from outside is done in the same breath, the rest is
 * prepared: the field focused, its content selected.
 *
 * @param action is told of the element before anything is done to it
 */
export async function ready(request: ReadyRequest, action: Action): Promise<Ready | PageProblem> {
  const deadline = performance.now() + request.ms;
  pageChanges.attend();
  let { mutations } = pageChanges;
  let quietSince = performance.now();
  const takeBack = shownLooks.listing();
  forgetCovers();
  for (;;) {
    const startedAt = performance.now();
    takeBack();
    const attempted = attempt(request, action);
    const found = isLost(attempted) && !request.hovered ? (toHover(request, action) ?? attempted) : attempted;
    if (!isProblem(found)) return report(found, action, request);
    const final = found.problem === 'blocked' ? found.final : found.problem !== 'missing';
    const now = performance.now();
    if (final || now >= deadline) return found;
    if (!isLasting(found) || pageChanges.mutations !== mutations || document.readyState !== 'complete')
      quietSince = now;
    mutations = pageChanges.mutations;
    if (isLasting(found) && now - quietSince >= QUIET_MS) return { ...found, quiet: true };
    if (found.problem === 'blocked' && found.soon === true) await drawn();
    else await nextChange(Math.min(LOOK_AGAIN_MS, deadline - now), now - startedAt);
  }
}

/** Settles when the page has been drawn; one that is not drawn has its timers. */
function drawn(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LOOK_AGAIN_MS);
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      }),
    );
  });
}

function isLasting(problem: PageProblem): problem is PageProblem & { problem: 'blocked' } {
  return problem.problem === 'blocked' && problem.lasting === true;
}

function isLost(found: Found | PageProblem): found is PageProblem {
  return isProblem(found) && found.problem === 'blocked' && found.lost === true;
}

/** Where the pointer is put first: a row may give its buttons the pointer while it is above the row. */
function toHover(request: ReadyRequest, under: Action): Found | null {
  const element = resolve(request);
  const point = isProblem(element) ? element : pressablePoint(element, request.at, 'point');
  if (isProblem(element) || isProblem(point)) return null;
  under.begin(element, 'hover', request);
  return { element, point, done: false, opens: false, hovers: true };
}

function attempt(request: ReadyRequest, under: Action): Found | PageProblem {
  const { action, value } = request;
  if (request.list === 'closed') {
    under.cell.stop();
    under.cellChoice.stop();
  } else if (under.cellChoice.isOpen) return under.cellChoice.next(typeof value === 'string' ? value : '', under);
  if (under.cell.isOpen) return intoCell(request, null, under);
  // What was chosen may change its name.
  const known = action === 'select' && request.list !== 'closed' ? under.chooser.control : null;
  const sought = known ?? resolve(request, { hidden: action === 'upload' });
  if (isProblem(sought)) return sought;
  const element = (action === 'select' && isCell(sought) ? chooserIn(sought) : null) ?? sought;
  // A page may choose a file by a field of its own, wherever that is; and the list of a control may open as a dialog.
  const isFree = action === 'upload' || request.list !== 'closed';
  const inert = isFree ? null : inertReason(element, parseLocator(request.locator)?.kind === 'text');
  if (inert !== null) return blocked(inert);
  const unfit = unfitFor(element, action);
  if (unfit !== null) return unfit;
  const begin = (): void => under.begin(element, action, request);
  const done = (): Found => ({ element, point: NOWHERE, done: true, opens: false });
  const byKeys = (): Found => ({ element, point: NOWHERE, done: false, opens: false });
  const one = typeof value === 'string' ? value : null;
  switch (action) {
    case 'scroll': {
      begin();
      const scrolled = scroll(element, one);
      if (scrolled === null) return done();
      if (!('wheel' in scrolled)) return blocked(scrolled.refusal, true);
      const over = reachablePoint(element, element, null, 'point');
      if (isProblem(over)) return over;
      begin();
      return { element, point: over, done: false, opens: false, wheel: scrolled.wheel };
    }
    case 'selectText':
      begin();
      selectContent(element);
      return done();
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
      if (isCell(element) && typeof value === 'string') return under.cellChoice.open(request, element, under);
      if (!isHtml(element, 'select')) return toChoose(request, element, under);
      break;
    case 'input':
    case 'clear':
      if (isCell(element)) return intoCell(request, element, under);
      if (action === 'input' && isSlider(element)) return alongSlider(request, element, under);
      break;
    default:
  }
  const { at } = request;
  const point = pressablePoint(element, at, useFor(element, action));
  if (isProblem(point)) return point;
  begin();
  if (action === 'select' && isHtml(element, 'select')) {
    return outcome(choose(element, wantedOf(request)), done);
  }
  if (action === 'input' || action === 'clear') {
    const text = action === 'clear' ? '' : (one ?? '');
    if (inputKind(element) === 'set') {
      const onTrack = request.list === 'closed' ? trackPoint(element, text) : null;
      if (onTrack === null || isProblem(onTrack)) return outcome(setValue(element, text), done);
      return { element, point: onTrack, done: false, opens: true };
    }
    const typed = toType(element, text, request.byKeys);
    if (typed !== false) return typed === true ? done() : typed;
  }
  return { element, point, done: false, opens: false };
}

/** @param cell null: its field is open */
function intoCell(request: ReadyRequest, cell: Element | null, under: Action): Found | PageProblem {
  const text = request.action === 'input' && typeof request.value === 'string' ? request.value : '';
  const step = cell === null ? under.cell.write(text) : under.cell.open(cell);
  if (isProblem(step)) return step;
  const { element, point, opens, isSet } = step;
  under.begin(element, opens ? 'dblclick' : 'input', opens ? request : null);
  return {
    element,
    point,
    done: false,
    opens,
    doubles: opens,
    commits: !opens,
    presses: isSet ? { key: 'Enter', times: 1 } : null,
  };
}

function alongSlider(request: ReadyRequest, slider: Element, under: Action): Found | PageProblem {
  if (request.list === 'closed') under.slider.start();
  const step = under.slider.next(slider, typeof request.value === 'string' ? request.value : '');
  if (step !== null && 'problem' in step) return step;
  under.begin(slider, 'input', request);
  if (step === null) return { element: slider, point: NOWHERE, done: true, opens: false };
  if ('from' in step) {
    dropSelection(slider);
    return { element: slider, point: step.from, done: false, opens: true, carries: step.by };
  }
  if (focus(slider) === null) return { element: slider, point: NOWHERE, done: false, opens: true, presses: step };
  under.slider.drags();
  return alongSlider({ ...request, list: 'open' }, slider, under);
}

/** Whether the text is typed already. False: the field has the focus, and what keys type replaces what it holds. */
function toType(element: Element, text: string, byKeys: boolean): boolean | PageProblem {
  const unfocused = focus(element);
  if (unfocused !== null) return unfocused;
  // Some sites draw a field anew when it gets the focus.
  if (!element.isConnected) return blocked('is rendered again all the time');
  if (!isSelfDrawn(element) && !byKeys && typeUnheard(element, text)) return true;
  selectContent(element);
  return false;
}

/** What a field is filled in by, once it has the focus, are keys; the browser's own list is chosen from by its name. */
function useFor(element: Element, action: ActionName): Use {
  if (action === 'drag') return 'carry';
  const isFilledIn = action === 'input' || action === 'clear' || (action === 'select' && isHtml(element, 'select'));
  return isFilledIn || HARMLESS.has(action) ? 'point' : 'press';
}

/** What a person does to a control that is out of use, too. */
const HARMLESS: ReadonlySet<ActionName> = new Set(['hover', 'scroll', 'focus', 'wheel', 'selectText']);

function unfitFor(element: Element, action: ActionName): PageProblem | null {
  const harmless = HARMLESS.has(action);
  if (!harmless && isDisabled(element)) return blockedUntilChanged(whyDisabled(element));
  switch (action) {
    case 'input':
    case 'clear':
      if (isCell(element) || (action === 'input' && isSlider(element))) return null;
      if (inputKind(element) === 'none') return blocked(`does not accept text: it is ${kindOf(element)}`, true);
      if (isReadOnly(element)) return blockedUntilChanged('is read only');
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

/** Many pages check what is typed when its field is left. */
function whyDisabled(element: Element): string {
  const field = focusedIn(element.ownerDocument);
  const isElsewhere = field !== null && field !== element && inputKind(field) === 'typed';
  return isElsewhere ? `is disabled; ${nameFor(field)} still has the focus` : 'is disabled';
}

function focus(element: Element): PageProblem | null {
  const target = element as Partial<HTMLElement> & Element;
  target.focus?.();
  const active = focusedIn(element.ownerDocument);
  if (active !== null && hasFocus(active, element)) return null;
  return blocked('cannot be focused');
}

async function report(
  { element, point, done, opens, wheel, types, hovers, presses, doubles, commits, carries }: Found,
  under: Action,
  request: ReadyRequest,
): Promise<Ready> {
  const { action, value } = request;
  const typed = action === 'input' && typeof value === 'string' ? value : null;
  const chosen = action === 'select' ? wantedOf(request) : null;
  const checked = checkedState(element);
  // The events of what was scrolled come with the next picture.
  const graceMs = action === 'scroll' && typeof value === 'string' ? SCROLL_GRACE_MS : 0;
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
    finished: done ? await under.finish({ graceMs, typed, chosen, awaits: null, drag: null }) : null,
    opens,
    types: types === true,
    hovers: hovers === true,
    holds: !done && hearsPress(element),
    presses: presses ?? null,
    doubles: doubles === true,
    commits: commits === true,
    carries: carries ?? null,
    wheel: wheel ?? null,
  };
}

/** Pictures and links are, without saying so. */
function isDraggable(element: Element): boolean {
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    if ((node as Partial<HTMLElement>).draggable === true) return true;
  }
  return false;
}

function wantedOf({ value }: ReadyRequest): readonly string[] {
  return typeof value === 'string' ? [value] : (value ?? []);
}

function outcome(refusal: string | PageProblem | null, done: () => Found): Found | PageProblem {
  if (refusal === null) return done();
  return typeof refusal === 'string' ? blocked(refusal, true) : refusal;
}
