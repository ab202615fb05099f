import { allRoots } from './tree/flat-tree.js';

const EVENTS = ['transitionend', 'animationend', 'scroll', 'load', 'toggle', 'input', 'change', 'focusin'] as const;
/** A page that changes without end is looked at this often at most. */
const LEAST_MS = 10;

/** Notices what changes in the documents and shadow roots that are looked at: nodes, attributes, text. */
class PageChanges {
  #changes = 0;
  #mutations = 0;
  /** `#changes` when every document and shadow root was known. */
  #attended = -1;
  readonly #listeners = new Set<(records: readonly MutationRecord[]) => void>();
  readonly #observed = new WeakSet<Node>();
  readonly #observer = new MutationObserver((records) => this.#tell(records));

  /** Notices from now on what changes in a document or shadow root. */
  observe(root: Document | ShadowRoot): void {
    if (this.#observed.has(root)) return;
    this.#observed.add(root);
    this.#changes++;
    this.#observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  }

  /** Sees to it that every document and shadow root that there is now is observed. */
  attend(): void {
    this.#takeIn();
    if (this.#attended === this.#changes) return;
    for (const root of allRoots()) this.observe(root);
    this.allAttended();
  }

  /** Somebody has just walked through all of them. */
  allAttended(): void {
    this.#takeIn();
    this.#attended = this.#changes;
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

  #takeIn(): void {
    const records = this.#observer.takeRecords();
    if (records.length > 0) this.#tell(records);
  }

  #tell(records: readonly MutationRecord[]): void {
    this.#changes++;
    this.#mutations++;
    for (const listener of [...this.#listeners]) listener(records);
  }
}

/** Those of this world's documents. */
export const pageChanges = new PageChanges();

/** Notices whether anything changes from its making on: nodes, attributes, text, the address. */
export class ChangesSince {
  readonly #before: number;
  readonly #url = location.href;

  constructor() {
    pageChanges.attend();
    this.#before = pageChanges.mutations;
  }

  get any(): boolean {
    return pageChanges.mutations !== this.#before || location.href !== this.#url;
  }

  /** Settles at the first change, or after `ms`. */
  async first(ms: number): Promise<void> {
    if (this.any || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), ms);
      const stop = pageChanges.onMutation(() => end());
      const end = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
    });
  }
}

/**
 * Settles when the page has changed, or after `longestMs`: styles, layout and what a script changed outside of the
 * document give no sign.
 *
 * @param costMs what looking costs; a costly look is taken less often
 */
export function nextChange(longestMs: number, costMs: number): Promise<void> {
  return new Promise((resolve) => {
    const earliest = performance.now() + Math.max(LEAST_MS, costMs * 2);
    const finish = () => {
      stop();
      clearTimeout(timer);
      for (const type of EVENTS) removeEventListener(type, noticed, true);
      resolve();
    };
    let timer = setTimeout(finish, longestMs);
    let waiting = true;
    const noticed = () => {
      if (!waiting) return;
      waiting = false;
      clearTimeout(timer);
      timer = setTimeout(finish, Math.max(0, earliest - performance.now()));
    };
    pageChanges.attend();
    const stop = pageChanges.onMutation(noticed);
    for (const type of EVENTS) addEventListener(type, noticed, true);
  });
}
