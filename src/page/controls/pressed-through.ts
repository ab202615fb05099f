import { POINTED } from '../event-kinds.js';
import { accessibleName } from '../names/accessible-name.js';
import { checkKind, inputKind, isControl, roleOf } from '../names/roles.js';
import { isHtml, isInside, parentOf } from '../tree/flat-tree.js';
import { reaches, takesPointer } from '../tree/geometry.js';
import { askPage } from './ask-page.js';
import { isThumb } from './carried.js';
import { wholeListens } from './clickables.js';
import { collect } from './controls.js';
import { reactionsOf } from './reactions.js';

/**
 * Whether a press that hits `hit` is one on the element: inside it, on its label, or on what the element is a part of and
 * leaves the pointer to, as an icon does to its button.
 */
export function isPressOn(hit: Element, element: Element): boolean {
  return reaches(hit, element) || (isInside(element, hit) && !takesPointer(element) && lostIn(element, hit) === null);
}

/**
 * What does not get a press on an element that takes no pointer: itself or a control around it, as a link that is out of use.
 * Null: the press is that of what the element is a part of.
 *
 * @param hit what gets the press in its place, around it
 */
export function lostIn(element: Element, hit: Element): Element | null {
  const passed: Element[] = [];
  for (let node: Element | null = element; node !== null && node !== hit; node = parentOf(node)) passed.push(node);
  askPage(hit);
  const controls = passed.filter((one) => isControl(one) || (isHtml(one, 'label') && one.control !== null));
  if (controls.length > 0) return controls.find((one) => !isPartOf(one, hit) && !isLeftTo(hit, one)) ?? null;
  // Nothing by its nature: what a style or a listener has made a control is found as a look finds it.
  const listed = listedNow();
  const inner = passed.find((one) => listed.has(one));
  if (inner !== undefined) return isThumb(inner) && isLeftTo(hit, inner) ? null : inner;
  // A press beside everything, as on a heading, is heard by the page alone.
  const isHeard = around(hit).some((one) => listed.has(one) || isPressed(one)) || wholeListens(hit);
  return isHeard ? null : element;
}

/** The controls of the page. Known for one turn, in which nothing changes: many elements are asked for, each at several points. */
function listedNow(): ReadonlySet<Element> {
  if (listed === null) {
    const { controls, inert } = collect({ inert: true });
    listed = new Set([...controls, ...inert].map(({ element }) => element));
    queueMicrotask(() => {
      listed = null;
    });
  }
  return listed;
}

let listed: ReadonlySet<Element> | null = null;

/**
 * Whether a control is out of use for a pointer, and of no other use: its style takes the pointer away from all of it. What
 * keys or the browser's own list fill in is not.
 */
export function isOutOfReach(element: Element): boolean {
  if (takesPointer(element) || isFilledIn(element)) return false;
  for (const inner of element.getElementsByTagName('*')) if (takesPointer(inner)) return false;
  let hit: Element | null = element;
  while (hit !== null && !takesPointer(hit)) hit = parentOf(hit);
  return hit === null || lostIn(element, hit) !== null;
}

/** What is pressed only to write into it, or to choose from the browser's own list: keys and scripts do that, too. */
function isFilledIn(element: Element): boolean {
  if (isHtml(element, 'select')) return true;
  return inputKind(element) !== 'none' || (isHtml(element, 'input') && element.type === 'file');
}

/** An element and what is around it, without the body of its document and the document's root. */
function around(element: Element): Element[] {
  const path: Element[] = [];
  for (let node: Element | null = element; node !== null; node = parentOf(node))
    if (node.localName !== 'body' && node.localName !== 'html') path.push(node);
  return path;
}

function isPressed(element: Element): boolean {
  return isControl(element) || (reactionsOf(element) & POINTED) !== 0;
}

/** Whether a control is all that the control around it shows: `<a href><button>Buy</button></a>`. */
function isPartOf(control: Element, hit: Element): boolean {
  const outer = around(hit).find(isControl);
  return outer !== undefined && accessibleName(outer) === accessibleName(control);
}

/**
 * Whether a control leaves its presses to what it stands in: a check box to its option or its row, the thumb of a slider to
 * what it stands on, the input of a combobox to the combobox. Whether the press has worked is seen by the control itself.
 */
function isLeftTo(hit: Element, control: Element): boolean {
  if (inputKind(control) !== 'none' && around(hit).some((one) => roleOf(one) === 'combobox')) return true;
  const isBox = checkKind(control, roleOf(control)) !== 'none';
  if (!isBox && roleOf(control) !== 'slider' && !isThumb(control)) return false;
  for (const node of around(hit)) {
    if (!isBox && holdsOthers(node, control)) return false;
    if (isPressed(node)) return true;
  }
  return false;
}

/** Whether something else is operated in an element: the other thumb of a slider does not count. */
function holdsOthers(element: Element, thumb: Element): boolean {
  return [...element.getElementsByTagName('*')].some((one) => isControl(one) && roleOf(one) !== roleOf(thumb));
}
