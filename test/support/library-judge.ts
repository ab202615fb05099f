import type { Test } from 'tap';
import { z } from 'zod';
import type { ElementDescriptor } from '#troupe/protocol/look.js';
import type { AgentFixture } from './agent-fixture.js';
import { eventually } from './eventually.js';
import type { Label, LibraryPage } from './library-corpus.js';

/** What a page does with a gesture may take a moment. */
const PROOF_MS = 2_000;
const ACT_MS = 8_000;
/** Components draw themselves when their script has come. */
const DRAWN_MS = 5_000;

/** In a page: the element that a label refers to, in sight if one is. `a >>> b`: b in the shadow root of a. */
const FIND = `(reference) => {
  const deep = (root, selector) => {
    const [outer, ...inner] = selector.split(' >>> ');
    const found = [...root.querySelectorAll(outer)];
    return inner.length === 0 ? found : found.flatMap(({ shadowRoot }) => shadowRoot ? deep(shadowRoot, inner.join(' >>> ')) : []);
  };
    const [css, text] = reference.split(' :: ');
    const [selector, index = 0] = css.split(' @');
    const all = deep(document, selector);
    const fits = text === undefined ? all : all.filter((one) => one.textContent.trim().replace(/\\s+/g, ' ') === text);
    return fits.filter((one) => one.checkVisibility())[index] ?? fits[index] ?? null;
}`;

/**
 * In the isolated world of the page: which listed element stands for which label. The element of a listed locator is the
 * one whose tag is read last when the world reads its value.
 */
const MATCH = `(listed, names, labels, words, also) => {
  const world = globalThis.troupe;
  const find = ${FIND};
  let read = null;
  const tag = Object.getOwnPropertyDescriptor(Element.prototype, 'localName');
  const spy = { ...tag, get() { read = this; return tag.get.call(this); } };
  const { id: look } = JSON.parse(world.call('look', { within: null, base: null, named: false })).value;
  const elements = listed.map((locator) => {
    read = null;
    Object.defineProperty(Element.prototype, 'localName', spy);
    try { if (JSON.parse(world.call('value', { locator, look })).value.problem !== undefined) read = null; } catch { read = null; }
    Object.defineProperty(Element.prototype, "localName", tag);
    return read;
  });
  const up = (element) => element.parentNode instanceof ShadowRoot ? element.parentNode.host : element.parentElement ?? (element.getRootNode() instanceof ShadowRoot ? element.getRootNode().host : null);
  const holds = (outer, inner) => { for (let one = inner; one !== null; one = up(one)) if (one === outer) return true; return false; };
  const sought = labels.map(find);
  const others = (outer, own) => sought.some((one) => one !== null && one !== own && one !== outer && !holds(own, one) && holds(outer, one));
  // A row stands for its title, where what else is sought in it is listed on its own and its name is that of the title.
  const own = (one) => elements.some((element) => element === one);
  const rowOf = (outer, label, index, nth) => names[index] === words[nth] && words[nth] !== '' && sought.every((one) => one === null || one === label || one === outer || holds(label, one) || !holds(outer, one) || own(one));
  const matches = sought.map((label, nth) => {
    if (label === null) return null;
    const ranks = [];
    elements.forEach((element, index) => {
      if (element === null) return;
      const rank = element === label ? 0 : holds(label, element) && !sought.some((one) => one !== null && one !== label && holds(label, one) && holds(one, element)) ? 1 : element.localName === 'label' && element.control === label ? 1
        : label.labels && [...label.labels].includes(element) ? 1 : holds(element, label) && (!others(element, label) || rowOf(element, label, index, nth)) ? 2 : -1;
      if (rank >= 0) ranks.push([rank, index]);
    });
    return ranks.sort((one, two) => one[0] - two[0] || one[1] - two[1]);
  });
  const known = new Set(matches.flatMap((ranks) => (ranks ?? []).filter(([rank]) => rank === (ranks[0] ?? [])[0]).map(([, index]) => index)));
  const operable = 'a[href], button, input, select, textarea, summary, label, [tabindex], [contenteditable], iframe, video, audio';
  const right = elements.map((element, index) => known.has(index) || (element !== null && (element.matches(operable) || (also !== '' && element.matches(also)))));
  return { matches, right, unresolved: elements.map((element) => element === null) };
}`;

const Matched = z.object({
  /** For each label, null where the page has no such element; else the listed ones by how well they fit: [rank, index]. */
  matches: z.array(z.array(z.tuple([z.number(), z.number()])).nullable()),
  /** Of each listed element: whether a person can use it. */
  right: z.array(z.boolean()),
  unresolved: z.array(z.boolean()),
});

export type Kind = 'not seen' | 'bad name' | 'superfluous' | 'error' | 'not done' | 'label';

export interface Miss {
  readonly library: string;
  readonly label: string;
  readonly kind: Kind;
  readonly reason: string;
}

export interface Verdict {
  readonly library: string;
  readonly sought: number;
  readonly found: number;
  readonly listed: number;
  readonly superfluous: number;
  readonly gestures: number;
  readonly done: number;
  readonly misses: readonly Miss[];
}

/** Judges looks and acts on pages of libraries, in one browser session. */
export class LibraryJudge {
  readonly #fixture: AgentFixture;
  #context: number | null = null;
  #opened = 0;

  constructor(t: Test, fixture: AgentFixture) {
    this.#fixture = fixture;
    const stop = fixture.browser.listen((event) => {
      if (event.method !== 'Runtime.executionContextCreated') return;
      const { name, id } = event.params.context;
      if (name === 'troupe') this.#context = id;
    });
    t.teardown(stop);
  }

  /** Each gesture on a page of its own, so that none rests on another. */
  async judge(page: LibraryPage, below: boolean, chosen = page.labels): Promise<Verdict> {
    const misses: Miss[] = [];
    const miss = (label: string, kind: Kind, reason: string): void => {
      misses.push({ library: page.name, label, kind, reason: reason.slice(0, 300) });
    };
    await this.#open(page, below);
    const seen = await this.#see(page);
    const extra = seen.elements.filter((_, index) => seen.right[index] !== true);
    for (const { locator } of extra) miss(locator, 'superfluous', 'a person cannot use it, or it is another’s double');
    let found = 0;
    let done = 0;
    for (const label of chosen) {
      const name = shownAs(label);
      try {
        await this.#open(page, below);
        for (const before of chain(page, label)) await this.#perform(page, before);
        const met = await this.#meet(page, label);
        if (met.kind === 'found') found += 1;
        else miss(name, met.kind, met.reason);
        if (met.locator === null) continue;
        if (await this.#holds(label.proof)) {
          miss(name, 'label', 'its proof holds before the gesture');
          continue;
        }
        await this.#act(met.locator, label);
        if (await this.#proved(label.proof)) done += 1;
        else miss(name, 'not done', `${met.locator} ${label.action}: no error, and ${label.proof} does not hold`);
      } catch (error) {
        miss(name, 'error', `${label.action}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    const sought = chosen.length;
    const counts = { sought, found, listed: seen.elements.length, superfluous: extra.length, gestures: sought, done };
    return { library: page.name, ...counts, misses };
  }

  async #open(page: LibraryPage, below: boolean): Promise<void> {
    await this.#fixture.call('go', `${page.url(below)}?${++this.#opened}`);
    const first = page.labels.flatMap(({ after, element }) => (after.length === 0 ? [element] : []));
    const drawn = `(() => { const find = ${FIND}; return ${JSON.stringify(first)}.every((one) => find(one) !== null); })()`;
    // What never comes is reported label by label.
    await eventually('the page is drawn', () => this.#holds(drawn), DRAWN_MS).catch(() => undefined);
  }

  /** A whole look, and what the page has of it. */
  async #see(page: LibraryPage) {
    const { elements } = await this.#fixture.look({ full: true });
    const matched = await this.#matched(elements, page);
    return { elements, ...matched };
  }

  async #meet(page: LibraryPage, label: Label) {
    const { elements, matches } = await this.#see(page);
    const ranks = matches[page.labels.indexOf(label)];
    if (ranks === undefined || ranks === null) {
      return { kind: 'label', reason: 'the page has no such element', locator: null } as const;
    }
    const near = ranks.flatMap(([, index]) => elements[index] ?? []);
    const named = near.filter((one) => one.name.toLowerCase().includes(label.name.toLowerCase()));
    const able = (one: ElementDescriptor): boolean => one.actions.some((action) => action === label.action);
    const exact = named.filter((one) => one.name.toLowerCase() === label.name.toLowerCase());
    const best = exact.find(able) ?? exact[0] ?? named.find(able) ?? named[0];
    if (best !== undefined) return { kind: 'found', reason: '', locator: best.locator } as const;
    const [other] = near;
    if (other === undefined) {
      return { kind: 'not seen', reason: `nothing listed is ${label.element}`, locator: written(label) } as const;
    }
    return { kind: 'bad name', reason: `listed as ${other.locator}`, locator: other.locator } as const;
  }

  async #perform(page: LibraryPage, label: Label): Promise<void> {
    const { locator } = await this.#meet(page, label);
    if (locator === null) throw new Error(`${shownAs(label)}, which comes first, was not seen`);
    await this.#act(locator, label);
    if (!(await this.#proved(label.proof))) throw new Error(`${shownAs(label)}, which comes first, was not done`);
  }

  async #act(locator: string, { action, value }: Label): Promise<void> {
    await this.#fixture.callWithin({ ms: ACT_MS }, 'act', locator, action, value);
  }

  async #holds(proof: string): Promise<boolean> {
    return (
      (await this.#fixture.call('page', `(() => { try { return Boolean(${proof}); } catch { return false; } })()`)) ===
      true
    );
  }

  async #proved(proof: string): Promise<boolean> {
    return eventually(proof, () => this.#holds(proof), PROOF_MS).then(
      () => true,
      () => false,
    );
  }

  async #matched(elements: readonly ElementDescriptor[], page: LibraryPage): Promise<z.infer<typeof Matched>> {
    const { browser, agent } = this.#fixture;
    const session = agent.activePage;
    if (session === undefined || this.#context === null) throw new Error('There is no page to judge');
    const { labels, also } = page;
    const listed = [elements.map(({ locator }) => locator), elements.map(({ name }) => name)];
    const args = [...listed, labels.map(({ element }) => element), labels.map(({ name }) => name), also];
    const expression = `(${MATCH})(${args.map((arg) => JSON.stringify(arg)).join(', ')})`;
    const params = { expression, contextId: this.#context, returnByValue: true };
    const { result, exceptionDetails } = await browser.send('Runtime.evaluate', params, { session });
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return Matched.parse(result.value);
  }
}

const nameOf = ({ name, action }: Label): string => `${name}:${action}`;
/** For a reader: a control without a name is shown by its element. */
const shownAs = ({ name, element, action }: Label): string => `${name || element}:${action}`;

/** What its author would write for a control that no look lists; null where no locator says it. */
function written({ element }: Label): string | null {
  const [css = '', text] = element.split(' :: ');
  if (text !== undefined) return `{*}${text}`;
  return /[@]| >>> /.test(css) ? null : css;
}

/** The labels whose gestures come before a label's, the first one first. */
function chain(page: LibraryPage, label: Label): readonly Label[] {
  return label.after.flatMap((wanted) => {
    const before = page.labels.find((one) => one.name === wanted || nameOf(one) === wanted);
    return before === undefined ? [] : [...chain(page, before), before];
  });
}

/** How many of a verdict's labels were not found, how much was listed that should not be, how many gestures failed. */
export function missesOf({ sought, found, superfluous, gestures, done }: Verdict) {
  return { found: sought - found, superfluous, done: gestures - done };
}

/** Shares of all labels, listed elements and gestures, and the counts behind them. */
export function ratesOf(verdicts: readonly Verdict[]) {
  const sum = (count: (one: Verdict) => number): number => verdicts.reduce((total, one) => total + count(one), 0);
  const [found, sought] = [sum((one) => one.found), sum((one) => one.sought)];
  const [superfluous, listed] = [sum((one) => one.superfluous), sum((one) => one.listed)];
  const [done, gestures] = [sum((one) => one.done), sum((one) => one.gestures)];
  const text = `found ${found}/${sought}, superfluous ${superfluous}/${listed}, done ${done}/${gestures}`;
  return { recall: found / sought, precision: 1 - superfluous / listed, done: done / gestures, text };
}
