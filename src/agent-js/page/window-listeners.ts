interface Listener {
  readonly type: string;
  readonly hear: (event: Event) => void;
  readonly options: AddEventListenerOptions;
}

/**
 * Listeners on the window that are there as long as its document. One that writes itself anew (`document.open`) takes all
 * listeners away from its window, those of other worlds too: they come back before the next event, as soon as the script
 * that wrote has ended.
 */
export class WindowListeners {
  readonly #all: Listener[] = [];
  readonly #rewritten: (() => void)[] = [];

  constructor() {
    const observer = new MutationObserver((records) => {
      if (records.some(({ removedNodes }) => removedNodes.length > 0)) this.#comeBack();
    });
    observer.observe(document, { childList: true });
  }

  add(types: readonly string[], hear: (event: Event) => void, options: AddEventListenerOptions = {}): void {
    for (const type of types) {
      this.#all.push({ type, hear, options });
      addEventListener(type, hear, options);
    }
  }

  /** Calls `listener` once they have come back: nothing was heard until then. */
  onRewritten(listener: () => void): void {
    this.#rewritten.push(listener);
  }

  #comeBack(): void {
    // One that is still there is not added twice.
    for (const { type, hear, options } of this.#all) addEventListener(type, hear, options);
    for (const listener of this.#rewritten) listener();
  }
}
