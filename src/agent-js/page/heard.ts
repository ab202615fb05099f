import type { AwaitedInput } from '../page-calls.js';

/** Hears the keys that arrive in a document, and whether one of its forms is sent. */
export class Heard {
  readonly #view: Window;
  readonly #counts = { keyup: 0, beforeinput: 0 };
  readonly #submits: Event[] = [];
  #formData = false;
  #wake: (() => void) | undefined;

  constructor(view: Window) {
    this.#view = view;
    for (const type of ['submit', 'formdata'] as const) view.addEventListener(type, this.#sent, true);
  }

  /** The page is about to go where a form leads: the browser begins that in a task of its own. */
  get submits(): boolean {
    // A script that sends a form fires no submit event.
    if (this.#submits.length === 0) return this.#formData;
    return this.#submits.some(({ defaultPrevented, target }) => !defaultPrevented && !isDialogForm(target));
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
    for (const type of ['submit', 'formdata'] as const) this.#view.removeEventListener(type, this.#sent, true);
  }

  /** Called with each real key, held back or not. */
  key(event: Event): void {
    if (event.type !== 'keyup' && event.type !== 'beforeinput') return;
    this.#counts[event.type]++;
    this.#wake?.();
  }

  readonly #sent = (event: Event): void => {
    if (event.type === 'submit') this.#submits.push(event);
    else this.#formData = true;
  };
}

function isDialogForm(target: EventTarget | null): boolean {
  return (target as Partial<HTMLFormElement> | null)?.method === 'dialog';
}
