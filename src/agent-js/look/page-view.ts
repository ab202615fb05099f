import type { DialogNotice, ElementDescriptor } from '../../protocol/look.js';
import type { Bounds } from '../bounds.js';
import { isProblem, type PageLook } from '../page-calls.js';
import { problemError } from '../problem-error.js';
import type { Tab } from '../tab.js';
import { assemble } from './diff.js';

/** What a look of a page finds. An unchanged list is the same object as before. */
export interface Seen {
  readonly url: string;
  readonly title: string;
  readonly dialog?: DialogNotice;
  readonly elements: readonly ElementDescriptor[];
}

/** One tab as it was last seen, so that its page has to tell only what is new. */
export class PageView {
  readonly #tab: Tab;
  #base: { readonly id: number; readonly elements: readonly ElementDescriptor[] } | null = null;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /** `dialog`: one has opened and holds the page. @throws what a wrong or ambiguous `within` deserves */
  async see(within: string | null, bounds: Bounds): Promise<Seen | 'dialog'> {
    const tab = this.#tab;
    const args = { within, base: within === null ? (this.#base?.id ?? null) : null, named: false };
    const asked = await tab.ask('look', args, bounds);
    if (asked.kind === 'dialog') return 'dialog';
    const answer = asked.kind === 'answer' ? asked.value : await tab.askAny('look', args, bounds);
    if (isProblem(answer)) throw problemError(answer, within ?? '', tab);
    return this.#take(answer, within === null);
  }

  #take(look: PageLook, remembered: boolean): Seen {
    const { url, title, id, base, pieces } = look;
    const before = base !== null && base === this.#base?.id ? this.#base.elements : [];
    const elements = assemble(before, pieces);
    if (remembered) this.#base = { id, elements };
    return { url, title, elements };
  }
}
