import type { ActionName } from '../../../protocol/look.js';
import { nextChange } from '../../changes.js';
import { optionsIn, ownLists } from '../../controls/options.js';
import { drawnText } from '../../names/accessible-name.js';
import { inputKind, isReadOnly, roleOf } from '../../names/roles.js';
import { asSeen } from '../../names/seen-text.js';
import {
  isProblem,
  type PageProblem,
  type Presses,
  type ReadyRequest,
  type Sought,
  type TypedOutcome,
} from '../../page-calls.js';
import { focusedIn, isHtml, isInside } from '../../tree/flat-tree.js';
import { elementAt, viewportRect } from '../../tree/geometry.js';
import type { Point } from '../../tree/point.js';
import { isDisabled, isSolid, isVisible } from '../../tree/visibility.js';
import { CELL, overlaps } from '../cell-edit.js';
import { choose, fieldValue, selectContent } from '../field.js';
import { blockedUntilChanged, pressablePoint, reachablePoint } from '../reach.js';
import type { Chooser } from './chooser.js';
import { datalistOf, offered, pick } from './datalist.js';
import { disabledOption, ofOption } from './option-problems.js';

const NOWHERE: Point = { x: 0, y: 0 };
/** An editor or a list has come by then, in milliseconds. */
const OPENED_MS = 500;
/** An editor that the choice itself closes is gone by then; then Enter is pressed, and then it is left. */
const CLOSED_MS = 250;
/** A cell shows what was chosen by then. */
const SHOWN_MS = 1_000;
/** What is drawn of a field is at least of this size, in CSS pixels. */
const LEAST_SIZE = 2;
/** What can be chosen from without opening an editor. */
const CHOOSERS = 'select, input[list], [role="combobox"]';
const GRID = 'table, [role="grid"], [role="treegrid"]';
const ESCAPE = { key: 'Escape', code: 'Escape', keyCode: 27 };

/** How far a choice is: what was tried to open the editor or its list, that an option was chosen, and that Enter was pressed. */
type State = 'clicked' | 'doubled' | 'pressed' | 'typed' | 'chosen' | 'ended';

/** The action that the choice is a part of. */
interface Under {
  readonly chooser: Chooser;
  /** An element is about to take an input. */
  begin(element: Element, action: ActionName, sought: Sought<string> | null): void;
}

interface CellStep {
  readonly element: Element;
  readonly point: Point;
  readonly done: boolean;
  readonly opens: boolean;
  readonly doubles?: boolean;
  readonly types?: boolean;
  readonly presses?: Presses;
}

/** The only control in a cell that one chooses from; null where an editor has to be opened first. */
export function chooserIn(cell: Element): Element | null {
  const [only, ...others] = [...cell.querySelectorAll(CHOOSERS)].filter((one) => isVisible(one));
  return only !== undefined && others.length === 0 ? only : null;
}

/** Chooses in a cell of a grid, whose editor opens by a click, by two, or by typing, from the list that comes then. */
export class CellChoice {
  #cell: Element | null = null;
  #state: State = 'clicked';
  #since = 0;
  /** From the corner of the page, which may scroll meanwhile. */
  #middle: Point = { x: 0, y: 0 };
  #before = '';
  /** What the option is called that a browser draws. */
  #called: readonly string[] = [];

  /** Whether a choice in a cell is under way. */
  get isOpen(): boolean {
    return this.#cell !== null;
  }

  stop(): void {
    this.#cell = null;
  }

  /** The step that opens the editor. */
  open(request: ReadyRequest, cell: Element, under: Under): CellStep | PageProblem {
    const point = pressablePoint(cell, null);
    if (isProblem(point)) return point;
    this.#cell = cell;
    this.#before = asSeen(drawnText(cell));
    this.#called = [];
    const { x, y, width, height } = viewportRect(cell);
    this.#middle = { x: x + width / 2 + scrollX, y: y + height / 2 + scrollY };
    under.chooser.start(cell);
    under.chooser.opening();
    this.#enter('clicked');
    under.begin(cell, 'select', request);
    return { element: cell, point, done: false, opens: true };
  }

  /** What comes next: another way to open the editor, the option, or the key that ends the edit. */
  next(text: string, under: Under): CellStep | PageProblem {
    const cell = this.#now();
    if (cell === null) return blockedUntilChanged('has left the page');
    if (this.#state === 'chosen' || this.#state === 'ended') return this.#end(cell, under);
    const editor = this.#editor(cell);
    if (editor !== null && isHtml(editor, 'select')) {
      const chosen = [...editor.options];
      const refusal = choose(editor, [text]);
      if (refusal !== null) return typeof refusal === 'string' ? blockedUntilChanged(refusal) : refusal;
      this.#called = chosen
        .filter((one) => one.selected)
        .flatMap((one) => [one.label, one.text, one.value])
        .map(asSeen);
      return this.#choseInPage();
    }
    const list = editor === null ? null : datalistOf(editor);
    if (list !== null && editor !== null && isHtml(editor, 'input'))
      return this.#fromDatalist(text, editor, list, under);
    return this.#fromList(text, cell, editor, under);
  }

  #fromDatalist(
    text: string,
    field: HTMLInputElement,
    list: HTMLDataListElement,
    under: Under,
  ): CellStep | PageProblem {
    const { texts, match } = offered(list, text);
    under.chooser.note(texts);
    if (match?.disabled === true) return disabledOption(text);
    if (match === null) {
      return under.chooser.hasTyped ? under.chooser.problem(text, 'lasting') : this.#type(field, under);
    }
    const refusal = pick(field, match.value);
    if (refusal !== null) return blockedUntilChanged(refusal);
    this.#called = [match.label, match.value].map(asSeen);
    return this.#choseInPage();
  }

  #fromList(text: string, cell: Element, editor: Element | null, under: Under): CellStep | PageProblem {
    const { chooser } = under;
    const { popups } = chooser.places(cell);
    const owned = [cell, ...(editor === null ? [] : [editor])].flatMap(ownLists);
    // A click may draw cells anew: they are no options, nor is the text of this one before an editor has opened.
    const mayBe = (element: Element): boolean => {
      if (isInside(element, cell)) return editor !== null && element !== cell;
      const other = element.closest(CELL);
      return other === null || other.closest(GRID) !== cell.closest(GRID);
    };
    const { texts, byRole, match, unclear } = optionsIn(owned, popups, text, mayBe);
    if (unclear !== null) return blockedUntilChanged(unclear);
    if (match !== null) {
      const point = reachablePoint(match, match, null);
      if (isProblem(point)) return ofOption(point, text);
      if (isDisabled(match)) return disabledOption(text);
      under.begin(match, 'select', null);
      chooser.note(texts);
      chooser.choosing(match);
      this.#enter('chosen');
      return { element: match, point, done: false, opens: true };
    }
    if (editor === null && !byRole) return this.#openOtherwise(cell, under);
    chooser.note(texts);
    switch (chooser.advance(cell, editor)) {
      case 'type':
        return this.#type(editor ?? cell, under);
      case 'exhausted':
        return chooser.problem(text, 'lasting');
      case 'scrolled':
        return chooser.problem(text, 'soon');
      case 'wait':
        if (texts.length > 0 || !chooser.hasTyped) return chooser.problem(text, null);
        return chooser.hasNamed ? chooser.problem(text, 'lasting') : blockedUntilChanged(NO_LIST);
    }
  }

  /** Nothing has come of the last way to open the editor: goes on to the next. */
  #openOtherwise(cell: Element, under: Under): CellStep | PageProblem {
    if (performance.now() - this.#since < OPENED_MS) return { problem: 'blocked', reason: NO_LIST, final: false };
    const picker = this.#state === 'pressed' ? null : chooserIn(cell);
    if (picker !== null) {
      const point = pressablePoint(picker, null);
      if (isProblem(point)) return point;
      this.#enter('pressed');
      under.begin(picker, 'select', null);
      return { element: picker, point, done: false, opens: true };
    }
    const focused = focusedIn(cell.ownerDocument);
    if (this.#state === 'clicked') {
      const point = reachablePoint(cell, cell, null);
      if (isProblem(point)) return point;
      this.#enter('doubled');
      under.begin(cell, 'dblclick', null);
      return { element: cell, point, done: false, opens: true, doubles: true };
    }
    // Letters may be the shortcuts of a page: they are typed into a cell that has the focus itself.
    if (this.#state === 'doubled' && focused === cell) {
      this.#enter('typed');
      under.begin(cell, 'input', null);
      return { element: cell, point: NOWHERE, done: false, opens: false, types: true };
    }
    return blockedUntilChanged(NO_LIST);
  }

  #type(field: Element, under: Under): CellStep {
    (field as Partial<HTMLElement>).focus?.();
    selectContent(field);
    under.chooser.typing(field);
    under.begin(field, 'input', null);
    return { element: field, point: NOWHERE, done: false, opens: false, types: true };
  }

  #choseInPage(): PageProblem {
    this.#enter('chosen');
    return { problem: 'blocked', reason: 'does not show what was chosen', final: false, soon: true };
  }

  /** A choice may end the edit; otherwise Enter does. */
  #end(cell: Element, under: Under): CellStep | PageProblem {
    const editor = this.#editor(cell);
    if (editor === null || this.#state === 'ended') {
      under.begin(cell, 'select', null);
      return { element: cell, point: NOWHERE, done: true, opens: false };
    }
    if (performance.now() - this.#since < CLOSED_MS) {
      return { problem: 'blocked', reason: 'does not show what was chosen', final: false };
    }
    this.#enter('ended');
    (editor as Partial<HTMLElement>).focus?.();
    under.begin(editor, 'input', null);
    return { element: editor, point: NOWHERE, done: false, opens: false, presses: { key: 'Enter', times: 1 } };
  }

  /** Whether the cell shows what was chosen, once its editor has closed. */
  async outcome(text: string, { chooser }: Under): Promise<TypedOutcome> {
    const option = chooser.chosen;
    const isCommand = option !== null && /^menuitem/.test(roleOf(option));
    const startedAt = performance.now();
    let hasLeft = false;
    for (;;) {
      const cell = this.#now();
      const editor = cell === null ? null : this.#editor(cell);
      const passed = performance.now() - startedAt;
      if (editor !== null && !hasLeft && passed > CLOSED_MS) {
        hasLeft = true;
        (editor as Partial<HTMLElement>).blur?.();
      }
      const shown = cell === null ? null : asSeen(editor === null ? drawnText(cell) : String(fieldValue(editor)));
      const isOver = passed >= SHOWN_MS;
      if (shown !== null && (editor === null || isOver)) {
        if (isCommand || this.#shows(text, shown, chooser)) return { kind: 'same', shown: text };
        // A cell may show a choice in its own words.
        const isOwn = shown !== '' && shown !== this.#before && !chooser.isOther(text, shown);
        if (isOver) return { kind: isOwn ? 'same' : 'other', shown };
      }
      if (isOver) return { kind: 'gone', shown: '' };
      await nextChange(Math.min(50, SHOWN_MS - passed), 0);
    }
  }

  #shows(text: string, shown: string, chooser: Chooser): boolean {
    if (this.#called.some((called) => called !== '' && called === shown)) return true;
    const isWhole = asSeen(text) === shown;
    return isWhole || (!chooser.isOther(text, shown) && chooser.shows(text, shown, this.#before));
  }

  /** Closes an editor that was opened in vain, as Escape does, and leaves nothing in it. */
  async giveUp({ chooser }: Under): Promise<void> {
    const cell = this.#now();
    const editor = cell === null ? null : (this.#editor(cell) ?? chooserIn(cell));
    if (cell === null || editor === null) {
      chooser.giveUp();
      return;
    }
    // Around an editor, Escape may close a dialog.
    if (editor.closest('dialog, [role="dialog"], [role="alertdialog"], [aria-modal="true"]') === null) {
      // The first may close the list alone.
      for (let times = 0; times < 2 && editor.isConnected; times++) {
        for (const type of ['keydown', 'keyup'])
          editor.dispatchEvent(new KeyboardEvent(type, { ...ESCAPE, bubbles: true, cancelable: true, composed: true }));
        await nextChange(CLOSED_MS, 0);
      }
    }
    if (!editor.isConnected) return;
    chooser.giveUp();
    (editor as Partial<HTMLElement>).blur?.();
  }

  #enter(state: State): void {
    this.#state = state;
    this.#since = performance.now();
  }

  /** The cell, or the one that stands in its place now. */
  #now(): Element | null {
    if (this.#cell?.isConnected === true) return this.#cell;
    const { x, y } = this.#middle;
    const there = elementAt({ x: x - scrollX, y: y - scrollY })?.closest(CELL) ?? null;
    if (this.#cell !== null && there !== null) this.#cell = there;
    return there;
  }

  /** What has opened in the cell or over it, and can be chosen or typed in. */
  #editor(cell: Element): Element | null {
    const inside = [...cell.querySelectorAll('select')].find((one) => isVisible(one));
    if (inside !== undefined) return inside;
    const active = focusedIn(cell.ownerDocument);
    if (active === null || active === cell || isReadOnly(active)) return null;
    if (!isHtml(active, 'select') && inputKind(active) === 'none') return null;
    const { width, height } = active.getBoundingClientRect();
    if (width < LEAST_SIZE || height < LEAST_SIZE || !isSolid(active)) return null;
    return isInside(active, cell) || overlaps(active, cell) ? active : null;
  }
}

const NO_LIST = 'offers no options: no list opens in it or for what is typed';
