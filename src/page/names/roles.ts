import { isHtml, XHTML } from '../tree/flat-tree.js';
import { hasEditContext } from '../tree/self-drawn.js';

/** ARIA roles of things that people operate (https://www.w3.org/TR/wai-aria-1.2/#widget_roles). */
const WIDGET_ROLES = new Set([
  'button',
  'checkbox',
  'combobox',
  'link',
  'menuitem',
  'menuitemcheckbox',
  'menuitemradio',
  'option',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'tab',
  'textbox',
  'treeitem',
]);

/** Widgets whose name is not what stands in them. */
export const NAMED_FROM_OUTSIDE = new Set(['combobox', 'listbox', 'searchbox', 'slider', 'spinbutton', 'textbox']);

const INPUT_ROLES: { readonly [type: string]: string } = {
  button: 'button',
  checkbox: 'checkbox',
  email: 'textbox',
  image: 'button',
  number: 'spinbutton',
  password: 'textbox',
  radio: 'radio',
  range: 'slider',
  reset: 'button',
  search: 'searchbox',
  submit: 'button',
  tel: 'textbox',
  text: 'textbox',
  url: 'textbox',
};

const TAG_ROLES: { readonly [tag: string]: string } = {
  article: 'article',
  aside: 'complementary',
  button: 'button',
  dialog: 'dialog',
  fieldset: 'group',
  figure: 'figure',
  footer: 'contentinfo',
  h1: 'heading',
  h2: 'heading',
  h3: 'heading',
  h4: 'heading',
  h5: 'heading',
  h6: 'heading',
  header: 'banner',
  img: 'img',
  li: 'listitem',
  main: 'main',
  nav: 'navigation',
  ol: 'list',
  p: 'paragraph',
  progress: 'progressbar',
  summary: 'button',
  table: 'table',
  td: 'cell',
  textarea: 'textbox',
  th: 'columnheader',
  tr: 'row',
  ul: 'list',
};

/** Inputs that are set by their value, since what a browser draws for them is its own affair. */
const SET_BY_VALUE = /^(color|date|datetime-local|month|range|time|week)$/;

/** The word that look prints: the ARIA role where the page gives one, otherwise the tag. */
export function roleOf(element: Element): string {
  const explicit = element.getAttribute('role')?.trim().toLowerCase().split(/\s+/)[0];
  if (explicit === undefined || explicit === '' || explicit === 'presentation' || explicit === 'none') {
    return element.localName;
  }
  return explicit.replace(/[{}:^]/g, '');
}

/** The role that the element has by its nature (https://www.w3.org/TR/html-aam-1.0/), or the word itself. */
export function naturalRole(element: Element): string {
  const { localName } = element;
  switch (localName) {
    case 'input':
      return isHtml(element, 'input') ? (INPUT_ROLES[element.type] ?? localName) : localName;
    case 'select':
      if (!isHtml(element, 'select')) return localName;
      return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    case 'a':
    case 'area':
      return isLink(element) ? 'link' : localName;
    default:
      return TAG_ROLES[localName] ?? localName;
  }
}

/** Whether a locator's word means this element: by its printed role or by the nature of one without a role. */
export function answersTo(element: Element, word: string): boolean {
  if (word === '*') return true;
  const role = roleOf(element);
  return role === word || (role === element.localName && naturalRole(element) === word);
}

function isLink(element: Element): boolean {
  return element.hasAttribute('href') || element.hasAttribute('xlink:href');
}

/** Widgets that are one thing to a person, whatever they are made of. */
const ATOMIC = new Set(['checkbox', 'menuitemcheckbox', 'menuitemradio', 'radio', 'slider', 'spinbutton', 'switch']);

/** Whether a control inside another is a part of it: the input that a check box of ARIA is made of. */
export function isAtomic(outer: Element, inner: Element): boolean {
  // `<li role=tab><a role=presentation>`: the page says that the link is only how the tab is drawn.
  if (/^\s*(presentation|none)\b/i.test(inner.getAttribute('role') ?? '')) return true;
  const role = roleOf(outer);
  // Of what a combobox shows as chosen, nothing can be chosen.
  if (role === 'combobox' && roleOf(inner) === 'option') return inner.closest('[role="listbox"]') === null;
  // It shows what is chosen, and nobody can type into it.
  if (role === 'combobox' && roleOf(inner) === 'textbox') return inputKind(inner) === 'none';
  return ATOMIC.has(role) && (inner.localName === 'input' || ATOMIC.has(roleOf(inner)));
}

/** Whether a control of a role is only the frame around the field in it. */
export function isFrameOf(role: string, inner: Element): boolean {
  return /^(combobox|searchbox|spinbutton|textbox)$/.test(role) && inputKind(inner) === 'typed';
}

/** A control by tag, role or editability: all but what is only made clickable by script or style. */
export function isControl(element: Element): boolean {
  switch (element.localName) {
    case 'a':
    case 'area':
      if (isLink(element)) return true;
      break;
    case 'button':
    case 'select':
    case 'textarea':
      return true;
    case 'input':
      return !isHtml(element, 'input') || element.type !== 'hidden';
    case 'summary':
      if (element.parentElement?.localName === 'details') return true;
      break;
    case 'audio':
    case 'video':
      if (element.hasAttribute('controls')) return true;
      break;
    default:
  }
  const role = roleOf(element);
  // A splitter is one only where it can be moved.
  if (role === 'separator') return element.hasAttribute('tabindex') && element.hasAttribute('aria-valuenow');
  // An `option` without a role belongs to its select.
  return (role !== element.localName && WIDGET_ROLES.has(role)) || isEditingHost(element);
}

/** The outermost editable element, or one in a part that is not to be edited: the text of a chip. */
export function isEditingHost(element: Element): boolean {
  const around = element.parentElement?.closest('[contenteditable]') ?? null;
  return isEditable(element) && (around === null || !isEditable(around));
}

function isEditable(element: Element): boolean {
  const value = element.getAttribute('contenteditable');
  return value !== null && value.toLowerCase() !== 'false';
}

/** How `input` reaches an element. */
export function inputKind(element: Element): 'typed' | 'set' | 'none' {
  if (isField(element)) {
    if (isHtml(element, 'textarea')) return 'typed';
    if (isHtml(element, 'select')) return 'none';
    if (SET_BY_VALUE.test(element.type)) return 'set';
    return /^(button|checkbox|file|hidden|image|radio|reset|submit)$/.test(element.type) ? 'none' : 'typed';
  }
  const edits = (element as Partial<HTMLElement>).isContentEditable === true || hasEditContext(element);
  return edits ? 'typed' : 'none';
}

/** What a person fills in: what stands in it changes without a sign. */
export function isField(element: Element): element is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
  const { localName } = element;
  return (
    (localName === 'input' || localName === 'textarea' || localName === 'select') && element.namespaceURI === XHTML
  );
}

/** Shows a value that nobody changes by hand: a site's own calendar sets it. */
export function isReadOnly(element: Element): boolean {
  if ((isHtml(element, 'input') || isHtml(element, 'textarea')) && element.readOnly) return true;
  return element.getAttribute('aria-readonly') === 'true';
}

/** An option of a list in which several may be chosen, which says whether it is. */
function isOneOfSeveral(element: Element): boolean {
  const says = element.hasAttribute('aria-selected') || element.hasAttribute('aria-checked');
  return says && element.closest('[aria-multiselectable="true"]') !== null;
}

/** Whether an element is checked, and how it is unchecked. */
export function checkKind(element: Element, role: string): 'toggle' | 'radio' | 'none' {
  if (isHtml(element, 'input')) {
    if (element.type === 'checkbox') return 'toggle';
    return element.type === 'radio' ? 'radio' : 'none';
  }
  if (role === 'checkbox' || role === 'switch' || role === 'menuitemcheckbox') return 'toggle';
  if (role === 'option' && isOneOfSeveral(element)) return 'toggle';
  return role === 'radio' || role === 'menuitemradio' ? 'radio' : 'none';
}

/**
 * Null for what cannot be checked.
 *
 * @param role the element's, by {@link roleOf}
 */
export function checkedState(element: Element, role: string = roleOf(element)): boolean | 'mixed' | null {
  if (checkKind(element, role) === 'none') return null;
  if (isHtml(element, 'input')) return element.indeterminate ? 'mixed' : element.checked;
  const own = element.getAttribute('aria-checked');
  if (own === null && role !== 'option') {
    const held = heldBox(element);
    if (held !== null) return checkedState(held);
  }
  const state = own ?? (role === 'option' ? element.getAttribute('aria-selected') : itemState(element));
  return state === 'mixed' ? 'mixed' : state === 'true';
}

/** The only box of the browser's own in a drawn one that does not say itself whether it is checked. */
function heldBox(element: Element): HTMLInputElement | null {
  const [held, ...others] = element.querySelectorAll<HTMLInputElement>('input:is([type=checkbox], [type=radio])');
  return held === undefined || others.length > 0 ? null : held;
}

/** A box that does not say whether it is checked, in an item of a tree or grid of several choices, shows what the item says. */
function itemState(element: Element): string | null {
  const item = element.closest('[role=treeitem], [role=option], [role=row]');
  return item !== null && isOneOfSeveral(item)
    ? (item.getAttribute('aria-checked') ?? item.getAttribute('aria-selected'))
    : null;
}
