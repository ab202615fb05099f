import type { ActionName } from '../../protocol/look.js';
import { nextChange } from '../changes.js';
import { discoveries } from '../controls/discoveries.js';
import { shownLooks } from '../controls/shown-looks.js';
import { checkedState, checkKind, roleOf } from '../names/roles.js';
import {
  type DropPoint,
  type DropRequest,
  type Finished,
  type FinishRequest,
  isProblem,
  type PageCalls,
  type PageProblem,
  type Sought,
  type TypedOutcome,
} from '../page-calls.js';
import { nameFor, resolve } from '../resolve.js';
import { styleWrites } from '../style-writes.js';
import { focusedIn, isHtml, isInside } from '../tree/flat-tree.js';
import { takesPointer } from '../tree/geometry.js';
import { isDisabled } from '../tree/visibility.js';
import { CellEdit } from './cell-edit.js';
import { CellChoice } from './choosing/cell-choice.js';
import { Chooser } from './choosing/chooser.js';
import { settledOutcome } from './choosing/settled-outcome.js';
import { DragWatch } from './drag-end.js';
import { DragTraces } from './drag-traces.js';
import { type DragEvents, DropPlace, untilStill } from './drop-place.js';
import { chosenOutcome, dropSelection, FieldState, fieldValue, isUnselected } from './field.js';
import { arm, disarm } from './guards.js';
import { Heard } from './heard.js';
import { Signs } from './signs.js';
import { isSlider, numberOf, SliderMove } from './slider.js';
import { TypedText } from './typed-text.js';

/** Input that was sent is there soon, also on a busy page; what has not come by then is asked for again. */
const HEARD_MS = 1_000;
/** A box that was clicked shows by then that it is checked, in milliseconds. */
const CHECKED_MS = 600;
/** What a page has put off until a pause in the input is waited for so long at most, in milliseconds. */
const TIMERS_MS = 800;
/** What a page takes back by a timer, a choice or a check that it refuses, is waited for so long, in milliseconds. */
const TAKEN_BACK_MS = 200;
/** An editor that draws its text anew by itself has done so by then, in milliseconds. */
const CLEARED_MS = 500;
const LOOK_AGAIN_MS = 50;
/** After these, a drag may be meant for what they have selected. */
const SELECTING: ReadonlySet<ActionName | null> = new Set<ActionName>([
  'selectText',
  'dblclick',
  'tripleclick',
  'press',
]);

interface UnderWay {
  readonly element: Element;
  /** What the locator means now; null: nothing, or not one thing. */
  again(): Element | null;
  readonly before: FieldState;
  readonly signs: Signs;
  readonly heard: Heard;
  readonly text: TypedText;
  readonly drag: { readonly traces: DragTraces; readonly watch: DragWatch } | null;
  /** Whether it is to be checked then; null: that is not what the action is for. */
  readonly wanted: boolean | null;
}

/** Follows one action, from the check that its element is ready to what came of it. */
export class Action {
  /** Of the select under way. */
  readonly chooser = new Chooser();
  /** Of the input into a cell, and to a slider, under way. */
  readonly cell = new CellEdit();
  readonly slider = new SliderMove();
  /** Of the select in a cell under way. */
  readonly cellChoice = new CellChoice();
  #underWay: UnderWay | null = null;
  /** Of the last action, while nothing has come of it: its signs are still watched. */
  #quiet: {
    readonly signs: Signs;
    readonly differs: () => boolean;
    readonly dragged: () => Finished['dragged'];
  } | null = null;
  #last: ActionName | null = null;
  /** Where the drag under way ends; null: at no element, or at one that is out of reach here. */
  #dropPlace: DropPlace | null = null;
  readonly #dragEventsIn: (inner: Document) => DragEvents | null;

  constructor(dragEventsIn: (inner: Document) => DragEvents | null) {
    this.#dragEventsIn = dragEventsIn;
  }

  /** The element of the action under way. */
  get target(): Element | null {
    return this.#underWay?.element ?? null;
  }

  /** @param sought what the element is called, if it is: when the page draws it anew, the new one is meant */
  begin(element: Element, action: ActionName, sought: Sought<string> | null): void {
    this.#stop();
    if (action === 'drag' && !SELECTING.has(this.#last)) dropSelection(element);
    this.#last = action;
    this.#dropPlace = null;
    shownLooks.acting(element);
    discoveries()?.act(true);
    styleWrites.begin();
    const heard = new Heard(element.ownerDocument);
    const again = (): Element | null => {
      const drawnAnew = sought === null ? null : resolve(sought);
      return drawnAnew === null || isProblem(drawnAnew) ? null : drawnAnew;
    };
    const text = new TypedText(element);
    const signs = new Signs(element, action);
    let drag: UnderWay['drag'] = null;
    if (action === 'drag') {
      const traces = new DragTraces(element);
      drag = { traces, watch: new DragWatch(element, traces) };
      this.#dragEventsIn(element.ownerDocument)?.forget();
    }
    const wanted = checkedBy(action, element);
    this.#underWay = { element, again, before: new FieldState(element), signs, heard, text, drag, wanted };
    arm(element.ownerDocument, { element, again, hear: (event) => heard.key(event) });
  }

  /** Where the drag under way ends: without a locator, at the element that was found before, which is scrolled to if need be. */
  async dropPoint({ locator, still, at, ...shown }: DropRequest): Promise<DropPoint | PageProblem> {
    const watch = this.#underWay?.drag?.watch;
    if (locator !== null) {
      const place = DropPlace.of({ locator, ...shown }, this.#dragEventsIn);
      if (isProblem(place)) return place;
      this.#dropPlace = place;
      const target = place.target();
      if (target !== null) watch?.aim(target);
    }
    const place = this.#dropPlace;
    if (place === null) return { problem: 'blocked', reason: 'disappeared during the drag', final: true };
    const point = await place.point(at, { begins: locator !== null, still });
    if (still) watch?.hold();
    return point;
  }

  /** How far the dragged element has come, once it stands still. */
  async dragShift(): Promise<readonly [dx: number, dy: number] | null> {
    const own = this.#underWay;
    if (own === null || own.drag === null) return null;
    await untilStill(own.element);
    return own.drag.watch.hold();
  }

  /** Whether what the browser carries over the document may be let go where it is. */
  get takesDrop(): boolean {
    return this.#dragEventsIn(this.target?.ownerDocument ?? document)?.taken === true;
  }

  /** Takes the guard away and says what came of the action, once the awaited input is there. */
  async finish({ graceMs, typed, chosen, awaits, drag: wish }: FinishRequest): Promise<Finished> {
    const own = this.#underWay;
    if (own === null) return { ...NOTHING, ...where(), heard: true };
    const { element, again, before, signs, heard, text, drag, wanted } = own;
    const traces = drag?.traces ?? null;
    if (awaits !== null && !(await heard.until(awaits, HEARD_MS))) return { ...NOTHING, ...where() };
    // What the page has put off until its handlers have ended comes first.
    await Promise.resolve();
    const { hit, clicks } = disarm(element.ownerDocument);
    const times = this.#last === 'dblclick' ? 2 : this.#last === 'tripleclick' ? 3 : 1;
    // What is pressed after that is no concern of the action.
    const lost = clicks >= times ? null : hit;
    const isOff = clicks > 0 && clicks < times && isDisabled(element);
    const reason = lost !== null ? missedBy(lost, element, awaits !== null) : isOff ? 'is disabled' : null;
    // Clicks that have been taken are not made again. By one, a cell may have opened its field already.
    const isPartial = reason !== null && clicks > 0 && !this.cell.isOpen && !this.cellChoice.isOpen;
    const missed = isPartial ? null : (reason ?? (hasLost(typed, element, again) ? DRAWN_ANEW : null));
    // To where a drag ends, the page may be scrolled: that is no change that it brings.
    const scrolls = (): boolean => (wish === null || wish.to === null) && before.isScrolled;
    const differs = (): boolean =>
      traces === null
        ? signs.differs || before.differs
        : before.isRewritten || scrolls() || signs.isDrawn || traces.any;
    let changed = false;
    if (traces !== null) {
      if (missed === null) changed = await traces.remain(differs);
    } else {
      // What is only seen by comparing is compared once: it costs more than the rest.
      const isSeen = (): boolean => signs.any || before.differs;
      changed = isSeen();
      if (missed === null && (!changed || signs.isMoving)) await signs.first(graceMs);
      changed ||= differs();
      if (missed === null && !changed) changed = (await whileTimersRun(element, isSeen)) && differs();
    }
    const { sent } = heard;
    const there = element.isConnected ? element : again();
    let shown: TypedOutcome | null = null;
    if (missed === null && chosen !== null) shown = await this.#chosen(chosen, element, again);
    else if (missed === null && typed !== null) shown = await this.#typed(typed, there, text);
    const now = (): Element => (element.isConnected ? element : (again() ?? element));
    let undone = isPartial
      ? `took ${clicks === 1 ? 'the first click' : 'two clicks'} and not the next: it ${reason}`
      : null;
    if (missed === null && wanted !== null) undone ??= await stillNot(now, wanted);
    if (missed === null) undone ??= await this.#notDone(now, text);
    const place = this.#dropPlace;
    const outcome = (isChanged: boolean): Finished['dragged'] => {
      if (missed !== null || drag === null || wish === null) return null;
      const native = this.#dragEventsIn(element.ownerDocument)?.started === true;
      const drawing = before.isRewritten || scrolls() || signs.isDrawn;
      return drag.watch.outcome(wish, place, { any: isChanged, drawing }, native);
    };
    const dragged = outcome(changed);
    if (wanted !== null) changed ||= differs();
    // What a dialog has held back ends when the next action has begun, and is no end of that one.
    if (this.#underWay !== own) signs.stop();
    else if (changed || missed !== null) this.#stop();
    else {
      this.#end();
      this.#quiet = { signs, differs, dragged: () => outcome(true) };
    }
    // The browser reports where a form leads when its task begins; our answer comes after that.
    if (sent.length > 0) await nextTask();
    layOutSoon(element.ownerDocument);
    return {
      ...where(),
      heard: true,
      changed,
      submitsOutwards: sent.some(leadsOutwards),
      missed,
      undone,
      typed: shown,
      dragged,
    };
  }

  /** Waits so long for something to come of the last action, of which nothing has. */
  async late(ms: number): Promise<PageCalls['late'][1]> {
    const quiet = this.#quiet;
    if (quiet !== null && !quiet.differs()) await nextChange(ms, 0);
    if (quiet?.differs() !== true) return { changed: false, dragged: null };
    return { changed: true, dragged: quiet.dragged() };
  }

  /** @param again the control that the page has drawn in the element's place */
  async #chosen(
    wanted: readonly string[],
    element: Element,
    again: () => Element | null,
  ): Promise<TypedOutcome | null> {
    if (this.cellChoice.isOpen) return this.cellChoice.outcome(wanted[0] ?? '', this);
    if (!isHtml(element, 'select')) return this.chooser.outcome(wanted[0] ?? '');
    await whileTimersRun(element, () => false, TAKEN_BACK_MS);
    return settledOutcome(() => {
      const outcome = chosenOutcome(element.isConnected ? element : again(), wanted);
      // A menu of commands, such as one that ends with "New …": it shows what it showed, and the command was carried out.
      const isCommand = outcome?.kind === 'other' && !this.#underWay?.before.differs && opensDialog(element);
      return isCommand ? { kind: 'same', shown: outcome.shown } : outcome;
    });
  }

  async #typed(typed: string, there: Element | null, text: TypedText): Promise<TypedOutcome | null> {
    if (this.cell.isOpen) return this.cell.outcome(typed);
    if (there !== null && isSlider(there)) return { kind: 'same', shown: String(numberOf(there)) };
    return text.outcome(typed, there);
  }

  /** What the action was for, and has not come about, completing "it ..."; null for what nobody can tell. */
  async #notDone(now: () => Element, text: TypedText): Promise<string | null> {
    switch (this.#last) {
      case 'focus':
        return lostFocus(now()) ? 'got the focus and lost it again' : null;
      case 'selectText':
        return isUnselected(now()) ? 'does not let its text be selected' : null;
      case 'clear': {
        const isUntouched = (): boolean => !this.cell.isOpen && text.isUntouched(now());
        const deadline = performance.now() + CLEARED_MS;
        for (let left = CLEARED_MS; left > 0 && isUntouched(); left = deadline - performance.now())
          await nextChange(Math.min(LOOK_AGAIN_MS, left), 0);
        return isUntouched() ? 'was cleared and still holds what it held' : null;
      }
      default:
        return null;
    }
  }

  /** A select has failed: leaves nothing of it in an editor or a filter. */
  async giveUp(): Promise<void> {
    if (this.cellChoice.isOpen) await this.cellChoice.giveUp(this);
    else this.chooser.giveUp();
    this.cellChoice.stop();
  }

  #stop(): void {
    this.#underWay?.signs.stop();
    this.#quiet?.signs.stop();
    this.#quiet = null;
    this.#end();
  }

  #end(): void {
    discoveries()?.act(false);
    this.#underWay?.heard.stop();
    this.#underWay?.text.stop();
    this.#underWay = null;
  }
}

/** What an action is to make of a box: also a click on one that takes no pointer itself, and leaves that to its row. */
function checkedBy(action: ActionName, element: Element): boolean | null {
  if (action === 'check' || action === 'uncheck') return action === 'check';
  const kind = action === 'click' ? checkKind(element, roleOf(element)) : 'none';
  if (kind === 'none' || takesPointer(element)) return null;
  return kind === 'radio' || checkedState(element) !== true;
}

/**
 * Waits until a box is as wanted, which it shows with its animation, or when its page has drawn it, and stays so.
 *
 * @param now the box, or the one that the page has drawn in its place
 */
async function stillNot(now: () => Element, wanted: boolean): Promise<string | null> {
  const deadline = performance.now() + CHECKED_MS;
  for (;;) {
    const box = now();
    const checked = checkedState(box);
    const left = deadline - performance.now();
    if (checked === wanted) {
      await whileTimersRun(box, () => false, TAKEN_BACK_MS);
      if (checkedState(now()) === wanted) return null;
    }
    if (checked === null || left <= 0 || !box.isConnected)
      return `was clicked and is still ${wanted ? 'unchecked' : 'checked'}`;
    await nextChange(Math.min(left, 50), 0);
  }
}

/** Whether an element that has got the focus keeps it, or has passed it on. */
function lostFocus(element: Element): boolean {
  const focused = focusedIn(element.ownerDocument);
  if (focused === element) return false;
  return focused === null || isHtml(focused, 'body') || isHtml(focused, 'html');
}

/** Waits for the timers that the input has set, or until something is seen. False: there was none. */
async function whileTimersRun(
  { ownerDocument }: Element,
  isSeen: () => boolean,
  ms: number = TIMERS_MS,
): Promise<boolean> {
  const deadline = performance.now() + ms;
  const views = new Set([window, ownerDocument.defaultView ?? window]);
  const isAwaited = (): boolean => [...views].some((view) => discoveries()?.awaitsTimer(view) === true);
  const waits = isAwaited();
  for (let left = ms; left > 0 && !isSeen() && isAwaited(); left = deadline - performance.now()) {
    await nextChange(Math.min(LOOK_AGAIN_MS, left), 0);
  }
  return waits;
}

/** Whether a dialog has opened above an element: it has the focus, and the element is not in it. */
function opensDialog(element: Element): boolean {
  const focused = focusedIn(element.ownerDocument);
  const dialog = focused?.closest('dialog[open], [role=dialog], [role=alertdialog], [aria-modal=true]') ?? null;
  return dialog !== null && !isInside(element, dialog);
}

/** Whoever acts next needs the layout: it is made while the answer is on its way, not when they ask. */
function layOutSoon(inner: Document): void {
  setTimeout(() => inner.elementFromPoint(0, 0));
}

const DRAWN_ANEW = 'is rendered again all the time';
const NOTHING = {
  heard: false,
  changed: false,
  submitsOutwards: false,
  missed: null,
  undone: null,
  typed: null,
  dragged: null,
} as const;

function where(): { readonly url: string; readonly title: string } {
  return { url: location.href, title: document.title };
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** From a frame to the page around it, which another process may draw. */
function leadsOutwards({ target, ownerDocument }: HTMLFormElement): boolean {
  const { defaultView } = ownerDocument;
  return /^_(top|parent)$/i.test(target) && defaultView !== null && defaultView.parent !== defaultView;
}

/** What was typed went with its field, and a new one without it stands in its place. */
function hasLost(typed: string | null, element: Element, again: () => Element | null): boolean {
  if (typed === null || element.isConnected) return false;
  const drawnAnew = again();
  return drawnAnew !== null && fieldValue(drawnAnew) === '';
}

function missedBy(hit: Element, element: Element, typing: boolean): string {
  if (!typing && isInside(element, hit))
    return 'receives no clicks once the pointer is over it: its pointer-events is none';
  return `${typing ? 'loses the focus to' : 'is covered by'} ${nameFor(hit)}`;
}
