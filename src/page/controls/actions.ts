import { CONTEXT, DOUBLE, DROP, HOVER, KEYS, PRESS } from '../event-kinds.js';
import { checkKind, inputKind, isControl, isField, isReadOnly, roleOf } from '../names/roles.js';
import { isHtml } from '../tree/flat-tree.js';
import { ACTION_SETS } from '../wire-descriptor.js';
import { isThumb, thumbNumber } from './carried.js';
import { CELLS, isCarried } from './clickables.js';
import { anyReveals, reveals } from './hover-rules.js';
import { reactionsOf } from './reactions.js';

const [CLICK, SELECT, UPLOAD, TYPE, READ, SET, TOGGLE, CHOOSE, CARRY, ...OTHERS] = ACTION_SETS;
const [DOUBLE_ALONE, RIGHT_ALONE, HOVER_ALONE, KEY, TWICE, RIGHT, HOVERED, DROP_ALONE, MOVE, THUMB] = OTHERS;

/**
 * What a person does with the element, the usual first.
 *
 * @param role the element's, by {@link roleOf}
 */
export function actionsOf(element: Element, role: string = roleOf(element)): (typeof ACTION_SETS)[number] {
  if (isField(element)) {
    if (isHtml(element, 'select')) return SELECT;
    if (element.type === 'file') return UPLOAD;
  }
  switch (inputKind(element)) {
    case 'typed':
      return isReadOnly(element) ? READ : TYPE;
    case 'set':
      return isReadOnly(element) ? CLICK : SET;
    case 'none':
  }
  switch (checkKind(element, role)) {
    case 'toggle':
      return TOGGLE;
    case 'radio':
      return CHOOSE;
    case 'none':
      return pointedAt(element, role);
  }
}

/** What a pointer does with an element: what its listeners are for, and nothing else where they are for one thing. */
function pointedAt(element: Element, role: string): (typeof ACTION_SETS)[number] {
  if (role === 'slider' || role === 'separator') return hasNumber(element) ? MOVE : READ;
  const control = isControl(element);
  if (!control && isThumb(element) && thumbNumber(element) !== null) return THUMB;
  if (control ? element.getAttribute('draggable') === 'true' : isCarried(element)) return CARRY;
  const kinds = reactionsOf(element);
  if (kinds === 0 && showsMore(element)) return control ? HOVERED : HOVER_ALONE;
  if (kinds === 0) return CLICK;
  const alone = !control && (kinds & PRESS) === 0 && getComputedStyle(element).cursor !== 'pointer';
  if ((kinds & DOUBLE) !== 0) return alone || element.localName === 'label' ? DOUBLE_ALONE : TWICE;
  if ((kinds & CONTEXT) !== 0) return alone ? RIGHT_ALONE : RIGHT;
  // What surrounds a cell listens for presses on it.
  if (!alone || CELLS.test(role)) return CLICK;
  if ((kinds & KEYS) !== 0 && element.hasAttribute('tabindex')) return KEY;
  if ((kinds & DROP) !== 0) return DROP_ALONE;
  return (kinds & HOVER) !== 0 ? HOVER_ALONE : CLICK;
}

/** Whether an element has a number that arrow keys change, as a slider that a page draws. */
export function hasNumber(element: Element): boolean {
  const value = element.getAttribute('aria-valuenow') ?? '';
  return value.trim() !== '' && Number.isFinite(Number(value)) && !isReadOnly(element);
}

/** Whether more is shown while the pointer is above an element, or above what it is the head of. */
function showsMore(element: Element): boolean {
  if (!anyReveals(element)) return false;
  const { parentElement } = element;
  return reveals(element) || (parentElement?.firstElementChild === element && reveals(parentElement));
}

/** What an element is and takes, for an error: `a checkbox input, which takes click, check, uncheck`. */
export function kindOf(element: Element): string {
  const kind = isHtml(element, 'input') ? `${element.type} input` : roleOf(element);
  const takes = actionsOf(element).join(', ') || 'what is dropped on it';
  return `${/^[aeio]/.test(kind) ? 'an' : 'a'} ${kind}, which takes ${takes}`;
}
