import { foldSpace, formatLocator, type Locator, meantByWords, parseLocator } from '../locating/locator.js';
import { shortName, uniqueLocators } from '../locating/unique-locators.js';
import type { MatchCounts, MovedNumber, PageProblem, Sought } from '../tabs/page-calls.js';
import type { Control } from './controls/control.js';
import { collect, type Wanted } from './controls/controls.js';
import { discoveries } from './controls/discoveries.js';
import { shownLooks } from './controls/shown-looks.js';
import { accessibleName, drawnText } from './names/accessible-name.js';
import { answersTo, roleOf } from './names/roles.js';
import { allRoots, frameDocument, isElement, isInside, shadowOf, walk } from './tree/flat-tree.js';
import { Sight } from './tree/sight.js';
import { isCutOff, isShown, isVisible, standIn, topModal } from './tree/visibility.js';

/** Matches and near misses that an error lists. */
const MAX_LISTED = 20;
const MAX_NEAR = 5;
/** Names that share so much resemble each other, see {@link similarity}. */
const ALIKE = 0.35;
/** Elements by which a page tells how it is doing; how many are read, and listed. */
const STATUSES = '[role=status],[role=alert],[aria-live=polite],[aria-live=assertive],output';
const MAX_STATUSES = 20;
const MAX_SAID = 2;
/** An element whose raw text is this much longer than the text sought does not have it as its own. */
const SPARE_TEXT = 2_000;

/** Everything rendered that a locator means, in the order of the document, covered or not. Throws SyntaxError for one that is malformed. */
export function matchesOf(locator: Locator): Element[] {
  switch (locator.kind) {
    case 'css':
      return bySelector(locator.selector).filter(isVisible);
    case 'xpath':
      return byPath(locator.path).filter(isVisible);
    case 'text': {
      const { controls } = collect(wantedBy(locator));
      return controls.length > 0 ? controls.map((control) => control.element) : byText(locator);
    }
  }
}

/**
 * How many a locator means, told apart by the frames of other origins between them. Throws as {@link matchesOf}.
 *
 * @param sifts those that are neither clipped nor covered are wanted
 */
export function countMatches(locator: Locator, sifts: boolean): MatchCounts {
  const { controls, gaps } = locator.kind === 'text' ? collect(wantedBy(locator)) : { controls: [], gaps: [] };
  const controlled = controls.length > 0;
  const found = controlled
    ? controls.map(({ element }) => element)
    : locator.kind === 'text'
      ? byText(locator)
      : matchesOf(locator);
  const ends = [...gaps.map(({ at }) => at), controls.length];
  const counts = ends.map((end, index) => end - (ends[index - 1] ?? 0));
  const frames = gaps.map(({ frame, whereabouts }) => ({
    frame: discoveries()?.frameId(frame) ?? null,
    isOpen: !sifts || (!isCutOff(frame) && whereabouts() !== 'unreachable'),
  }));
  const open = sifts ? firstOpen(found).map((element) => found.indexOf(element) + 1) : [];
  return {
    counts: locator.kind === 'text' ? counts : [],
    frames,
    others: controlled ? 0 : found.length,
    open,
  };
}

/**
 * Of these locators, those whose number counted otherwise when only what can be reached counted, whatever says that it is modal.
 */
export function movedNumbers(locators: readonly string[]): MovedNumber[] {
  const usable = new Set(collect().controls.map(({ element }) => element));
  // What was out of view behind such a dialog did not count.
  const counted = collect({}, false).controls.filter(
    ({ element, whereabouts }) => usable.has(element) || whereabouts !== 'offscreen',
  );
  return locators.flatMap((source) => {
    const locator = parseLocator(source);
    if (locator?.kind !== 'text' || locator.index === undefined) return [];
    const fits = counted.filter((control) => isMeantBy(locator, control));
    const reachable = fits.filter(({ whereabouts }) => whereabouts !== 'unreachable');
    const before = (reachable.length > 0 ? reachable : fits)[locator.index - 1]?.element;
    const now = matchesOf(locator);
    if (before === undefined || before === now[locator.index - 1]) return [];
    const index = now.indexOf(before) + 1;
    return [{ locator: source, now: index === 0 ? null : formatLocator({ ...locator, index }) }];
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
  const [open, other] = firstOpen(matches);
  if (open !== undefined && other === undefined) return open;
  return { problem: 'ambiguous', matches: brief ? [] : listed(locator, matches) };
}

/** The first two elements of several that are neither clipped nor covered: if there is only one, it is the one meant. */
function firstOpen(elements: readonly Element[]): readonly Element[] {
  const sight = new Sight();
  const open: Element[] = [];
  for (const element of elements) {
    if (isCutOff(element) || !canBePointedAt(element, sight)) continue;
    open.push(element);
    if (open.length === 2) break;
  }
  return open;
}

/** Whether a person can point at an element, or at what stands for it. */
function canBePointedAt(element: Element, sight: Sight): boolean {
  for (const shown of [element, standIn(element)]) {
    if (shown !== null && isShown(shown) && sight.whereIs(element, shown) !== 'unreachable') return true;
  }
  return false;
}

/** Whether an element is visible, or operated by something else that is. */
export function isUsable(element: Element): boolean {
  return isVisible(element) || collect({ fits: (control) => control.element === element }).controls.length > 0;
}

/** A locator for an element that an error speaks of: `{div}Cookie notice`. */
export function nameFor(element: Element): string {
  const name = shortName(accessibleName(element) || drawnText(element));
  if (name !== '') return formatLocator({ role: roleOf(element), text: name.slice(0, 80) });
  const id = element.id === '' ? '' : `#${element.id}`;
  const [className] = element.classList;
  return id === '' && className === undefined ? `{${roleOf(element)}}` : `${element.localName}${id || `.${className}`}`;
}

function wantedBy(locator: Locator & { kind: 'text' }): Wanted {
  return { word: locator.role, fits: ({ name }) => nameFits(name, locator) };
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
  return { problem: 'missing', message, near, alike, says: others === 0 ? statusTexts() : [] };
}

function listed(locator: Locator, matches: readonly Element[]): string[] {
  const shown = matches.slice(0, MAX_LISTED);
  const { controls } = collect();
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
  const { controls } = collect();
  const locators = uniqueLocators(controls);
  const scored = controls.map((control, order) => {
    // `{Save}` is a role, and most often meant as a name.
    const likeness = similarity(locator.text === '' ? locator.role : locator.text, control.name);
    const ofRole = control.words.includes(locator.role) || familyOf(control.words, locator.role);
    return { order, ofRole, likeness, score: likeness + (ofRole ? 0.25 : 0) };
  });
  scored.sort((left, right) => right.score - left.score || left.order - right.order);
  const alike = scored.filter(({ score, ofRole }) => score >= ALIKE || (locator.text === '' && ofRole));
  // If no name is similar: what else there is of the kind, and if there is nothing of it, of any.
  const ofRole = alike.length > 0 ? alike : scored.filter((one) => one.ofRole);
  const near = firstReachable(
    ofRole.length > 0 || locator.role !== '*' ? ofRole : scored,
    ({ order }) => controls[order],
  );
  const names = near.map(({ order }) => locators[order] ?? '');
  shownLooks.list(
    names,
    near.map(({ order }) => controls[order]),
  );
  return { near: names, alike: near.some(({ likeness }) => likeness >= ALIKE) };
}

/** The first few of these that a look shows; of what is all covered, the first few. */
function firstReachable<T>(ranked: readonly T[], controlOf: (one: T) => Control | undefined): readonly T[] {
  const near: T[] = [];
  for (const one of ranked) {
    if (near.length === MAX_NEAR) break;
    if (controlOf(one)?.whereabouts !== 'unreachable') near.push(one);
  }
  return near.length > 0 ? near : ranked.slice(0, MAX_NEAR);
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
