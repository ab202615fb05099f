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

/** How many controls a word and a name mean together, and how many of them were met. */
interface Tally {
  readonly word: string;
  total: number;
  met: number;
}

/** A locator for each control of a page, that means it and no other; in their order. */
export function uniqueLocators(controls: readonly Named[]): string[] {
  const byName = new Map<string, Tally[]>();
  // A locator without a name counts all of its word.
  const nameless = controls.some(({ name }) => name === '');
  for (const { words, name } of controls) {
    for (const word of words) {
      tallyOf(byName, name, word).total++;
      if (nameless && name !== '') tallyOf(byName, '', word).total++;
    }
  }
  return controls.map((control) => {
    const { role, name, words } = control;
    for (const word of words) {
      tallyOf(byName, name, word).met++;
      if (nameless && name !== '') tallyOf(byName, '', word).met++;
    }
    if (name.length > MAX_NAME) return beginningLocator(controls, control);
    const { total, met } = tallyOf(byName, name, role);
    return formatLocator({ role, text: name, index: total > 1 ? met : undefined });
  });
}

function tallyOf(byName: Map<string, Tally[]>, name: string, word: string): Tally {
  const tally: Tally = { word, total: 0, met: 0 };
  const own = byName.get(name);
  if (own === undefined) {
    byName.set(name, [tally]);
    return tally;
  }
  for (const known of own) if (known.word === word) return known;
  own.push(tally);
  return tally;
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
