import type { Wanted } from './controls/collector.js';
import type { Control } from './controls/control.js';
import { collect } from './controls/controls.js';
import { discoveries } from './controls/discoveries.js';
import { Modals } from './controls/modals.js';
import { shownLooks } from './controls/shown-looks.js';
import { foldSpace, formatLocator, type Locator, meantByWords, parseLocator } from './locator.js';
import { accessibleName, drawnText } from './names/accessible-name.js';
import { answersTo, roleOf } from './names/roles.js';
import type { MatchCounts, MovedNumber, PageProblem, Sought } from './page-calls.js';
import { allRoots, frameDocument, isElement, isInside, shadowOf, walk } from './tree/flat-tree.js';
import { Sight } from './tree/sight.js';
import { isCutOff, isShown, isVisible, standIn } from './tree/visibility.js';
import { shortName, uniqueLocators } from './unique-locators.js';

/** Matches and near misses that an error lists. */
const MAX_LISTED = 20;
const MAX_NEAR = 5;
/** Names that share so much resemble each other, see {@link similarity}. */
const ALIKE = 0.35;
/** Elements by which a page tells how it is doing; how many are read, and listed. */
const STATUSES = '[role=status],[role=alert],[aria-live=polite],[aria-live=assertive],output';
const MAX_STATUSES = 20;
const MAX_SAID = 2;
/** Calls nothing. */
const NO_WORD = '';
/** An element whose raw text is this much longer than the text sought does not have it as its own. */
const SPARE_TEXT = 2_000;

/** What a locator means: everything that is rendered, covered or not, in the order of the document. */
interface Meaning {
  /** What can be used. */
  readonly usable: readonly Element[];
  /** What can only be read: it is behind a modal dialog, or inert in another way. */
  readonly inert: readonly Element[];
}

/** Throws SyntaxError for a locator that is malformed. */
function meaningOf(locator: Locator): Meaning {
  if (locator.kind === 'css') return split(bySelector(locator.selector).filter(isVisible));
  if (locator.kind === 'xpath') return split(byPath(locator.path).filter(isVisible));
  const { controls, inert } = collect({ ...wantedBy(locator), inert: true });
  if (controls.length + inert.length === 0) return split(byText(locator));
  return { usable: controls.map(({ element }) => element), inert: inert.map(({ element }) => element) };
}

/** Everything rendered that a locator means, whether it can be used or not. Throws as {@link meaningOf}. */
export function matchesOf(locator: Locator): readonly Element[] {
  const { usable, inert } = meaningOf(locator);
  return [...usable, ...inert];
}

/** How many numbers a locator has now; with `gone`, how many there are, so that fewer have gone. Throws as {@link meaningOf}. */
export function countFor(locator: Locator, gone: boolean): number {
  return gone ? matchesOf(locator).length : meant(meaningOf(locator)).length;
}

/** @param exactly of a single one, too, is told whether it can be used */
function split(elements: readonly Element[], exactly = false): Meaning {
  if (elements.length === 0 || (elements.length === 1 && !exactly)) return { usable: elements, inert: [] };
  const modals = Modals.now(true);
  const usable: Element[] = [];
  const inert: Element[] = [];
  for (const element of elements) (modals.inertness(element) === null ? usable : inert).push(element);
  return { usable, inert };
}

/** What a locator is about: what can be used, and where nothing of it can, what can be read. */
function meant({ usable, inert }: Meaning): readonly Element[] {
  return usable.length > 0 ? usable : inert;
}

/**
 * How many a locator means, told apart by the frames of other origins between them. Throws as {@link meaningOf}.
 *
 * @param sifts those that are neither clipped nor covered are wanted
 */
export function countMatches(locator: Locator, sifts: boolean): MatchCounts {
  const wanted = locator.kind === 'text' ? wantedBy(locator) : { word: NO_WORD };
  const { controls, inert, gaps } = collect({ ...wanted, inert: true });
  const controlled = controls.length + inert.length > 0;
  const meaning = controlled
    ? { usable: controls.map(({ element }) => element), inert: inert.map(({ element }) => element) }
    : split(locator.kind === 'text' ? byText(locator) : matchesOf(locator), true);
  const ends = [...gaps.map(({ at }) => at), controls.length];
  const counts = ends.map((end, index) => end - (ends[index - 1] ?? 0));
  const frames = gaps.map(({ frame, isInert, whereabouts }) => ({
    frame: discoveries()?.frameId(frame) ?? null,
    isOpen: !sifts || (!isCutOff(frame) && whereabouts() !== 'unreachable'),
    isInert,
  }));
  const found = meant(meaning);
  return {
    counts: locator.kind === 'text' ? counts : [],
    frames,
    others: controlled ? 0 : meaning.usable.length,
    inert: meaning.inert.length,
    open: sifts ? firstOpen(found).map((element) => found.indexOf(element) + 1) : [],
  };
}

/**
 * Of these locators, those whose number counted otherwise when only what can be reached counted, whatever says that it is modal.
 */
export function movedNumbers(locators: readonly string[]): MovedNumber[] {
  const listed = new Set(collect().controls.map(({ element }) => element));
  // What was out of view behind such a dialog did not count.
  const counted = collect({ takesWord: false }).controls.filter(
    ({ element, whereabouts }) => listed.has(element) || whereabouts !== 'offscreen',
  );
  return locators.flatMap((source) => {
    const locator = parseLocator(source);
    if (locator?.kind !== 'text' || locator.index === undefined) return [];
    const fits = counted.filter((control) => isMeantBy(locator, control));
    const reachable = fits.filter(({ whereabouts }) => whereabouts !== 'unreachable');
    const before = (reachable.length > 0 ? reachable : fits)[locator.index - 1]?.element;
    const now = meant(meaningOf(locator));
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
  sought: Sought<string>,
  options: { readonly hidden?: boolean; readonly explain?: boolean } = {},
): Element | PageProblem {
  const { locator: source, flowRun = null } = sought;
  const shown = shownLooks.find(sought);
  if (shown !== null) return shown;
  const locator = parseLocator(source);
  if (locator === undefined) return malformed(source, 'a locator is {role}text, CSS or XPath');
  let meaning: Meaning;
  try {
    meaning = meaningOf(locator);
    if (meant(meaning).length === 0 && options.hidden === true && locator.kind !== 'text') {
      const hidden = locator.kind === 'css' ? bySelector(locator.selector) : byPath(locator.path);
      meaning = { usable: hidden, inert: [] };
    }
  } catch (error) {
    if (locator.kind === 'text' || (locator.kind === 'css' && !(error instanceof DOMException))) throw error;
    return malformed(
      source,
      locator.kind === 'xpath' ? 'it is not valid XPath' : 'it is neither valid CSS nor {role}text',
    );
  }
  const matches = meant(meaning);
  const brief = options.explain === false;
  const absent = (): PageProblem => missing({ source, flowRun, brief }, locator, meaning);
  const index = locator.kind === 'text' ? locator.index : undefined;
  if (index !== undefined) return matches[index - 1] ?? absent();
  const [first, second] = matches;
  if (first === undefined) return absent();
  if (second === undefined) return first;
  const [open, other] = firstOpen(matches);
  if (open !== undefined && other === undefined) return open;
  return { problem: 'ambiguous', matches: brief ? [] : listed(locator, matches, flowRun) };
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

/** Whether an element is rendered, or something else is in its place. */
export function isRendered(element: Element): boolean {
  if (isVisible(element)) return true;
  const { controls, inert } = collect({ fits: (control) => control.element === element, inert: true });
  return controls.length + inert.length > 0;
}

/** Why an element can be read and not used, completing "it ..."; null if it can be used. */
export function inertReason(element: Element, takesWord: boolean): string | null {
  const found = Modals.now(takesWord).inertness(element);
  if (found === null) return null;
  return found.behind === null ? 'is inert' : `is behind ${nameFor(found.behind)}`;
}

/** A locator for an element that an error speaks of: `{div}Cookie notice`. */
export function nameFor(element: Element): string {
  const name = shortName(accessibleName(element) || drawnText(element));
  if (name !== '') return formatLocator({ role: roleOf(element), text: name.slice(0, 80) });
  const id = element.id === '' ? '' : `#${element.id}`;
  const [className] = element.classList;
  return id === '' && className === undefined ? `{${roleOf(element)}}` : `${element.localName}${id || `.${className}`}`;
}

function wantedBy(locator: Locator & { kind: 'text' }): Pick<Wanted, 'word' | 'fits'> {
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
  walk(document.documentElement, true, (element) => {
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

function missing(
  { source, flowRun, brief }: { readonly source: string; readonly flowRun: number | null; readonly brief: boolean },
  locator: Locator,
  { usable, inert }: Meaning,
): PageProblem {
  const index = locator.kind === 'text' ? (locator.index ?? 1) : 1;
  // What is there behind a dialog has not gone, though no number means it.
  const isBehind = usable.length > 0 && usable.length + inert.length >= index;
  const behind = isBehind ? { behind: true } : {};
  if (brief) return { problem: 'missing', message: '', near: [], alike: [], says: [], ...behind };
  const words = locator.kind === 'css' ? meantByWords(source) : '';
  const sought: Locator = words === '' ? locator : { ...ANY, text: foldSpace(source) };
  const others = usable.length > 0 ? usable.length : inert.length;
  const more = isBehind ? `, and ${inert.length} that cannot be used now` : '';
  const message =
    others === 0
      ? `No visible element matches ${source}${words}`
      : `${source}: there ${others === 1 ? 'is' : 'are'} only ${others} of them${more}`;
  const { near, alike } = sought.kind === 'text' ? nearMisses(sought, flowRun) : { near: [], alike: [] };
  return { problem: 'missing', message, near, alike, says: others === 0 ? statusTexts() : [], ...behind };
}

function listed(locator: Locator, matches: readonly Element[], flowRun: number | null): string[] {
  const shown = matches.slice(0, MAX_LISTED);
  const { controls } = collect();
  if (locator.kind === 'text') {
    const { role, text, contains } = locator;
    const numbered = shown.map((_, at) => formatLocator({ role, text, contains, index: at + 1 }));
    const byElement = new Map(controls.map((control) => [control.element, control]));
    shownLooks.list(
      numbered,
      shown.map((element) => byElement.get(element)),
      flowRun,
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
function nearMisses(
  locator: Locator & { kind: 'text' },
  flowRun: number | null,
): { readonly near: string[]; readonly alike: string[] } {
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
    flowRun,
  );
  return { near: names, alike: names.filter((_, at) => (near[at]?.likeness ?? 0) >= ALIKE) };
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
