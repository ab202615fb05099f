import { foldSpace } from '../../locating/locator.js';
import type { PageProblem, ReadyRequest } from '../../tabs/page-calls.js';
import { accessibleName, drawnText } from '../names/accessible-name.js';
import { roleOf } from '../names/roles.js';
import { isBoxless } from '../tree/boxless.js';
import { isInside, walk } from '../tree/flat-tree.js';
import { isShown } from '../tree/visibility.js';

/** Roles of what one chooses from (https://www.w3.org/TR/wai-aria-1.2/#aria-haspopup says which lists there are). */
const CHOICES = new Set(['option', 'menuitem', 'menuitemradio', 'menuitemcheckbox', 'treeitem', 'gridcell']);
const LISTS = new Set(['listbox', 'menu', 'tree', 'grid', 'radiogroup']);
/** An error names so many of the options that are there. */
const MAX_NAMED = 20;
/** An element with more text than this, and what was sought, is no option. */
const SPARE_TEXT = 500;

export function isList(element: Element): boolean {
  return LISTS.has(roleOf(element));
}

export function isMultiple(element: Element): boolean {
  const owned = listsOf(element).some((list) => list.getAttribute('aria-multiselectable') === 'true');
  return owned || element.getAttribute('aria-multiselectable') === 'true';
}

/**
 * The visible option of a list that its site draws: by role in the list that the control names, then anywhere; of a list
 * without roles, once it is open, whatever bears exactly that text.
 */
export function optionOf(control: Element, text: string, list: ReadyRequest['list']): Element | PageProblem {
  const wanted = foldSpace(text);
  const everywhere = list !== 'closed' ? [document.documentElement] : [];
  const owned = choicesIn(isList(control) ? [control] : [control, ...listsOf(control)]);
  const choices = owned.length > 0 ? owned : choicesIn(everywhere);
  const match =
    choices.find((choice) => foldSpace(accessibleName(choice)) === wanted) ??
    choices.find((choice) => drawnText(choice) === wanted);
  if (match !== undefined) return match;
  if (list === 'open' && owned.length === 0) {
    const bare = within(document.documentElement, (element) => bears(element, wanted) && !isInside(element, control));
    // The innermost comes last; what holds it bears the same text.
    const innermost = bare.find((element) => !bare.some((other) => other !== element && element.contains(other)));
    if (innermost !== undefined) return innermost;
  }
  const named = choices.slice(0, MAX_NAMED).map((choice) => JSON.stringify(drawnText(choice)));
  const has = named.length === 0 ? 'none' : named.join(', ') + (choices.length > MAX_NAMED ? ', …' : '');
  return { problem: 'blocked', reason: `has no option ${JSON.stringify(text)}; it has ${has}`, final: false };
}

function choicesIn(places: readonly Element[]): Element[] {
  return places.flatMap((place) => within(place, (element) => CHOICES.has(roleOf(element))));
}

function within(place: Element, fits: (element: Element) => boolean): Element[] {
  const found: Element[] = [];
  walk(place, true, (element) => {
    if (!element.checkVisibility() && !isBoxless(element)) return undefined;
    if (fits(element) && isShown(element)) found.push(element);
    return true;
  });
  return found;
}

function bears(element: Element, text: string): boolean {
  if (element.localName === 'script' || element.localName === 'style') return false;
  const raw = element.textContent ?? '';
  return raw.length <= text.length + SPARE_TEXT && drawnText(element) === text;
}

/** The visible lists that a control says are its own. */
function listsOf(control: Element): Element[] {
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

/** Some sites put the attributes on the input inside what they call the combobox. */
function inner(control: Element): Element | null {
  return control.querySelector('[aria-controls], [aria-owns]');
}
