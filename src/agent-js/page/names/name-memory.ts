import { allRoots, isElement, isHtml, parentOf, walk } from '../tree/flat-tree.js';
import { personalName } from './guessed-name.js';
import { isField } from './roles.js';

/** Changes that come at once beyond this are not looked at one by one: every name is computed anew. */
const MAX_RECORDS = 1_000;
/** The same of the elements under one whose attributes changed. */
const MAX_BELOW = 500;
/** So many elements are gone through rather than looked up. */
const FEW = 8;

interface Known {
  readonly name: string;
  /** An element whose size changes may show another part of its text: styles change without a sign. */
  readonly width: number;
  readonly height: number;
}

/** The elements whose name is partly that of another: most often one, but as many as a table has rows. */
interface Named {
  readonly elements: WeakRef<Element>[];
  /** The same, once there are too many to go through. */
  known?: WeakSet<Element>;
}

/**
 * Accessible names, remembered while nothing changes that they are made of. Observers on every document and shadow root
 * that is looked at forget the names that a change may touch: of the elements around it, of the controls that it labels,
 * and of all below an element whose attributes changed, because of styles.
 */
export class NameMemory {
  #names = new WeakMap<Element, Known>();
  /** Whose name is made of an element that stands elsewhere: a label, what aria-labelledby names. */
  #named = new WeakMap<Element, Named>();
  #changes = 0;
  #mutations = 0;
  /** `#changes` when every document and shadow root was known. */
  #attended = -1;
  readonly #listeners = new Set<(records: readonly MutationRecord[]) => void>();
  readonly #observed = new WeakSet<Node>();
  readonly #observer = new MutationObserver((records) => this.#forget(records));

  /** Notices from now on what changes in a document or shadow root. */
  observe(root: Document | ShadowRoot): void {
    if (this.#observed.has(root)) return;
    this.#observed.add(root);
    this.#changes++;
    this.#observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    // What its host is called may come from within.
    if ('host' in root) this.#forgetAround(root.host);
  }

  /** Sees to it that every document and shadow root that there is now is observed. */
  attend(): void {
    if (this.#attended === this.changes) return;
    for (const root of allRoots()) this.observe(root);
    this.allAttended();
  }

  /** Somebody has just walked through all of them. */
  allAttended(): void {
    this.#attended = this.changes;
  }

  /** Calls `listener` with each change of what is observed, soon after it. Answers the call that ends it. */
  onMutation(listener: (records: readonly MutationRecord[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Rises when a node, an attribute or a text changes in what is observed. */
  get mutations(): number {
    this.#takeIn();
    return this.#mutations;
  }

  /** Rises too with what begins to be observed. */
  get changes(): number {
    this.#takeIn();
    return this.#changes;
  }

  nameOf(element: Element, { width, height }: { readonly width: number; readonly height: number }): string {
    const known = this.#names.get(element);
    if (known !== undefined && known.width === width && known.height === height) return known.name;
    let lasts = true;
    const name = personalName(element, (source) => {
      this.#remember(source, element);
      if (isField(source)) lasts = false;
    });
    if (lasts) this.#names.set(element, { name, width, height });
    return name;
  }

  #remember(source: Element, element: Element): void {
    const named = this.#named.get(source);
    if (named === undefined) {
      this.#named.set(source, { elements: [new WeakRef(element)] });
      return;
    }
    const { elements } = named;
    if (named.known?.has(element) ?? elements.some((one) => one.deref() === element)) return;
    elements.push(new WeakRef(element));
    if (elements.length > FEW) named.known ??= new WeakSet(elements.flatMap((one) => one.deref() ?? []));
    named.known?.add(element);
  }

  #takeIn(): void {
    const records = this.#observer.takeRecords();
    if (records.length > 0) this.#forget(records);
  }

  #forget(records: readonly MutationRecord[]): void {
    this.#changes++;
    this.#mutations++;
    for (const listener of [...this.#listeners]) listener(records);
    if (records.length > MAX_RECORDS) {
      this.#forgetAll();
      return;
    }
    const around = new Set<Node>();
    for (const { type, target, addedNodes, removedNodes, attributeName } of records) {
      if (type === 'attributes' && isElement(target)) {
        if (attributeName === 'for' || attributeName === 'id' || attributeName === 'aria-labelledby') {
          this.#forgetAll();
          return;
        }
        if (!this.#forgetBelow(target)) return;
      } else if (type === 'childList' && (linksNames(addedNodes) || linksNames(removedNodes))) {
        this.#forgetAll();
        return;
      }
      around.add(target);
    }
    for (const node of around) this.#forgetAround(node);
  }

  #forgetAround(node: Node): void {
    for (let at: Node | null = node; at !== null; at = parentOf(at)) {
      if (!isElement(at)) continue;
      this.#names.delete(at);
      for (const one of this.#named.get(at)?.elements ?? []) {
        const element = one.deref();
        if (element !== undefined) this.#names.delete(element);
      }
    }
  }

  /** False when there was so much that all is forgotten. */
  #forgetBelow(element: Element): boolean {
    let count = 0;
    walk(element, true, (inner) => {
      count++;
      if (count > MAX_BELOW) return undefined;
      this.#names.delete(inner);
      return true;
    });
    if (count > MAX_BELOW) this.#forgetAll();
    return count <= MAX_BELOW;
  }

  #forgetAll(): void {
    this.#names = new WeakMap();
    this.#named = new WeakMap();
  }
}

let shared: NameMemory | undefined;

/** The memory of this world's documents. */
export function nameMemory(): NameMemory {
  shared ??= new NameMemory();
  return shared;
}

/** Whether nodes hold something that may name what stands elsewhere. */
function linksNames(nodes: NodeList): boolean {
  for (const node of nodes) {
    if (!isElement(node)) continue;
    if (isHtml(node, 'label') || node.id !== '' || node.querySelector('label, [id]') !== null) return true;
  }
  return false;
}
