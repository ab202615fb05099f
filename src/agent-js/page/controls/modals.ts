import { parentOf } from '../tree/flat-tree.js';
import type { Control } from './control.js';

/** The controls that no modal dialog of their document, or of one around it, makes inert. */
export function outsideOfModals(controls: readonly Control[], modals: readonly Element[]): readonly Control[] {
  if (modals.length === 0) return controls;
  const tops = new Map<Document, Element>();
  for (const inner of new Set(modals.map((modal) => modal.ownerDocument))) {
    const own = modals.filter((modal) => modal.ownerDocument === inner);
    const top = own.find(isOnTop) ?? own.at(-1);
    if (top !== undefined) tops.set(inner, top);
  }
  return controls.filter(({ element }) => isFree(element, tops));
}

function isFree(element: Element, tops: ReadonlyMap<Document, Element>): boolean {
  for (let at: Element | null = element; at !== null; at = parentOf(at)) {
    const inner = at.ownerDocument;
    const top = tops.get(inner);
    let inside = top === undefined;
    let last: Element = at;
    for (let node: Element | null = at; node !== null && node.ownerDocument === inner; node = parentOf(node)) {
      inside ||= node === top;
      last = node;
    }
    if (!inside) return false;
    at = last;
  }
  return true;
}

/** Of several open dialogs the one that is drawn over the others. */
function isOnTop(modal: Element): boolean {
  const { left, top, width, height } = modal.getBoundingClientRect();
  const root = modal.getRootNode() as Document | ShadowRoot;
  const hit = root.elementFromPoint(left + width / 2, top + height / 2);
  for (let node = hit; node !== null; node = parentOf(node)) if (node === modal) return true;
  return false;
}
