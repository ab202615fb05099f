import { discoveries } from './discoveries.js';
import { isHtml, parentOf } from './flat-tree.js';

const HANDLERS = ['onkeydown', 'onkeypress', 'onkeyup', 'onbeforeinput', 'ontextinput'] as const;

/**
 * Types into the focused field, whose content is selected, where nobody could tell the difference: no script of the page
 * listens to keys. The browser edits as it does for a key, and sites hear the same trusted `input`. False: nothing was
 * typed, real keys are wanted.
 */
export function typeUnheard(element: Element, text: string): boolean {
  const field = isHtml(element, 'textarea') || (isHtml(element, 'input') && !/[\r\n]/.test(text));
  const view = element.ownerDocument.defaultView;
  if (!field || view === null || discoveries()?.hearsKeys(view) !== false || hasHandler(element)) return false;
  // An empty field has nothing to delete.
  if (text === '') return element.value === '' || element.ownerDocument.execCommand('delete');
  return element.ownerDocument.execCommand('insertText', false, text);
}

function hasHandler(element: Element): boolean {
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    if (HANDLERS.some((handler) => node?.hasAttribute(handler) === true)) return true;
  }
  return false;
}
