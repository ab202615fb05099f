import { reactionsOf } from '../controls/reactions.js';
import { PRESS } from '../event-kinds.js';
import { isHtml, parentOf } from './flat-tree.js';
import { childrenOf } from './form-members.js';
import { isParked } from './parked.js';

interface Editor {
  readonly isContentEditable: boolean;
  readonly editContext: object | null;
}

/** A field of less than this, in CSS pixels, cannot be pressed. */
const LEAST = 4;
/** What is pressed in the place of a field is at least of this size, in CSS pixels, and at most so far around it. */
const PRESSED = 12;
const DEPTH = 5;
/** Words by which libraries class the boxes that they draw. */
const BOX_CLASS = /(?:^|[-_\s])i?(?:check(?:box)?|radio|switch|toggle)(?:$|[-_\s])/i;
const CODE_TYPES = /^(?:number|password|tel|text)$/;
/** A field whose characters are drawn in boxes takes so many, and its boxes are found so far up, in levels of the tree. */
const FEWEST = 3;
const MOST = 10;
const BOXES_UP = 3;
const INSIDE = 'a[href], button, input, select, textarea';

/** Whether typing goes to an EditContext (https://www.w3.org/TR/edit-context/), and the browser edits nothing by itself. */
export function hasEditContext(element: Element): boolean {
  const { isContentEditable = false, editContext = null } = element as Partial<Editor>;
  return editContext !== null && !isContentEditable;
}

/**
 * Whether an element only takes the keys of an editor that draws its text by itself, as those of code do: nothing of that can
 * be selected but by the editor's own keys.
 */
export function isSelfDrawn(element: Element): boolean {
  if (hasEditContext(element)) return true;
  return isHtml(element, 'textarea') && !element.readOnly && (isBehind(element) || editorAround(element) !== null);
}

/**
 * What a person clicks on in the place of a field that is out of sight: the text that an editor draws over what takes its
 * keys, which may be as small as its cursor, or the nearest element around the field that listens for presses.
 */
export function drawingOf(element: Element): Element | null {
  if (isHtml(element, 'textarea')) {
    if (element.readOnly) return null;
    return isBehind(element) ? parentOf(element) : editorAround(element);
  }
  if (hasEditContext(element)) return isBehind(element) ? parentOf(element) : null;
  if (!isHtml(element, 'input') || element.type === 'file' || element.type === 'hidden') return null;
  if (!element.checkVisibility()) return boxBeside(element);
  return pressedFor(element) ?? characterBoxesOf(element)[0] ?? null;
}

/**
 * The boxes in which a page draws the characters of a short field that is out of sight, as those of a one-time code:
 * `<div><i></i><i></i><i></i><i></i></div><input maxlength=4>`. None for any other field.
 */
export function characterBoxesOf(field: Element): readonly Element[] {
  if (!isHtml(field, 'input') || field.disabled || !CODE_TYPES.test(field.type)) return [];
  const { maxLength } = field;
  if (maxLength < 0 ? field.autocomplete !== 'one-time-code' : maxLength < FEWEST || maxLength > MOST) return [];
  if (!isFaded(field) && !isTiny(field) && !isParked(field)) return [];
  for (let node = parentOf(field), up = 0; node !== null && up < BOXES_UP; node = parentOf(node), up++) {
    for (const frame of [node, ...childrenOf(node)]) {
      const boxes = [...childrenOf(frame)].filter(isCharacterBox);
      if (maxLength < 0 ? boxes.length >= FEWEST && boxes.length <= MOST : boxes.length === maxLength) return boxes;
    }
  }
  return [];
}

function isCharacterBox(element: Element): boolean {
  if (isHtml(element, 'input') || (element.textContent ?? '').trim().length > 1) return false;
  const { width, height } = element.getBoundingClientRect();
  return width >= PRESSED && height >= PRESSED && element.checkVisibility() && element.querySelector(INSIDE) === null;
}

/** The box that a library draws beside a check box or radio button which it hides: `<input type=checkbox><div class=x-checkbox>`. */
function boxBeside(field: HTMLInputElement): Element | null {
  if (!/^(checkbox|radio)$/.test(field.type) || field.disabled) return null;
  const { nextElementSibling: next, previousElementSibling: before, parentElement } = field;
  const box = next ?? (parentElement?.childElementCount === 2 ? before : null);
  if (box === null || isHtml(box, 'label') || !box.checkVisibility() || box.querySelector(INSIDE) !== null) return null;
  const drawn = [box, ...childrenOf(box)].some((part) => BOX_CLASS.test(part.getAttribute('class') ?? ''));
  return drawn && (listens(box) || getComputedStyle(box).cursor === 'pointer') ? box : null;
}

/** An editor that gives the focus to a field of its own, which nobody sees, when its text is pressed. */
function editorAround(field: HTMLTextAreaElement): Element | null {
  if (field.tabIndex < 0 || field.disabled || !field.checkVisibility()) return null;
  if (!isFaded(field) && !isTiny(field) && !isCutToNothing(field)) return null;
  const around = drawnAround(field);
  if (around === null) return null;
  // What listens for presses is the editor, or the part of it that draws the text.
  return [around, ...childrenOf(around)].some(listens) ? around : null;
}

function pressedFor(field: HTMLInputElement): Element | null {
  if (field.disabled) return null;
  if (!isTiny(field) && !(isFaded(field) && liesBehind(field))) return null;
  const around = drawnAround(field, listens);
  if (around === null) return null;
  // It stands for one field alone.
  const others = around.querySelectorAll(INSIDE);
  return [...others].some((one) => one !== field && one.checkVisibility() && !isTiny(one)) ? null : around;
}

/** The nearest element around a field that can be pressed, and fits. */
function drawnAround(field: Element, fits: (element: Element) => boolean = () => true): Element | null {
  for (let node = parentOf(field), up = 0; node !== null && up < DEPTH; node = parentOf(node), up++) {
    if (node.localName === 'body' || node.localName === 'html') return null;
    const { width, height } = node.getBoundingClientRect();
    if (width >= PRESSED && height >= PRESSED && fits(node)) return node;
  }
  return null;
}

function listens(element: Element): boolean {
  return (reactionsOf(element) & PRESS) !== 0;
}

function isFaded(element: Element): boolean {
  return !element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

function isTiny(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width < LEAST || height < LEAST;
}

/** Whether the box around it, of no size to speak of, shows nothing of it. */
function isCutToNothing({ parentElement }: Element): boolean {
  if (parentElement === null || !isTiny(parentElement)) return false;
  const { overflowX, overflowY } = getComputedStyle(parentElement);
  return overflowX !== 'visible' && overflowY !== 'visible';
}

function liesBehind(element: Element): boolean {
  return isBehind(element) || (element.parentElement !== null && isBehind(element.parentElement));
}

function isBehind(element: Element): boolean {
  return Number(getComputedStyle(element).zIndex) < 0;
}
