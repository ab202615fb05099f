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
  const byWord = new Map<string, Named[]>();
  const byName = new Map<string, Named[]>();
  for (const control of controls) {
    for (const word of control.words) {
      put(byWord, word, control);
      put(byName, `${word}}${control.name}`, control);
    }
  }
  const places = new Map<readonly Named[], Map<Named, number>>();
  return controls.map((control) => {
    const { role, name } = control;
    const contains = name.length > MAX_NAME;
    const text = contains ? beginning(name) : name;
    let alike = (name === '' ? byWord.get(role) : byName.get(`${role}}${name}`)) ?? [];
    if (contains) alike = (byWord.get(role) ?? []).filter((other) => other.name.includes(text));
    const index = alike.length > 1 ? placeIn(alike, control, places) : undefined;
    return formatLocator({ role, text, contains, index });
  });
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

/** 1-based. */
function placeIn(list: readonly Named[], control: Named, known: Map<readonly Named[], Map<Named, number>>): number {
  let places = known.get(list);
  if (places === undefined) {
    places = new Map(list.map((one, index) => [one, index + 1]));
    known.set(list, places);
  }
  return places.get(control) ?? 0;
}

function put(lists: Map<string, Named[]>, key: string, control: Named): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [control]);
  else list.push(control);
}
