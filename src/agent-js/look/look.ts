import type { ElementDescriptor } from '../../protocol/look.js';
import type { Bounds } from '../browser/bounds.js';
import type { ShownNumbers } from '../locating/shown-numbers.js';
import { dialogControls } from '../tabs/dialog-controls.js';
import type { ListPiece } from '../tabs/page-calls.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';
import { diffLooks, dissect, type LookDiff } from './diff.js';
import { PageView, type Seen } from './page-view.js';
import { settled } from './settled.js';

export interface LookOptions {
  readonly full: boolean;
  readonly within: string | null;
}

/** A look of the active page, whole, and what is new in it since the one before. */
export interface WholeLook extends Seen {
  /** What was still under way when the look no longer waited for it. */
  readonly unsettled?: string;
  /** Of this look's list; null for one that later ones are not compared with. */
  readonly id: number | null;
  readonly diff?: LookDiff;
}

/**
 * A look on its way into the sandbox, where the prelude makes of it what scripts see. What the sandbox has of the list
 * already is not sent again: then `pieces` make it up of the list before.
 */
export type LookWire = WholeLook | (Omit<WholeLook, 'elements'> & { readonly pieces: readonly ListPiece[] });

/** The looks of a session: each knows the one before it, also across navigations and tabs. */
export class Looks {
  /** What the numbers of the last look mean; null before the first, and while a dialog is open. */
  numbers: ShownNumbers | null = null;
  readonly #views = new WeakMap<Tab, PageView>();
  #before: readonly ElementDescriptor[] | undefined;
  #id = 0;

  async look(tabs: Tabs, options: LookOptions, bounds: Bounds): Promise<WholeLook> {
    const seen = await this.#see(tabs.active, options.within, bounds);
    if (options.within !== null) return { ...seen, id: null };
    const before = this.#before;
    this.#before = seen.elements;
    if (before !== seen.elements) this.#id++;
    if (options.full || before === undefined) return { ...seen, id: this.#id };
    return { ...seen, id: this.#id, diff: diffLooks(before, seen.elements) };
  }

  /** @param has the list that the sandbox has kept; null: none */
  async lookFor(has: number | null, tabs: Tabs, options: LookOptions, bounds: Bounds): Promise<LookWire> {
    const known = has === this.#id ? this.#before : undefined;
    const look = await this.look(tabs, options, bounds);
    if (known === undefined || look.id === null) return look;
    const { elements, ...rest } = look;
    return { ...rest, pieces: dissect(known, elements) };
  }

  async #see(tab: Tab, within: string | null, bounds: Bounds): Promise<Seen & Pick<WholeLook, 'unsettled'>> {
    let view = this.#views.get(tab);
    if (view === undefined) {
      view = new PageView(tab);
      this.#views.set(tab, view);
    }
    for (;;) {
      this.numbers = null;
      if (tab.dialog !== null) return seeDialog(tab);
      const unsettled = await settled(tab, bounds);
      const found = await view.see(within, bounds);
      if (found === 'dialog') continue;
      const seen = unsettled === null ? found : { ...found, unsettled };
      this.numbers = view.numbers;
      return seen.url.startsWith('chrome-error:') ? { ...seen, url: tab.url } : seen;
    }
  }
}

/** A dialog holds everything else on its page. */
function seeDialog(tab: Tab): Seen {
  const { dialog, url, title } = tab;
  if (dialog === null) return { url, title, elements: [] };
  return { url, title, dialog: { kind: dialog.kind, message: dialog.message }, elements: dialogControls(dialog) };
}
