import { allRoots } from './flat-tree.js';

/** Notices whether anything changes from its making on: nodes, attributes, text, the address. */
export class Changes {
  readonly #observer: MutationObserver;
  readonly #url = location.href;
  #seen = false;
  #wake: (() => void) | undefined;

  constructor() {
    this.#observer = new MutationObserver(() => this.#note());
    const options = { subtree: true, childList: true, attributes: true, characterData: true };
    for (const root of allRoots()) this.#observer.observe(root, options);
  }

  get any(): boolean {
    return this.#seen || this.#observer.takeRecords().length > 0 || location.href !== this.#url;
  }

  /** Settles at the first change, or after `ms`. */
  async first(ms: number): Promise<void> {
    if (this.any || ms <= 0) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, ms);
    });
  }

  stop(): void {
    this.#observer.disconnect();
  }

  #note(): void {
    this.#seen = true;
    this.#wake?.();
  }
}
