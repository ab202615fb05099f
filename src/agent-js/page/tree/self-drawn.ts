import { isHtml, parentOf } from './flat-tree.js';

interface Editor {
  readonly isContentEditable: boolean;
  readonly editContext: object | null;
}

/** Whether typing goes to an EditContext (https://www.w3.org/TR/edit-context/), and the browser edits nothing by itself. */
export function hasEditContext(element: Element): boolean {
  const { isContentEditable = false, editContext = null } = element as Partial<Editor>;
  return editContext !== null && !isContentEditable;
}

/**
 * Whether an element only takes the keys of an editor that draws its text by itself, as those of code do: nothing of that can
 * be selected but by the editor's own keys.
 */
export function isSelfDrawn(element: Element): boolean {
  return hasEditContext(element) || (isHtml(element, 'textarea') && !element.readOnly && isBehind(element));
}

/** Where such an editor draws, if over what takes its keys, which may be as small as its cursor: what a person clicks on. */
export function drawingOf(element: Element): Element | null {
  return isSelfDrawn(element) && isBehind(element) ? parentOf(element) : null;
}

function isBehind(element: Element): boolean {
  return Number(getComputedStyle(element).zIndex) < 0;
}
