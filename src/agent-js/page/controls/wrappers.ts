import { isControl, isFrameOf } from '../names/roles.js';
import { isInside, walk } from '../tree/flat-tree.js';
import type { Control } from './control.js';
import { discoveries } from './discoveries.js';

/** Whether a listener on the element serves the controls in it rather than itself. */
export function holdsControls(element: Element): boolean {
  let holds = false;
  walk(element, true, (inner) => {
    if (holds || inner.hasAttribute('inert')) return undefined;
    const target = isControl(inner) || inner.hasAttribute('tabindex') || discoveries()?.listens(inner) === true;
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
  return controls.filter((control, index) => {
    const before = controls[index - 1];
    // `<li role=tab><a tabindex=-1>`: the link in it is the tab again. A clickable around it is itself left out for it.
    const again =
      before !== undefined && before.name === control.name && control.element.getAttribute('tabindex') === '-1';
    if (again && !clickables.has(before) && isInside(control.element, before.element)) return false;
    const next = controls[index + 1];
    if (next === undefined) return true;
    if (!clickables.has(control))
      return !isFrameOf(control.role, next.element) || !isInside(next.element, control.element);
    if (!isInside(next.element, control.element)) return true;
    const after = controls[index + 2];
    const single = after === undefined || !isInside(after.element, control.element);
    return !saysTheSame(control.name, next.name) && !(single && control.name === '');
  });
}

/** Whether a name is another, or says it several times: a row with a label in it, and a field that has the label's name. */
function saysTheSame(name: string, other: string): boolean {
  return name === other || (other !== '' && name.replaceAll(other, '').trim() === '');
}
