import { formatLocator } from './locator.js';

/** A longer name is cut in what look prints, and its locator says how it begins. */
const MAX_NAME = 120;

/** A control, as far as its locator goes. */
export interface Named {
  readonly role: string;
  readonly name: string;
  /** The words by which a locator may call it. */
  readonly words: readonly string[];
}

/** A locator for each control of a page, that means it and no other; in their order. */
export function uniqueLocators(controls: readonly Named[]): string[] {
  // A locator without a name counts all of its word.
  const nameless = controls.some(({ name }) => name === '');
  const totals = new Map<string, number>();
  for (const control of controls) count(totals, control, nameless);
  const places = new Map<string, number>();
  return controls.map((control) => {
    const { role, name } = control;
    const total = totals.get(`${role}}${name}`) ?? 0;
    count(places, control, nameless);
    if (name.length > MAX_NAME) return beginningLocator(controls, control);
    return formatLocator({ role, text: name, index: total > 1 ? places.get(`${role}}${name}`) : undefined });
  });
}

/** Counts a control under what locators may call it: each word with its name, and alone. */
function count(counts: Map<string, number>, { words, name }: Named, alone: boolean): void {
  for (const word of words) {
    const key = `${word}}${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (alone && name !== '') counts.set(`${word}}`, (counts.get(`${word}}`) ?? 0) + 1);
  }
}

/** A long name is told by how it begins, and so may be others. */
function beginningLocator(controls: readonly Named[], control: Named): string {
  const { role, name } = control;
  const text = beginning(name);
  const alike = controls.filter((other) => other.words.includes(role) && other.name.includes(text));
  const index = alike.length > 1 ? alike.indexOf(control) + 1 : undefined;
  return formatLocator({ role, text, contains: true, index });
}

/** A name as look prints it. */
export function shortName(name: string): string {
  return name.length > MAX_NAME ? `${beginning(name)}…` : name;
}

function beginning(name: string): string {
  const cut = name.slice(0, MAX_NAME - 20);
  // Half a surrogate pair would match nothing.
  return (/[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut).trimEnd();
}
