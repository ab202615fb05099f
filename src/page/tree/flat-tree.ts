import { discoveries } from '../controls/discoveries.js';
import { childNodesIn, firstChildOf, lastChildOf, openRootOf, parentIn, previousOf, slotOf } from './form-members.js';

/**
 * The flat tree: what is drawn, in its order. Shadow roots, open and closed, stand in place of their host's children, slots hold what
 * is assigned to them, frames of the same origin hold their document. Nothing here uses `instanceof`: a frame's elements
 * have classes of their own.
 */

export const XHTML = 'http://www.w3.org/1999/xhtml';

export function isHtml<K extends keyof HTMLElementTagNameMap>(
  element: Element,
  tag: K,
): element is HTMLElementTagNameMap[K] {
  return element.localName === tag && element.namespaceURI === XHTML;
}

export function isElement(node: Node | null | undefined): node is Element {
  return node?.nodeType === 1;
}

/** Frames of framesets are as those in a page, and so is an object that shows a document, as long as it does. */
export function isFrame(element: Element): element is HTMLIFrameElement {
  switch (element.localName) {
    case 'iframe':
      return element.namespaceURI === XHTML;
    case 'frame':
      return 'contentDocument' in element;
    case 'object':
      return (element as Partial<HTMLObjectElement>).contentWindow != null;
    default:
      return false;
  }
}

/** Whether an element is a frame, or may become one without a change of its document. */
export function mayBeFrame(element: Element): boolean {
  return isFrame(element) || isHtml(element, 'object');
}

/** The document in a frame, or null for another origin's. */
export function frameDocument(element: Element): Document | null {
  if (!isFrame(element)) return null;
  try {
    return element.contentDocument;
  } catch {
    return null;
  }
}

/** The frame that holds a document, or null for the outermost and for one in another origin's page. */
export function frameOf(document: Document): Element | null {
  return document.defaultView?.frameElement ?? null;
}

/** The shadow root of an element, a closed one too. */
export function shadowOf(element: Element): ShadowRoot | null {
  return openRootOf(element) ?? discoveries()?.closedRoot(element) ?? null;
}

/**
 * The text of an element that holds no other element; null where it holds one, or no text. Most are such. The text is asked
 * for as a whole: its nodes would each become an object of the engine.
 */
export function onlyText(element: Element): string | null {
  if (!isLeaf(element)) return null;
  const text = element.textContent;
  return text === '' ? null : text;
}

/** Whether nothing is drawn in an element but text, as far as the walk goes. */
export function isLeaf(element: Element): boolean {
  if (firstChildOf(element) !== null || shadowOf(element) !== null) return false;
  const { localName } = element;
  return localName !== 'slot' && localName !== 'iframe' && localName !== 'frame' && localName !== 'object';
}

export function childNodesOf(element: Element): readonly Node[] {
  const shadow = shadowOf(element);
  if (shadow !== null) return [...shadow.childNodes];
  if (isHtml(element, 'slot')) {
    const assigned = element.assignedNodes();
    if (assigned.length > 0) return assigned;
  }
  const inner = frameDocument(element)?.documentElement;
  return inner === null || inner === undefined ? [...childNodesIn(element)] : [inner];
}

/** What is drawn in an element in place of its children; null where it is they. */
function inPlaceOfChildren(element: Element): ArrayLike<Element> | null {
  const shadow = shadowOf(element);
  if (shadow !== null) return shadow.children;
  switch (element.localName) {
    case 'slot': {
      const assigned = isHtml(element, 'slot') ? element.assignedElements() : [];
      return assigned.length > 0 ? assigned : null;
    }
    case 'iframe':
    case 'frame':
    case 'object': {
      const inner = frameDocument(element)?.documentElement;
      return inner === null || inner === undefined ? null : [inner];
    }
    default:
      return null;
  }
}

export function parentOf(node: Node): Element | null {
  const slot = isElement(node) ? slotOf(node) : null;
  if (slot !== null) return slot;
  const parent = parentIn(node);
  if (isElement(parent)) return closedSlotOf(node, parent) ?? parent;
  // A shadow root has a host, a document a frame.
  if (parent?.nodeType === 11 && 'host' in parent) return (parent as ShadowRoot).host;
  return parent?.nodeType === 9 ? frameOf(parent as Document) : null;
}

/** The slot of a closed root that shows a child of its host, of which the child says nothing. */
function closedSlotOf(node: Node, host: Element): Element | null {
  const root = discoveries()?.closedRoot(host) ?? null;
  if (root === null) return null;
  for (const slot of root.querySelectorAll('slot')) if (slot.assignedNodes().includes(node as Element)) return slot;
  return null;
}

/** The element that has the focus, in whatever shadow root; null if none has. */
export function focusedIn(inner: Document): Element | null {
  let active = inner.activeElement;
  for (let next = active; next !== null; next = shadowOf(next)?.activeElement ?? null) active = next;
  return active;
}

/** Whether `inner` is `outer` or drawn inside it. */
export function isInside(inner: Node, outer: Element): boolean {
  for (let node: Node | null = inner; node !== null; node = parentOf(node)) if (node === outer) return true;
  return false;
}

/**
 * Visits an element and what is in it, in the order of drawing. `visit` answers what its children inherit, or undefined
 * to pass them over. Iterative, since a page may nest deeper than a stack reaches.
 */
export function walk<T>(
  root: Element | null,
  inherited: T,
  visit: (element: Element, inherited: T) => T | undefined,
): void {
  // A document may have lost its root.
  const elements: Element[] = root === null ? [] : [root];
  const values: T[] = [inherited];
  for (let element = elements.pop(); element !== undefined; element = elements.pop()) {
    const value = values.pop() as T;
    const own = visit(element, value);
    if (own === undefined) continue;
    const instead = inPlaceOfChildren(element);
    if (instead === null) {
      for (let child = lastChildOf(element); child !== null; child = previousOf(child)) {
        elements.push(child);
        values.push(own);
      }
      continue;
    }
    for (let index = instead.length - 1; index >= 0; index--) {
      const child = instead[index];
      if (child === undefined) continue;
      elements.push(child);
      values.push(own);
    }
  }
}

/** The document, its shadow roots and its same-origin frames' documents with theirs. */
export function allRoots(): (Document | ShadowRoot)[] {
  const roots: (Document | ShadowRoot)[] = [document];
  walk(document.documentElement, true, (element) => {
    const shadow = shadowOf(element);
    if (shadow !== null) roots.push(shadow);
    const inner = frameDocument(element);
    if (inner !== null) roots.push(inner);
    return true;
  });
  return roots;
}
