import { isClippedAway, isList, ownLists, textsOf } from '../../controls/options.js';
import { foldSpace } from '../../locator.js';
import { accessibleName, drawnText } from '../../names/accessible-name.js';
import { inputKind, isReadOnly, roleOf } from '../../names/roles.js';
import { asSeen, seenText, seenTexts } from '../../names/seen-text.js';
import type { PageProblem, TypedOutcome } from '../../page-calls.js';
import { focusedIn, isHtml, isInside, parentOf } from '../../tree/flat-tree.js';
import { isShown } from '../../tree/visibility.js';
import { fieldValue } from '../field.js';
import { holdsText } from '../same-text.js';
import { appeared, shownNow } from './popups.js';
import { settledOutcome } from './settled-outcome.js';

/** A list that has not changed for so long has drawn what it draws, in milliseconds. */
const DRAWN_MS = 120;
/** One that is empty for so long may want a text first; one that is gone through again may fetch its rows. */
const EMPTY_MS = 400;
/** At its end, a list that fetches more has so long for it. */
const MORE_MS = 500;
/** A page that is not drawn has so long for what a frame would bring. */
const UNDRAWN_MS = 1_000;
/** Options that an error names. */
const MAX_NAMED = 20;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const BETWEEN_CHOICES = /[,;|/×✕•·]/u;
/** Around a control, what was chosen may be shown so far out. */
const CHIP_DEPTH = 3;

/** What to do next for an option that is not there. */
export type Advance = 'wait' | 'type' | 'scrolled' | 'exhausted';

/**
 * Chooses from a list that a site draws: knows what has appeared since the list was opened, so that nothing is chosen that
 * belongs to another control, and goes through a list that draws only a part of itself.
 */
export class Chooser {
  #control: Element | null = null;
  /** What the list was filtered by last. */
  #filter: Element | null = null;
  /** What stood in it before. */
  #unfiltered: string | null = null;
  /** Around the option that was chosen last. */
  #list: Element | null = null;
  /** What was drawn when the list was scrolled last. */
  #scrolledAt = '';
  #before: WeakSet<Element> | null = null;
  #shownBefore = '';
  /** What stood around the control, from the inside out: what was chosen may be shown beside a field. */
  #around: readonly { readonly element: Element; readonly text: string }[] = [];
  #chosen: Element | null = null;
  /** What the option that was chosen last is called, in any way. */
  #called: readonly string[] = [];
  /** What was put into the control, of what the browser offers for it. */
  #picked: string | null = null;
  #names: string[] = [];
  #signature = '';
  #since = 0;
  #fromTop = false;
  #typed = false;
  /** Whether a frame has been drawn since the list was scrolled last: until then, it cannot show what is there. */
  #isDrawn = true;
  /** When its end was reached; null before. */
  #endSince: number | null = null;
  /** The first time through is quick, and can miss rows that are drawn late. */
  #isSecondTime = false;

  /** A select begins. */
  start(control: Element): void {
    this.#control = control;
    this.#filter = null;
    this.#unfiltered = null;
    this.#chosen = null;
    this.#picked = null;
    this.#before = null;
    this.#shownBefore = shownBy(control);
    this.#around = aroundOf(control).map((element) => ({ element, text: folded(drawnText(element)) }));
    this.#names = [];
    this.#rewind();
  }

  /** The control is about to be pressed: what is there now is none of its list. */
  opening(): void {
    this.#before = shownNow();
    this.#rewind();
  }

  typing(filter: Element): void {
    if (filter !== this.#filter) this.#unfiltered = isHtml(filter, 'input') ? filter.value : null;
    this.#filter = filter;
    this.#rewind();
    this.#typed = true;
  }

  /** An option is about to be pressed. */
  choosing(option: Element): void {
    this.#chosen = option;
    this.#called = [...seenTexts(option), accessibleName(option), drawnText(option)].map(folded);
    this.#list = parentOf(option);
    this.#rewind();
  }

  /** Takes what was typed to filter the list out of its field again, since nothing was chosen. */
  giveUp(): void {
    const [field, before] = [this.#filter, this.#unfiltered];
    this.#filter = null;
    this.#unfiltered = null;
    if (field === null || before === null || !field.isConnected || this.#chosen !== null || this.#picked !== null)
      return;
    if (isHtml(field, 'input') && field.value !== before) {
      field.value = before;
      field.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
    }
  }

  /** The option that was chosen last. */
  get chosen(): Element | null {
    return this.#chosen;
  }

  /** Whether a control that shows a text, and showed another before, shows what was chosen. */
  shows(text: string, shown: string, before: string): boolean {
    return [folded(text), ...this.#called].some((one) => showsChoice(folded(shown), one, shown !== before));
  }

  /** Whether a text is that of another option than the one that was chosen. */
  isOther(text: string, shown: string): boolean {
    const own = folded(shown);
    return own !== folded(text) && !this.#called.includes(own) && this.#names.some((name) => folded(name) === own);
  }

  /** The control of the select that is under way, whatever its page calls it by now; null once it is gone. */
  get control(): Element | null {
    return this.#control?.isConnected === true ? this.#control : null;
  }

  /** A value that the browser offers for the control has been put into it. */
  picked({ value }: HTMLOptionElement): void {
    this.#picked = value;
  }

  /** Whether any option has been seen so far. */
  get hasNamed(): boolean {
    return this.#names.length > 0;
  }

  get hasTyped(): boolean {
    return this.#typed;
  }

  /** Whether the list is there from which an option was chosen. */
  get isStillOpen(): boolean {
    return this.#list?.isConnected === true && isShown(this.#list) && !isClippedAway(this.#list);
  }

  /** What holds the options: the control itself, the lists that it names, or what has appeared since it was pressed. */
  places(control: Element): { readonly named: readonly Element[]; readonly popups: readonly Element[] } {
    const named = isList(control) ? [control] : [control, ...ownLists(control)];
    return { named, popups: this.#before === null ? [] : appeared(this.#before, control) };
  }

  /** Notes the options that are drawn now. */
  note(texts: readonly string[]): void {
    for (const text of texts) if (!this.#names.includes(text)) this.#names.push(text);
    const signature = texts.join('\n');
    if (signature === this.#signature && this.#since > 0) return;
    this.#signature = signature;
    this.#since = performance.now();
  }

  /** Why there is no such option. */
  problem(text: string, how: 'lasting' | 'soon' | null): PageProblem {
    const names = this.#names.filter((name) => name !== '');
    const named = names.slice(0, MAX_NAMED).map((name) => JSON.stringify(name));
    const more = names.length > MAX_NAMED ? ', …' : '';
    const reason = `has no option ${JSON.stringify(text)}; it has ${named.join(', ') || 'none'}${more}`;
    return { problem: 'blocked', reason, final: false, ...(how === null ? {} : { [how]: true }) };
  }

  /** The field that filters the list; null where there is none. */
  field(control: Element): Element | null {
    const active = focusedIn(control.ownerDocument);
    const inside = active !== null && this.places(control).popups.some((popup) => isInside(active, popup));
    const candidates = [control, ...(active !== null && (inside || isInside(active, control)) ? [active] : [])];
    const found = candidates.find(isFilter);
    const known = this.#filter;
    // A choice may take the focus away from it.
    return found ?? (known?.isConnected === true && isShown(known) ? known : null);
  }

  /**
   * Goes on in a list in which the option is not drawn: from its top to its end, and once more with more patience.
   *
   * @param editor the field of a cell, which filters the list; null: a field in the control or its list does
   */
  advance(control: Element, editor: Element | null = null): Advance {
    const now = performance.now();
    const patience = this.#signature === '' || this.#isSecondTime ? EMPTY_MS : DRAWN_MS;
    const hasChanged = this.#fromTop && this.#signature !== this.#scrolledAt && !this.#isSecondTime;
    if (!hasChanged && (!this.#isDrawn || now - this.#since < patience)) return 'wait';
    if (!this.#typed && (editor ?? this.field(control)) !== null) return 'type';
    if (this.#signature === '') return 'wait';
    const { named, popups } = this.places(control);
    const scroller = scrollerIn([...named.filter((one) => one !== control || isList(one)), ...popups]);
    if (scroller === null) return 'exhausted';
    const before = scroller.scrollTop;
    if (this.#fromTop) scroller.scrollBy({ top: scroller.clientHeight, behavior: 'instant' });
    else scroller.scrollTo({ top: 0, behavior: 'instant' });
    if (this.#fromTop && scroller.scrollTop === before) return this.#atEnd(now);
    this.#fromTop = true;
    this.#endSince = null;
    this.#scrolledAt = this.#signature;
    this.#since = now;
    this.#awaitFrame();
    return 'scrolled';
  }

  #atEnd(now: number): Advance {
    this.#endSince ??= now;
    if (this.#isSecondTime) return 'exhausted';
    if (now - this.#endSince < MORE_MS) return 'wait';
    this.#isSecondTime = true;
    this.#fromTop = false;
    return 'wait';
  }

  #awaitFrame(): void {
    this.#isDrawn = false;
    const drawn = (): void => {
      clearTimeout(timer);
      this.#isDrawn = true;
    };
    const timer = setTimeout(drawn, UNDRAWN_MS);
    requestAnimationFrame(() => requestAnimationFrame(drawn));
  }

  /** Whether the control shows what was chosen; null where nobody can tell. */
  async outcome(text: string): Promise<TypedOutcome | null> {
    const control = this.#control;
    const option = this.#chosen;
    const picked = this.#picked;
    if (control !== null && picked !== null) return settledOutcome(() => pickedOutcome(text, control, picked));
    if (control === null || option === null) return null;
    return settledOutcome(() => this.#outcomeNow(text, control, option));
  }

  #outcomeNow(text: string, control: Element, option: Element): TypedOutcome {
    if (!control.isConnected) return { kind: 'gone', shown: '' };
    const shown = shownBy(control);
    const shows = [shown, seenText(control)].filter((one) => one !== '');
    const hasChanged = shown !== this.#shownBefore;
    const isWhole = shows.some((one) => folded(one) === folded(text) || this.#called.includes(folded(one)));
    // The text of another option may hold that of the one that was chosen.
    const isOther = hasChanged && !isWhole && shows.some((one) => this.isOther(text, one));
    if (isOther && !(option.isConnected && isChosen(option))) return { kind: 'other', shown };
    if (shows.some((one) => this.shows(text, one, hasChanged ? this.#shownBefore : one)))
      return { kind: 'same', shown: text };
    if (/^menuitem$|^treeitem$|^gridcell$/.test(roleOf(option))) return { kind: 'same', shown: text };
    if (option.isConnected && isChosen(option)) return { kind: 'same', shown: text };
    if (isList(control) && option.getAttribute('aria-selected') !== 'false') return { kind: 'same', shown: text };
    const takenBack = showsChoice(folded(this.#shownBefore), folded(text), true);
    if (hasChanged && !takenBack) return { kind: shown === '' ? 'emptied' : 'same', shown };
    const beside = this.#hasChip(text, control, option) || this.#isBeside(text, option);
    return beside ? { kind: 'same', shown: text } : { kind: 'other', shown };
  }

  /** What was chosen may stand beside the control. The option itself, in a list that is still open, is no sign of that. */
  #hasChip(text: string, control: Element, option: Element): boolean {
    const around = aroundOf(control).at(-1);
    const before = this.#before;
    if (before === null || around === undefined) return false;
    const wanted = folded(text);
    return appeared(before, control).some(
      (one) => isInside(one, around) && !isInside(option, one) && showsChoice(folded(drawnText(one)), wanted, true),
    );
  }

  /** Or it has taken the place of another text there, or is the only one. */
  #isBeside(text: string, option: Element): boolean {
    const wanted = folded(text);
    return this.#around.some(({ element, text: before }) => {
      if (!element.isConnected || isInside(option, element)) return false;
      const now = folded(drawnText(element));
      return now === wanted || (now !== before && showsChoice(now, wanted, true) && !showsChoice(before, wanted, true));
    });
  }

  #rewind(): void {
    this.#signature = '';
    this.#since = performance.now();
    this.#fromTop = false;
    this.#typed = false;
    this.#endSince = null;
    this.#isSecondTime = false;
  }
}

function pickedOutcome(text: string, control: Element, picked: string): TypedOutcome {
  if (!control.isConnected) return { kind: 'gone', shown: '' };
  const shown = isHtml(control, 'input') ? control.value : '';
  if (shown === '') return { kind: 'emptied', shown };
  // A page may write a number or a name in its own way.
  return asSeen(shown) === asSeen(picked) || holdsText(picked, shown)
    ? { kind: 'same', shown: shown === picked ? text : shown }
    : { kind: 'other', shown };
}

/** Whether a text can be typed into an element of one line. */
function isFilter(element: Element): boolean {
  const oneLine = isHtml(element, 'input') || /^(combobox|searchbox|textbox)$/.test(roleOf(element));
  const isOpen = inputKind(element) === 'typed' && !isReadOnly(element);
  return oneLine && isOpen && element.getAttribute('aria-multiline') !== 'true';
}

function aroundOf(control: Element): readonly Element[] {
  const around: Element[] = [];
  for (let node = parentOf(control); node !== null && around.length < CHIP_DEPTH; node = parentOf(node))
    around.push(node);
  return around;
}

function isChosen(option: Element): boolean {
  if (option.getAttribute('aria-selected') === 'true' || option.getAttribute('aria-checked') === 'true') return true;
  return option.querySelector('input:checked') !== null;
}

function shownBy(control: Element): string {
  const value = isHtml(control, 'input') ? String(fieldValue(control)) : drawnText(control);
  if (value !== '') return foldSpace(value);
  return foldSpace(textsOf(control));
}

/**
 * Whether a control that shows a text shows a choice: alone, or among others. A text that has not changed must name it apart
 * from others, since "New York" is no choice of "York".
 */
function showsChoice(shown: string, choice: string, hasChanged: boolean): boolean {
  if (shown === choice || shown.split(BETWEEN_CHOICES).some((one) => one.trim() === choice)) return true;
  if (!hasChanged || choice === '') return false;
  for (let at = shown.indexOf(choice); at !== -1; at = shown.indexOf(choice, at + 1)) {
    const [before = '', after = ''] = [shown[at - 1], shown[at + choice.length]];
    if (!LETTER_OR_DIGIT.test(before) && !LETTER_OR_DIGIT.test(after)) return true;
  }
  return false;
}

function folded(text: string): string {
  return asSeen(text).toLowerCase();
}

/** What scrolls the options: the innermost that scrolls, around them or inside. */
function scrollerIn(places: readonly Element[]): Element | null {
  for (const place of places) {
    const inside = [place, ...place.querySelectorAll('*')];
    const found = inside.find((one) => {
      if (one.scrollHeight <= one.clientHeight + 1 || one.clientHeight === 0) return false;
      return /auto|scroll/.test(getComputedStyle(one).overflowY);
    });
    if (found !== undefined) return found;
    for (let node = parentOf(place), up = 0; node !== null && up < 2; node = parentOf(node), up++) {
      const scrolls = node.scrollHeight > node.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(node).overflowY);
      if (scrolls && !isHtml(node, 'body') && !isHtml(node, 'html')) return node;
    }
  }
  return null;
}
