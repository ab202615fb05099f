/** Values that are kept: the first, and the newest ones. */
const MAX_VALUES = 10;
const MAX_TEXT = 200;

/** A value that a wait saw, and from when on, in milliseconds since it began. */
interface SeenValue {
  readonly value: string;
  readonly fromMs: number;
}

/** What a wait saw, one entry for each change. Bounded. */
export class SeenValues {
  readonly #seen: SeenValue[] = [];

  note(text: string, fromMs: number): void {
    const value = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
    if (this.#seen.at(-1)?.value === value) return;
    this.#seen.push({ value, fromMs });
    if (this.#seen.length > MAX_VALUES) this.#seen.splice(1, 1);
  }

  /** Oldest first. */
  get all(): readonly SeenValue[] {
    return [...this.#seen];
  }
}
