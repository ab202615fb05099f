import { foldSpace, formatLocator, type Locator, meantByWords, parseLocator } from '../locating/locator.js';
import { shortName, uniqueLocators } from '../locating/unique-locators.js';
import type { MatchCounts, MissingProblem, MovedNumber, PageProblem, Sought } from '../tabs/page-calls.js';
import type { Control } from './controls/control.js';
import { collect, collectControls, collectCovered } from './controls/controls.js';
import { discoveries } from './controls/discoveries.js';
import { rowTextsOf } from './controls/row-texts.js';
import { shownLooks } from './controls/shown-looks.js';
import { accessibleName, drawnText } from './names/accessible-name.js';
import { answersTo, roleOf } from './names/roles.js';
import { tellingLocator } from './telling-locator.js';
import { allRoots, frameDocument, isElement, isInside, shadowOf, walk } from './tree/flat-tree.js';
import { isCutOff, isVisible, topModal } from './tree/visibility.js';

/** Matches and near misses that an error lists. */
const MAX_LISTED = 20;
const MAX_NEAR = 5;
/** Names that share so much resemble each other, see {@link similarity}. */
const ALIKE = 0.35;
/** Elements by which a page tells how it is doing; how many are read, and listed. */
const STATUSES = '[role=status],[role=alert],[aria-live=polite],[aria-live=assertive],output';
const MAX_STATUSES = 20;
const MAX_SAID = 2;
const DIALOG_ROLES = ['dialog', 'alertdialog'];
const DIALOGS = 'dialog[open],[role=dialog],[role=alertdialog]';
/** An element whose raw text is this much longer than the text sought does not have it as its own. */
const SPARE_TEXT = 2_000;

/** Everything visible that a locator means, in the order of drawing. Throws SyntaxError for one that is malformed. */
export function matchesOf(locator: Locator): Element[] {
  switch (locator.kind) {
    case 'css':
      return bySelector(locator.selector).filter(isVisible);
    case 'xpath':
      return byPath(locator.path).filter(isVisible);
    case 'text': {
      const fits = (control: Control): boolean => isMeantBy(locator, control);
      const open = collectControls(fits);
      const controls = open.length > 0 ? open : collectCovered(fits);
      return controls.length > 0 ? controls.map((control) => control.element) : byText(locator);
    }
  }
}

/** How many a locator means, told apart by the frames of other origins between them. Throws as {@link matchesOf}. */
export function countMatches(locator: Locator): MatchCounts {
  if (locator.kind !== 'text') return { counts: [], frames: [], others: matchesOf(locator).length };
  const { controls, gaps } = collect();
  const fits = controls.map((control) => isMeantBy(locator, control));
  const ends = [...gaps.map(({ at }) => at), controls.length];
  const counts = ends.map((end, index) => fits.slice(index === 0 ? 0 : ends[index - 1], end).filter(Boolean).length);
  const controlled = fits.includes(true);
  const frames = gaps.map(({ frame }) => discoveries()?.frameId(frame) ?? null);
  return { counts, frames, others: controlled ? 0 : matchesOf(locator).length };
}

/** Of these locators, those whose number counted otherwise when what a box has scrolled out of sight did not count. */
export function movedNumbers(locators: readonly string[]): MovedNumber[] {
  return locators.flatMap((source) => {
    const locator = parseLocator(source);
    if (locator?.kind !== 'text' || locator.index === undefined) return [];
    const matches = matchesOf(locator);
    const before = matches.filter((element) => !isCutOff(element))[locator.index - 1];
    if (before === undefined || before === matches[locator.index - 1]) return [];
    return [{ locator: source, now: formatLocator({ ...locator, index: matches.indexOf(before) + 1 }) }];
  });
}

/**
 * The one element that a locator means, or why there is not exactly one.
 *
 * @param options.explain false omits the near misses and the list of matches, which take longer than the search
 */
export function resolve(
  { locator: source, look }: Sought<string>,
  options: { readonly hidden?: boolean; readonly explain?: boolean } = {},
): Element | PageProblem {
  const shown = shownLooks.find(source, look);
  if (shown !== null) return shown;
  const locator = parseLocator(source);
  if (locator === undefined) return malformed(source, 'a locator is {role}text, CSS or XPath');
  let matches: Element[];
  try {
    matches = matchesOf(locator);
    if (matches.length === 0 && options.hidden === true && locator.kind !== 'text') {
      matches = locator.kind === 'css' ? bySelector(locator.selector) : byPath(locator.path);
    }
  } catch {
    return malformed(
      source,
      locator.kind === 'xpath' ? 'it is no valid XPath' : 'it is no valid CSS, and no {role}text',
    );
  }
  const brief = options.explain === false;
  const absent = (others: number): PageProblem =>
    brief ? { problem: 'missing', message: '', near: [], alike: false, says: [] } : missing(source, locator, others);
  const index = locator.kind === 'text' ? locator.index : undefined;
  if (index !== undefined) return matches[index - 1] ?? absent(matches.length);
  const [first, second] = matches;
  if (first === undefined) return absent(0);
  if (second === undefined) return first;
  const [whole, other] = matches.filter((element) => !isCutOff(element));
  if (whole !== undefined && other === undefined) return whole;
  if (brief) return { problem: 'ambiguous', matches: [] };
  const rows = rowTextsOf(matches.slice(0, MAX_LISTED)).map((text) => shortName(text));
  const only = tellingLocator(matches, (other) => isOnlyMatch(other, first));
  return { problem: 'ambiguous', matches: listed(locator, matches), rows, ...(only === null ? {} : { only }) };
}

function isOnlyMatch(source: string, element: Element): boolean {
  const locator = parseLocator(source);
  if (locator === undefined) return false;
  try {
    const [match, other] = matchesOf(locator);
    return match === element && other === undefined;
  } catch {
    return false;
  }
}

/** Whether an element is visible, or operated by something else that is. */
export function isUsable(element: Element): boolean {
  return isVisible(element) || collectControls((control) => control.element === element).length > 0;
}

/** A locator for an element that an error speaks of: `{div}Cookie notice`. */
export function nameFor(element: Element): string {
  const name = shortName(accessibleName(element) || drawnText(element));
  if (name !== '') return formatLocator({ role: roleOf(element), text: name.slice(0, 80) });
  const id = element.id === '' ? '' : `#${element.id}`;
  const [className] = element.classList;
  return id === '' && className === undefined ? `{${roleOf(element)}}` : `${element.localName}${id || `.${className}`}`;
}

function isMeantBy(locator: Locator & { kind: 'text' }, { words, name }: Control): boolean {
  return (locator.role === '*' || words.includes(locator.role)) && nameFits(name, locator);
}

function nameFits(name: string, locator: Locator & { kind: 'text' }): boolean {
  return locator.text === '' || (locator.contains ? name.includes(locator.text) : name === locator.text);
}

/** What is no control: headings, rows, messages. The innermost of several around the same text. */
function byText(locator: Locator & { kind: 'text' }): Element[] {
  const found: Element[] = [];
  const longest = locator.text.length * 2 + SPARE_TEXT;
  walk(topModal() ?? document.documentElement, true, (element) => {
    if (element.localName === 'head' || element.localName === 'script' || element.localName === 'style')
      return undefined;
    if (!answersTo(element, locator.role)) return true;
    // Shadow roots and frames do not count in textContent.
    const text = element.textContent ?? '';
    const opaque = shadowOf(element) !== null || frameDocument(element) !== null;
    if (!opaque && !locator.contains && text.length > longest) return true;
    const fits =
      locator.text === '' || nameFits(accessibleName(element), locator) || nameFits(drawnText(element), locator);
    if (fits && isVisible(element)) found.push(element);
    return true;
  });
  if (locator.text === '') return found;
  return found.filter((element, index) => {
    const next = found[index + 1];
    return next === undefined || !isInside(next, element);
  });
}

function bySelector(selector: string): Element[] {
  const found: Element[] = [...document.querySelectorAll(selector)];
  if (found.length > 0) return found;
  for (const root of allRoots().slice(1)) found.push(...root.querySelectorAll(selector));
  return found;
}

function byPath(path: string): Element[] {
  const found = new Set<Element>();
  for (const root of allRoots()) {
    if (root.nodeType !== 9) continue;
    const inner = root as Document;
    // 7: an ordered snapshot.
    const result = inner.evaluate(path, inner, null, 7, null);
    for (let index = 0; index < result.snapshotLength; index++) {
      const node = result.snapshotItem(index);
      const element = isElement(node) ? node : node?.parentElement;
      if (element !== null && element !== undefined) found.add(element);
    }
  }
  return [...found];
}

function malformed(source: string, reason: string): PageProblem {
  return { problem: 'syntax', message: `${source} is not a locator: ${reason}` };
}

const ANY = { kind: 'text', role: '*', contains: false, index: undefined } as const;

function missing(source: string, locator: Locator, others: number): PageProblem {
  const words = locator.kind === 'css' ? meantByWords(source) : '';
  const sought: Locator = words === '' ? locator : { ...ANY, text: foldSpace(source) };
  const message =
    others === 0
      ? `No visible element answers to ${source}${words}`
      : `${source}: there ${others === 1 ? 'is' : 'are'} only ${others} of them`;
  const { near, alike } = sought.kind === 'text' ? nearMisses(sought) : { near: [], alike: false };
  const open = others === 0 ? openDialog(locator) : null;
  return {
    problem: 'missing',
    message,
    near,
    alike,
    says: others === 0 ? statusTexts() : [],
    ...(open === null ? {} : { dialog: open }),
  };
}

/** The dialog that keeps the rest of the page from being used, or is open in place of the one that is sought. */
function openDialog(locator: Locator): NonNullable<MissingProblem['dialog']> | null {
  const modal = topModal();
  if (modal !== null) return { name: shortName(accessibleName(modal)), modal: true };
  if (locator.kind !== 'text' || !DIALOG_ROLES.includes(locator.role)) return null;
  const other = allRoots()
    .flatMap((root) => [...root.querySelectorAll(DIALOGS)])
    .find(isVisible);
  return other === undefined ? null : { name: shortName(accessibleName(other)), modal: false };
}

function listed(locator: Locator, matches: readonly Element[]): string[] {
  const shown = matches.slice(0, MAX_LISTED);
  const controls = allControls();
  if (locator.kind === 'text') {
    const { role, text, contains } = locator;
    const numbered = shown.map((_, at) => formatLocator({ role, text, contains, index: at + 1 }));
    const byElement = new Map(controls.map((control) => [control.element, control]));
    shownLooks.list(
      numbered,
      shown.map((element) => byElement.get(element)),
    );
    return shown.map((element, at) => {
      const full = contains || text === '' ? ` (${nameFor(element)})` : '';
      return `${numbered[at]}${full}`;
    });
  }
  const locators = uniqueLocators(controls);
  const byElement = new Map<Element, string>(controls.map(({ element }, at) => [element, locators[at] ?? '']));
  return shown.map((element) => byElement.get(element) ?? nameFor(element));
}

/** What look would print; where a veil lies over everything, what it would print without it. */
function allControls(): readonly Control[] {
  const { controls } = collect();
  return controls.length > 0 ? controls : collectCovered(() => true);
}

/** What the page tells its users now: that it is busy, or that something failed. */
function statusTexts(): string[] {
  const texts = allRoots()
    .flatMap((root) => [...root.querySelectorAll(STATUSES)].slice(0, MAX_STATUSES))
    .filter(isVisible)
    .map((element) => foldSpace(drawnText(element)))
    .filter((text) => text !== '');
  return [...new Set(texts)].slice(0, MAX_SAID).map((text) => shortName(text));
}

/** Controls whose names resemble the one sought, the nearest first, as look prints them. */
function nearMisses(locator: Locator & { kind: 'text' }): { readonly near: string[]; readonly alike: boolean } {
  const controls = allControls();
  const locators = uniqueLocators(controls);
  const scored = controls.map((control, order) => {
    // `{Save}` is a role, and most often meant as a name.
    const likeness = similarity(locator.text === '' ? locator.role : locator.text, control.name);
    const exact = control.words.includes(locator.role);
    const ofRole = exact || familyOf(control.words, locator.role);
    return { order, exact, ofRole, likeness, score: likeness + (ofRole ? 0.25 : 0) };
  });
  scored.sort((left, right) => right.score - left.score || left.order - right.order);
  const isAlike = scored.some(({ likeness }) => likeness >= ALIKE);
  const alike = scored.filter(({ score, ofRole }) => (isAlike && score >= ALIKE) || (locator.text === '' && ofRole));
  const texts = isAlike || locator.text === '' || locator.role === '*' ? [] : byText({ ...locator, role: '*' });
  if (texts.length > 0) return { near: [...new Set(texts.map(nameFor))].slice(0, MAX_NEAR), alike: true };
  // If no name is similar: what else there is of the kind, and if there is nothing of it, of any.
  const ofKind = scored.filter((one) => one.ofRole).sort((left, right) => Number(right.exact) - Number(left.exact));
  const ofRole = alike.length > 0 ? alike : ofKind;
  const near = (ofRole.length > 0 || locator.role !== '*' ? ofRole : scored).slice(0, MAX_NEAR);
  const names = near.map(({ order }) => locators[order] ?? '');
  shownLooks.list(
    names,
    near.map(({ order }) => controls[order]),
  );
  return { near: names, alike: near.some(({ likeness }) => likeness >= ALIKE) };
}

/** Roles that people take for one another. */
const FAMILIES = [
  ['button', 'a', 'link', 'tab', 'menuitem', 'summary'],
  ['input', 'textarea', 'textbox', 'searchbox', 'combobox', 'spinbutton'],
  ['select', 'combobox', 'listbox'],
  ['input', 'checkbox', 'switch', 'radio'],
];

function familyOf(words: readonly string[], role: string): boolean {
  return FAMILIES.some((family) => family.includes(role) && words.some((word) => family.includes(word)));
}

/** 0 to 1: the share of letter pairs that two names have in common; one inside the other counts at least half. */
function similarity(left: string, right: string): number {
  const [one, two] = [foldSpace(left).toLowerCase(), foldSpace(right).toLowerCase()];
  if (one === two) return 1;
  if (one === '' || two === '') return 0;
  const pairs = pairsOf(one);
  const others = pairsOf(two);
  const common = [...pairs].filter((pair) => others.has(pair)).length;
  const dice = (2 * common) / Math.max(1, pairs.size + others.size);
  return one.includes(two) || two.includes(one) ? Math.max(0.5, dice) : dice;
}

function pairsOf(text: string): Set<string> {
  const pairs = new Set<string>();
  for (let at = 0; at < Math.min(text.length, 200) - 1; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}
