import { isProblem, type PageCalls, type PageLook } from '../../page/page-calls.js';
import { uniqueLocators } from '../../page/unique-locators.js';
import type { DialogNotice, ElementDescriptor } from '../../protocol/look.js';
import type { Bounds } from '../browser/bounds.js';
import { problemError } from '../locating/problem-error.js';
import { ShownNumbers, type ShownPlace } from '../locating/shown-numbers.js';
import type { Tab } from '../tabs/tab.js';
import { assemble } from './diff.js';

/** What a look of a page finds. An unchanged list is the same object as before. */
export interface Seen {
  readonly url: string;
  readonly title: string;
  readonly dialog?: DialogNotice;
  readonly elements: readonly ElementDescriptor[];
}

/** An element, and what its locator is made of. */
interface NamedElement {
  readonly element: ElementDescriptor;
  readonly role: string;
  readonly name: string;
  readonly words: readonly string[];
  /** Where it is, by the look of its own document. */
  readonly place: ShownPlace;
  /** It counts, and no look shows it. */
  readonly covered: boolean;
}

/** A document: a frame of another origin, or the page's own, and where it is. */
interface FramePlace {
  readonly frame: string | null;
  readonly is: 'here' | 'offscreen' | 'unreachable';
}

/** One tab as it was last seen, so that its page has to tell only what is new. */
export class PageView {
  readonly #tab: Tab;
  /** What the numbers of the last look mean. */
  numbers: ShownNumbers = new ShownNumbers([], () => null, null);
  #base: { readonly id: number; readonly elements: readonly ElementDescriptor[] } | null = null;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /**
   * `dialog`: one has opened and holds the page.
   *
   * @param root a locator: only what is in it
   * @throws what a `root` that is wrong or ambiguous deserves
   */
  async see(root: string | null, bounds: Bounds): Promise<Seen | 'dialog'> {
    await this.#tab.frames.followed(bounds);
    const apart = this.#tab.frames.apart.length > 0;
    const within = root === null ? null : { locator: root };
    const args = { within, base: root === null && !apart ? (this.#base?.id ?? null) : null, joined: apart };
    const look = await this.#ask(args, bounds);
    if (look === 'dialog') return 'dialog';
    return look.joint === undefined ? this.#take(look, root === null) : this.#seeWithFrames(look, args, bounds);
  }

  async #ask(args: PageCalls['look'][0], bounds: Bounds): Promise<PageLook | 'dialog'> {
    const tab = this.#tab;
    for (;;) {
      const asked = await tab.ask('look', args, bounds);
      if (asked.kind === 'dialog') return 'dialog';
      const answer = asked.kind === 'answer' ? asked.value : await tab.askAny('look', args, bounds);
      if (isProblem(answer)) throw problemError(answer, args.within?.locator ?? '', tab);
      return answer;
    }
  }

  #take(look: PageLook, remembered: boolean): Seen {
    const { url, title, id, base, pieces } = look;
    const before = base !== null && base === this.#base?.id ? this.#base.elements : [];
    const elements = assemble(before, pieces);
    if (remembered) this.#base = { id, elements };
    this.#show(elements, (index) => ({ frame: null, locator: elements[index]?.locator ?? '', look: id }), remembered);
    return { url, title, elements };
  }

  /** The lists of frames of other origins stand in their places; locators are unique through all of them. */
  async #seeWithFrames(look: PageLook, args: PageCalls['look'][0], bounds: Bounds): Promise<Seen | 'dialog'> {
    const { frames } = this.#tab;
    let main: PageLook | 'dialog' = look;
    let inner = await this.#framesLooks(bounds);
    if ([main, ...inner.values()].some(({ joint }) => joint?.gaps.some(({ frame }) => frame === null))) {
      await frames.nameFrames(bounds);
      [main, inner] = await Promise.all([this.#ask(args, bounds), this.#framesLooks(bounds)]);
      if (main === 'dialog') return 'dialog';
    }
    const joined = join(main, inner, { frame: null, is: 'here' });
    const locators = uniqueLocators(joined);
    const numbered = joined.map((one, index) => ({ ...one, locator: locators[index] ?? one.element.locator }));
    const listed = numbered.filter(({ covered }) => !covered);
    const found = listed.map(({ element, locator }) => ({ ...element, locator }));
    const elements = kept(this.#base?.elements ?? [], found);
    // What the page itself told is part of a longer list: it is to tell it all again.
    if (args.within === null) this.#base = { id: -1, elements };
    this.#show(elements, (index) => listed[index]?.place ?? null, args.within === null);
    return { url: main.url, title: main.title, elements };
  }

  #show(elements: readonly ElementDescriptor[], placeOf: (index: number) => ShownPlace | null, whole: boolean): void {
    this.numbers = new ShownNumbers(elements, placeOf, whole ? null : this.numbers);
  }

  async #framesLooks(bounds: Bounds): Promise<Map<string, PageLook>> {
    const { frames } = this.#tab;
    const looks = new Map<string, PageLook>();
    const ask = async (frame: string): Promise<void> => {
      const answer = await frames.ask(frame, 'look', { within: null, base: null, joined: true }, bounds);
      if (answer !== null && !isProblem(answer)) looks.set(frame, answer);
    };
    await Promise.all(frames.apart.map(ask));
    return looks;
  }
}

/** @param around the frame whose document it is, and where that is */
function join(look: PageLook, inner: ReadonlyMap<string, PageLook>, around: FramePlace): NamedElement[] {
  const own = assemble([], look.pieces);
  const { names = [], covered = [], gaps = [] } = look.joint ?? {};
  const unseen = new Set(covered);
  const joined: NamedElement[] = [];
  let from = 0;
  const take = (to: number): void => {
    for (; from < to; from++) {
      const element = own[from];
      if (element === undefined) continue;
      const [name = '', ...words] = names[from] ?? [];
      joined.push({
        element: around.is === 'offscreen' ? { ...element, offscreen: true } : element,
        role: element.role,
        name,
        words,
        place: { frame: around.frame, locator: element.locator, look: look.id },
        covered: around.is === 'unreachable' || unseen.has(from),
      });
    }
  };
  for (const { at, frame, is } of gaps) {
    take(at);
    const found = frame === null ? undefined : inner.get(frame);
    if (found !== undefined)
      joined.push(...join(found, inner, { frame, is: around.is === 'here' || is === 'unreachable' ? is : around.is }));
  }
  take(own.length);
  return joined;
}

/** The list, made of the earlier one's objects where they say the same: the earlier list itself where all do. */
function kept(before: readonly ElementDescriptor[], after: readonly ElementDescriptor[]): readonly ElementDescriptor[] {
  const byText = new Map(before.map((element) => [JSON.stringify(element), element]));
  const list = after.map((element) => byText.get(JSON.stringify(element)) ?? element);
  return list.length === before.length && list.every((element, index) => element === before[index]) ? before : list;
}
