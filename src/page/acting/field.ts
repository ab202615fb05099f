import { shownValue } from '../controls/descriptor.js';
import { meantOption } from '../controls/options.js';
import { foldSpace } from '../locator.js';
import { drawnText } from '../names/accessible-name.js';
import { checkedState, inputKind } from '../names/roles.js';
import { asSeen, seenTexts } from '../names/seen-text.js';
import type { PageProblem, TypedOutcome } from '../page-calls.js';
import { isHtml, parentOf } from '../tree/flat-tree.js';
import { blockedUntilChanged } from './reach.js';

/** What a password field answers in place of its value. */
const MASK = '••••••••';

/** What a script reads of a field: the text; of a select the chosen option's; of a check box whether it is checked. */
export function fieldValue(element: Element): unknown {
  const checked = checkedState(element);
  if (checked !== null) return checked;
  if (isHtml(element, 'select') && element.multiple) return [...element.selectedOptions].map((option) => option.label);
  if (isHtml(element, 'input')) {
    if (element.type === 'password') return element.value === '' ? '' : MASK;
    if (inputKind(element) === 'none' && element.type !== 'file') return element.value;
  }
  return shownValue(element);
}

/** Fields beyond this are not compared. */
const MAX_FIELDS = 5_000;

/**
 * The state that is in no node or attribute, as it was: what stood in the fields of an element's document, and how far the
 * element, all around it and its page were scrolled.
 */
export class FieldState {
  readonly #element: Element;
  readonly #fields: readonly Element[];
  readonly #values: readonly string[];
  readonly #scrolled: readonly (number | undefined)[];

  constructor(element: Element) {
    const fields = [...element.ownerDocument.querySelectorAll('input, textarea, select')].slice(0, MAX_FIELDS);
    this.#element = element;
    this.#fields = fields.includes(element) ? fields : [element, ...fields];
    this.#values = this.#fields.map(plainValue);
    this.#scrolled = scrolled(element);
  }

  /** Fields that came or went are changes of the document. How far things are scrolled is asked last: it costs a layout. */
  get differs(): boolean {
    return this.isRewritten || this.isScrolled;
  }

  get isRewritten(): boolean {
    return this.#fields.some((field, index) => plainValue(field) !== this.#values[index]);
  }

  get isScrolled(): boolean {
    const before = this.#scrolled;
    return scrolled(this.#element).some((way, index) => way !== before[index]);
  }
}

function scrolled(element: Element): readonly (number | undefined)[] {
  const page = element.ownerDocument.scrollingElement;
  const ways: (number | undefined)[] = [page?.scrollTop, page?.scrollLeft];
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    ways.push(node.scrollTop, node.scrollLeft);
  }
  return ways;
}

/** A password's too: it stays in the page. */
function plainValue(element: Element): string {
  if (isHtml(element, 'select') && !element.multiple) return `${element.selectedIndex} ${element.value}`;
  if (isHtml(element, 'textarea')) return element.value;
  if (!isHtml(element, 'input')) return shownValue(element);
  return element.type === 'checkbox' || element.type === 'radio'
    ? `${element.checked} ${element.indeterminate}`
    : element.value;
}

export function isPassword(element: Element): boolean {
  return isHtml(element, 'input') && element.type === 'password';
}

/** Sets a date, a colour, a slider: answers why not, or null. Sites hear what they hear of a person's choice. */
export function setValue(element: Element, value: string): string | null {
  if (!isHtml(element, 'input')) return 'has no value';
  const before = element.value;
  element.focus();
  element.value = value;
  if (!hasTaken(element, value)) {
    element.value = before;
    return `does not take ${JSON.stringify(value)}: ${wantedForm(element)}`;
  }
  if (element.value !== before) announce(element);
  return null;
}

/** A browser puts a value of its own in the place of one that it does not understand. */
function hasTaken(input: HTMLInputElement, value: string): boolean {
  if (value === '') return true;
  switch (input.type) {
    case 'range':
      return value.trim() !== '' && Number(input.value) === Number(value);
    case 'color':
      return /^#[0-9a-f]{6}$/i.test(value.trim());
    default:
      return input.value !== '';
  }
}

function wantedForm(input: HTMLInputElement): string {
  if (input.type !== 'range') return EXAMPLES[input.type] ?? 'use another format';
  const step = input.step === 'any' ? '' : ` in steps of ${input.step || 1}`;
  return `it goes from ${input.min || 0} to ${input.max || 100}${step}`;
}

const EXAMPLES: { readonly [type: string]: string } = {
  color: 'a colour is like #0a8cff',
  date: 'a date is like 2030-12-31',
  'datetime-local': 'a date with time is like 2030-12-31T18:30',
  month: 'a month is like 2030-12',
  time: 'a time is like 18:30',
  week: 'a week is like 2030-W52',
};

/**
 * Chooses options by their texts (their values where no text fits). Answers why not, or null: what lasts unless the page
 * changes its options, or a sentence's end.
 */
export function choose(select: HTMLSelectElement, wanted: readonly string[]): string | PageProblem | null {
  if (wanted.length !== 1 && !select.multiple) return 'takes exactly one option';
  const chosen = new Set<HTMLOptionElement>();
  for (const text of wanted) {
    const { match: option, unclear } = optionOf(select, text);
    const shown = JSON.stringify(text);
    if (unclear !== null) return blockedUntilChanged(unclear);
    if (option === null) return blockedUntilChanged(`has no option ${shown}; it has ${listOptions(select)}`);
    if (option.matches(':disabled')) return blockedUntilChanged(`has the option ${shown} disabled`);
    if (isHidden(option)) return blockedUntilChanged(`has the option ${shown} hidden`);
    chosen.add(option);
  }
  const before = [...select.selectedOptions];
  select.focus();
  for (const option of select.options) if (select.multiple) option.selected = chosen.has(option);
  const [only] = chosen;
  if (!select.multiple && only !== undefined) only.selected = true;
  if (before.length !== chosen.size || before.some((option) => !chosen.has(option))) announce(select);
  return null;
}

function optionOf(select: HTMLSelectElement, text: string): ReturnType<typeof meantOption<HTMLOptionElement>> {
  const wanted = asSeen(text);
  const options = [...select.options].map((option) => {
    const shown = optionTexts(option);
    return { option, text: shown[0] ?? '', shows: shown.includes(wanted), isNamed: asSeen(option.text) === wanted };
  });
  const meant = meantOption(options, wanted, (option) => !option.matches(':disabled') && !isHidden(option));
  if (meant.match !== null || meant.unclear !== null) return meant;
  return { match: [...select.options].find((one) => one.value === text) ?? null, unclear: null };
}

/** What a browser draws of an option: its label, or else its text, without what is for screen readers alone. */
function optionTexts(option: HTMLOptionElement): readonly string[] {
  const label = asSeen(option.label);
  return option.firstElementChild === null || option.getAttribute('label') ? [label] : [...seenTexts(option), label];
}

/** An option that a style or an attribute takes out of the list that the browser draws. */
function isHidden(option: HTMLOptionElement): boolean {
  const group = option.closest('optgroup');
  return [option, group].some((one) => one !== null && getComputedStyle(one).display === 'none');
}

/** Whether an option is one that a text means. */
export function isOptionOf(option: HTMLOptionElement, text: string): boolean {
  const wanted = asSeen(text);
  return [...optionTexts(option), asSeen(option.text), option.value].some((one) => one === wanted || one === text);
}

/** What a select shows after the page's own handlers have heard of the choice. */
export function chosenOutcome(element: Element | null, wanted: readonly string[]): TypedOutcome | null {
  if (element === null) return { kind: 'gone', shown: '' };
  if (!isHtml(element, 'select')) return null;
  const chosen = [...element.selectedOptions];
  const shown = chosen.map((option) => asSeen(option.label)).join(', ');
  const isAsked = chosen.every((option) => wanted.some((text) => isOptionOf(option, text)));
  const isWhole = wanted.every((text) => chosen.some((option) => isOptionOf(option, text)));
  if (isAsked && isWhole) return { kind: 'same', shown: wanted.length === 1 ? (wanted[0] ?? '') : shown };
  return { kind: chosen.length === 0 || element.value === '' ? 'emptied' : 'other', shown };
}

/** Selects all that stands in the focused field, so that typing replaces it. */
export function selectContent(element: Element): void {
  if (isHtml(element, 'input') || isHtml(element, 'textarea')) {
    element.select();
    return;
  }
  const inner = element.ownerDocument;
  const range = inner.createRange();
  range.selectNodeContents(element);
  const selection = inner.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

/** Whether nothing of what stands in an element is selected, as far as a script can tell. */
export function isUnselected(element: Element): boolean {
  if (isHtml(element, 'input') || isHtml(element, 'textarea')) {
    const { value, selectionStart: from, selectionEnd: to } = element;
    return value !== '' && from !== null && from === to;
  }
  // Of what is selected in a shadow root, the document does not tell.
  if (element.getRootNode().nodeType !== 9 || foldSpace(drawnText(element)) === '') return false;
  return String(element.ownerDocument.getSelection()) === '';
}

/**
 * Takes away a selection that an earlier drag has left behind: a press on what is selected would carry the selection off,
 * and not move the element.
 */
export function dropSelection({ ownerDocument }: Element): void {
  const selection = ownerDocument.getSelection();
  if (selection?.type === 'Range') selection.removeAllRanges();
}

function listOptions(select: HTMLSelectElement): string {
  const seen = [...select.options].filter((option) => !isHidden(option));
  const texts = seen.slice(0, 20).map((option) => JSON.stringify(optionTexts(option)[0] ?? ''));
  return texts.length === 0 ? 'none' : texts.join(', ') + (seen.length > 20 ? ', …' : '');
}

function announce(element: Element): void {
  element.dispatchEvent(new Event('input', { bubbles: true, composed: true }));
  element.dispatchEvent(new Event('change', { bubbles: true }));
}
