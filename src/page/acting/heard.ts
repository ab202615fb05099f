import type { AwaitedInput } from '../page-calls.js';
import { isHtml } from '../tree/flat-tree.js';
import { hearForms } from './guards.js';

/** Hears the keys that arrive in a document, and which of its forms are sent. */
export class Heard {
  readonly #document: Document;
  readonly #counts = { keyup: 0, beforeinput: 0 };
  readonly #submits: Event[] = [];
  readonly #formData: Event[] = [];
  #wake: (() => void) | undefined;

  constructor(inner: Document) {
    this.#document = inner;
    hearForms(inner, (event) => (event.type === 'submit' ? this.#submits : this.#formData).push(event));
  }

  /** Forms that are being sent: the browser begins that in a task of its own. */
  get sent(): readonly HTMLFormElement[] {
    // A script that sends a form fires no submit event.
    const events = this.#submits.length > 0 ? this.#submits : this.#formData;
    return events.flatMap(({ defaultPrevented, target }) =>
      defaultPrevented || !isForm(target) || target.method === 'dialog' ? [] : target,
    );
  }

  /** True once as many events have come, false after `ms`. */
  async until({ event, times }: AwaitedInput, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    for (;;) {
      if (this.#counts[event] >= times) return true;
      const left = deadline - performance.now();
      if (left <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  stop(): void {
    hearForms(this.#document, null);
  }

  /** Called with each real key, held back or not. */
  key(event: Event): void {
    if (event.type !== 'keyup' && event.type !== 'beforeinput') return;
    this.#counts[event.type]++;
    this.#wake?.();
  }
}

function isForm(target: EventTarget | null): target is HTMLFormElement {
  return target !== null && isHtml(target as Element, 'form');
}
