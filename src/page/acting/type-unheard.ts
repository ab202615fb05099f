import { discoveries } from '../controls/discoveries.js';
import { frameOf, isHtml } from '../tree/flat-tree.js';

const HANDLERS = '[onkeydown], [onkeypress], [onkeyup], [onbeforeinput], [ontextinput]';

/**
 * Types into the focused field, in place of what it holds, where nobody could tell the difference: no script of the page
 * listens to keys. The browser edits as it does for a key, and sites hear the same trusted `input`. False: nothing was
 * typed, real keys are wanted.
 */
export function typeUnheard(element: Element, text: string): boolean {
  const field = isHtml(element, 'textarea') || (isHtml(element, 'input') && !/[\r\n]/.test(text));
  const inner = element.ownerDocument;
  const view = inner.defaultView;
  if (!field || view === null || discoveries()?.hearsKeys(view) !== false || hasHandler(element)) return false;
  const before = element.value;
  // An empty field has nothing to delete.
  if (text === '' && before === '') return true;
  if (text === '' || text === before) {
    element.select();
    return inner.execCommand(text === '' ? 'delete' : 'insertText', false, text);
  }
  // To type over a selection takes the browser twice as long. Sites hear nothing of the field's being emptied.
  if (before !== '') element.value = '';
  const typed = inner.execCommand('insertText', false, text);
  if (!typed) element.value = before;
  return typed;
}

/** Whether the element, or one around it, has a handler in its markup. */
function hasHandler(element: Element): boolean {
  for (let node: Element | null = element; node !== null; node = hostOrFrame(node)) {
    if (node.closest(HANDLERS) !== null) return true;
  }
  return false;
}

function hostOrFrame(element: Element): Element | null {
  const root = element.getRootNode();
  return 'host' in root ? (root as ShadowRoot).host : frameOf(element.ownerDocument);
}
