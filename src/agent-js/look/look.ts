import type { ListPiece } from '../../page/page-calls.js';
import type { ElementDescriptor } from '../../protocol/look.js';
import type { Bounds } from '../browser/bounds.js';
import type { ShownNumbers } from '../locating/shown-numbers.js';
import { dialogControls } from '../tabs/dialog-controls.js';
import type { Tab } from '../tabs/tab.js';
import type { Tabs } from '../tabs/tabs.js';
import { diffLooks, dissect, type LookDiff, newDocument } from './diff.js';
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

/** A page that goes on to other documents is looked at this often; its list may then be of the document before. */
const MAX_DOCUMENTS = 3;

/** The looks of a session: each knows the one before it, also across navigations and tabs. */
export class Looks {
  /** What the numbers of the last look mean; null before the first, and while a dialog is open. */
  numbers: ShownNumbers | null = null;
  readonly #views = new WeakMap<Tab, PageView>();
  #before: readonly ElementDescriptor[] | undefined;
  /** The document of {@link Looks.#before}. */
  #document = '';
  #id = 0;

  async look(tabs: Tabs, options: LookOptions, bounds: Bounds): Promise<WholeLook> {
    const { seen, document } = await this.#see(tabs.active, options.within, bounds);
    if (options.within !== null) return { ...seen, id: null };
    const before = this.#before;
    const isNew = document !== this.#document;
    this.#before = seen.elements;
    this.#document = document;
    if (before !== seen.elements) this.#id++;
    if (options.full || before === undefined) return { ...seen, id: this.#id };
    return { ...seen, id: this.#id, diff: isNew ? newDocument(seen.elements) : diffLooks(before, seen.elements) };
  }

  /** @param has the list that the sandbox has kept; null: none */
  async lookFor(has: number | null, tabs: Tabs, options: LookOptions, bounds: Bounds): Promise<LookWire> {
    const known = has === this.#id ? this.#before : undefined;
    const look = await this.look(tabs, options, bounds);
    if (known === undefined || look.id === null) return look;
    const { elements, ...rest } = look;
    return { ...rest, pieces: dissect(known, elements) };
  }

  /** What is seen, and of which document. */
  async #see(
    tab: Tab,
    within: string | null,
    bounds: Bounds,
  ): Promise<{ readonly seen: Seen & Pick<WholeLook, 'unsettled'>; readonly document: string }> {
    let view = this.#views.get(tab);
    if (view === undefined) {
      view = new PageView(tab);
      this.#views.set(tab, view);
    }
    for (let documents = 1; ; ) {
      this.numbers = null;
      const document = documentOf(tab);
      if (tab.dialog !== null) return { seen: seeDialog(tab), document };
      const unsettled = await settled(tab, bounds);
      const found = await view.see(within, bounds);
      if (found === 'dialog') continue;
      if (document !== documentOf(tab) && documents++ < MAX_DOCUMENTS) continue;
      this.numbers = view.numbers;
      const url = found.url.startsWith('chrome-error:') ? tab.url : found.url;
      return { seen: { ...found, url, ...(unsettled === null ? {} : { unsettled }) }, document: documentOf(tab) };
    }
  }
}

/** The same as long as the active tab shows the same document. */
function documentOf(tab: Tab): string {
  return `${tab.targetId} ${tab.navigation.loaderId ?? ''}`;
}

/** A dialog holds everything else on its page. */
function seeDialog(tab: Tab): Seen {
  const { dialog, url, title } = tab;
  if (dialog === null) return { url, title, elements: [] };
  return { url, title, dialog: { kind: dialog.kind, message: dialog.message }, elements: dialogControls(dialog) };
}
