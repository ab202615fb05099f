import { formatLocator, parseLocator } from '../locator.js';
import { personalName } from '../names/guessed-name.js';
import { roleOf } from '../names/roles.js';
import { isProblem, type PageProblem, type Sought } from '../page-calls.js';
import type { Control } from './control.js';
import { RowTexts } from './row-texts.js';

/** Looks whose locators still mean what they meant; older ones are stale. */
const MAX_LOOKS = 4;

/** A look as it was shown: a locator for each control, in their order. */
interface ShownLook {
  readonly id: number;
  readonly controls: readonly Control[];
  readonly locators: readonly string[];
  /** Made when a locator is first asked for. */
  places: ReadonlyMap<string, Control> | null;
}

/**
 * What locators with a number meant when they were shown. Such a locator means that element from then on, wherever the
 * page has scrolled and whatever else has come or gone; it never means another one.
 */
class ShownLooks {
  readonly #looks: ShownLook[] = [];
  readonly #rows = new RowTexts();
  /** What errors have listed since the last look, by locator and by the flow's run that they were told. */
  #listed: ReadonlyMap<string, Control> = new Map();

  /** @param id of the look in its document; one that is known already shows what it showed then */
  remember(id: number, controls: readonly Control[], locators: readonly string[]): void {
    this.#listed = new Map();
    this.#rows.read(controls, locators);
    if (this.#looks.at(-1)?.id === id) return;
    this.#looks.push({ id, controls, locators, places: null });
    if (this.#looks.length > MAX_LOOKS) this.#looks.shift();
  }

  /** An error lists these, for its reader to choose one: a flow's run, or null. */
  list(locators: readonly string[], controls: readonly (Control | undefined)[], flowRun: number | null): void {
    const listed = new Map(this.#listed);
    for (const [at, locator] of locators.entries()) {
      const control = controls[at];
      if (control !== undefined) listed.set(keyOf(locator, flowRun), control);
    }
    this.#listed = listed;
  }

  /** Answers a function that takes back what has been listed since: by problems that have passed, and that nobody reads. */
  listing(): () => void {
    const listed = this.#listed;
    return () => {
      this.#listed = listed;
    };
  }

  /** An action begins on an element, after which its row may read otherwise. */
  acting(element: Element): void {
    this.#rows.acting(element);
  }

  /**
   * The element that a locator meant; null where it was not shown.
   *
   * @param sought.look the look that showed it; undefined: none did, but perhaps an error
   */
  find({ locator: source, look: id, flowRun = null }: Sought<string>): Element | PageProblem | null {
    const locator = normal(source);
    const listed = this.#listed.get(keyOf(locator, flowRun));
    if (listed !== undefined) {
      const found = this.#still(listed);
      // A name without a number means whatever alone has it.
      return isProblem(found) && !isNumbered(locator) ? null : found;
    }
    if (id === undefined) return null;
    const look = this.#looks.find((one) => one.id === id);
    if (look === undefined) return stale('the page has changed too much since the look that showed it');
    look.places ??= new Map(look.locators.map((shown, at) => [shown, look.controls[at] as Control]));
    const control = look.places.get(locator);
    return control === undefined ? stale('the last look did not show it') : this.#still(control);
  }

  #still(control: Control): Element | PageProblem {
    const { element } = control;
    if (!element.isConnected) return stale('its element has left the page');
    const [role, name] = [roleOf(element), personalName(element)];
    if (role !== control.role || name !== control.name) {
      return stale(`it is ${formatLocator({ role, text: name.slice(0, 80) })} now`);
    }
    const row = this.#rows.changed(element);
    return row === null ? element : stale(`its row reads ${JSON.stringify(row.slice(0, 80))} now`);
  }
}

function isNumbered(source: string): boolean {
  const locator = parseLocator(source);
  return locator?.kind === 'text' && locator.index !== undefined;
}

function keyOf(locator: string, flowRun: number | null): string {
  return `${flowRun} ${locator}`;
}

/** A locator as look prints it. */
function normal(source: string): string {
  const locator = parseLocator(source);
  return locator?.kind === 'text' ? formatLocator(locator) : source;
}

function stale(reason: string): PageProblem {
  return { problem: 'stale', reason };
}

/** Of this document and those that it reaches. */
export const shownLooks = new ShownLooks();
