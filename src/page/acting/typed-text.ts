import { nextChange } from '../changes.js';
import { inputKind, isField, naturalRole, roleOf } from '../names/roles.js';
import type { TypedOutcome } from '../page-calls.js';
import { focusedIn, isHtml } from '../tree/flat-tree.js';
import { isSelfDrawn } from '../tree/self-drawn.js';
import { codeFrom, hasRoomFor } from './code-boxes.js';
import { editorText, paste } from './drawn-editor.js';
import { isPassword } from './field.js';
import { holdsLines, holdsText, holdsWithin } from './same-text.js';

/** An editor may draw only a part of a longer text. */
const MAX_COMPARED = 2_000;
/** A longer text is not typed key by key. */
const MAX_KEYS = 500;
/** A page that cuts or rounds a number when its field is left does so within this time, in milliseconds. */
const LEFT_MS = 60;
/** A mask alone holds none of these. */
const WITH_TEXT = /[\p{L}\p{N}]/u;

/** Follows what becomes of a text that is typed into a field, before the page's own handlers see it and after. */
export class TypedText {
  readonly #view: Window | null;
  readonly #hear: (event: Event) => void;
  /** What the field held each time that it changed, up to the longest; the page may have emptied it since. */
  #longest = '';
  readonly #before: string | null;
  /** What a field held that is set by its value, in the browser's spelling, before the page's handlers saw it. */
  #set: string | null = null;

  constructor(element: Element) {
    this.#view = element.ownerDocument.defaultView;
    this.#before = heldText(element);
    this.#hear = () => {
      if (isSetByValue(element)) this.#set = element.value;
      const shown = rawText(element);
      if (shown !== null && shown.length >= this.#longest.length) this.#longest = shown;
    };
    this.#view?.addEventListener('input', this.#hear, true);
  }

  stop(): void {
    this.#view?.removeEventListener('input', this.#hear, true);
  }

  /**
   * What came of typing a text in place of what an element held; null where nobody can tell. An editor that has rewritten
   * what keys brought, as those that indent by themselves, is given it once more as a paste.
   *
   * @param element the one that stands there now; null: it has gone
   */
  async outcome(typed: string, element: Element | null): Promise<TypedOutcome | null> {
    if (element === null) return typed !== '' && this.#tookAll(typed) ? { kind: 'gone', shown: '' } : null;
    if (isSelfDrawn(element)) return drawnOutcome(typed, element);
    if (isSetByValue(element)) return this.#outcomeOfSet(element.value);
    if (typed === '') return null;
    const first = this.#compare(typed, element);
    if (first?.kind === 'same' && waitsToBeLeft(typed, element)) return this.#whenLeft(typed, element);
    const isRich = (element as Partial<HTMLElement>).isContentEditable === true;
    if (first?.kind !== 'other' || !isRich || !(await paste(element, typed, false))) return first;
    return this.#compare(typed, element);
  }

  /** Whether a field still holds all of the text that it held. */
  isUntouched(element: Element): boolean {
    if (this.#before === null || isSelfDrawn(element)) return false;
    return WITH_TEXT.test(this.#before) && heldText(element) === this.#before;
  }

  #outcomeOfSet(shown: string): TypedOutcome | null {
    if (this.#set === null || this.#set === shown) return null;
    return { kind: shown === '' ? 'emptied' : 'other', shown };
  }

  /** Leaves the field, as a person does who goes on to the next one, and comes back to it. */
  async #whenLeft(typed: string, field: HTMLElement): Promise<TypedOutcome | null> {
    field.blur();
    await nextChange(LEFT_MS, 0);
    if (!field.isConnected) return { kind: 'gone', shown: '' };
    const outcome = this.#compare(typed, field);
    field.focus();
    return outcome;
  }

  #compare(typed: string, element: Element): TypedOutcome | null {
    const text = rawText(element);
    if (text === null) return null;
    const isWhole = isHtml(element, 'input') || isHtml(element, 'textarea');
    if (!isWhole && (text.length > MAX_COMPARED || typed.length > MAX_COMPARED)) return null;
    const shown = isPassword(element) ? '' : text;
    if (holds(typed, text, element)) return { kind: 'same', shown };
    if (isHtml(element, 'input') && holdsWithin(typed, text, this.#before ?? '')) return { kind: 'same', shown };
    if (text === '' && this.#tookAll(typed)) return { kind: 'emptied', shown };
    if (isHtml(element, 'input') && text.length === 1) {
      const code = codeFrom(element);
      if (code !== text && holdsText(typed, code)) return { kind: 'same', shown: isPassword(element) ? '' : code };
    }
    return { kind: 'other', shown, again: isHtml(element, 'input') && isUnderHand(element, text, typed) };
  }

  #tookAll(typed: string): boolean {
    return this.#longest !== '' && (holdsText(typed, this.#longest) || holdsLines(typed, this.#longest));
  }
}

/**
 * Whether a field of numbers may take another number than the typed one: beyond its bounds, or with too many decimals. One that
 * a page draws, and calls a spin button, may take any number only when it is left.
 */
function waitsToBeLeft(typed: string, element: Element): element is HTMLInputElement {
  if (!isHtml(element, 'input') || typed.trim() === '' || !Number.isFinite(Number(typed))) return false;
  const declared = roleOf(element) === 'spinbutton' || element.closest('[role="spinbutton"]') !== null;
  if (!declared && naturalRole(element) !== 'spinbutton' && !/^(numeric|decimal)$/.test(element.inputMode))
    return false;
  const number = Number(typed);
  const bound = (name: string): number => {
    const own = element.getAttribute(`aria-value${name}`) ?? element.getAttribute(name) ?? '';
    return own.trim() === '' ? Number.NaN : Number(own);
  };
  const [least, most] = [bound('min'), bound('max')];
  if (number < least || number > most) return true;
  if (element.type === 'number') return false;
  // A page that draws its own field may keep bounds that it does not declare, and decimals.
  return declared || !(number >= least && number <= most && Number.isInteger(number));
}

/** Whether a field still waits for what its user types next. What is empty has been taken; a password may have been sent. */
function isUnderHand(field: HTMLInputElement, text: string, typed: string): boolean {
  if (!field.isConnected || text === '' || typed.length > MAX_KEYS) return false;
  // The first box of a code may have handed the focus on.
  return hasRoomFor(typed, field) || (focusedIn(field.ownerDocument) === field && !isPassword(field));
}

/** What an editor that draws its text holds; null if it does not say. */
async function drawnOutcome(typed: string, field: Element): Promise<TypedOutcome | null> {
  if (typed.length > MAX_COMPARED) return null;
  const first = await editorText(field);
  // Of an editor that is empty, some copy a line without anything in it.
  if (typed === '') return { kind: first === null || /^[\r\n]*$/.test(first) ? 'same' : 'other', shown: first ?? '' };
  if (first === null) return null;
  if (holdsLines(typed, first)) return { kind: 'same', shown: first };
  const second = (await paste(field, typed, true)) ? ((await editorText(field)) ?? '') : first;
  return { kind: holdsLines(typed, second) ? 'same' : 'other', shown: second };
}

function holds(typed: string, text: string, element: Element): boolean {
  if (!isHtml(element, 'input')) return holdsLines(typed, text);
  if (holdsText(typed, text)) return true;
  // The page has completed it, and what it added is selected: the next key takes that away.
  const { selectionStart: from, selectionEnd: to } = selectionOf(element);
  return from !== null && to === text.length && from < to && holdsText(typed, text.slice(0, from));
}

/** Fields of some types, as of e-mail addresses, have none. */
function selectionOf(element: HTMLInputElement): { selectionStart: number | null; selectionEnd: number | null } {
  const { selectionStart, selectionEnd } = element;
  return { selectionStart, selectionEnd };
}

function isSetByValue(element: Element): element is HTMLInputElement {
  return isHtml(element, 'input') && inputKind(element) === 'set';
}

/** What `clear` takes away: also a date. A slider and a colour are never empty. */
function heldText(element: Element): string | null {
  const isDate = isSetByValue(element) && element.type !== 'range' && element.type !== 'color';
  return isDate ? element.value : rawText(element);
}

/** Null for what holds no text, what draws it by itself, and dates and the like, which browsers write in their own way. */
function rawText(element: Element): string | null {
  if (inputKind(element) === 'set') return null;
  if (isHtml(element, 'input') || isHtml(element, 'textarea')) return element.value;
  if (isField(element)) return null;
  // biome-ignore lint/performance/useDomNodeTextContent: what is drawn, in its lines
  const { isContentEditable, innerText } = element as Partial<HTMLElement>;
  return isContentEditable === true ? (innerText ?? '') : null;
}
