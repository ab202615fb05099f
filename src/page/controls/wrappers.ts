import { POINTED } from '../event-kinds.js';
import { checkedState, isControl, isField, isFrameOf, roleOf } from '../names/roles.js';
import { isInside, isLeaf, walk } from '../tree/flat-tree.js';
import { isThumb, sliderOf } from './carried.js';
import type { Control } from './control.js';
import { isOwnRow } from './own-rows.js';
import { reactionsOf } from './reactions.js';

/** Of an item's parts one of the first is the link that bears its name. */
const MAX_BEFORE_LINK = 3;

/** The middle of a thumb may be beside its rail by so much, in CSS pixels. */
const RAIL_PX = 12;

/** So many controls in an element have a listener on it in common. */
const SEVERAL = 3;

/** What covers this part of an editor's area is where its text is drawn. */
const MOST = 0.5;
/** What takes so much of the area of what is around it is all that can be pressed there. */
const NEARLY_ALL = 0.9;

const CELLS = /^(td|th|cell|gridcell)$/;
const ITEMS = /^(treeitem|menuitem|listitem|option)$/;

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

/** Whether what is in a control, or around it, may be listed in its place though only a style or a listener makes it a control. */
export function dependsOnOthers({ element, role }: Control): boolean {
  return !isLeaf(element) && (CELLS.test(role) || ITEMS.test(role));
}

/**
 * Leaves out elements that are clickable only around one control of the same name, or of the only name, and fields that
 * are only the frame of another.
 */
export function withoutWrappers(controls: readonly Control[], clickables: ReadonlySet<Control>): readonly Control[] {
  const rows = new Set<Element>();
  for (const { element } of clickables) if (element.localName === 'tr' || roleOf(element) === 'row') rows.add(element);
  const left = withoutTracks(withoutParts(controls, clickables), clickables);
  return left.filter((control, index) => {
    const before = left[index - 1];
    // `<li role=tab><a tabindex=-1>`: the link in it is the tab again. A clickable around it is itself left out for it.
    const again =
      before !== undefined && control.element.getAttribute('tabindex') === '-1' && before.name === control.name;
    if (again && !clickables.has(before) && isInside(control.element, before.element) && !isOwnSign(control.element))
      return false;
    if (isCellOfRow(control, rows)) return false;
    if (before !== undefined && clickables.has(before) && clickables.has(control) && isFilling(control, before))
      return false;
    const next = left[index + 1];
    if (next === undefined) return true;
    if (left.slice(index + 1, index + 1 + MAX_BEFORE_LINK).some((one) => isWrappedItem(control, one))) return false;
    if (!clickables.has(control))
      return !isFrameOf(control.role, next.element) || !isInside(next.element, control.element);
    if (!isInside(next.element, control.element)) return true;
    if (reactionsOf(control.element) === 0 && isFilledBy(control, next)) return false;
    // Of what is drawn around a check box, that alone counts.
    const nth = isBoxAround(next, left[index + 2], clickables) ? index + 2 : index + 1;
    const [only = next, after] = [left[nth], left[nth + 1]];
    const single = after === undefined || !isInside(after.element, control.element);
    if (single && (control.name === '' || isAround(control.element, only))) return false;
    // A part without a text of its own has borrowed the name.
    const borrowed = clickables.has(next) && next.element.textContent?.trim() === '' && control.name !== '';
    // A column is sorted by its head, and filtered by the field in it.
    const filters = /header$/.test(control.role) && isField(next.element);
    // A box in a row is called by what the row reads, which does something else.
    const chooses = checkedState(next.element) !== null && isOwnRow(control.element);
    return borrowed || filters || chooses || !saysTheSame(control.name, next.name);
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

/** Leaves out what is drawn around the thumbs of a slider that says its number in a field: its ends, and what it shows. */
function withoutParts(controls: readonly Control[], clickables: ReadonlySet<Control>): readonly Control[] {
  const sliders = new Set<Element>();
  for (const { element } of clickables) {
    const slider = sliderOf(element);
    if (slider !== null) sliders.add(slider);
  }
  if (sliders.size === 0) return controls;
  const isDrawing = (one: Control): boolean => clickables.has(one) && !isThumb(one.element);
  return controls.filter((one) => !isDrawing(one) || ![...sliders].some((slider) => isInside(one.element, slider)));
}

/** Whether something is a box, or has no text and listeners of its own: it does not stand for what bears its name. */
function isOwnSign(element: Element): boolean {
  if (checkedState(element) !== null) return true;
  return element.textContent?.trim() === '' && (reactionsOf(element) & POINTED) !== 0;
}

/** Whether a picture is all that is drawn in a clickable without a text, and only one of the two reacts to presses. */
function isFilling({ element, rect }: Control, around: Control): boolean {
  if (!isInside(element, around.element) || around.element.textContent?.trim() !== '') return false;
  if ((reactionsOf(element) & POINTED) !== 0 && (reactionsOf(around.element) & POINTED) !== 0) return false;
  return rect.width * rect.height > around.rect.width * around.rect.height * MOST;
}

/** Whether a row that is pressed itself is all that is drawn in an element: that of a component in its host. */
function isFilledBy({ rect }: Control, { element, rect: inner }: Control): boolean {
  return inner.width * inner.height > rect.width * rect.height * NEARLY_ALL && isOwnRow(element);
}

/** Leaves out a slider's track, and what it is drawn of: a clickable around that slider alone, and nameless ones in it. */
function withoutTracks(controls: readonly Control[], clickables: ReadonlySet<Control>): readonly Control[] {
  const tracks = controls.flatMap((control, index) => {
    if (!clickables.has(control)) return [];
    const inside: Control[] = [];
    for (let nth = index + 1; nth < controls.length; nth++) {
      const inner = controls[nth];
      if (inner === undefined || !isInside(inner.element, control.element)) break;
      if (!clickables.has(inner) || inner.element.textContent?.trim() !== '') inside.push(inner);
    }
    const [only] = inside;
    return inside.length === 1 && only?.words.at(-1) === 'slider' ? [control.element] : [];
  });
  const thumbs = controls.filter(({ words }) => words.at(-1) === 'slider');
  if (thumbs.length === 0) return controls;
  return controls.filter((one) => {
    if (!clickables.has(one)) return true;
    if (tracks.some((track) => isInside(one.element, track))) return false;
    return one.element.textContent?.trim() !== '' || !thumbs.some((thumb) => isRail(one, thumb));
  });
}

/** Whether a slider's thumb stands on an element beside it. */
function isRail({ element, rect }: Control, thumb: Control): boolean {
  if (element.parentElement !== thumb.element.parentElement) return false;
  const across = (thumb.rect.left + thumb.rect.right) / 2;
  const down = (thumb.rect.top + thumb.rect.bottom) / 2;
  const near = (at: number, from: number, to: number): boolean => at >= from - RAIL_PX && at <= to + RAIL_PX;
  return near(across, rect.left, rect.right) && near(down, rect.top, rect.bottom);
}

function isBoxAround(box: Control, inner: Control | undefined, clickables: ReadonlySet<Control>): boolean {
  if (inner === undefined || !clickables.has(box) || !isInside(inner.element, box.element)) return false;
  return isAround(box.element, inner);
}

/** Whether an element around one control alone is only how that is drawn: a slider's track, a box around its mark. */
function isAround({ textContent }: Element, inner: Control): boolean {
  const role = inner.words.at(-1) ?? '';
  if (role === 'combobox') return true;
  return /^(checkbox|radio|switch|spinbutton)$/.test(role) && textContent?.trim() === inner.element.textContent?.trim();
}

/**
 * Leaves out what only listens, or only has the cursor and shows nothing itself, around several controls: that is for those.
 */
export function withoutFrames(
  controls: readonly Control[],
  listeners: ReadonlySet<Control>,
  clickables: ReadonlySet<Control>,
): readonly Control[] {
  if (clickables.size === 0) return controls;
  return controls.filter((control, index) => {
    if (!listeners.has(control) && !(clickables.has(control) && isBareFrame(control))) return true;
    let inside = 0;
    while (inside < SEVERAL) {
      const inner = controls[index + 1 + inside];
      if (inner === undefined || !isInside(inner.element, control.element)) return true;
      inside++;
    }
    return false;
  });
}

function isBareFrame({ element }: Control): boolean {
  return element.childElementCount >= SEVERAL && reactionsOf(element) === 0 && element.textContent?.trim() === '';
}

/** A cell that has nothing of its own but the cursor, in a row that is clicked on. */
function isCellOfRow({ element, role }: Control, rows: ReadonlySet<Element>): boolean {
  if (!CELLS.test(role) || rows.size === 0 || reactionsOf(element) !== 0) return false;
  const row = element.closest('tr, [role="row"]');
  return row !== null && rows.has(row);
}

/** `<li role=treeitem><a>`: the item takes no focus itself, and the link in it bears all of its name. */
function isWrappedItem({ element, role, name }: Control, next: Control): boolean {
  if (!ITEMS.test(role) || element.hasAttribute('tabindex')) return false;
  const isButton = /^(a|button)$/.test(next.element.localName) || roleOf(next.element) === 'button';
  return (
    isButton && next.name === name && next.element.getAttribute('tabindex') !== '-1' && element.contains(next.element)
  );
}

/** Whether a name is another, or says it several times: a row with a label in it, and a field that has the label's name. */
function saysTheSame(name: string, other: string): boolean {
  return name === other || (other !== '' && name.replaceAll(other, '').trim() === '');
}
