import { isInside, parentOf } from '../tree/flat-tree.js';
import { isLayerOver } from '../tree/layers.js';

/** The modal dialogs of some documents: what lies outside of the topmost one cannot be used. */
export class Modals {
  /** By document: what the browser opened as modal, and what only says that it is. */
  readonly #opened = new Map<Document, Element[]>();
  readonly #declared = new Map<Document, Element[]>();
  readonly #tops = new Map<Document, Tops>();

  /** What the browser opened as modal. */
  addOpened(dialog: Element): void {
    note(this.#opened, dialog);
  }

  /** What says by `aria-modal` that it is, and can be seen. */
  addDeclared(dialog: Element): void {
    note(this.#declared, dialog);
  }

  /** Whether a modal dialog makes an element inert, in its document or in one around it. */
  makeInert(element: Element): boolean {
    if (this.#opened.size === 0 && this.#declared.size === 0) return false;
    for (let at: Element | null = element; at !== null; ) {
      const inner = at.ownerDocument;
      const { opened, declared } = this.#topsOf(inner);
      if (opened !== null && !isInside(at, opened)) return true;
      // What is drawn over such a dialog, as a list of its options or a message is, can be used.
      if (declared !== null && !isInside(at, declared) && !isLayerOver(at, declared)) return true;
      let node: Element | null = at;
      while (node !== null && node.ownerDocument === inner) node = parentOf(node);
      at = node;
    }
    return false;
  }

  #topsOf(inner: Document): Tops {
    const known = this.#tops.get(inner);
    if (known !== undefined) return known;
    const opened = this.#opened.get(inner) ?? [];
    const top = opened.find(isOnTop) ?? opened.at(-1) ?? null;
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

/** Of several open dialogs the one that is drawn over the others. */
function isOnTop(modal: Element, _: number, modals: readonly Element[]): boolean {
  if (modals.length === 1) return true;
  const { left, top, width, height } = modal.getBoundingClientRect();
  const root = modal.getRootNode() as Document | ShadowRoot;
  const hit = root.elementFromPoint(left + width / 2, top + height / 2);
  return hit !== null && isInside(hit, modal);
}
