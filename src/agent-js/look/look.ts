import type { ElementDescriptor } from '../../protocol/look.js';
import type { Bounds } from '../bounds.js';
import { dialogControls } from '../dialog-controls.js';
import { isProblem } from '../page-calls.js';
import { problemError } from '../problem-error.js';
import type { Tab } from '../tab.js';
import type { Tabs } from '../tabs.js';
import { diffLooks, type LookDiff } from './diff.js';

export interface LookOptions {
  readonly full: boolean;
  readonly within: string | null;
}

/**
 * A look on its way into the sandbox, where the prelude makes of it what scripts see: the whole list travels once, a
 * diff names places in it.
 */
export interface LookWire {
  readonly url: string;
  readonly title: string;
  readonly dialog?: { readonly kind: string; readonly message: string };
  readonly elements: readonly ElementDescriptor[];
  readonly diff?: LookDiff;
}

/** The looks of a session: each knows the one before it, also across navigations and tabs. */
export class Looks {
  #before: readonly ElementDescriptor[] | undefined;

  async look(tabs: Tabs, options: LookOptions, bounds: Bounds): Promise<LookWire> {
    const seen = await see(tabs.active, options.within, bounds);
    if (options.within !== null) return seen;
    const before = options.full ? undefined : this.#before;
    this.#before = seen.elements;
    return before === undefined ? seen : { ...seen, diff: diffLooks(before, seen.elements) };
  }
}

async function see(tab: Tab, within: string | null, bounds: Bounds): Promise<LookWire> {
  for (;;) {
    if (tab.dialog !== null) return seeDialog(tab);
    const asked = await tab.ask('look', { within }, bounds);
    if (asked.kind === 'dialog') continue;
    const seen = asked.kind === 'answer' ? asked.value : await tab.askAny('look', { within }, bounds);
    if (isProblem(seen)) throw problemError(seen, within ?? '', tab);
    return seen.url.startsWith('chrome-error:') ? { ...seen, url: tab.url } : seen;
  }
}

/** A dialog holds everything else on its page. */
function seeDialog(tab: Tab): LookWire {
  const { dialog, url, title } = tab;
  if (dialog === null) return { url, title, elements: [] };
  return { url, title, dialog: { kind: dialog.kind, message: dialog.message }, elements: dialogControls(dialog) };
}
