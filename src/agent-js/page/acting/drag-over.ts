import type { WindowListeners } from '../window-listeners.js';

/** Hears what a document says to things that are carried over it: a page takes them by preventing the browser's default. */
export class DragOver {
  #last: Event | null = null;

  constructor(listeners: WindowListeners) {
    listeners.add(['dragover'], (event) => this.#note(event), { capture: true });
  }

  /** Of the last one, once its listeners have been called. */
  get taken(): boolean {
    return this.#last?.defaultPrevented === true;
  }

  #note(event: Event): void {
    this.#last = event;
  }
}
