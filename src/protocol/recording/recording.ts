import type { RecordedAct, RecordedTarget } from './recorded-act.js';

/** `{{name}}` in a flow stands for a secret. */
const SECRET = /\{\{\s*[\w.-]+\s*\}\}/;

type Act = Extract<RecordedAct, { kind: 'act' }>;

/** A recording as far as it goes: acts in their order, and the names of hidden texts. */
export class Recording {
  readonly #acts: RecordedAct[] = [];
  /** By the locator of its field. */
  readonly #secrets = new Map<string, string>();

  /** @param replaces it takes the place of the act before it */
  add(act: RecordedAct, replaces: boolean): void {
    if (replaces) this.#acts.pop();
    this.#acts.push(act);
  }

  /** Forgets everything. */
  clear(): void {
    this.#acts.length = 0;
  }

  get acts(): readonly RecordedAct[] {
    return this.#acts;
  }

  /** The argument by which a run gives the hidden text of a field: `password`, `password2`. */
  secretOf({ locator }: RecordedTarget): string {
    const known = this.#secrets.get(locator);
    if (known !== undefined) return known;
    const count = this.#secrets.size + 1;
    const name = count === 1 ? 'password' : `password${count}`;
    this.#secrets.set(locator, name);
    return name;
  }
}

/**
 * Why an act cannot be written as a line that does the same; null if it can. A page may put `{{password}}` into a field or
 * a list, and a run would then put the secret there.
 */
export function unwritable(act: Act): string | null {
  const values = act.value === null ? [] : Array.isArray(act.value) ? act.value.map(String) : [act.value];
  return !act.secret && values.some((value) => SECRET.test(value)) ? 'a text that a run takes for a secret' : null;
}
