interface Listener {
  readonly type: string;
  readonly hear: (event: Event) => void;
  readonly options: AddEventListenerOptions;
}

/**
 * Listeners on the window, for as long as it lives. The browser takes all of them away, those of every world, when a
 * document writes itself anew (`document.open`), and when a window's first, empty document gives way to another, which
 * runs no script of ours again. They come back as soon as the script that wrote has ended, or when they are asked for.
 */
export class WindowListeners {
  readonly #all: Listener[] = [];
  readonly #afterwards: (() => void)[] = [];
  readonly #observer = new MutationObserver((records) => {
    if (records.some(({ removedNodes }) => removedNodes.length > 0)) this.#comeBack();
  });
  #document = document;

  constructor() {
    this.#observer.observe(document, { childList: true });
  }

  add(types: readonly string[], hear: (event: Event) => void, options: AddEventListenerOptions = {}): void {
    for (const type of types) {
      this.#all.push({ type, hear, options });
      addEventListener(type, hear, options);
    }
  }

  /** Calls `listener` each time that they have come back: nothing was heard until then. */
  onReturn(listener: () => void): void {
    this.#afterwards.push(listener);
  }

  /** To be called before something is to be heard. */
  attend(): void {
    if (this.#document === document) return;
    this.#document = document;
    this.#observer.observe(document, { childList: true });
    this.#comeBack();
  }

  #comeBack(): void {
    // One that is still there is not added twice.
    for (const { type, hear, options } of this.#all) addEventListener(type, hear, options);
    for (const listener of this.#afterwards) listener();
  }
}
