import { isHtml, parentOf } from './flat-tree.js';

/** Drawn, not `visibility: hidden`, and of some size. */
export function isShown(element: Element): boolean {
  return element.checkVisibility({ visibilityProperty: true }) && hasArea(element);
}

/** Shown, and not made inert. */
export function isVisible(element: Element): boolean {
  if (!isShown(element)) return false;
  const modal = topModal();
  let insideModal = modal === null;
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    if (node.hasAttribute('inert')) return false;
    if (node === modal) insideModal = true;
    if (node !== element && clipsAll(node)) return false;
  }
  return insideModal;
}

/** An element whose content shows nowhere: no size of its own, and nothing may flow over. */
export function clipsAll(element: Element): boolean {
  const box = element as Partial<HTMLElement> & Element;
  if (box.offsetHeight !== 0 && box.offsetWidth !== 0) return false;
  if (box.offsetHeight === undefined) return false;
  const { overflowX, overflowY, display } = getComputedStyle(element);
  if (display === 'contents' || display === 'inline') return false;
  return (box.offsetHeight === 0 && overflowY !== 'visible') || (box.offsetWidth === 0 && overflowX !== 'visible');
}

function hasArea(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  if (width > 0 && height > 0) return true;
  // A link around a floating picture has no size of its own.
  for (const child of element.children) {
    const box = child.getBoundingClientRect();
    if (box.width > 0 && box.height > 0 && child.checkVisibility({ visibilityProperty: true })) return true;
  }
  return false;
}

/** The modal dialog that makes the rest of the page inert, or null. */
export function topModal(): HTMLDialogElement | null {
  const open = document.querySelectorAll<HTMLDialogElement>('dialog:modal');
  return open[open.length - 1] ?? null;
}

/** Whether the element or what holds it says that it is out of use. */
export function isDisabled(element: Element): boolean {
  if (element.matches(':disabled')) return true;
  for (let node: Element | null = element; node !== null; node = parentOf(node)) {
    if (node.getAttribute('aria-disabled') === 'true') return true;
  }
  return false;
}

/**
 * Sites draw their own check boxes and upload buttons and hide the real input: what a person clicks is its label.
 */
export function standIn(element: Element): Element | null {
  if (!isHtml(element, 'input') || !/^(checkbox|radio|file)$/.test(element.type)) return null;
  for (const label of element.labels ?? []) if (isShown(label)) return label;
  return null;
}
