import { DOWN, PRESS } from '../event-kinds.js';
import { isControl } from '../names/roles.js';
import { isHtml, parentOf } from '../tree/flat-tree.js';
import { reactionsOf } from './reactions.js';

const THUMB_CLASS = /(?:^|[-_\s])(?:handle|thumb|knob)(?:$|[-_\s])/i;
const PREFIX = /(?:^|\s)([a-z][a-z\d]*)(?:[-_]+[a-z\d]+)*[-_]+(?:handle|thumb|knob)(?=\s|$)/i;
const PLACED = /(?:^|[;\s])(?:left|right|top|bottom|transform)\s*:/;
/** Words by which libraries class what is carried, and what they put somewhere on a surface. */
const CARRIED_CLASS = /(?:^|[-_\s])(?:draggable|grip|handle|movable)(?:$|[-_\s])/i;
const PLACED_CLASS =
  /(?:^|[-_\s])(?:bar|block|box|card|draggable|editable|event|item|movable|node|note|shape|task|tile|widget)(?:$|[-_\s])/i;
const ACROSS = /(?:^|[;\s])(?:inset|left|right)\s*:|translate(?:x|3d)?\(/i;
const DOWNWARDS = /(?:^|[;\s])(?:inset|top|bottom)\s*:|translatey\(|translate(?:3d)?\([^,)]+,/i;
/** Words for what is chosen already in a field. */
const TAG_CLASS = /(?:^|[-_\s])(?:chip|pill|tag|token)(?:$|[-_\s])/i;
/** A surface is found so far up, in levels of the tree. */
const MAX_UP = 8;
const FIELDS = 'input:not([type=checkbox], [type=radio])';

/** Whether an element is a slider's thumb, which its page places by a style. */
export function isThumb(element: Element): boolean {
  if (!THUMB_CLASS.test(element.getAttribute('class') ?? '') || (reactionsOf(element) & PRESS) === 0) return false;
  return PLACED.test(element.getAttribute('style') ?? '');
}

/**
 * The number of a slider that says it by no attribute: its thumbs stand for the numbers, in this order, of the only field
 * that its library draws the slider for. Null: there is no such field, or no number in it.
 */
export function thumbNumber(thumb: Element): number | null {
  const { values, thumbs } = drawnSlider(thumb) ?? { values: [], thumbs: [] };
  const boxes = thumbs.map((one) => one.getBoundingClientRect());
  const own = thumb.getBoundingClientRect();
  const isUpright = boxes.some(({ top }) => Math.abs(top - own.top) > own.height / 2);
  const before = boxes.filter(({ left, top }) => (isUpright ? top > own.top : left < own.left)).length;
  const value = Number(values[before] ?? Number.NaN);
  return Number.isFinite(value) ? value : null;
}

/** All that is drawn around a slider's thumb, where its values stand in a field; null for anything else. */
export function sliderOf(thumb: Element): Element | null {
  return isThumb(thumb) ? (drawnSlider(thumb)?.whole ?? null) : null;
}

/** A slider, its thumbs, and the values of its field, of which each thumb has one. */
interface DrawnSlider {
  readonly whole: Element;
  readonly thumbs: readonly Element[];
  readonly values: readonly string[];
}

function drawnSlider(thumb: Element): DrawnSlider | null {
  const whole = sliderAround(thumb);
  if (whole === null) return null;
  const thumbs = [...whole.querySelectorAll('*')].filter((one) => isThumb(one) && one.checkVisibility());
  const beside = [whole.previousElementSibling, whole.nextElementSibling].filter(
    (one) => one?.matches(FIELDS) === true,
  );
  const found = [...whole.querySelectorAll(FIELDS), ...beside].flatMap((field) => {
    const values = field !== null && isHtml(field, 'input') ? field.value.split(/[;,|]/).map((one) => one.trim()) : [];
    return values.length === thumbs.length && !values.includes('') ? [values] : [];
  });
  const [values] = found;
  return values === undefined || found.length > 1 ? null : { whole, thumbs, values };
}

/** Whether an element is a surface that is moved by dragging, such as a map: it has the cursor for it, and hears the press. */
export function isPane(element: Element, cursor: string): boolean {
  const { parentElement } = element;
  if (!/^(?:-webkit-)?grab$/.test(cursor) || parentElement === null || parentElement.localName === 'html') return false;
  if (getComputedStyle(parentElement).cursor === cursor) return false;
  return [element, parentElement].some((one) => one.localName !== 'body' && (reactionsOf(one) & DOWN) !== 0);
}

/**
 * Whether an element is carried although only what is around it hears the press: by its class it is of the same library as
 * that, and a thing to be carried, or one that is placed somewhere on a surface, such as an item of a timeline.
 */
export function isCarriedByClass(element: Element): boolean {
  const written = element.getAttribute('class') ?? '';
  if (written === '' || element.hasAttribute('role') || element.textContent?.trim() === '') return false;
  if (!CARRIED_CLASS.test(written) && !(PLACED_CLASS.test(written) && isPlaced(element))) return false;
  const library = wordsOf(element)[0] ?? '';
  let node = parentOf(element);
  for (let up = 0; node !== null && node.localName !== 'body' && up < MAX_UP; up++, node = parentOf(node)) {
    if ((reactionsOf(node) & DOWN) !== 0 && wordsOf(node).includes(library)) return true;
  }
  return false;
}

/** Whether an element is what has been chosen already, with a sign by which it is taken away: the Tab key's way leads to it. */
export function isTag(element: Element): boolean {
  if (!element.hasAttribute('tabindex') || !TAG_CLASS.test(`${element.localName} ${element.getAttribute('class')}`))
    return false;
  const controls = [...element.querySelectorAll('*')].filter(isControl);
  return controls.length === 1 && controls[0]?.textContent?.trim() === '' && element.textContent?.trim() !== '';
}

/** Whether its page has put an element at a place of its own, in both directions. */
function isPlaced(element: Element): boolean {
  const style = element.getAttribute('style') ?? '';
  return ACROSS.test(style) && DOWNWARDS.test(style) && getComputedStyle(element).position === 'absolute';
}

function wordsOf({ classList }: Element): readonly string[] {
  return [...classList].flatMap((one) => one.toLowerCase().split(/[-_]+/));
}

/** All that a slider's library draws around its thumb: `<span class=x><span class=x-handle>`. */
function sliderAround(thumb: Element): Element | null {
  const [, prefix] = PREFIX.exec(thumb.getAttribute('class') ?? '') ?? [];
  if (prefix === undefined) return null;
  const isPart = (one: string): boolean =>
    one === prefix || one.startsWith(`${prefix}-`) || one.startsWith(`${prefix}_`);
  let whole: Element | null = null;
  for (let node = parentOf(thumb); node !== null && [...node.classList].some(isPart); node = parentOf(node))
    whole = node;
  return whole;
}
