import { isElement, shadowOf } from './flat-tree.js';

/** What was hit. An event does not tell what is in a closed shadow root; what is drawn at its point does. */
export function innermost(event: Event): Node | undefined {
  const hit = event.composedPath()[0] as Node | undefined;
  const root = isElement(hit) && hit.shadowRoot === null ? shadowOf(hit) : null;
  if (root === null || !('clientX' in event)) return hit;
  const { clientX, clientY } = event as MouseEvent;
  return root.elementFromPoint(clientX, clientY) ?? hit;
}
