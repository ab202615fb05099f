import { POINTED } from '../event-kinds.js';
import { isControl, isFrameOf, roleOf } from '../names/roles.js';
import { isInside, walk } from '../tree/flat-tree.js';
import type { Control } from './control.js';
import { reactionsOf } from './reactions.js';

/** Of an item's parts one of the first is the link that bears its name. */
const MAX_BEFORE_LINK = 3;

/** What covers this part of an editor's area is where its text is drawn. */
const MOST = 0.5;

/** Whether a listener on the element serves the controls in it rather than itself. */
export function holdsControls(element: Element): boolean {
  let holds = false;
  walk(element, true, (inner) => {
    if (holds || inner.hasAttribute('inert')) return undefined;
    const target = isControl(inner) || inner.hasAttribute('tabindex') || (reactionsOf(inner) & POINTED) !== 0;
    if (inner !== element && target) holds = true;
    return true;
  });
  return holds;
}

/**
 * Leaves out elements that are clickable only around one control of the same name, or of the only name, and fields that
 * are only the frame of another.
 */
export function withoutWrappers(controls: readonly Control[], clickables: ReadonlySet<Control>): readonly Control[] {
  const rows = new Set<Element>();
  for (const { element } of clickables) if (element.localName === 'tr' || roleOf(element) === 'row') rows.add(element);
  return controls.filter((control, index) => {
    const before = controls[index - 1];
    // `<li role=tab><a tabindex=-1>`: the link in it is the tab again. A clickable around it is itself left out for it.
    const again =
      before !== undefined && before.name === control.name && control.element.getAttribute('tabindex') === '-1';
    if (again && !clickables.has(before) && isInside(control.element, before.element)) return false;
    if (isCellOfRow(control, rows)) return false;
    const next = controls[index + 1];
    if (next === undefined) return true;
    if (controls.slice(index + 1, index + 1 + MAX_BEFORE_LINK).some((one) => isWrappedItem(control, one))) return false;
    if (!clickables.has(control))
      return !isFrameOf(control.role, next.element) || !isInside(next.element, control.element);
    if (!isInside(next.element, control.element)) return true;
    const after = controls[index + 2];
    const single = after === undefined || !isInside(after.element, control.element);
    return !saysTheSame(control.name, next.name) && !(single && control.name === '');
  });
}

/**
 * Leaves out what is clickable only because a field that is out of sight is operated there: the drawing of an editor, and
 * what covers most of it.
 */
export function withoutDrawings(
  controls: readonly Control[],
  clickables: ReadonlySet<Control>,
  drawings: ReadonlySet<Element>,
): readonly Control[] {
  if (drawings.size === 0) return controls;
  return controls.filter((control) => {
    if (!clickables.has(control)) return true;
    const { element, rect } = control;
    for (const drawing of drawings) {
      if (element === drawing) return false;
      const { width, height } = drawing.getBoundingClientRect();
      if (isInside(element, drawing) && rect.width * rect.height > width * height * MOST) return false;
    }
    return true;
  });
}

/** A cell that has nothing of its own but the cursor, in a row that is clicked on. */
function isCellOfRow({ element, role }: Control, rows: ReadonlySet<Element>): boolean {
  if (!/^(td|th|cell|gridcell)$/.test(role) || rows.size === 0 || reactionsOf(element) !== 0) return false;
  const row = element.closest('tr, [role="row"]');
  return row !== null && rows.has(row);
}

/** `<li role=treeitem><a>`: the item takes no focus itself, and the link in it bears all of its name. */
function isWrappedItem({ element, role, name }: Control, next: Control): boolean {
  if (!/^(treeitem|menuitem|listitem|option)$/.test(role) || element.hasAttribute('tabindex')) return false;
  const native = next.element.localName === 'a' || next.element.localName === 'button';
  return (
    native && next.name === name && next.element.getAttribute('tabindex') !== '-1' && element.contains(next.element)
  );
}

/** Whether a name is another, or says it several times: a row with a label in it, and a field that has the label's name. */
function saysTheSame(name: string, other: string): boolean {
  return name === other || (other !== '' && name.replaceAll(other, '').trim() === '');
}
