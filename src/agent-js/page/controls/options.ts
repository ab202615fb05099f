import { foldSpace } from '../../locating/locator.js';
import { accessibleName, drawnText } from '../names/accessible-name.js';
import { roleOf } from '../names/roles.js';
import { isBoxless } from '../tree/boxless.js';
import { parentOf, walk } from '../tree/flat-tree.js';
import { isShown } from '../tree/visibility.js';

/** Roles of what one chooses from (https://www.w3.org/TR/wai-aria-1.2/#aria-haspopup says which lists there are). */
const CHOICES = new Set(['option', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'treeitem', 'gridcell']);
const LISTS = new Set(['listbox', 'menu', 'tree', 'grid', 'radiogroup']);
/** An element with more text than this, and what was sought, is no option. */
const SPARE_TEXT = 500;
/** Entries of a list without roles that are named. */
const MAX_ENTRIES = 50;

export function isList(element: Element): boolean {
  return LISTS.has(roleOf(element));
}

export function isMultiple(element: Element): boolean {
  const owned = ownLists(element).some((list) => list.getAttribute('aria-multiselectable') === 'true');
  return owned || element.getAttribute('aria-multiselectable') === 'true';
}

/** What is drawn of options in these places, and the one of them that bears a text. */
export interface Options {
  readonly texts: readonly string[];
  /** They say that they are options. */
  readonly byRole: boolean;
  readonly match: Element | null;
}

/**
 * The options that stand in lists that a control names; where there are none, in what has appeared since it was pressed:
 * there by role, then whatever bears exactly that text.
 */
export function optionsIn(named: readonly Element[], popups: readonly Element[], text: string): Options {
  const wanted = foldSpace(text);
  const owned = choicesIn(named);
  const choices = owned.length > 0 ? owned : choicesIn(popups);
  if (choices.length > 0) {
    const match =
      choices.find((choice) => foldSpace(accessibleName(choice)) === wanted) ??
      choices.find((choice) => drawnText(choice) === wanted) ??
      null;
    return { texts: choices.map(drawnText), byRole: true, match };
  }
  const bare = popups.flatMap((popup) => within(popup, (element) => bears(element, wanted)));
  // What holds the innermost bears the same text.
  const match = bare.find((element) => !bare.some((other) => other !== element && element.contains(other))) ?? null;
  const entries = popups.flatMap((popup) => within(popup, (element) => element.firstElementChild === null));
  const texts = entries.slice(0, MAX_ENTRIES).map(drawnText);
  return { texts: texts.filter((one) => one !== ''), byRole: false, match };
}

/** The visible lists that a control says are its own. */
export function ownLists(control: Element): Element[] {
  const owner = control.hasAttribute('aria-controls') || control.hasAttribute('aria-owns') ? control : inner(control);
  const ids = `${owner?.getAttribute('aria-controls') ?? ''} ${owner?.getAttribute('aria-owns') ?? ''}`.trim();
  if (owner === null || ids === '') return [];
  const root = owner.getRootNode();
  if (!('getElementById' in root)) return [];
  return ids.split(/\s+/).flatMap((id) => {
    const list = (root as Document).getElementById(id);
    return list !== null && isShown(list) ? [list] : [];
  });
}

/** What stands in the fields of a control that is made of several. */
export function textsOf(control: Element): string {
  return [...control.querySelectorAll('input')].map(({ type, value }) => (type === 'password' ? '' : value)).join(' ');
}

function choicesIn(places: readonly Element[]): Element[] {
  return places.flatMap((place) => within(place, (element) => CHOICES.has(roleOf(element))));
}

function within(place: Element, fits: (element: Element) => boolean): Element[] {
  const found: Element[] = [];
  if (isClippedAway(place)) return found;
  walk(place, true, (element) => {
    if ((!element.checkVisibility() && !isBoxless(element)) || clipsItself(element)) return undefined;
    if (fits(element) && isShown(element)) found.push(element);
    return true;
  });
  return found;
}

/** Whether a list is closed by clipping all of it, or of what it stands in. */
export function isClippedAway(element: Element): boolean {
  for (let node: Element | null = element; node !== null; node = parentOf(node)) if (clipsItself(node)) return true;
  return false;
}

function clipsItself(element: Element): boolean {
  const { clip, clipPath, position } = getComputedStyle(element);
  return (
    (clip === 'rect(0px, 0px, 0px, 0px)' && /absolute|fixed/.test(position)) || /^inset\((?:50|100)%/.test(clipPath)
  );
}

function bears(element: Element, text: string): boolean {
  if (element.localName === 'script' || element.localName === 'style') return false;
  const raw = element.textContent ?? '';
  return raw.length <= text.length + SPARE_TEXT && drawnText(element) === text;
}

/** Some sites put the attributes on the input inside what they call the combobox. */
function inner(control: Element): Element | null {
  return control.querySelector('[aria-controls], [aria-owns]');
}
