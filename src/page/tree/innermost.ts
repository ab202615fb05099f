import { isElement, shadowOf } from './flat-tree.js';
import { openRootOf } from './form-members.js';

/** What was hit. An event does not tell what is in closed shadow roots; what is drawn at its point does. */
export function innermost(event: Event): Node | undefined {
  const hit = event.composedPath()[0] as Node | undefined;
  if (!isElement(hit) || openRootOf(hit) !== null || !('clientX' in event)) return hit;
  const { clientX, clientY } = event as MouseEvent;
  let inner: Element = hit;
  for (let root = shadowOf(hit); root !== null; root = shadowOf(inner)) {
    const found = root.elementFromPoint(clientX, clientY);
    if (found === null || found === inner) break;
    inner = found;
  }
  return inner;
}
