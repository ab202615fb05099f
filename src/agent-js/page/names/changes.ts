import { type NameMemory, nameMemory } from './name-memory.js';

/** Notices whether anything changes from its making on: nodes, attributes, text, the address. */
export class Changes {
  readonly #memory: NameMemory = nameMemory();
  readonly #before: number;
  readonly #url = location.href;

  constructor() {
    this.#memory.attend();
    this.#before = this.#memory.mutations;
  }

  get any(): boolean {
    return this.#memory.mutations !== this.#before || location.href !== this.#url;
  }

  /** Settles at the first change, or after `ms`. */
  async first(ms: number): Promise<void> {
    if (this.any || ms <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => end(), ms);
      const stop = this.#memory.onMutation(() => end());
      const end = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
    });
  }
}
