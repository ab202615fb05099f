import { foldSpace } from '../locating/locator.js';
import { neighbouringRow } from './controls/row-texts.js';

/** Texts of a row that are tried, and how long they may be: what a person reads at a glance. */
const MAX_TEXTS = 8;
const MIN_TEXT = 2;
const MAX_TEXT = 40;
/** Attributes by which authors of pages name elements for tests. */
const TEST_IDS = ['data-testid', 'data-test-id', 'data-test', 'data-cy'];
/** Ids that programs make up end in numbers, and are others the next time. */
const WRITTEN_ID = /^[A-Za-z](?!.*\d{2})[\w-]*$/;
/** What a page divides itself into, and what names its parts. */
const PARTS = 'fieldset,section,form,article,dialog,[role=group],[role=region],[role=dialog],li,tr';
const HEADINGS = ['legend', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6'];

/**
 * A locator that means only the first of several elements of one name: by an id or name that its author gave it, by its row,
 * or by the part of the page that it stands in. Null if there is none.
 *
 * @param isOnly whether a locator means this element and no other
 */
export function tellingLocator(elements: readonly Element[], isOnly: (locator: string) => boolean): string | null {
  const [element] = elements;
  if (element === undefined) return null;
  for (const locator of candidates(element, elements)) if (isOnly(locator)) return locator;
  return null;
}

function* candidates(element: Element, elements: readonly Element[]): Generator<string> {
  for (const name of TEST_IDS) {
    const value = element.getAttribute(name);
    if (value !== null && isPlain(value)) yield `[${name}="${value}"]`;
  }
  const path = pathTo(element);
  const row = neighbouringRow(element, elements[1]);
  if (row !== null && row !== element) {
    for (const text of textsOf(row, element)) yield `//${row.localName}[contains(., "${text}")]${path}`;
  }
  const part = element.parentElement?.closest(PARTS);
  if (part != null) yield* inPart(part, path);
  if (WRITTEN_ID.test(element.id)) yield `#${element.id}`;
  const name = element.getAttribute('name');
  if (name !== null && isPlain(name)) yield `${element.localName}[name="${name}"]`;
}

function* inPart(part: Element, path: string): Generator<string> {
  const label = part.getAttribute('aria-label');
  if (label !== null && isPlain(label)) yield `//${part.localName}[@aria-label="${label}"]${path}`;
  for (const tag of HEADINGS) {
    const heading = part.querySelector(tag);
    const text = heading === null ? '' : foldSpace(heading.textContent ?? '');
    if (isPlain(text)) yield `//${part.localName}[.//${tag}[normalize-space()="${text}"]]${path}`;
  }
}

/** The element below something that has no other of its name. */
function pathTo(element: Element): string {
  const text = foldSpace(element.textContent ?? '');
  const label = element.getAttribute('aria-label');
  if (isPlain(text)) return `//${element.localName}[normalize-space()="${text}"]`;
  if (label !== null && isPlain(label)) return `//${element.localName}[@aria-label="${label}"]`;
  const type = element.getAttribute('type');
  return `//${element.localName}${type !== null && isPlain(type) ? `[@type="${type}"]` : ''}`;
}

/** Texts that stand in a row beside an element, in their order. */
function textsOf(row: Element, element: Element): readonly string[] {
  const found: string[] = [];
  const texts = row.ownerDocument.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  while (texts.nextNode() !== null && found.length < MAX_TEXTS) {
    const node = texts.currentNode;
    const text = foldSpace(node.nodeValue ?? '');
    if (!element.contains(node) && isPlain(text) && (node.nodeValue ?? '').includes(text)) found.push(text);
  }
  return found;
}

/** Short, with a letter or digit, and nothing that would have to be written otherwise in a locator. */
function isPlain(text: string): boolean {
  if (text.length < MIN_TEXT || text.length > MAX_TEXT) return false;
  return /[\p{L}\p{N}]/u.test(text) && !/["\\]/.test(text);
}
