import { foldSpace } from '../locator.js';
import { childNodesOf, isElement, isHtml, onlyText, parentOf, shadowOf } from '../tree/flat-tree.js';
import { childrenOf, firstChildOf } from '../tree/form-members.js';
import { labelsOf } from '../tree/labels.js';
import { isEditingHost, isField, NAMED_FROM_OUTSIDE, naturalRole, roleOf } from './roles.js';

/** Text beyond this is not read: a name is for people. */
const MAX_TEXT = 10_000;

/**
 * The accessible name (https://www.w3.org/TR/accname-1.2/), white space folded: labels by reference, aria-label, what the
 * tag offers (label, alt, value), the content, title, placeholder. A field inside a component is called what the
 * component is.
 */
export function accessibleName(element: Element): string {
  const name = foldSpace(nameIn(element, { seen: [], byReference: false }));
  return name === '' ? hostName(element) : name;
}

/** The text that is drawn in an element, pictures by their names, white space folded. */
export function drawnText(element: Element): string {
  return foldSpace(contentOf(element, { seen: [element], byReference: false }));
}

/** `<label>Size <x-field></x-field></label>`: the label is the component's, the field is in its shadow root. */
function hostName(element: Element): string {
  const root = element.getRootNode();
  if (!('host' in root)) return '';
  const { host, delegatesFocus } = root as ShadowRoot;
  if (!delegatesFocus && !namedFromOutside(element, roleOf(element)) && !/^(input|meter)$/.test(element.localName))
    return '';
  const traversal = { seen: [element], byReference: false };
  const name =
    referencedName(host, traversal) ||
    host.getAttribute('aria-label')?.trim() ||
    labelNames(labelsOf(host), traversal) ||
    host.getAttribute('label') ||
    host.getAttribute('title') ||
    '';
  return foldSpace(name) || hostName(host);
}

const ITEMS = new Set(['treeitem', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option']);
const BRANCHES = new Set(['group', 'menu', 'listbox', 'tree']);

interface Traversal {
  /** Elements already counted, a few: a label that holds its own input, references in a ring. */
  readonly seen: Element[];
  /** References are followed once, not on from what they lead to. */
  readonly byReference: boolean;
  /** The name is an item's, whose submenu or branch is not part of it. */
  readonly ofItem?: boolean;
  /** In a part that is not visible, of something that is. */
  readonly isHidden?: boolean;
}

function nameIn(element: Element, traversal: Traversal): string {
  traversal.seen.push(element);
  const referenced = traversal.byReference ? '' : referencedName(element, traversal);
  if (referenced !== '') return referenced;
  const label = element.getAttribute('aria-label')?.trim();
  if (label !== undefined && label !== '') return label;
  const native = nativeName(element, traversal);
  if (native !== '') return native;
  const role = roleOf(element);
  if (!namedFromOutside(element, role)) {
    const content = contentOf(element, ITEMS.has(role) ? { ...traversal, ofItem: true } : traversal);
    if (foldSpace(content) !== '') return content;
  }
  return (
    element.getAttribute('title') ||
    element.getAttribute('placeholder') ||
    element.getAttribute('aria-placeholder') ||
    // Editors draw it by a style.
    element.getAttribute('data-placeholder') ||
    ''
  );
}

function referencedName(element: Element, traversal: Traversal): string {
  const ids = element.getAttribute('aria-labelledby')?.trim();
  if (ids === undefined) return '';
  if (ids === '') return reflectedNames(element, traversal);
  const root = element.getRootNode();
  if (!('getElementById' in root)) return '';
  const names: string[] = [];
  for (const id of ids.split(/\s+/)) {
    const target = (root as Document).getElementById(id);
    if (target === null || (traversal.seen.includes(target) && target !== element)) continue;
    names.push(nameIn(target, { ...traversal, byReference: true }));
  }
  return foldSpace(names.join(' '));
}

/** References that a script has set as elements have no ids in the attribute. */
function reflectedNames(element: Element, traversal: Traversal): string {
  const names: string[] = [];
  for (const target of element.ariaLabelledByElements ?? []) {
    if (traversal.seen.includes(target)) continue;
    names.push(nameIn(target, { ...traversal, byReference: true }));
  }
  return foldSpace(names.join(' '));
}

function nativeName(element: Element, traversal: Traversal): string {
  switch (element.localName) {
    case 'input':
      return isHtml(element, 'input') ? inputName(element, traversal) : '';
    case 'button':
    case 'select':
    case 'textarea':
      return labelNames(labelsOf(element), traversal);
    case 'img':
    case 'area':
      return element.getAttribute('alt') ?? '';
    case 'svg':
      return element.querySelector(':scope > title')?.textContent ?? '';
    case 'fieldset':
      return childName(element, 'legend', traversal);
    case 'table':
      return childName(element, 'caption', traversal);
    default:
      // A form-associated custom element has labels too.
      return element.localName.includes('-') ? labelNames(labelsOf(element), traversal) : '';
  }
}

function inputName(input: HTMLInputElement, traversal: Traversal): string {
  switch (input.type) {
    case 'submit':
      return input.value || 'Submit';
    case 'reset':
      return input.value || 'Reset';
    case 'button':
      return input.value;
    case 'image':
      return input.alt || input.value || input.title || 'Submit';
    default:
      return labelNames(labelsOf(input), traversal);
  }
}

function labelNames(labels: readonly Element[], traversal: Traversal): string {
  const names: string[] = [];
  for (const label of labels) {
    if (traversal.seen.includes(label)) continue;
    traversal.seen.push(label);
    names.push(label.getAttribute('aria-label') || contentOf(label, traversal));
  }
  return foldSpace(names.join(' '));
}

function childName(element: Element, tag: string, traversal: Traversal): string {
  for (const child of childrenOf(element)) if (child.localName === tag) return contentOf(child, traversal);
  return '';
}

function contentOf(element: Element, traversal: Traversal): string {
  const isHidden = traversal.isHidden === true;
  const plain = onlyText(element) ?? textAround(element, traversal);
  if (plain !== null) return isHidden ? '' : plain;
  let text = '';
  for (const node of childNodesOf(element)) {
    if (text.length > MAX_TEXT) break;
    if (node.nodeType === 3) text += isHidden ? '' : (node.nodeValue ?? '');
    else if (isElement(node) && !traversal.seen.includes(node)) text += partOf(node, traversal);
  }
  return text;
}

/** The text of a label that holds nothing else but the field which it names. */
function textAround(element: Element, { seen }: Traversal): string | null {
  if (element.childElementCount !== 1 || element.localName !== 'label' || shadowOf(element) !== null) return null;
  const field = firstChildOf(element);
  if (field === null || field.localName !== 'input' || field.firstChild !== null || !seen.includes(field)) return null;
  return element.textContent;
}

/** What an element inside contributes, set apart by blanks where it is drawn apart. */
function partOf(element: Element, traversal: Traversal): string {
  const tag = element.localName;
  if (tag === 'br' || tag === 'wbr') return tag === 'br' ? ' ' : '';
  if (tag === 'script' || tag === 'style' || tag === 'noscript' || tag === 'template') return '';
  if (element.getAttribute('aria-hidden') === 'true') return '';
  if (traversal.ofItem === true && BRANCHES.has(roleOf(element))) return '';
  const { display, visibility } = getComputedStyle(element);
  if (display === 'none') return '';
  const text =
    visibility === 'visible'
      ? embedded(element, traversal.isHidden === true ? { ...traversal, isHidden: false } : traversal)
      : contentOf(element, hiddenIn(element, traversal));
  return display === 'inline' || display === 'contents' ? text : ` ${text} `;
}

/** Of what is not visible, only parts are read that are visible again; all of it if nothing around it is visible either. */
function hiddenIn(part: Element, traversal: Traversal): Traversal {
  const around = traversal.isHidden === true ? null : parentOf(part);
  if (around === null || getComputedStyle(around).visibility !== 'visible') return traversal;
  return { ...traversal, isHidden: true };
}

function embedded(element: Element, traversal: Traversal): string {
  if (isField(element)) {
    if (isHtml(element, 'select')) return [...element.selectedOptions].map((option) => option.text).join(' ');
    const silent = isHtml(element, 'input') && /^(checkbox|radio|password|file|hidden)$/.test(element.type);
    return silent ? '' : element.value;
  }
  const label = element.getAttribute('aria-label')?.trim();
  if (label !== undefined && label !== '') return label;
  const native = nativeName(element, traversal);
  if (native !== '') return native;
  return contentOf(element, traversal);
}

function namedFromOutside(element: Element, role: string): boolean {
  return NAMED_FROM_OUTSIDE.has(role === element.localName ? naturalRole(element) : role) || isEditingHost(element);
}
