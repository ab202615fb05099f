import { accessibleName, drawnText } from '../names/accessible-name.js';
import { isField, roleOf } from '../names/roles.js';
import { asSeen, seenText, seenTexts } from '../names/seen-text.js';
import { isBoxless } from '../tree/boxless.js';
import { childNodesOf, parentOf, walk } from '../tree/flat-tree.js';
import { isDisabled, isShown } from '../tree/visibility.js';

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

/** What is drawn of options in these places, and the one of them that a text means. */
export interface Options {
  readonly texts: readonly string[];
  /** They say that they are options. */
  readonly byRole: boolean;
  readonly match: Element | null;
  /** Why the text means none of them for sure, completing "it ..."; null where it does. */
  readonly unclear: string | null;
}

/**
 * The options that stand in lists that a control names; where there are none, in what has appeared since it was pressed:
 * there by role, then whatever shows exactly that text.
 *
 * @param mayBe whether an element may be an option at all
 */
export function optionsIn(
  named: readonly Element[],
  popups: readonly Element[],
  text: string,
  mayBe: (element: Element) => boolean = () => true,
): Options {
  const wanted = asSeen(text);
  const owned = choicesIn(named).filter(mayBe);
  const choices = owned.length > 0 ? owned : choicesIn(popups).filter(mayBe);
  if (choices.length > 0) {
    const options = choices.map((choice) => {
      const shown = seenTexts(choice);
      const shows = shown.includes(wanted);
      const name = accessibleName(choice);
      return { option: choice, text: shown[0] ?? name, shows, isNamed: asSeen(name) === wanted };
    });
    const { match: meant, unclear } = meantOption(options, wanted, (choice) => !isDisabled(choice));
    const isMeant = meant !== null || unclear !== null;
    const match = isMeant ? meant : (choices.find((choice) => asSeen(drawnText(choice)) === wanted) ?? null);
    return { texts: options.map((one) => one.text), byRole: true, match, unclear };
  }
  const bare = popups.flatMap((popup) => within(popup, (element) => mayBe(element) && bears(element, wanted)));
  // What holds the innermost bears the same text.
  const match = bare.find((element) => !bare.some((other) => other !== element && element.contains(other))) ?? null;
  const entries = popups
    .flatMap((popup) => within(popup, (element) => mayBe(element) && holdsText(element)))
    .slice(0, MAX_ENTRIES);
  const outermost = entries.filter((entry) => !entries.some((other) => other !== entry && other.contains(entry)));
  const texts = outermost.map(seenText);
  return { texts: texts.filter((one) => one !== ''), byRole: false, match, unclear: null };
}

/**
 * The option that a text means: one that shows it, or else one whose name it is; of several the first that can be chosen. What
 * one shows and another is named means neither.
 */
export function meantOption<O>(
  options: readonly { readonly option: O; readonly text: string; readonly shows: boolean; readonly isNamed: boolean }[],
  wanted: string,
  canBeChosen: (option: O) => boolean,
): { readonly match: O | null; readonly unclear: string | null } {
  const meant = options.filter(({ shows, isNamed }) => shows || isNamed);
  const open = meant.filter(({ option }) => canBeChosen(option));
  const candidates = open.length > 0 ? open : meant;
  const best = candidates.find(({ shows, isNamed }) => shows && isNamed) ?? candidates.find(({ shows }) => shows);
  const named = candidates.find(({ isNamed }) => isNamed);
  if (best !== undefined && named !== undefined && !best.isNamed) {
    const [quoted, other] = [JSON.stringify(wanted), JSON.stringify(named.text)];
    const unclear = `has two options that ${quoted} may mean: one that shows it, and one that is named so and shows ${other}`;
    return { match: null, unclear };
  }
  return { match: (best ?? named)?.option ?? null, unclear: null };
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
  return raw.length <= text.length + SPARE_TEXT && seenTexts(element).includes(text);
}

/** Whether a text stands in an element itself. */
function holdsText(element: Element): boolean {
  if (element.localName === 'script' || element.localName === 'style' || isField(element)) return false;
  for (const node of childNodesOf(element)) if (node.nodeType === 3 && asSeen(node.nodeValue ?? '') !== '') return true;
  return false;
}

/** Some sites put the attributes on the input inside what they call the combobox. */
function inner(control: Element): Element | null {
  return control.querySelector('[aria-controls], [aria-owns]');
}
