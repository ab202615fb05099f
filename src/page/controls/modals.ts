import { allRoots, frameOf, isInside, parentOf, shadowOf } from '../tree/flat-tree.js';
import { isLayerOver } from '../tree/layers.js';
import { Sight } from '../tree/sight.js';
import { clipsAll, drawnRect, isCutAway, isFolded, isSolid } from '../tree/visibility.js';

/** Where in its box, and in the viewport, a dialog or its backdrop may be hit. */
const PARTS = [0.5, 0.02, 0.25, 0.75, 0.98] as const;

/** The modal dialogs of some documents: what lies outside of the topmost one can be read, and not used. */
export class Modals {
  readonly #takesWord: boolean;
  readonly #sight: Sight;
  /** By document: what the browser opened as modal, and what only says that it is. */
  readonly #opened = new Map<Document, Element[]>();
  readonly #declared = new Map<Document, Element[]>();
  readonly #tops = new Map<Document, Tops>();

  /** @param takesWord of elements that say by `aria-modal` that they are modal */
  constructor(takesWord: boolean, sight = new Sight()) {
    this.#takesWord = takesWord;
    this.#sight = sight;
  }

  /** Those that are open in all documents that can be reached from here. */
  static now(takesWord: boolean): Modals {
    const modals = new Modals(takesWord);
    for (const root of allRoots())
      for (const one of root.querySelectorAll('dialog:modal, [aria-modal="true"]'))
        if (one.checkVisibility()) modals.note(one);
    return modals;
  }

  /** Takes in an element that has a box, if it is a modal dialog. */
  note(element: Element): void {
    if (element.localName === 'dialog' && element.matches(':modal')) note(this.#opened, element);
    else if (this.#takesWord && element.getAttribute('aria-modal') === 'true' && this.#isDrawn(element))
      note(this.#declared, element);
  }

  /** Whether a person can see a dialog: it is not put away beside the page until it is wanted. */
  #isDrawn(dialog: Element): boolean {
    const rect = isSolid(dialog) ? drawnRect(dialog) : null;
    if (rect === null || dialog.closest('[aria-hidden="true"]') !== null) return false;
    const isPutAway = isCutAway(dialog, rect) || isFolded(dialog) || clipsAll(dialog, getComputedStyle(dialog));
    return !isPutAway && this.#sight.isReachable(dialog, rect);
  }

  /** Whether an element can only be read, and behind which dialog; null: nothing makes it inert. */
  inertness(element: Element): { readonly behind: Element | null } | null {
    const behind = this.over(element);
    if (behind !== null) return { behind };
    for (let node: Element | null = element; node !== null; ) {
      if (node.hasAttribute('inert')) return { behind: null };
      // What makes the elements around a modal dialog inert does not hold for the dialog.
      const isModal: boolean = this.#opened.get(node.ownerDocument)?.includes(node) === true;
      node = isModal ? frameOf(node.ownerDocument) : parentOf(node);
    }
    return null;
  }

  /** The modal dialog that makes an element inert, in its document or in one around it; null: there is none. */
  over(element: Element): Element | null {
    if (this.#opened.size === 0 && this.#declared.size === 0) return null;
    for (let at: Element | null = element; at !== null; ) {
      const inner = at.ownerDocument;
      const { opened, declared } = this.#topsOf(inner);
      if (opened !== null && !isInside(at, opened)) return opened;
      // What is drawn over such a dialog, as a list of its options or a message is, can be used.
      if (declared !== null && !isInside(at, declared) && !isLayerOver(at, declared)) return declared;
      let node: Element | null = at;
      while (node !== null && node.ownerDocument === inner) node = parentOf(node);
      at = node;
    }
    return null;
  }

  #topsOf(inner: Document): Tops {
    const known = this.#tops.get(inner);
    if (known !== undefined) return known;
    const opened = this.#opened.get(inner) ?? [];
    const top = topmost(opened);
    const declared = (this.#declared.get(inner) ?? []).filter((one) => top === null || isInside(one, top));
    const tops = { opened: top, declared: declared.reduce<Element | null>(upper, null) };
    this.#tops.set(inner, tops);
    return tops;
  }
}

interface Tops {
  readonly opened: Element | null;
  readonly declared: Element | null;
}

function note(dialogs: Map<Document, Element[]>, dialog: Element): void {
  const known = dialogs.get(dialog.ownerDocument);
  if (known === undefined) dialogs.set(dialog.ownerDocument, [dialog]);
  else known.push(dialog);
}

/** @param later in the order of the document */
function upper(earlier: Element | null, later: Element): Element {
  return earlier === null || isInside(later, earlier) || !isLayerOver(earlier, later) ? later : earlier;
}

/**
 * Of dialogs that are open in one document the one that was opened last, which no script is told. What lies outside of it
 * is hit by no point: so whatever of them is hit is the topmost, or stands in it.
 */
function topmost(opened: readonly Element[]): Element | null {
  const [first, ...others] = opened;
  if (first === undefined || others.length === 0) return first ?? null;
  const hit = new Set<Element>();
  for (const { left, top, width, height } of [...opened.map((one) => one.getBoundingClientRect()), viewportOf(first)]) {
    for (const across of PARTS) {
      for (const down of PARTS) {
        let node = elementAt(first.ownerDocument, left + width * across, top + height * down);
        while (node !== null && !opened.includes(node)) node = parentOf(node);
        if (node !== null) hit.add(node);
      }
    }
  }
  const outermost = [...hit].find((one) => [...hit].every((other) => isInside(other, one)));
  return outermost ?? opened.find((one) => one.matches(':focus-within')) ?? opened.at(-1) ?? null;
}

function viewportOf({ ownerDocument }: Element): { left: number; top: number; width: number; height: number } {
  const { innerWidth, innerHeight } = ownerDocument.defaultView ?? window;
  return { left: 0, top: 0, width: innerWidth, height: innerHeight };
}

/** The innermost element at a point of a document's viewport, through shadow roots. */
function elementAt(inner: Document, x: number, y: number): Element | null {
  let found = inner.elementFromPoint(x, y);
  for (let shadow = found && shadowOf(found); shadow; ) {
    const hit = shadow.elementFromPoint(x, y);
    if (hit === null || hit === found) break;
    found = hit;
    shadow = shadowOf(hit);
  }
  return found;
}
